//! No identifier of a card survives redaction, wherever it stands.

use super::super::record::SpecRecord;
use super::super::{Redactor, to_json};
use super::{SERIAL, UUID, case, failing, on_h200};
use crate::identity::Field;
use crate::outcome::{Finding, Reason};
use crate::terms::{FindingKind, Outcome, ReasonKind};
use serde_json::json;

#[test]
fn uuid_and_serial_are_hashed_everywhere() {
    let mut report = failing();
    report
        .run
        .environment
        .insert("CUDA_VISIBLE_DEVICES".to_owned(), UUID.to_owned());
    report
        .device
        .before
        .insert("gpu_uuid".to_owned(), Field::Value(json!(UUID)));
    report
        .host
        .insert("note".to_owned(), json!([{"card": SERIAL}]));
    let mut hit = case("exact", 1, Outcome::Error);
    hit.reason = Some(Reason::new(
        ReasonKind::Environment,
        format!("card {UUID} ({SERIAL}) fell off"),
    ));
    hit.findings.push(
        Finding::new(FindingKind::Health, format!("Xid on {UUID}"))
            .with_detail(vec![format!("serial {SERIAL}")]),
    );
    hit.reported
        .insert("lock".to_owned(), json!(format!("/tmp/{UUID}.lock")));
    hit.repro = format!("cuda-gates run --device {UUID} --exact 'x'");
    report.cases.push(hit);

    let text = to_json(&Redactor::of(&report.device).report(report.clone()).unwrap()).unwrap();
    for secret in [UUID, &UUID[4..], SERIAL] {
        assert!(!text.contains(secret), "{secret} is still there");
    }
    let error = &text[text.find("fell off").unwrap() - 60..];
    assert!(error.contains("redacted:"), "{error}");
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&text).unwrap()["cases"][6]["id"],
        json!(report.cases[6].id)
    );
}

/// Folders of users, apart from what follows: no machine's path is written out here.
const HOMES: &str = "/home";
const ROOT: &str = "/root";

#[test]
fn no_process_and_no_user_is_named() {
    let mut report = failing();
    let processes = || Field::Value(json!({"count": 1, "pids": [495_123]}));
    for fields in [&mut report.device.before, &mut report.device.after] {
        fields.insert("processes".to_owned(), processes());
    }
    let toolkit = json!({"CUDA_HOME": format!("{HOMES}/ada/cuda"), "NVCC": "/srv/ada/bin/nvcc"});
    report.toolchain.insert("environment".to_owned(), toolkit);
    report.suite.specs.push(SpecRecord {
        path: "/Users/ada/specs/x.yaml".to_owned(),
        sha256: "00".to_owned(),
    });
    let environment = &mut report.run.environment;
    environment.insert("CUDA_CACHE_PATH".to_owned(), format!("{ROOT}/.nv"));
    let redactor = Redactor::with_home(&report.device, Some("/srv/ada/".to_owned()));
    let redacted = redactor.report(report).unwrap();
    let text = to_json(&redacted).unwrap();
    for secret in ["ada", "495123", "pids", "/root"] {
        assert!(!text.contains(secret), "{secret} is still there");
    }
    assert_eq!(
        redacted.device.before["processes"],
        Field::Value(json!({"count": 1}))
    );
    assert_eq!(redacted.toolchain["environment"]["NVCC"], "~/bin/nvcc");
    assert_eq!(redacted.suite.specs[0].path, "~/specs/x.yaml");
    assert_eq!(redacted.run.environment["CUDA_CACHE_PATH"], "~/.nv");
}

#[test]
fn only_home_folders_are_homes() {
    let redactor = Redactor::with_home(&on_h200().device, Some("/".to_owned()));
    let inside = [
        format!("/data{HOMES}/x"),
        format!("{HOMES}/"),
        format!("{ROOT}fs/etc"),
        format!("a{ROOT}"),
        format!("1{HOMES}/2"),
    ];
    let elsewhere = ["/usr/local/cuda".to_owned(), "n / 2".to_owned()];
    for text in inside.iter().chain(&elsewhere) {
        assert_eq!(redactor.text(text), *text);
    }
    let quoted = format!("see '{HOMES}/b.c-d/x' ({ROOT})");
    assert_eq!(redactor.text(&quoted), "see '~/x' (~)");
    let list = format!("{HOMES}/a:{HOMES}/b/bin");
    assert_eq!(redactor.text(&list), "~:~/bin");
}

#[test]
fn axes_and_rows_keep_their_order() {
    let mut record = super::passing().cases[5].clone();
    record.params = super::params(&[("z", 1.into()), ("a", UUID.into())]);
    record.timings.reverse();
    let redacted = Redactor::of(&on_h200().device)
        .case(record.clone())
        .unwrap();
    assert_eq!(redacted.params.keys().collect::<Vec<_>>(), ["z", "a"]);
    assert_eq!(redacted.timings, record.timings);
    assert!(redacted.timings.keys().eq(record.timings.keys()));
    assert!(
        redacted.params["a"]
            .as_str()
            .unwrap()
            .starts_with("redacted:")
    );
}

#[test]
fn other_cards_and_shortened_uuids_are_hashed_too() {
    let redactor = Redactor::of(&on_h200().device);
    let text = redactor
        .text("on GPU-ffffffff-0000-1111-2222-333333333333, MIG-1234abcd and GPU-0a1b2c3d!");
    assert!(!text.contains("GPU-") && !text.contains("MIG-"), "{text}");
    assert_eq!(text.matches("redacted:").count(), 3, "{text}");
}

#[test]
fn words_that_identify_nobody_stay() {
    let mut device = on_h200().device;
    device
        .identity
        .insert("board_serial".to_owned(), Field::Value(json!("0")));
    let redactor = Redactor::of(&device);
    let text = "GPU-wide 0 of 10; MIG-capable; GPU-ab";
    assert_eq!(redactor.text(text), text);
}

#[test]
fn a_numeric_serial_is_a_serial() {
    let mut facts = on_h200();
    facts.device.identity.insert(
        "serial".to_owned(),
        Field::Value(json!(1_650_024_030_123_u64)),
    );
    let facts = Redactor::of(&facts.device).facts(facts).unwrap();
    assert!(!format!("{facts:?}").contains(SERIAL));
}

#[test]
fn one_card_has_one_hash_and_redacting_twice_changes_nothing() {
    let once = Redactor::of(&on_h200().device).facts(on_h200()).unwrap();
    let info = once.device.info.as_ref().unwrap().uuid.clone().unwrap();
    assert_eq!(once.device.identity["uuid"], Field::Value(json!(info)));
    let twice = Redactor::of(&once.device).facts(once.clone()).unwrap();
    assert_eq!(twice, once);
}
