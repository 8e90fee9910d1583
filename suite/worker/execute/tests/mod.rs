mod fake;
mod native;
mod schedules;
mod specs;
mod timings;

use indexmap::IndexMap;

use super::*;
use crate::plan::fixture::*;
use crate::spec::model::{Expect, Measure, Step, Want};
use crate::terms::FindingKind;
use crate::value::ElementType::I32;
use fake::{Fake, FakeKernels};

/// Buffers `out` (`2 * n`) and `count` (1); the gate `g` judges `run`.
fn suite_of(n: i64, generator: &str, steps: Vec<Step>, gate: Gate) -> Suite {
    let mut suite = suite(n)
        .with_buffer("out", I32, "2 * n")
        .with_buffer("count", I32, "1")
        .with_pipeline("run", steps)
        .with_gate("g", gate);
    suite.blocks[0].inputs["input"].generator = template(generator);
    suite
}

fn run_on(device: Fake, suite: &Suite) -> CaseRecord {
    let mut executor = executor(device, suite);
    executor.run(&suite.case("g"))
}

fn executor(device: Fake, suite: &Suite) -> Executor {
    Executor::new(Box::new(FakeKernels), vec![suite.clone()], Box::new(device))
}

fn run(suite: &Suite) -> CaseRecord {
    run_on(Fake::new(DeviceKind::Cuda), suite)
}

fn compact() -> Vec<Step> {
    vec![kernel("compact", "1", "1", &["&input", "&out", "&count"])]
}

fn kinds(record: &CaseRecord) -> Vec<FindingKind> {
    record.findings.iter().map(|f| f.kind).collect()
}

fn reason(record: &CaseRecord) -> &Reason {
    record.reason.as_ref().unwrap()
}

fn number(record: &CaseRecord, name: &str) -> Option<i64> {
    record.values.get(name)?.as_i64()
}

#[test]
fn a_right_kernel_passes_with_its_numbers() {
    let gate = gate(exact("run", "out", reference("compact", "nonzero")));
    let record = run(&suite_of(5, "alternating", compact(), gate));
    assert_eq!(record.outcome, Outcome::Pass, "{record:?}");
    assert_eq!(record.reason, None);
    assert!(record.findings.is_empty());
    assert_eq!(number(&record, "want_len"), Some(3));
    assert_eq!(number(&record, "got_len"), Some(10));
    assert_eq!(number(&record, "launches"), Some(1));
    assert_eq!(number(&record, "dropped_launches"), Some(0));
    assert_eq!(record.params["n"], 5);
    let [kernel] = &record.kernels[..] else {
        panic!()
    };
    assert_eq!(
        (kernel.module.as_str(), kernel.compiler.as_str()),
        ("first", "fake 9.0")
    );
    assert_eq!(kernel.jit_log.as_deref(), Some("loaded first"));
    assert!(record.duration_ms > 0.0);
}

#[test]
fn counts_are_noted_with_what_was_wanted() {
    let check = Check::Count {
        run: "run".into(),
        got: slice("count[0]"),
        want: reference("count", "nonzero"),
    };
    let lossy = vec![kernel(
        "compact_loses_one",
        "1",
        "1",
        &["&input", "&out", "&count"],
    )];
    let record = run(&suite_of(5, "all", lossy, gate(check)));
    assert_eq!(record.outcome, Outcome::Fail);
    assert_eq!(kinds(&record), [FindingKind::Count]);
    assert_eq!(
        (number(&record, "got"), number(&record, "want")),
        (Some(4), Some(5))
    );
}

#[test]
fn the_unwritten_and_the_stray_are_found() {
    let lossy = vec![kernel(
        "compact_loses_one",
        "1",
        "1",
        &["&input", "&out", "&count"],
    )];
    let want = || reference("compact", "nonzero");
    let record = run(&suite_of(
        5,
        "all",
        lossy,
        gate(exact("run", "out", want())),
    ));
    assert_eq!(kinds(&record), [FindingKind::Unwritten]);
    let mut stray = compact();
    stray.push(memset("out[7]", "1"));
    let record = run(&suite_of(
        5,
        "all",
        stray,
        gate(exact("run", "out", want())),
    ));
    assert_eq!(kinds(&record), [FindingKind::StrayWrite]);
}

