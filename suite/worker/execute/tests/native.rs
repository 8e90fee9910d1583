//! Cases that call the native library, where it is and where it is not; and host rungs.

use super::fake::WithLibrary;
use super::*;
use crate::case::calls_native;
use crate::spec::model::Callee::{Host, Native};
use crate::spec::model::{Bound, Verify};

fn reversing() -> Vec<Step> {
    vec![call(Native, "lib_reverse", &["&input", "&out", "n"])]
}

fn reversed() -> Gate {
    gate(exact("run", "out", reference("reverse", "input")))
}

fn with_library(name: &'static str, device: Fake, suite: &Suite) -> CaseRecord {
    let device = Box::new(device);
    let mut executor = Executor::new(Box::new(WithLibrary(name)), vec![suite.clone()], device);
    executor.run(&suite.case("g"))
}

fn cuda() -> Fake {
    Fake::new(DeviceKind::Cuda)
}

/// Rows `copy` (the baseline), `library`, `verified` (a copy that is verified by the library's run) and `host`.
fn rungs(more: Vec<Bound>) -> Suite {
    let inline = |check| vec![Verify::Inline(Box::new(check))];
    let copied = || {
        row(
            "copied",
            inline(exact("run", "out", reference("copy", "input"))),
        )
    };
    let library = row(
        "run",
        inline(exact("run", "out", reference("reverse", "input"))),
    );
    let by_library = Want::Run {
        pipeline: "run".into(),
        buffer: slice("out[0..n]"),
    };
    let verified = row("reversed", inline(exact("run", "out", by_library)));
    let scan = row(
        "scanned",
        inline(exact("run", "out", reference("exclusive_scan", "sum"))),
    );
    let rows = [
        ("copy", copied()),
        ("library", library),
        ("verified", verified),
        ("host", scan),
    ];
    let timings = Timings {
        warmups: 1,
        runs: 2,
        baseline: Some("copy".into()),
        rows: rows.map(|(name, row)| (name.to_owned(), row)).into(),
        assert: more,
    };
    suite_of(5, "all", reversing(), gate(Check::Timings(timings)))
        .with_pipeline("copied", vec![copy("input", "out[0..n]")])
        .with_pipeline(
            "reversed",
            vec![kernel("reverse", "1", "1", &["&input", "&out"])],
        )
        .with_pipeline(
            "scanned",
            vec![call(Host, "scan_exclusive", &["&input", "&out", "n"])],
        )
}

fn bound(that: &str) -> Bound {
    Bound {
        that: expr(that),
        cards: Vec::new(),
    }
}

#[test]
fn with_the_library_a_gate_runs_and_names_it() {
    let suite = suite_of(5, "all", reversing(), reversed());
    let record = with_library("lib", cuda(), &suite);
    assert_eq!(record.outcome, Outcome::Pass, "{record:?}");
    let [library] = &record.kernels[..] else {
        panic!("{record:?}")
    };
    assert_eq!(
        (library.module.as_str(), library.image_sha256.as_str()),
        ("native", "ab")
    );
    assert_eq!(library.compiler, "nvcc 13.0.88 (native library)");
}

#[test]
fn without_the_library_a_gate_is_skipped_with_the_reason() {
    let suite = suite_of(5, "all", reversing(), reversed());
    for (record, words) in [
        (run(&suite), "there is no native library"),
        (
            with_library("foreign", cuda(), &suite),
            "no code for this card",
        ),
        (
            with_library("lib", Fake::new(DeviceKind::Sim), &suite),
            "the native library works on a CUDA device only, where `cuda-gates kernels native` builds it",
        ),
    ] {
        assert_eq!(record.outcome, Outcome::Skip, "{record:?}");
        assert_eq!(reason(&record).kind, ReasonKind::BuiltWithout);
        assert_eq!(reason(&record).message, words);
    }
}

#[test]
fn a_wanted_run_of_the_library_is_missed_too() {
    let mut suite = suite_of(5, "all", compact(), reversed());
    suite = suite.with_pipeline("library", reversing());
    let by_library = Want::Run {
        pipeline: "library".into(),
        buffer: slice("out[0..n]"),
    };
    suite.gates["g"] = gate(exact("run", "out", by_library));
    assert_eq!(run(&suite).outcome, Outcome::Skip);
    assert!(calls_native(&suite, &suite.case("g")));
}

