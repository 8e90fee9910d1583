//! One text for the readers of reports and results. `suite/tests/corpus.rs` replays the kept ones.

use cuda_gates::report::record::Report;
use cuda_gates::report::{
    Redactor, Seal, case_from_line, case_to_line, from_json, junit_xml, plot, results_sha256,
    seal_of, summary_markdown, summary_text, to_json,
};

/// A report is refused, or can be written again, judged and shown; so can a line of results.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for line in text.lines() {
        if let Ok(case) = case_from_line(line) {
            let again = case_to_line(&case).expect("a record is JSON");
            assert_eq!(case_from_line(&again).expect("what was written"), case);
            results_sha256(&[case]).expect("a record is JSON");
        }
    }
    match from_json(&text) {
        Ok(report) => shown(report),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fn shown(report: Report) {
    let written = to_json(&report).expect("a report is JSON");
    assert_eq!(from_json(&written).expect("what was written"), report);
    seal_of(&written).expect("what was written");
    for width in [0, 80] {
        summary_text(&report, width, None);
    }
    summary_markdown(&report);
    let _ = junit_xml(&report);
    for plot in plot::plots(&report) {
        assert!(!plot.file.contains(['/', '\0']), "{}", plot.file);
    }
    let redactor = Redactor::of(&report.device);
    let redacted = redactor.report(report).expect("a report is JSON");
    let written = to_json(&redacted).expect("a report is JSON");
    assert_eq!(seal_of(&written).expect("what was written"), Seal::Whole);
}
