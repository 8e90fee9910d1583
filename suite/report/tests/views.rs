//! The three views of a record.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::json;

use super::super::markdown::BYTES_MAX;
use super::super::record::{HealthRecord, Timing};
use super::super::{junit_xml, summary_markdown, summary_text};
use super::{case, empty, failing, passing, simulated};
use crate::identity::Field;
use crate::outcome::{Finding, Reason};
use crate::terms::{FindingKind, Outcome, ReasonKind};

fn text(report: &super::Report) -> String {
    summary_text(
        report,
        100,
        Some(Path::new(
            "reports/580.159.04/NVIDIA-H200/20261129T224100Z-3f2a",
        )),
    )
}

#[test]
fn terminal_summaries() {
    insta::assert_snapshot!("passing", text(&passing()));
    insta::assert_snapshot!("failing", text(&failing()));
    insta::assert_snapshot!("simulated", text(&simulated()));
    insta::assert_snapshot!("empty", text(&empty()));
}

#[test]
fn markdown_summaries() {
    insta::assert_snapshot!("passing_markdown", summary_markdown(&passing()));
    insta::assert_snapshot!("failing_markdown", summary_markdown(&failing()));
}

#[test]
fn junit_reports() {
    insta::assert_snapshot!("failing_junit", junit_xml(&failing()).unwrap());
    insta::assert_snapshot!("simulated_junit", junit_xml(&simulated()).unwrap());
}

/// A control that times a wrong kernel, and an own row whose output is wrong.
fn unverified(mut report: super::Report) -> super::Report {
    let mut cases = report.cases.iter_mut().filter(|c| !c.timings.is_empty());
    let wrong = cases.next().expect("a case with times");
    let timing = &mut wrong.timings["compaction"];
    *timing = Timing {
        clock: timing.clock.clone(),
        launches: timing.launches,
        ..Timing::default()
    };
    let mut control = wrong.clone();
    control.gate = "timings_of_a_wrong_result".to_owned();
    control.expected = Some("fail: mismatch".to_owned());
    report.cases.push(control);
    report
}

#[test]
fn a_control_has_no_timing_table_and_says_what_it_passes_on() {
    let shown = text(&unverified(passing()));
    let of_control = |l: &&str| l.contains("timings_of_a_wrong_result");
    let lines: Vec<&str> = shown.lines().filter(of_control).collect();
    assert_eq!(lines.len(), 1, "{shown}");
    assert!(lines[0].contains("fail: mismatch"), "{shown}");
    assert!(shown.contains("passes on"), "{shown}");
    assert!(!text(&passing()).contains("passes on"));
}

#[test]
fn a_row_without_times_is_not_verified_wherever_it_ran() {
    for report in [passing(), simulated()] {
        let on_card = !report.device.is_simulated();
        let shown = text(&unverified(report));
        assert_eq!(shown.matches("not verified").count(), 1, "{shown}");
        assert_eq!(shown.contains("mean ms"), on_card, "{shown}");
        assert_eq!(shown.contains("has no clock: times"), !on_card, "{shown}");
    }
}

#[test]
fn numbers_of_any_size_are_legible() {
    let numbers = [
        (0.0, "0.0000"),
        (1e300, "1.000e300"),
        (-2.5e300, "-2.500e300"),
        (1e15, "1.000e15"),
        (-9.99e14, "-999,000,000,000,000"),
        (1e-300, "1.000e-300"),
        (-0.000_25, "-2.500e-4"),
        (0.001, "0.0010"),
        (12.345_6, "12.35"),
    ];
    for (value, shown) in numbers {
        let mut report = passing();
        report.tables[0].rows = vec![vec![26.into(), value.into(), 1.into(), value.into()]];
        let summary = summary_markdown(&report);
        let line = format!("| 26 | {shown} | 1 | {shown} |");
        assert!(summary.contains(&line), "{line}: {summary}");
    }
    let mut report = passing();
    let timings = report.cases.iter_mut().flat_map(|c| c.timings.values_mut());
    for timing in timings {
        timing.gb_per_s = Some(1e300);
        timing.median_ms = Some(1e-300);
    }
    let summary = summary_markdown(&report);
    assert!(
        summary.contains("1.000e300") && summary.contains("1.000e-300"),
        "{summary}"
    );
    assert!(!summary.contains("000000000000000"), "{summary}");
}

