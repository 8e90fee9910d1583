//! Each rule with a run that keeps it and the smallest one that does not.

use serde_json::json;

use super::*;
use crate::report::record::{CaseRecord, CaseWaiver, HealthRecord};
use crate::runner::blank::{blank_case, blank_record};
use crate::spec::{Kernels, Known, Names, load_text};

const SUITE: &str = "version: 1
suite: s
kernels: [k.cu]
axes: {n: {quick: [1, 2], full: [3]}}
buffers: {out: {type: i32, len: n}}
pipelines: {main: [{memset: out, value: 1}]}
gates:
  a: {run: main, check: sorted, got: out}
  b: {run: main, check: sorted, got: out}
must_run: {cuda: [a], sim: [b]}
";

struct NoKernels;

impl Kernels for NoKernels {
    fn signatures(&self, _: &str) -> Known {
        Known::Unknown
    }
}

fn record(gate: &str, n: u32, outcome: Outcome, kind: Option<ReasonKind>) -> CaseRecord {
    let mut record = blank_record(&format!("s::{gate}::n={n}::jit"));
    record.gate = gate.to_owned();
    record.outcome = outcome;
    record.reason = kind.map(|kind| Reason::new(kind, "why"));
    record
}

fn planned(suite: &str) -> PlannedCase {
    let mut case = blank_case("id");
    case.suite = suite.to_owned();
    PlannedCase {
        case,
        decided: None,
    }
}

fn problems(waivers: &str, kind: DeviceKind, of: &str, records: &[CaseRecord]) -> Vec<String> {
    let (_, problems) = whole(waivers, kind, of, records);
    problems.iter().map(ToString::to_string).collect()
}

/// What became of the waivers, and the rules that a run broke.
fn whole(
    waivers: &str,
    kind: DeviceKind,
    of: &str,
    records: &[CaseRecord],
) -> (Vec<WaiverRecord>, Vec<RunProblem>) {
    let suites = [load_text("specs/s.yaml", SUITE.as_bytes(), &NoKernels, Names::any()).unwrap()];
    let waivers = match waivers {
        "" => Waivers::default(),
        entry => {
            let text = format!("version: 1\nwaivers:\n  - {entry}\n");
            Waivers::parse("w.yaml", text.as_bytes()).unwrap()
        }
    };
    let whole = Whole {
        suites: &suites,
        waivers: &waivers,
        cases: &[planned(of)],
        records,
        kind,
        device: OnDevice {
            card: Some("T4"),
            driver: Some("580.1"),
        },
        today: "2026-11-30",
    };
    let told = whole.waivers();
    let problems = whole.problems(&told);
    (told, problems)
}

#[test]
fn a_gate_that_must_run_has_a_case_that_ran() {
    let on = |kind, records: &[CaseRecord]| problems("", kind, "s", records);
    for (outcome, kind) in [
        (Outcome::Pass, None),
        (Outcome::Fail, None),
        (Outcome::Waived, None),
        (Outcome::Error, Some(ReasonKind::Hang)),
    ] {
        let skip = record("a", 2, Outcome::Skip, Some(ReasonKind::BuiltWithout));
        let ran = record("a", 1, outcome, kind);
        assert_eq!(on(DeviceKind::Cuda, &[skip, ran]), [""; 0], "{outcome}");
    }
    let skip = |n| record("a", n, Outcome::Skip, Some(ReasonKind::BuiltWithout));
    assert_eq!(
        on(DeviceKind::Cuda, &[skip(1), skip(2)]),
        [
            "must_run: s::a must run on cuda (specs/s.yaml): 2 cases, none of which ran: built without: why"
        ]
    );
    for unjudged in [ReasonKind::Environment, ReasonKind::Setup] {
        let stranded = record("a", 1, Outcome::Error, Some(unjudged));
        let told = on(DeviceKind::Cuda, &[stranded]);
        assert_eq!(told.len(), 1, "no device or no set-up, no run");
    }
    // Each device has a list of its own.
    let passed = record("a", 1, Outcome::Pass, None);
    assert_eq!(
        on(DeviceKind::Sim, &[passed]),
        ["must_run: s::b must run on sim (specs/s.yaml): this profile has no case of it"]
    );
    assert_eq!(
        problems("", DeviceKind::Cuda, "another", &[]),
        [""; 0],
        "no case of the suite"
    );
}

