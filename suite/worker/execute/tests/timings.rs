use super::*;
use crate::spec::model::{Bound, Verify};

/// Rows `copy` (a device copy, the baseline), `two` (two launches) and, by name, what else is given.
fn timed(more: Vec<(&str, Row)>, assert: Vec<Bound>) -> Suite {
    let verify = |want| vec![Verify::Inline(Box::new(exact("run", "out", want)))];
    let mut copied = row("copied", verify(reference("copy", "input")));
    copied.bytes = Some(expr("8 * n"));
    let mut two = row("twice", vec![Verify::Gate("compacted".into())]);
    two.prepare = vec!["copied".into()];
    let rows = [("copy", copied), ("two", two)].into_iter().chain(more);
    let timings = Timings {
        warmups: 2,
        runs: 4,
        baseline: Some("copy".into()),
        rows: rows.map(|(name, row)| (name.to_owned(), row)).collect(),
        assert,
    };
    let twice = [compact(), compact()].concat();
    suite_of(5, "all", compact(), gate(Check::Timings(timings)))
        .with_pipeline("copied", vec![copy("input", "out[0..n]")])
        .with_pipeline("twice", twice)
        .with_pipeline("nothing", vec![when("n == 0", memset("out", "0"))])
        .with_gate(
            "compacted",
            gate(exact("run", "out", reference("compact", "nonzero"))),
        )
}

fn bound(that: &str, cards: &[&str]) -> Bound {
    Bound {
        that: expr(that),
        cards: cards.iter().map(|c| (*c).to_owned()).collect(),
    }
}

#[test]
fn rows_are_timed_verified_and_compared() {
    let record = run(&timed(vec![], vec![]));
    assert_eq!(record.outcome, Outcome::Pass, "{record:?}");
    let copy = &record.timings["copy"];
    assert_eq!((copy.warmups, copy.runs, copy.launches), (2, 4, 0));
    assert_eq!(
        (copy.min_ms, copy.median_ms, copy.max_ms),
        (Some(0.5), Some(0.5), Some(0.5))
    );
    assert_eq!(copy.batch_mean_ms, Some(0.5));
    assert_eq!(copy.times_baseline, Some(1.0));
    // 40 bytes in half a millisecond.
    assert_eq!(copy.gb_per_s, Some(40.0 / 0.5 / 1e6));
    assert_eq!(copy.clock, "device");
    // 20 bytes of input and 40 of output: within the 64 of L2.
    assert_eq!(copy.cache, "resident");
    let two = &record.timings["two"];
    assert_eq!(
        (two.median_ms, two.times_baseline, two.launches),
        (Some(2.0), Some(4.0), 2)
    );
    assert_eq!(two.gb_per_s, None);
    // The count's 4 bytes still fit.
    assert_eq!(two.cache, "resident");
    assert_eq!(number(&record, "launches"), Some(2));
}

#[test]
fn buffers_above_l2_stream() {
    let mut suite = timed(vec![], vec![]);
    suite.buffers["out"].len = expr("3 * n");
    let record = run(&suite);
    assert_eq!(record.timings["copy"].cache, "streaming");
}

#[test]
fn an_unverified_time_is_not_reported() {
    let wrong = row(
        "copied",
        vec![Verify::Inline(Box::new(exact(
            "run",
            "out",
            reference("reverse", "input"),
        )))],
    );
    let record = run(&timed(
        vec![("wrong", wrong)],
        vec![bound("rows.wrong.median_ms > 0.0", &[])],
    ));
    assert_eq!(kinds(&record), [FindingKind::Mismatch]);
    assert!(record.findings[0].message.starts_with("row `wrong`: "));
    let wrong = &record.timings["wrong"];
    assert_eq!(
        (wrong.median_ms, wrong.batch_mean_ms, wrong.times_baseline),
        (None, None, None)
    );
    assert_eq!(record.timings["copy"].median_ms, Some(0.5));
}

#[test]
fn a_clock_that_stands_still_is_found_in_every_row() {
    let record = run_on(Fake::stopped(), &timed(vec![], vec![]));
    assert_eq!(record.outcome, Outcome::Fail);
    assert_eq!(kinds(&record), [FindingKind::Time, FindingKind::Time]);
}