#[test]
fn rows_without_the_library_are_skipped_alone_and_the_others_go_on() {
    let record = run(&rungs(vec![
        bound("rows.library.median_ms < 0.0"),
        bound("rows.host.runs == 2"),
        bound("rows.copy.median_ms < 1.0"),
    ]));
    assert_eq!(record.outcome, Outcome::Pass, "{record:?}");
    let timed: Vec<&String> = record.timings.keys().collect();
    assert_eq!(timed, ["copy", "host"]);
    let skipped: Vec<&String> = record.skipped_rows.keys().collect();
    assert_eq!(skipped, ["library", "verified"]);
    assert_eq!(
        record.skipped_rows["library"].kind,
        ReasonKind::BuiltWithout
    );
    let not_judged: Vec<&String> = record.not_judged.keys().collect();
    assert_eq!(not_judged, ["rows.library.median_ms < 0.0"]);
    assert!(!calls_native(&rungs(vec![]), &rungs(vec![]).case("g")));
}

#[test]
fn with_the_library_the_same_bounds_are_judged() {
    let record = with_library(
        "lib",
        cuda(),
        &rungs(vec![
            bound("rows.library.median_ms < 0.0"),
            bound("rows.library.times_baseline == 4.0"),
        ]),
    );
    assert_eq!(kinds(&record), [FindingKind::Assert], "{record:?}");
    assert!(
        record.findings[0]
            .message
            .contains("rows.library.median_ms = 2.0")
    );
    assert!(record.skipped_rows.is_empty() && record.not_judged.is_empty());
    assert_eq!(record.timings["verified"].median_ms, Some(1.0));
}

#[test]
fn a_bound_against_a_skipped_baseline_is_not_judged() {
    let mut suite = rungs(vec![bound("rows.copy.times_baseline < 0.0")]);
    if let Check::Timings(timings) = &mut suite.gates["g"].check {
        timings.baseline = Some("library".into());
    }
    let record = run(&suite);
    assert_eq!(record.outcome, Outcome::Pass, "{record:?}");
    assert_eq!(record.not_judged.len(), 1);
}

#[test]
fn a_timing_gate_of_library_rows_only_is_a_skip() {
    let mut suite = rungs(vec![]);
    if let Check::Timings(timings) = &mut suite.gates["g"].check {
        timings
            .rows
            .retain(|name, _| name == "library" || name == "verified");
    }
    let record = run(&suite);
    assert_eq!(record.outcome, Outcome::Skip, "{record:?}");
    assert_eq!(reason(&record).kind, ReasonKind::BuiltWithout);
    assert!(calls_native(&suite, &suite.case("g")));
}

#[test]
fn host_rows_have_the_hosts_clock() {
    let record = run(&rungs(vec![]));
    let host = &record.timings["host"];
    assert_eq!(
        (host.clock.as_str(), host.launches, host.runs),
        ("host", 0, 2)
    );
    assert!(host.median_ms.is_some() && host.times_baseline.is_some());
    let record = run_on(Fake::new(DeviceKind::Sim), &rungs(vec![]));
    assert_eq!(reason(&record).kind, ReasonKind::NeedsHardware);
    let host = &record.timings["host"];
    assert_eq!((host.clock.as_str(), host.runs), ("host", 1));
    assert_eq!((host.median_ms, host.simulated_instructions), (None, None));
}

#[test]
fn a_host_rung_is_a_gate_on_both_devices_and_can_fail() {
    let steps = vec![call(Host, "scan_exclusive", &["&input", "&out", "n"])];
    let scanned = |operand| gate(exact("run", "out", reference(operand, "sum")));
    for kind in [DeviceKind::Cuda, DeviceKind::Sim] {
        let suite = suite_of(5, "all", steps.clone(), scanned("exclusive_scan"));
        let record = run_on(Fake::new(kind), &suite);
        assert_eq!(record.outcome, Outcome::Pass, "{record:?}");
        let suite = suite_of(5, "all", steps.clone(), scanned("inclusive_scan"));
        assert_eq!(
            kinds(&run_on(Fake::new(kind), &suite)),
            [FindingKind::Mismatch]
        );
    }
}

#[test]
fn a_call_that_may_not_run_decides_nothing_before_its_plan() {
    let maybe = vec![
        when("n == 0", reversing().remove(0)),
        copy("input", "out[0..n]"),
    ];
    let suite = suite_of(
        5,
        "all",
        maybe,
        gate(exact("run", "out", reference("copy", "input"))),
    );
    assert!(!calls_native(&suite, &suite.case("g")));
    assert_eq!(run(&suite).outcome, Outcome::Pass);
}
