//! Reading, writing, versions and the committed schema.

use std::fs;
use std::path::Path;

use super::super::{ReadError, case_from_line, case_to_line, from_json, schema, to_json};
use super::{case, empty, failing, passing, simulated};
use crate::report::record::Totals;
use crate::terms::{Outcome, ReasonKind};

#[test]
fn every_record_survives_the_round_trip() {
    for report in [passing(), failing(), simulated(), empty()] {
        let text = to_json(&report).unwrap();
        assert_eq!(from_json(&text).unwrap(), report);
        assert_eq!(to_json(&from_json(&text).unwrap()).unwrap(), text);
        assert!(text.ends_with("}\n"));
        for case in &report.cases {
            let line = case_to_line(case).unwrap();
            assert_eq!(line.matches('\n').count(), 1);
            assert_eq!(case_from_line(&line).unwrap(), *case);
        }
    }
}

#[test]
fn axes_keep_the_order_of_the_spec() {
    let mut record = case("g", 1, Outcome::Pass);
    record.params = super::params(&[("z", 1.into()), ("a", 2.into()), ("m", 3.into())]);
    let back = case_from_line(&case_to_line(&record).unwrap()).unwrap();
    assert_eq!(back.params.keys().collect::<Vec<_>>(), ["z", "a", "m"]);
}

#[test]
fn a_newer_major_is_refused_before_its_fields_are_read() {
    let error =
        from_json(r#"{"schema": "cuda-gates.report/2.0", "everything": "else"}"#).unwrap_err();
    assert!(matches!(&error, ReadError::Newer { found } if found == "cuda-gates.report/2.0"));
    assert!(error.to_string().contains("newer cuda-gates"), "{error}");
}

#[test]
fn a_newer_minor_with_unknown_fields_is_read() {
    let mut value = serde_json::to_value(passing()).unwrap();
    value["schema"] = "cuda-gates.report/1.99".into();
    value["weather"] = "fine".into();
    value["cases"][0]["mood"] = 3.into();
    value.as_object_mut().unwrap().remove("tables");
    let report = from_json(&value.to_string()).unwrap();
    assert_eq!(report.cases, passing().cases);
    assert_eq!(report.tables, Vec::new());
}

#[test]
fn other_files_are_told_apart_from_broken_ones() {
    for foreign in [
        "gpu-burn.report/1.0",
        "cuda-gates.report/one.0",
        "cuda-gates.report",
        "",
    ] {
        let text = format!(r#"{{"schema": "{foreign}"}}"#);
        assert!(
            matches!(from_json(&text), Err(ReadError::Foreign(_))),
            "{foreign}"
        );
    }
    for cut in [
        "",
        "{",
        "{\"schema\": \"cuda-gates.rep",
        "{\"schema\": \"x/1.0\",",
    ] {
        let told = from_json(cut).unwrap_err();
        assert!(matches!(told, ReadError::Truncated { .. }), "{cut}: {told}");
    }
    for broken in [
        "[]",
        "{\"schema\": 1}",
        "{\"schema\": \"cuda-gates.report/1.0\"}",
    ] {
        assert!(
            matches!(from_json(broken), Err(ReadError::Json(_))),
            "{broken}"
        );
    }
}

#[test]
fn totals_count_each_outcome_once() {
    let totals = failing().totals;
    assert_eq!(
        totals,
        Totals {
            pass: 1,
            fail: 2,
            skip: 0,
            waived: 1,
            error: 2,
            ..Totals::default()
        }
    );
    assert_eq!(totals.all(), 6);
    let skips = simulated().totals.skips;
    assert_eq!(skips.needs_hardware, 1);
    let each: Vec<_> = skips.each().collect();
    assert_eq!(each, [(ReasonKind::NeedsHardware, 1)]);
    assert_eq!(
        totals.line(),
        "1 passed, 2 failed, 0 skipped, 1 waived, 2 errors"
    );
    assert_eq!(simulated().totals.line(), "1 passed, 0 failed, 1 skipped");
}

/// The committed schema is what the types say; `CUDA_GATES_BLESS=1` rewrites it.
#[test]
fn the_committed_schema_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schema/report.schema.json");
    if std::env::var_os("CUDA_GATES_BLESS").is_some_and(|v| v == "1") {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, schema()).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == schema(),
        "docs/schema/report.schema.json is stale: run `CUDA_GATES_BLESS=1 cargo test --lib report::`"
    );
}

#[test]
fn the_schema_names_the_fields_a_reader_needs() {
    let schema: serde_json::Value = serde_json::from_str(&schema()).unwrap();
    for field in [
        "schema",
        "run",
        "suite",
        "host",
        "toolchain",
        "device",
        "totals",
        "cases",
    ] {
        assert!(schema["properties"][field].is_object(), "{field}");
        assert!(
            schema["required"]
                .as_array()
                .unwrap()
                .iter()
                .any(|r| r == field),
            "{field}"
        );
    }
    assert!(
        !schema["required"]
            .as_array()
            .unwrap()
            .iter()
            .any(|r| r == "tables")
    );
}
