//! What may differ between a run and its going on, and what may not.

use super::*;
use crate::report::record::SpecRecord;
use crate::terms::ImageKind;
use crate::worker::{Address, Schedules};

fn recorded() -> ChoicesRecord {
    ChoicesRecord {
        device: "sim".into(),
        profile: Some("quick".into()),
        images: Some(vec![ImageKind::Jit]),
        filters: vec!["by_".into()],
        exact: true,
        skip: vec!["slow".into()],
        specs: Some("my/specs".into()),
        kernels: None,
        timeout_s: 2.5,
        redact: true,
        cases: 2,
        cases_sha256: "c".into(),
        kernels_sha256: "k".into(),
    }
}

fn facts() -> Facts {
    let mut facts = Facts::sample();
    facts.run.choices = Some(recorded());
    facts.suite.commit = Some("aa".into());
    facts.suite.specs = ["a", "b"]
        .map(|name| SpecRecord {
            path: format!("specs/{name}.yaml"),
            sha256: name.into(),
        })
        .into();
    facts
}

#[test]
fn a_run_is_resumed_by_its_own_choices_and_what_is_named_beside_it() {
    let run = facts().run;
    let environment = Options {
        profile: Some(Profile::Huge),
        device: DeviceChoice::One(Address::Ordinal(7)),
        quiet: true,
        ..Options::default()
    };
    let resume = Resume {
        run: "x".into(),
        kernels: Some("elsewhere".into()),
        ..Resume::default()
    };
    let options = restored(&environment, &resume, &run, &recorded()).unwrap();
    let expected = Options {
        device: DeviceChoice::One(Address::Sim),
        profile: Some(Profile::Quick),
        images: Some(vec![ImageKind::Jit]),
        specs: Some("my/specs".into()),
        kernels: Some("elsewhere".into()),
        timeout: Duration::from_millis(2500),
        selection: Selection {
            filters: vec!["by_".into()],
            exact: true,
            skip: vec!["slow".into()],
        },
        redact: true,
        quiet: true,
        ..Options::default()
    };
    assert_eq!(options, expected);
    let hidden = ChoicesRecord {
        device: "GPX-redacted".into(),
        ..recorded()
    };
    let error = restored(&environment, &resume, &run, &hidden).unwrap_err();
    assert!(error.contains("name it with --device"), "{error}");
    let named = Resume {
        device: Some(DeviceChoice::Auto),
        ..resume
    };
    assert!(restored(&environment, &named, &run, &hidden).is_ok());
    let hidden = ChoicesRecord {
        specs: Some("~/specs".into()),
        ..recorded()
    };
    let error = restored(&environment, &named, &run, &hidden).unwrap_err();
    assert!(error.contains("name it with --specs"), "{error}");
    let named = Resume {
        specs: Some("/srv/ada/specs".into()),
        ..named
    };
    let options = restored(&environment, &named, &run, &hidden).unwrap();
    assert_eq!(options.specs, named.specs);
}

#[test]
fn schedules_are_asked_for_as_they_were() {
    for choice in [
        ScheduleChoice::default(),
        ScheduleChoice {
            seed: Some(7),
            ..ScheduleChoice::default()
        },
        ScheduleChoice {
            count: Some(4),
            seed: Some(7),
            only: None,
        },
        ScheduleChoice {
            only: Some("random:7".parse().unwrap()),
            ..ScheduleChoice::default()
        },
    ] {
        let asked: Schedules = choice.resolve(&Address::Sim).unwrap();
        assert_eq!(schedules(asked.record().as_ref()), choice);
    }
}