#[test]
fn a_partition_is_judged_with_its_split() {
    let partition = |split: &str| Check::Partition {
        run: "run".into(),
        got: slice("out[0..n]"),
        split: Some(slice("count[0]")),
        want: reference("partition", split),
    };
    // All elements of `all` are positive: the partition is the input itself.
    let record = run(&suite_of(5, "all", compact(), gate(partition("positive"))));
    assert_eq!(record.outcome, Outcome::Pass, "{record:?}");
    assert_eq!(
        (number(&record, "got"), number(&record, "want")),
        (Some(5), Some(5))
    );
    assert_eq!(number(&record, "want_len"), Some(5));
    let record = run(&suite_of(5, "all", compact(), gate(partition("zero"))));
    assert_eq!(kinds(&record), [FindingKind::Split]);
}

#[test]
fn an_expectation_turns_a_failure_into_a_pass_and_back() {
    let mut control = gate(exact("run", "out", reference("compact", "nonzero")));
    control.expect = Expect::Fail {
        cuda: FindingKind::Unwritten,
        sim: FindingKind::OutOfBounds,
    };
    let idle = vec![kernel("idle", "1", "1", &[])];
    let record = run(&suite_of(5, "all", idle, control.clone()));
    assert_eq!(record.outcome, Outcome::Pass);
    let record = run(&suite_of(5, "all", compact(), control));
    assert_eq!(record.outcome, Outcome::Fail);
}

#[test]
fn a_refusal_is_a_setup_error_that_can_be_expected() {
    let mut refused = gate(exact("run", "out", reference("compact", "nonzero")));
    let mut suite = suite_of(5, "all", compact(), refused.clone());
    suite.require.push(crate::spec::model::Requirement {
        that: expr("n < 5"),
        otherwise: "too many".into(),
    });
    let record = run(&suite);
    assert_eq!(record.outcome, Outcome::Error);
    assert_eq!(reason(&record).kind, ReasonKind::Setup);
    assert_eq!(
        reason(&record).message,
        "specs/s.yaml:7:3: too many (n < 5 is false for n = 5)"
    );
    refused.expect = Expect::Error {
        kind: ReasonKind::Setup,
    };
    suite.gates["g"] = refused;
    assert_eq!(run(&suite).outcome, Outcome::Pass);
}

#[test]
fn device_findings_stand_beside_the_checks() {
    let mut steps = compact();
    steps.push(kernel("outside", "1", "1", &["&out"]));
    let gate = gate(exact("run", "out", reference("compact", "nonzero")));
    let record = run(&suite_of(5, "all", steps, gate));
    assert_eq!(record.outcome, Outcome::Fail);
    assert_eq!(kinds(&record), [FindingKind::OutOfBounds]);
}

#[test]
fn a_kernel_fault_ends_the_case_and_loses_the_device() {
    let gate = gate(exact("run", "out", reference("compact", "nonzero")));
    let suite = suite_of(5, "all", vec![kernel("breaks", "1", "1", &["&out"])], gate);
    let mut executor = executor(Fake::new(DeviceKind::Cuda), &suite);
    assert!(!executor.lost());
    let record = executor.run(&suite.case("g"));
    assert_eq!(record.outcome, Outcome::Error);
    assert_eq!(reason(&record).kind, ReasonKind::KernelFault);
    assert!(executor.lost());
}