/// An entry of a file of waivers.
fn entry(cases: &str, reason: &str, more: &str) -> String {
    format!(
        "{{cases: '{cases}', cards: T4, reason: {reason}, link: 'https://a.b', expires: 2027-01-01{more}}}"
    )
}

/// A case of gate `b` in a card's default profile: of one size, with two images.
fn full(image: &str, outcome: Outcome, kind: Option<ReasonKind>) -> CaseRecord {
    let mut record = record("b", 3, outcome, kind);
    record.id = format!("s::b::n=3::{image}");
    record
}

/// By the waiver with this reason.
fn waived(mut record: CaseRecord, reason: &str, cases: &str) -> CaseRecord {
    record.outcome = Outcome::Waived;
    record.waiver = Some(CaseWaiver {
        waives: Outcome::Fail,
        cases: cases.to_owned(),
        reason: reason.to_owned(),
        link: "https://a.b".to_owned(),
        expires: "2027-01-01".to_owned(),
    });
    record
}

#[test]
fn a_waiver_whose_cases_all_pass_must_go() {
    let on = |more: &str, records: &[CaseRecord]| {
        let mut all = records.to_vec();
        all.push(record("a", 1, Outcome::Pass, None));
        problems(&entry("s::b::*", "r", more), DeviceKind::Cuda, "s", &all)
    };
    let pass = |image| full(image, Outcome::Pass, None);
    let without = |image| full(image, Outcome::Skip, Some(ReasonKind::BuiltWithout));
    let told = on("", &[pass("jit"), pass("sass")]);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].starts_with(
            "waiver: w.yaml:3:14: the waiver of `s::b::*` is no longer needed: all of its cases passed (2 here, in \
             the default profile and images)"
        ),
        "{told:?}"
    );
    // What this device never runs says nothing.
    let never = full("sass", Outcome::Skip, Some(ReasonKind::NeedsHardware));
    assert_eq!(on("", &[pass("jit"), never]).len(), 1);
    let one = waived(pass("jit"), "r", "s::b::*");
    assert_eq!(on("", &[one, pass("sass")]), [""; 0], "it waived one");
    assert_eq!(on("", &[without("jit")]), [""; 0], "nothing is known of it");
    let both = [pass("jit"), pass("sass")];
    assert_eq!(on(", intermittent: true", &both), [""; 0]);
    assert_eq!(on(", driver: 570.1", &both), [""; 0], "another driver's");
}

#[test]
fn a_waiver_is_needed_until_a_run_of_the_default_profile_and_images_says_otherwise() {
    let pass = |image| full(image, Outcome::Pass, None);
    let without = full("sass", Outcome::Skip, Some(ReasonKind::BuiltWithout));
    let quick = record("b", 1, Outcome::Pass, None);
    for records in [vec![quick], vec![pass("jit")], vec![pass("jit"), without]] {
        let held = whole(&entry("s::b::*", "r", ""), DeviceKind::Cuda, "s", &records);
        assert_eq!(held.0[0].state, WaiverState::NotSeen, "{records:?}");
        let told: Vec<_> = held
            .1
            .iter()
            .filter(|p| p.rule == RunRule::Waiver)
            .collect();
        assert!(told.is_empty(), "{told:?}");
    }
    let all = [pass("jit"), pass("sass")];
    let held = whole(&entry("s::b::*", "r", ""), DeviceKind::Cuda, "s", &all);
    assert_eq!(held.0[0].state, WaiverState::Unneeded);
}