#[test]
fn the_missing_clock_is_told_once() {
    let mut report = simulated();
    report.cases.push(report.cases[1].clone());
    let shown = text(&report);
    assert_eq!(shown.matches("has no clock: times").count(), 1, "{shown}");
    assert_eq!(
        shown.matches("simulated instructions").count(),
        2,
        "{shown}"
    );
}

#[test]
fn no_line_is_wider_than_the_terminal_for_tables() {
    let shown = summary_text(&passing(), 60, None);
    let ruled = shown
        .lines()
        .filter(|l| l.contains('│') || l.starts_with(['─', ' ']));
    let widths: Vec<usize> = ruled.map(|l| l.chars().count()).collect();
    assert!(
        widths.len() > 20 && widths.iter().all(|w| *w <= 60),
        "{shown}"
    );
    assert!(shown.contains(" compaction "), "names stay whole: {shown}");
}

#[test]
fn what_happened_to_a_card_between_cases_is_told() {
    let mut report = passing();
    assert!(!text(&report).contains("between cases"));
    let between = serde_json::json!({"xid_events": [31]});
    let device = &mut report.device;
    device
        .after
        .insert("between_cases".to_owned(), Field::Value(between));
    let shown = text(&report);
    assert!(
        shown.contains("  health  between cases: Xid 31\n"),
        "{shown}"
    );
}

#[test]
fn eighty_columns_are_enough_for_times() {
    let (narrow, wide) = (summary_text(&passing(), 80, None), text(&passing()));
    for (shown, ranges) in [(&narrow, 0), (&wide, 2)] {
        assert_eq!(shown.matches("min – max ms").count(), ranges, "{shown}");
        assert_eq!(shown.matches("× baseline     GB/s").count(), 2, "{shown}");
        assert!(shown.contains("resident"), "{shown}");
    }
}

/// A run in which everything fails at length.
fn flood(cases: usize) -> super::Report {
    let mut report = failing();
    report.cases = (0..cases)
        .map(|i| {
            let mut record = case("exact_compaction", i as i64, Outcome::Fail);
            let detail = (0..40)
                .map(|line| format!("[{line}] <&>`|` {}", "é".repeat(300)))
                .collect();
            record
                .findings
                .push(Finding::new(FindingKind::Mismatch, "x".repeat(4000)).with_detail(detail));
            record
        })
        .collect();
    report
}

#[test]
fn markdown_is_bounded_and_says_what_is_left_out() {
    let shown = summary_markdown(&flood(3000));
    assert!(shown.len() < BYTES_MAX, "{}", shown.len());
    assert!(shown.contains("more parts do not fit here"));
    assert!(
        shown.contains("| exact\\_compaction |"),
        "the tables come after the failures"
    );
    assert_eq!(
        shown.matches("<details>").count(),
        shown.matches("</details>").count()
    );
}

#[test]
fn the_terminal_is_not_flooded() {
    let shown = summary_text(&flood(3000), 100, None);
    assert_eq!(shown.matches("again:").count(), 20);
    assert!(shown.contains("and 2980 more failed or ended in error:"));
    assert!(shown.lines().count() < 600, "{}", shown.lines().count());
}

#[test]
fn an_error_that_all_cases_share_is_told_once() {
    let mut report = empty();
    report.cases = (0..216)
        .map(|i| {
            let mut record = case("scan_total", i, Outcome::Error);
            record.reason = Some(Reason::new(ReasonKind::Environment, "no driver"));
            record
        })
        .collect();
    // A card grows warmer; an Xid error is another matter.
    for (i, record) in report.cases.iter_mut().enumerate() {
        record.health = Some(HealthRecord {
            after: BTreeMap::from([("temperature_c".to_owned(), Field::Value(json!(i)))]),
            xid_events: if i == 7 { vec![json!(79)] } else { Vec::new() },
            ..HealthRecord::default()
        });
    }
    let shown = summary_text(&report, 100, None);
    assert_eq!(shown.matches("environment: no driver").count(), 2);
    assert!(shown.contains("ERROR 215 cases:"), "{shown}");
    assert!(shown.contains("health: Xid 79"), "{shown}");
}