/// A launch that was refused after one that went out of bounds lost the finding, and told it to the next case.
#[test]
fn what_was_found_before_a_refusal_stays_with_its_case() {
    let exact = || gate(exact("run", "out", reference("compact", "nonzero")));
    let steps = vec![
        kernel("outside", "1", "1", &["&out"]),
        kernel("refused", "1", "1", &["&out"]),
    ];
    let late = suite_of(5, "all", steps, exact());
    let mut next = suite_of(5, "all", compact(), exact());
    next.name = "next".into();
    let suites = vec![late.clone(), next.clone()];
    let device = Box::new(Fake::new(DeviceKind::Cuda));
    let mut executor = Executor::new(Box::new(FakeKernels), suites, device);
    let record = executor.run(&late.case("g"));
    assert_eq!(record.outcome, Outcome::Error);
    assert_eq!(kinds(&record), [FindingKind::OutOfBounds]);
    let record = executor.run(&next.case("g"));
    assert_eq!(record.outcome, Outcome::Pass, "{:?}", record.findings);
}

#[test]
fn another_pipelines_buffer_can_be_wanted() {
    let want = |buffer: &str| Want::Run {
        pipeline: "other".into(),
        buffer: slice(buffer),
    };
    let other = vec![copy("input", "out[n..2 * n]")];
    let passing = gate(exact("run", "out", want("out[n..2 * n]")));
    let suite = suite_of(5, "all", compact(), passing).with_pipeline("other", other.clone());
    let record = run(&suite);
    assert_eq!(record.outcome, Outcome::Pass, "{record:?}");
    assert_eq!(number(&record, "want_len"), Some(5));
    // The first half of that run is poison, which is not what was computed.
    let failing = gate(exact("run", "out", want("out[0..n]")));
    let record = run(&suite_of(5, "all", compact(), failing).with_pipeline("other", other));
    assert_eq!(record.outcome, Outcome::Fail);
}

#[test]
fn scripts_and_files_can_be_wanted() {
    let with = |want: Want| {
        run(&suite_of(
            4,
            "all",
            compact(),
            gate(exact("run", "out", want)),
        ))
    };
    let script = |text: &str| Want::Script {
        text: text.into(),
        place: place(),
    };
    let file = |text: &str| Want::File {
        path: "expected.json".into(),
        text: text.into(),
    };
    let record = with(script("let r = []; for v in input { r.push(v * 1) } r"));
    assert_eq!(record.outcome, Outcome::Pass, "{record:?}");
    assert_eq!(
        with(script("let r = []; for v in input { r.push(v + 1) } r")).outcome,
        Outcome::Fail
    );
    assert_eq!(with(file("[1, 2, 3, 4]")).outcome, Outcome::Pass);
    assert_eq!(with(file("[1, 2, 3, 5]")).outcome, Outcome::Fail);
    let record = with(file("[1, \"two\"]"));
    assert_eq!(
        reason(&record).message,
        "specs/s.yaml:7:3: expected.json: element 1 is \"two\", not a number"
    );
    let record = with(file("[1, 2147483648]"));
    assert_eq!(record.outcome, Outcome::Error);
    assert!(reason(&record).message.contains("2147483648"), "{record:?}");
    let count = Check::Count {
        run: "run".into(),
        got: slice("count[0]"),
        want: script("n"),
    };
    assert_eq!(
        run(&suite_of(4, "all", compact(), gate(count))).outcome,
        Outcome::Pass
    );
}

#[test]
fn what_is_out_of_order_is_reported_and_not_gated() {
    let check = Check::Multiset {
        run: "run".into(),
        got: slice("out"),
        want: reference("copy", "input"),
    };
    let mut gate = gate(check);
    let against = Measure::Against(reference("copy", "input"));
    gate.report = IndexMap::from([("out_of_order".to_owned(), against)]);
    let record = run(&suite_of(
        5,
        "all",
        vec![kernel("reverse", "1", "1", &["&input", "&out"])],
        gate,
    ));
    assert_eq!(record.outcome, Outcome::Pass, "{record:?}");
    // The middle one stays in its place.
    assert_eq!(record.reported["out_of_order"], 4);
}