#[test]
fn what_has_changed_is_named_and_the_mend_with_it() {
    let then = facts();
    let same = |change: &dyn Fn(&mut Facts, &mut ChoicesRecord)| {
        let (mut now, mut choices) = (facts(), recorded());
        change(&mut now, &mut choices);
        same_suite(&then, &now.suite, &choices)
    };
    assert_eq!(same(&|_, _| {}), Ok(()));
    // The folder's name may be hidden, or another one here.
    let elsewhere = |now: &mut Facts, _: &mut ChoicesRecord| {
        now.suite.specs[0].path = "/srv/ada/specs/a.yaml".into();
        now.suite.specs[1].path = "b.yaml".into();
    };
    assert_eq!(same(&elsewhere), Ok(()));
    // What is chosen again is not compared.
    assert_eq!(same(&|_, choices| choices.timeout_s = 9.0), Ok(()));
    type Change = dyn Fn(&mut Facts, &mut ChoicesRecord);
    let changes: [(&Change, &str); 6] = [
        (
            &|now, _| now.suite.commit = Some("bb".into()),
            "commit aa, this is cuda-gates 0.1.0, commit bb",
        ),
        (
            &|now, _| now.suite.specs[1].sha256 = "x".into(),
            "specs/b.yaml has changed",
        ),
        (
            &|now, _| _ = now.suite.specs.pop(),
            "specs/b.yaml is not there",
        ),
        (
            &|now, _| now.suite.specs[0].path = "new.yaml".into(),
            "new.yaml is new",
        ),
        (
            &|_, choices| choices.kernels_sha256 = "x".into(),
            "the kernels, or their PTX, have changed",
        ),
        (
            &|_, choices| choices.cases_sha256 = "x".into(),
            "it selected 2 cases",
        ),
    ];
    for (change, words) in changes {
        let told = same(change).unwrap_err();
        assert!(
            told.contains(words) && told.contains("begin a new run"),
            "{told}"
        );
    }
    let told = same(&|now, _| {
        now.suite.specs.extend((0..9).map(|i| SpecRecord {
            path: i.to_string(),
            sha256: String::new(),
        }))
    });
    assert!(told.unwrap_err().contains("4 more specs differ"));
}

#[test]
fn another_device_is_refused_and_none_is_the_environments_fault() {
    let then = crate::report::tests::on_h200().device;
    assert_eq!(same_device("r", &then, &then), Ok(()));
    let mut now = then.clone();
    now.driver_version = Some("999.1".into());
    now.info.as_mut().unwrap().uuid = Some("GPU-1".into());
    let (verdict, told) = same_device("r", &then, &now).unwrap_err();
    assert_eq!(verdict, Verdict::Usage);
    for words in [
        "its driver was 580.159.04, this one's is 999.1",
        "its UUID was GPU-",
        "--device",
    ] {
        assert!(told.contains(words), "{told}");
    }
    now.info = None;
    let reason = crate::outcome::Reason::new(crate::terms::ReasonKind::Environment, "no driver");
    now.unavailable = Some(reason);
    let (verdict, told) = same_device("r", &then, &now).unwrap_err();
    assert_eq!(verdict, Verdict::Environment);
    assert!(
        told.contains("no device opens now: environment: no driver"),
        "{told}"
    );
}

#[test]
fn results_of_cases_that_a_run_did_not_select_are_refused() {
    let planned: Vec<PlannedCase> = ["a", "b"].map(planned).into();
    let record = |id: &str| crate::runner::blank::blank_record(id);
    let [a, b, c] = ["s::a::jit", "s::b::jit", "s::c::jit"].map(record);
    let same = |results: &[CaseRecord]| same_cases(&facts(), &planned, results);
    assert_eq!(same(&[]), Ok(()));
    assert_eq!(same(&[b.clone(), a.clone()]), Ok(()));
    let told = same(&[a, c]).unwrap_err();
    let words = "results.jsonl has results of 1 cases that it did not select (first s::c::jit). Take their lines out";
    assert!(told.contains(words), "{told}");
}

fn planned(gate: &str) -> PlannedCase {
    PlannedCase {
        case: crate::case::Case {
            id: format!("s::{gate}::jit"),
            suite: "s".into(),
            block: 0,
            gate: gate.into(),
            subject: String::new(),
            check: "assert".into(),
            image: ImageKind::Jit,
            params: Default::default(),
        },
        decided: None,
    }
}
