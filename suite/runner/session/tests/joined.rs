//! Sessions that share a run, or take up its results: one device, one result a case, no case without one.

use super::resumed::{choices, newest};
use super::*;
use crate::report::record::RunRule;

/// A worker's answer to hello, from a card of this UUID.
fn ready(uuid: &str) -> String {
    READY.replace(r#""uuid":null"#, &format!(r#""uuid":"{uuid}""#))
}

#[test]
fn a_process_on_another_card_joins_no_run() {
    let reports = tempfile::tempdir().unwrap();
    let joins = |uuid: &str, gate: &str| {
        let mut session = session(reports.path(), &ready(uuid), &[gate]);
        session.parts.joined = Some("9e1f".into());
        let record = session.judge(&case(gate));
        (record, session.finish().verdict)
    };
    let (first, verdict) = joins("GPU-1", "a");
    assert_eq!((first.outcome, verdict), (Outcome::Pass, Verdict::Passed));
    let (other, verdict) = joins("GPU-2", "b");
    assert_eq!(
        (other.outcome, verdict),
        (Outcome::Error, Verdict::Environment)
    );
    let reason = other.reason.clone().unwrap();
    assert_eq!(reason.kind, ReasonKind::Environment);
    for words in [
        "its UUID was GPU-1, this one's is GPU-2",
        "Results of two cards are not one run's",
    ] {
        assert!(reason.message.contains(words), "{reason}");
    }
    let (again, _) = joins("GPU-1", "c");
    assert_eq!(again.outcome, Outcome::Pass);
    let loaded = Store::open(reports.path()).newest().unwrap();
    let outcomes: Vec<Outcome> = loaded.report.cases.iter().map(|c| c.outcome).collect();
    assert_eq!(outcomes, [Outcome::Pass, Outcome::Error, Outcome::Pass]);
    assert_eq!(loaded.report.cases[1].repro, "again s::b::jit");
}

#[test]
fn a_run_that_lacks_a_case_does_not_pass_also_where_it_was_filtered() {
    for filtered in [false, true] {
        let reports = tempfile::tempdir().unwrap();
        let mut session = session(reports.path(), READY, &["a", "b"]);
        session.parts.filtered = filtered;
        session.parts.choices = Some(choices());
        session.judge(&case("a"));
        let ended = session.finish();
        assert_eq!(ended.verdict, Verdict::Failed);
        let run = ended.report.unwrap().run;
        assert!(!run.complete);
        let [problem] = &run.problems[..] else {
            panic!("{:?}", run.problems)
        };
        assert_eq!(problem.rule, RunRule::Incomplete);
        let want = format!(
            "1 cases have no result (s::b::jit): `cuda-gates run --resume {}` runs them",
            run.id
        );
        assert_eq!(problem.message, want);
    }
}

#[test]
fn a_run_that_is_resumed_over_two_results_of_a_case_does_not_pass() {
    let reports = tempfile::tempdir().unwrap();
    let mut dies = session(reports.path(), READY, &["a", "b"]);
    dies.parts.choices = Some(choices());
    let fails = dies.judge(&case("a"));
    dies.judge(&case("a"));
    let results = Store::open(reports.path()).newest().unwrap().path;
    let results = results.join("results.jsonl");
    drop(dies);
    let text = fs::read_to_string(&results).unwrap();
    let edited = text.replacen(r#""outcome":"pass""#, r#""outcome":"fail""#, 1);
    assert_ne!(edited, text);
    fs::write(&results, edited).unwrap();
    assert_eq!(fails.outcome, Outcome::Pass);

    let mut resumed = session(reports.path(), READY, &["a", "b"]);
    resumed.parts.choices = Some(choices());
    let resumed = resumed.resuming(newest(reports.path()));
    direct::run(&resumed, 1, false);
    let ended = resumed.finish();
    let report = ended.report.unwrap();
    assert_eq!(ended.verdict, Verdict::Failed);
    assert_eq!((report.cases.len(), report.totals.fail), (2, 1));
    let told: Vec<String> = report.run.problems.iter().map(|p| p.to_string()).collect();
    let want = "results: 2 results of s::a::jit differ: fail, pass: the worst counts";
    assert!(told[0].starts_with(want), "{told:?}");
    let verified = Store::open(reports.path()).verify_all().unwrap();
    assert_eq!(
        (&verified[0].problems[..], verified[0].notes.len()),
        (&[][..], 1)
    );
}