#[test]
fn runs_that_differ_are_not_repeatable() {
    let check = || Check::Repeatable {
        run: "run".into(),
        got: slice("out[0]"),
        runs: 3,
    };
    let random = vec![kernel("random", "1", "1", &["&out"])];
    let record = run(&suite_of(5, "all", random, gate(check())));
    assert_eq!(kinds(&record), [FindingKind::NotRepeatable]);
    let record = run(&suite_of(5, "all", compact(), gate(check())));
    assert_eq!(record.outcome, Outcome::Pass, "{record:?}");
}

#[test]
fn an_assertion_sees_counts_and_axes() {
    let with = |that: &str| {
        let check = Check::Assert {
            run: "run".into(),
            that: expr(that),
        };
        let steps = vec![
            kernel("idle", "n - 5", "1", &[]),
            kernel("idle", "1", "1", &[]),
        ];
        run(&suite_of(5, "all", steps, gate(check)))
    };
    let holds = "launches == 1 && dropped_launches == 1 && n == 5";
    assert_eq!(with(holds).outcome, Outcome::Pass);
    let record = with("launches == 0");
    assert_eq!(kinds(&record), [FindingKind::Assert]);
    assert_eq!(
        record.findings[0].message,
        "launches == 0 is false (launches = 1)"
    );
    assert_eq!(with("launches").outcome, Outcome::Error);
}

#[test]
fn a_gate_that_does_nothing_shows_nothing() {
    let gate = || gate(exact("run", "out", reference("compact", "nonzero")));
    let record = run(&suite_of(0, "all", vec![], gate()));
    assert_eq!(kinds(&record), [FindingKind::NoWork]);
    // Over no elements, a launch without blocks is all there is to do.
    let record = run(&suite_of(
        0,
        "all",
        vec![kernel("idle", "n", "1", &[])],
        gate(),
    ));
    assert_eq!(record.outcome, Outcome::Pass, "{record:?}");
}

#[test]
fn what_cannot_run_here_is_skipped_or_says_why() {
    let mut gate = gate(exact("run", "out", reference("compact", "nonzero")));
    gate.devices = vec![DeviceKind::Sim];
    let suite = suite_of(5, "all", compact(), gate);
    let record = run(&suite);
    assert_eq!(record.outcome, Outcome::Skip);
    assert_eq!(reason(&record).kind, ReasonKind::Unsupported);
    let mut case = suite.case("g");
    case.image = ImageKind::Nvrtc;
    let record = executor(Fake::new(DeviceKind::Sim), &suite).run(&case);
    assert_eq!(record.outcome, Outcome::Skip);
    assert_eq!(reason(&record).message, "no NVRTC");
    case.gate = "nothing".into();
    let record = executor(Fake::new(DeviceKind::Sim), &suite).run(&case);
    assert_eq!(reason(&record).message, "there is no gate `s::nothing`");
}

#[test]
fn a_case_that_no_card_of_this_size_holds_is_skipped() {
    let gate = gate(exact("run", "out", reference("compact", "nonzero")));
    let suite = suite_of(5, "all", compact(), gate).with_buffer("huge", I32, "1 << 34");
    let record = run(&suite);
    assert_eq!(record.outcome, Outcome::Skip, "{record:?}");
    assert_eq!(reason(&record).kind, ReasonKind::Unsupported);
    let words = &reason(&record).message;
    assert!(
        words.starts_with("the case's buffers take 65537 MiB, "),
        "{words}"
    );
}

#[test]
fn one_case_after_another_on_one_executor() {
    let want = reference("compact", "nonzero");
    let suite = suite_of(5, "alternating", compact(), gate(exact("run", "out", want)));
    let mut executor = executor(Fake::new(DeviceKind::Cuda), &suite);
    let case = suite.case("g");
    let (first, second) = (executor.run(&case), executor.run(&case));
    assert_eq!(first.outcome, Outcome::Pass);
    let alike = CaseRecord {
        duration_ms: first.duration_ms,
        ..second
    };
    assert_eq!(first, alike);
}
