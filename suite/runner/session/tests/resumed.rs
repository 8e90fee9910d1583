//! Sessions that go on with a run that died: its day, its host and its card are the run's, not this process'.

use serde_json::json;

use super::*;
use crate::identity::Field;

/// A waiver whose last day is long gone.
const OLD: &str = "version: 1
waivers:
  - {cases: 's::fail*', cards: script, reason: known, link: 'https://a.b/1', expires: 2026-01-02}
";

pub(super) fn choices() -> ChoicesRecord {
    ChoicesRecord {
        device: "auto".into(),
        profile: None,
        images: None,
        filters: Vec::new(),
        exact: false,
        skip: Vec::new(),
        specs: None,
        kernels: None,
        timeout_s: 2.0,
        redact: false,
        cases: 2,
        cases_sha256: String::new(),
        kernels_sha256: String::new(),
    }
}

/// A suite whose one gate that a block names is `fail`.
fn suite_of_fail() -> Suite {
    let mut suite = suite();
    let gate = Gate {
        expect: Expect::Pass,
        ..suite.gates["hang_expected_late"].clone()
    };
    suite.gates.insert("fail".into(), gate);
    suite.blocks.push(Block {
        axes: IndexMap::new(),
        inputs: IndexMap::new(),
        gates: vec!["fail".into()],
        place: Place::default(),
    });
    suite
}

pub(super) fn newest(reports: &Path) -> Unfinished {
    let store = Store::open(reports);
    let id = store.newest().unwrap().report.run.id;
    store.take_up(&id).unwrap()
}

#[test]
fn the_day_of_a_waiver_is_that_on_which_the_run_began() {
    let reports = tempfile::tempdir().unwrap();
    let waiving = |mut session: Session| {
        session.parts.suites = vec![suite_of_fail()];
        session.parts.waivers = Waivers::parse("waivers.yaml", OLD.as_bytes()).unwrap();
        session
    };
    let mut dies = waiving(session(reports.path(), READY, &["a", "fail"]));
    dies.started = "2026-01-02T23:59:59Z".into();
    dies.parts.choices = Some(choices());
    dies.judge(&case("a"));
    drop(dies);

    let resumed = waiving(session(reports.path(), READY, &["a", "fail"]));
    let resumed = resumed.resuming(newest(reports.path()));
    direct::run(&resumed, 1, false);
    let ended = resumed.finish();
    let report = ended.report.unwrap();
    assert_eq!(report.cases[1].outcome, Outcome::Waived);
    assert_eq!(report.run.problems, []);
    assert_eq!(report.run.waivers[0].state, WaiverState::Waived);
    assert_eq!(ended.verdict, Verdict::Passed);
}

#[test]
fn the_card_at_the_end_is_held_against_the_one_the_run_began_on() {
    let reports = tempfile::tempdir().unwrap();
    let ready = READY.replace(r#""kind":"sim""#, r#""kind":"cuda""#);
    let on_a_card = |reports: &Path| {
        let mut session = session(reports, &ready, &["a", "b"]);
        session.parts.chosen.address = Address::Ordinal(0);
        session.parts.choices = Some(choices());
        session
    };
    // What a session finds here, but for a VBIOS and a name that are others by now.
    let other = tempfile::tempdir().unwrap();
    let mut facts = match on_a_card(other.path()).begun() {
        Ok(begun) => begun.facts.clone(),
        Err((_, reason)) => panic!("{reason}"),
    };
    let vbios = Field::Value(json!("96.00.D0"));
    facts.device.identity.insert("vbios".into(), vbios.clone());
    facts.host.insert("kernel".into(), json!("of the first"));
    let run = Store::open(reports.path()).begin_run(facts).unwrap();
    run.append(&unjudged(
        &case("a"),
        Outcome::Pass,
        Reason::new(ReasonKind::Setup, ""),
    ))
    .unwrap();
    drop(run);

    let resumed = on_a_card(reports.path()).resuming(newest(reports.path()));
    direct::run(&resumed, 1, false);
    let ended = resumed.finish();
    let report = ended.report.unwrap();
    assert_eq!(report.device.identity["vbios"], vbios);
    assert_eq!(report.host["kernel"], json!("of the first"));
    let told: Vec<String> = report.run.problems.iter().map(|p| p.to_string()).collect();
    assert!(told[0].contains("vbios was \"96.00.D0\""), "{told:?}");
    assert_eq!(ended.verdict, Verdict::Failed);
}
