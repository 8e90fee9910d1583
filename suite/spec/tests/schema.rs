//! The JSON Schema: fresh, in step with the decoder, and accepting what the decoder accepts.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::good::EXAMPLES;
use crate::spec::{keys, schema, waivers_schema};

#[test]
fn the_committed_schemas_are_fresh() {
    is_fresh("suite", &schema());
    is_fresh("waivers", &waivers_schema());
}

fn is_fresh(name: &str, schema: &Value) {
    let path = format!("specs/schema/{name}.schema.json");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let fresh = serde_json::to_string_pretty(schema).expect("JSON") + "\n";
    if std::env::var_os("CUDA_GATES_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(&path, &fresh).expect("a writable folder");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == fresh,
        "specs/schema/{name}.schema.json is stale: CUDA_GATES_BLESS=1 cargo test committed_schema"
    );
}

fn property_names(schema: &Value) -> BTreeSet<String> {
    let properties = schema["properties"].as_object();
    properties.map_or_else(BTreeSet::new, |p| p.keys().cloned().collect())
}

fn set(keys: &[&str]) -> BTreeSet<String> {
    keys.iter().map(|key| (*key).to_string()).collect()
}

#[test]
fn the_schema_has_the_keys_that_the_decoder_knows() {
    let schema = schema();
    assert_eq!(property_names(&schema), set(keys::SUITE));
    let table: &[(&str, &[&str])] = &[
        ("Block", keys::BLOCK),
        ("Input", keys::INPUT),
        ("Profiles", keys::PROFILES),
        ("Range", keys::RANGE),
        ("Requirement", keys::REQUIRE),
        ("Buffer", keys::BUFFER),
        ("KernelStep", keys::KERNEL),
        ("NativeStep", keys::NATIVE),
        ("HostStep", keys::HOST),
        ("MemsetStep", keys::MEMSET),
        ("CopyStep", keys::COPY),
        ("PipelineStep", keys::PIPELINE),
        ("ForStep", keys::FOR),
        ("Tolerance", keys::TOLERANCE),
        ("ExpectOther", keys::EXPECT),
        ("FailPerDevice", keys::FAIL),
        ("Measure", keys::MEASURE),
        ("Row", keys::ROW),
        ("Bound", keys::BOUND),
        ("MustRunPerDevice", keys::MUST_RUN),
        ("Table", keys::TABLE),
        ("Plot", keys::PLOT),
        ("WantRun", keys::WANT_RUN),
        ("WantFile", keys::WANT_FILE),
        ("WantScript", keys::WANT_SCRIPT),
    ];
    for (name, keys) in table {
        let definition = &schema["definitions"][name];
        assert_eq!(property_names(definition), set(keys), "{name}");
        let closed = definition["additionalProperties"] == Value::Bool(false);
        assert_eq!(closed, *name != "Input", "{name}");
    }
}

#[test]
fn the_schema_of_waivers_has_the_keys_that_the_decoder_knows() {
    let schema = waivers_schema();
    assert_eq!(property_names(&schema), set(keys::WAIVERS));
    for (name, keys) in [("Waiver", keys::WAIVER), ("DriverRange", keys::DRIVERS)] {
        let definition = &schema["definitions"][name];
        assert_eq!(property_names(definition), set(keys), "{name}");
        assert_eq!(
            definition["additionalProperties"],
            Value::Bool(false),
            "{name}"
        );
    }
}

#[test]
fn the_schema_has_the_checks_that_the_decoder_knows() {
    let schema = schema();
    let variants = |name: &str| schema["definitions"][name]["oneOf"].as_array().cloned();
    let gates = variants("Gate").expect("checks");
    let check = |v: &Value| {
        v["properties"]["check"]["const"]
            .as_str()
            .map(str::to_string)
    };
    let names: BTreeSet<String> = gates.iter().filter_map(check).collect();
    let known: Vec<&str> = keys::CHECKS.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, set(&known));
    for gate in &gates {
        let name = check(gate).expect("a name");
        let (_, own) = keys::CHECKS
            .iter()
            .find(|(n, _)| *n == name)
            .expect("known");
        let mut want = set(keys::GATE);
        want.extend(set(own));
        if name == "timings" {
            want.remove("run");
        }
        assert_eq!(property_names(gate), want, "{name}");
    }
    for row in variants("RowCheck").expect("checks") {
        let name = check(&row).expect("a name");
        let (_, own) = keys::CHECKS
            .iter()
            .find(|(n, _)| *n == name)
            .expect("known");
        let mut want = set(own);
        want.insert("check".to_string());
        assert_eq!(property_names(&row), want, "{name}");
    }
}