#[test]
fn a_row_that_launches_nothing_fails() {
    let nothing = row(
        "nothing",
        vec![Verify::Inline(Box::new(Check::Sorted {
            run: "nothing".into(),
            got: slice("out[0..0]"),
            order: crate::terms::Order::Ascending,
        }))],
    );
    let record = run(&timed(vec![("nothing", nothing)], vec![]));
    assert!(kinds(&record).contains(&FindingKind::NoWork), "{record:?}");
    let mut none = timed(vec![], vec![]);
    if let Check::Timings(timings) = &mut none.gates["g"].check {
        timings
            .rows
            .values_mut()
            .for_each(|row| row.when = Some(expr("n == 0")));
    }
    assert_eq!(kinds(&run(&none)), [FindingKind::NoWork]);
}

#[test]
fn bounds_gate_on_their_cards_and_are_reported_elsewhere() {
    let four = "rows.two.median_ms < 4.0 * rows.copy.median_ms";
    let record = run(&timed(vec![], vec![bound(four, &["NVIDIA H200"])]));
    assert_eq!(kinds(&record), [FindingKind::Assert]);
    assert_eq!(
        record.findings[0].message,
        format!("{four} is false (rows.two.median_ms = 2.000000, rows.copy.median_ms = 0.500000)")
    );
    let record = run(&timed(vec![], vec![bound(four, &["Tesla T4"])]));
    assert_eq!(record.outcome, Outcome::Pass);
    assert_eq!(record.reported[&format!("assert: {four}")], false);
    let five = "rows.two.median_ms < 5.0 * rows.copy.median_ms";
    assert_eq!(
        run(&timed(vec![], vec![bound(five, &[])])).outcome,
        Outcome::Pass
    );
}

#[test]
fn a_bound_on_a_row_left_out_does_not_apply() {
    let mut absent = row("copied", vec![Verify::Gate("compacted".into())]);
    absent.when = Some(expr("n == 0"));
    let record = run(&timed(
        vec![("absent", absent)],
        vec![bound("rows.absent.median_ms < 0.0", &[])],
    ));
    assert_eq!(record.outcome, Outcome::Pass, "{record:?}");
    assert!(!record.timings.contains_key("absent"));
}

#[test]
fn a_bound_that_could_never_be_judged_is_an_error() {
    for that in [
        "rows.copy.median < 1.0",
        "rows.two.gb_per_s > 0.0",
        "rows.three.median_ms > 0.0",
    ] {
        let record = run(&timed(vec![], vec![bound(that, &[])]));
        assert_eq!(record.outcome, Outcome::Error, "{that}");
        assert_eq!(reason(&record).kind, ReasonKind::Setup);
    }
}

#[test]
fn the_simulated_device_verifies_rows_and_then_skips() {
    let sim = || Fake::new(DeviceKind::Sim);
    let bounds = || {
        vec![
            bound("rows.copy.median_ms < 0.0", &[]),
            bound("rows.two.launches == 2", &[]),
        ]
    };
    let record = run_on(sim(), &timed(vec![], bounds()));
    assert_eq!(record.outcome, Outcome::Skip, "{record:?}");
    assert_eq!(reason(&record).kind, ReasonKind::NeedsHardware);
    let two = &record.timings["two"];
    assert_eq!((two.runs, two.warmups, two.median_ms), (1, 0, None));
    assert_eq!(two.simulated_instructions, Some(200));
    assert_eq!(two.clock, "simulated");
    let wrong = row(
        "copied",
        vec![Verify::Inline(Box::new(exact(
            "run",
            "out",
            reference("reverse", "input"),
        )))],
    );
    let record = run_on(sim(), &timed(vec![("wrong", wrong)], bounds()));
    assert_eq!(record.outcome, Outcome::Fail);
    let record = run_on(
        sim(),
        &timed(vec![], vec![bound("rows.two.launches == 3", &[])]),
    );
    assert_eq!(kinds(&record), [FindingKind::Assert]);
}

#[test]
fn rows_can_be_verified_against_another_run() {
    let want = Want::Run {
        pipeline: "run".into(),
        buffer: slice("out[0..n]"),
    };
    let with = |got: &str| {
        let check = exact("run", got, want.clone());
        let same = row("copied", vec![Verify::Inline(Box::new(check))]);
        run(&timed(vec![("same", same)], vec![]))
    };
    assert_eq!(with("out[0..n]").outcome, Outcome::Pass);
    assert_eq!(kinds(&with("out[n..2 * n]")), [FindingKind::Unwritten]);
    let record = with("out[1..n]");
    assert_eq!(record.outcome, Outcome::Error);
    assert!(
        reason(&record).message.contains("5 elements are wanted"),
        "{record:?}"
    );
}