#[test]
fn a_case_counts_for_the_waiver_that_waived_it() {
    let both = format!(
        "{}\n  - {}",
        entry("s::b::*", "first", ""),
        entry("s::b::*", "second", "")
    );
    let by = |image, reason| waived(full(image, Outcome::Fail, None), reason, "s::b::*");
    let records = [by("jit", "first"), by("sass", "first")];
    let (told, problems) = whole(&both, DeviceKind::Cuda, "s", &records);
    let counts: Vec<_> = told.iter().map(|w| (w.state, w.waived, w.passed)).collect();
    assert_eq!(
        counts,
        [(WaiverState::Waived, 2, 0), (WaiverState::Unneeded, 0, 0)]
    );
    let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
    let words = "w.yaml:4:14: the waiver of `s::b::*` is no longer needed: entries before it waive 2 of its cases";
    assert!(told.iter().any(|told| told.contains(words)), "{told:?}");
}

#[test]
fn a_waiver_past_its_day_or_without_cases_is_told() {
    let passed = [record("a", 1, Outcome::Pass, None)];
    let on = |cases: &str, day: &str| {
        let entry = format!(
            "{{cases: '{cases}', cards: T4, reason: r, link: 'https://a.b', expires: {day}}}"
        );
        problems(&entry, DeviceKind::Cuda, "s", &passed)
    };
    let told = on("s::b::*", "2026-11-29").concat();
    assert!(
        told.contains("expired: 2026-11-29 was its last day"),
        "{told}"
    );
    let told = on("s::c::*", "2027-01-01").concat();
    assert!(told.contains("no case is named `s::c::*`"), "{told}");
    // The full profile's and another image's cases are cases.
    assert_eq!(on("s::b::n=3::sass", "2027-01-01"), [""; 0]);
    assert_eq!(on("s::b::*", "2026-11-30"), [""; 0]);
}

#[test]
fn a_driver_that_changes_during_the_run_is_told() {
    let fields = |driver: Field| BTreeMap::from([("driver_version".to_owned(), driver)]);
    let before = fields(Field::Value(json!("580.1")));
    assert_eq!(identity(&before, &before), []);
    let after = fields(Field::Value(json!("580.2")));
    let told = identity(&before, &after);
    assert_eq!(told.len(), 1);
    assert!(
        told[0]
            .to_string()
            .starts_with("identity: driver_version was \"580.1\""),
        "{told:?}"
    );
    let lost = fields(Field::Unavailable("the card has fallen off the bus".into()));
    let told = identity(&before, &lost)[0].to_string();
    assert!(told.contains("fallen off the bus"), "{told}");
    assert_eq!(
        identity(&lost, &before),
        [],
        "what was not known says nothing"
    );
}

#[test]
fn a_card_that_breaks_is_told_of_cases_that_say_nothing() {
    let suffers = |id: usize, outcome| {
        let mut record = blank_record(&format!("s::g::n={id}::jit"));
        record.outcome = outcome;
        record.health = Some(HealthRecord {
            xid_events: vec![79.into()],
            ..HealthRecord::default()
        });
        record
    };
    let told = |records: &[CaseRecord]| {
        let after = BTreeMap::new();
        let problems = super::health(records, &after).into_iter();
        problems
            .map(|problem| problem.message)
            .collect::<Vec<String>>()
    };
    let failed = [suffers(0, Outcome::Fail), suffers(1, Outcome::Error)];
    assert_eq!(told(&failed), [""; 0]);
    let one = [suffers(2, Outcome::Pass)];
    let words = "during s::g::n=2::jit: Xid 79: results of a card that breaks show nothing; reset or replace it";
    assert_eq!(told(&one), [words]);
    let many: Vec<CaseRecord> = (0..100).map(|id| suffers(id, Outcome::Waived)).collect();
    let told = told(&many);
    assert_eq!(told.len(), 9, "{told:?}");
    assert!(
        told[8].starts_with("during 92 more cases: Xid 79"),
        "{told:?}"
    );

    let between = HealthRecord {
        xid_events: vec![31.into(), 48.into()],
        ..HealthRecord::default()
    };
    let value = Field::Value(serde_json::to_value(between).unwrap());
    let after = BTreeMap::from([(BETWEEN_CASES.to_owned(), value)]);
    let problems = super::health(&[], &after);
    assert!(
        problems[0].message.starts_with("between cases: Xid 48: "),
        "{problems:?}"
    );
}