/// As much of JSON Schema as this one uses; why a value does not fit.
fn fits(root: &Value, schema: &Value, value: &Value, path: &str) -> Result<(), String> {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.trim_start_matches("#/definitions/");
        let target = &root["definitions"][name];
        assert!(target.is_object(), "{reference}");
        return fits(root, target, value, path);
    }
    for (key, limit) in schema.as_object().into_iter().flatten() {
        let fail = || Err(format!("{path}: {key} {limit}, given {value}"));
        match key.as_str() {
            "const" if limit != value => return fail(),
            "enum" if !limit.as_array().is_some_and(|a| a.contains(value)) => return fail(),
            "type" if !has_type(limit, value) => return fail(),
            "anyOf" | "oneOf" => {
                let options = limit.as_array().expect("a list");
                let results = options.iter().map(|o| fits(root, o, value, path));
                let (good, bad): (Vec<_>, Vec<_>) = results.partition(Result::is_ok);
                if good.is_empty() {
                    return Err(format!("{path}: none of {key}: {bad:?}"));
                }
            }
            "required" => {
                let names = limit.as_array().expect("a list").iter();
                if names.filter_map(Value::as_str).any(|n| value[n].is_null()) {
                    return fail();
                }
            }
            "minItems" if value.as_array().is_some_and(|a| a.is_empty()) => return fail(),
            "items" => {
                for (i, item) in value.as_array().into_iter().flatten().enumerate() {
                    fits(root, limit, item, &format!("{path}[{i}]"))?;
                }
            }
            _ => {}
        }
    }
    for (key, inner) in value.as_object().into_iter().flatten() {
        let path = format!("{path}.{key}");
        match (&schema["properties"][key], &schema["additionalProperties"]) {
            (known, _) if !known.is_null() => fits(root, known, inner, &path)?,
            (_, Value::Bool(false)) => return Err(format!("{path}: unknown key")),
            (_, more) if more.is_object() => fits(root, more, inner, &path)?,
            _ => {}
        }
    }
    Ok(())
}

fn has_type(wanted: &Value, value: &Value) -> bool {
    let one = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "null" => value.is_null(),
        other => panic!("type {other}"),
    };
    match wanted {
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(one),
        name => name.as_str().is_some_and(one),
    }
}

#[test]
fn the_schema_accepts_the_examples_and_refuses_what_is_wrong() {
    let schema = schema();
    let read = |text: &str| serde_yaml::from_str::<Value>(text).expect("YAML");
    for (name, text) in EXAMPLES {
        let result = fits(&schema, &schema, &read(text), name);
        assert_eq!(result, Ok(()), "{name}");
    }
    assert_eq!(
        fits(&schema, &schema, &read(super::good::EVERYTHING), "all"),
        Ok(())
    );
    let naive = super::good::example("naive");
    for (from, to) in [
        ("version: 1", "version: 2"),
        ("suite:", "siute:"),
        ("type: u32", "type: u33"),
        ("grid: grid, ", ""),
        ("check: exact", "check: exakt"),
        ("args: [ping, pong, n]", "args: n"),
        ("{copy: input, to: ping}", "{copy: input, too: ping}"),
        ("less: [0, 3]", "less: 3"),
    ] {
        let text = naive
            .replace("type: i32", "type: u32")
            .replacen(from, to, 1);
        let result = fits(&schema, &schema, &read(&text), "bad");
        assert!(result.is_err(), "{from} → {to}");
    }
}
