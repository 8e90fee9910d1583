//! The suites of this repository on the simulated device.

use crate::case::{self, Case};
use crate::device::sim::SimDevice;
use crate::report::record::CaseRecord;
use crate::terms::{DeviceKind, ImageKind, Outcome, Profile, ReasonKind};
use crate::worker::execute::Executor;
use crate::worker::sources::{self, Sources};

fn executor() -> Executor {
    let Sources {
        suites, catalog, ..
    } = sources::load(None, None).unwrap();
    Executor::new(Box::new(catalog), suites, Box::new(SimDevice::new()))
}

fn quick(executor: &Executor) -> Vec<Case> {
    case::expand(executor.suites(), Profile::Quick, &[ImageKind::Jit]).unwrap()
}

#[test]
fn every_case_of_this_repository_ends_as_it_should() {
    let mut executor = executor();
    let cases = quick(&executor);
    assert!(cases.len() > 200, "{}", cases.len());
    let mut wrong = Vec::new();
    for case in &cases {
        let suites = executor.suites();
        let suite = suites.iter().find(|s| s.name == case.suite).unwrap();
        let hardware_only = case::decided(suite, case, DeviceKind::Sim).is_some();
        let calls_library = case::calls_native(suite, case);
        let record = executor.run(case);
        let kind = record.reason.as_ref().map(|r| r.kind);
        let right = match record.outcome {
            Outcome::Pass => !hardware_only && !calls_library,
            Outcome::Skip if case.check == "health" => kind == Some(ReasonKind::NeedsHardware),
            Outcome::Skip if hardware_only => kind == Some(ReasonKind::Unsupported),
            Outcome::Skip if calls_library => kind == Some(ReasonKind::BuiltWithout),
            Outcome::Skip => case.check == "timings" && kind == Some(ReasonKind::NeedsHardware),
            _ => false,
        };
        if !right {
            wrong.push(format!(
                "{}: {:?} {:?} {:?}",
                record.id, record.outcome, record.reason, record.findings
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
}

#[test]
fn a_case_runs_twice_alike() {
    let ids = [
        "compaction::multiset::keep=128::n=65537::jit",
        "compaction::full_partition::keep=26::n=65537::jit",
    ];
    for id in ids {
        let alike = |mut record: CaseRecord| {
            record.duration_ms = 0.0;
            record
        };
        let run = || {
            let mut executor = executor();
            let case = case::find(executor.suites(), id).unwrap();
            alike(executor.run(&case))
        };
        let first = run();
        assert_eq!(first.outcome, Outcome::Pass, "{first:?}");
        assert_eq!(first, run());
    }
}

#[test]
fn survivors_are_those_of_the_lesson() {
    let mut executor = executor();
    let id = "compaction::exact_compaction::keep=230::n=65537::jit";
    let case = case::find(executor.suites(), id).unwrap();
    let record = executor.run(&case);
    assert_eq!(record.outcome, Outcome::Pass, "{record:?}");
    assert_eq!(record.values["got_len"], 65_537);
    assert_eq!(record.values["launches"], 7);
}