#[test]
fn a_failure_tells_the_end_of_what_it_printed() {
    let mut report = failing();
    let lines: Vec<String> = (1..=9)
        .map(|i| format!("word {i} {}", "x".repeat(300)))
        .collect();
    let printed = &mut report.cases[1].reported;
    printed.insert("stderr".to_owned(), json!(lines.join("\n")));
    printed.insert("stdout".to_owned(), json!("\n \n"));
    for shown in [summary_text(&report, 100, None), summary_markdown(&report)] {
        assert!(
            shown.contains("stderr (3 lines before these in report.json):"),
            "{shown}"
        );
        assert!(
            shown.contains("word 4 x") && shown.contains("word 9 x"),
            "{shown}"
        );
        assert!(
            !shown.contains("word 3") && !shown.contains(&"x".repeat(200)),
            "{shown}"
        );
        assert!(!shown.contains("stdout"), "{shown}");
    }
}

#[test]
fn hostile_text_stays_text() {
    let mut report = failing();
    let nasty = "</pre></details>\n\n# <b>|`*_\u{1b}[31m]]>\u{fffe}\0 & \"'";
    report.cases[1].findings[0].message = nasty.to_owned();
    report.cases[2].reason = Some(Reason::new(ReasonKind::Setup, nasty));
    let markdown = summary_markdown(&report);
    assert_eq!(markdown.matches("</details>").count(), 3, "{markdown}");
    assert!(!markdown.contains("\u{1b}"), "{markdown}");
    let terminal = summary_text(&report, 100, None);
    assert!(!terminal.contains(['\u{1b}', '\0']), "{terminal}");
    let xml = junit_xml(&report).unwrap();
    quick_junit::Report::deserialize_from_str(&xml).expect("well-formed");
    assert!(!xml.contains(['\u{1b}', '\0', '\u{fffe}']));
}

#[test]
fn junit_counts_agree_with_the_record() {
    let xml = junit_xml(&failing()).unwrap();
    let junit = quick_junit::Report::deserialize_from_str(&xml).expect("well-formed");
    assert_eq!((junit.tests, junit.failures, junit.errors), (7, 3, 2));
    let skipped = |t: &&quick_junit::TestCase| {
        matches!(t.status, quick_junit::TestCaseStatus::Skipped { .. })
    };
    assert_eq!(
        junit.test_suites[0]
            .test_cases
            .iter()
            .filter(skipped)
            .count(),
        1,
        "the waived one"
    );
    assert_eq!(junit.test_suites[0].name.as_str(), "compaction");
    let of_run = &junit.test_suites[1];
    assert_eq!(
        (of_run.name.as_str(), of_run.failures),
        ("the run as a whole", 1)
    );
}

#[test]
fn skipped_rows_and_the_hosts_clock_are_told_beside_the_times() {
    let without = Reason::new(ReasonKind::BuiltWithout, "the native library");
    for mut report in [passing(), simulated()] {
        let case = report.cases.iter_mut().find(|c| !c.timings.is_empty());
        let case = case.expect("a case with times");
        case.timings["compaction"].clock = "host".to_owned();
        case.timings["compaction"].simulated_instructions = None;
        case.skipped_rows = ["cub", "thrust"]
            .map(|row| (row.to_owned(), without.clone()))
            .into();
        let bound = "rows.cub.runs == 2".to_owned();
        case.not_judged = [(bound, without.clone())].into();
        for shown in [text(&report), summary_markdown(&report)] {
            for words in [
                "compaction (host clock)",
                "Skipped (cub, thrust): built without: the native library",
                "Not judged, since a row it names is skipped: rows.cub.runs == 2",
            ] {
                assert!(shown.contains(words), "{words}\n{shown}");
            }
            assert!(!shown.contains("not verified"), "{shown}");
            let cells = shown
                .lines()
                .map(|line| line.trim_start_matches(['|', ' ']));
            let rows = cells.filter(|row| row.starts_with("cub") || row.starts_with("thrust"));
            let skipped = rows.filter(|row| row.contains("skipped"));
            assert_eq!(skipped.count(), 2, "{shown}");
        }
    }
}
