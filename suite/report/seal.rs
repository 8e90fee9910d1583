//! The seal of a report: hashes that tell whether it is as it was written.

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::record::{CaseRecord, Report, SealRecord};

/// What a report's seal says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seal {
    /// The report is as it was written.
    Whole,
    /// Written before reports had one, or taken away: nothing can be said.
    Absent,
    /// The report was changed after it was written; what of it.
    Broken(&'static str),
}

impl Seal {
    /// What is wrong, in words; none when the report is as it was written, or nothing can be said.
    pub fn broken(&self) -> Option<String> {
        match self {
            Seal::Broken(what) => Some(format!("changed after it was written: {what} its seal")),
            Seal::Whole | Seal::Absent => None,
        }
    }
}

/// A report with the seal of what it holds. One that cannot be written as JSON gets none, as writing it will tell.
pub(super) fn sealed(mut report: Report) -> Report {
    report.seal = None;
    report.seal = serde_json::to_string(&report)
        .and_then(|text| serde_json::from_str::<Value>(&text))
        .ok()
        .map(|value| seal(&value));
    report
}

/// Judges a report's text, which need not be this version's: fields that are not known count too.
///
/// # Errors
/// When the text is no JSON.
pub fn seal_of(text: &str) -> Result<Seal, serde_json::Error> {
    let mut value: Value = serde_json::from_str(text)?;
    let told = value.as_object_mut().and_then(|map| map.remove("seal"));
    let Some(told) = told else {
        // What a run was to do is recorded since there are seals.
        let chosen = value
            .pointer("/run/choices")
            .is_some_and(|choices| !choices.is_null());
        return Ok(match chosen {
            true => Seal::Broken("it lacks"),
            false => Seal::Absent,
        });
    };
    let found = seal(&value);
    let says = |name: &str, sha256: &str| told.get(name).and_then(Value::as_str) == Some(sha256);
    Ok(if !says("results_sha256", &found.results_sha256) {
        Seal::Broken("its results do not match")
    } else if !says("report_sha256", &found.report_sha256) {
        Seal::Broken("its results match, the rest does not match")
    } else {
        Seal::Whole
    })
}

/// The hash of results in any order, as a seal has it.
///
/// # Errors
/// Only when a value cannot be written as JSON.
pub fn results_sha256(cases: &[CaseRecord]) -> Result<String, serde_json::Error> {
    let values = cases
        .iter()
        .map(|case| serde_json::from_str(&serde_json::to_string(case)?))
        .collect::<Result<Vec<Value>, _>>()?;
    Ok(of_cases(&values))
}

fn seal(report: &Value) -> SealRecord {
    let cases = report.get("cases").and_then(Value::as_array);
    SealRecord {
        results_sha256: of_cases(cases.map_or(&[], Vec::as_slice)),
        report_sha256: sha256(&canonical(report)),
    }
}

fn of_cases(cases: &[Value]) -> String {
    let id = |case: &Value| case.get("id").and_then(Value::as_str).map(str::to_owned);
    let mut keyed: Vec<(Option<String>, String)> = cases
        .iter()
        .map(|case| (id(case), canonical(case)))
        .collect();
    keyed.sort();
    let lines: String = keyed.into_iter().map(|(_, text)| text + "\n").collect();
    sha256(&lines)
}

/// Compact JSON with sorted keys, whatever order a text or a build of `serde_json` keeps them in.
fn canonical(value: &Value) -> String {
    let mut text = String::new();
    push(&mut text, value);
    text
}

fn push(text: &mut String, value: &Value) {
    match value {
        Value::Array(items) => {
            text.push('[');
            for (i, item) in items.iter().enumerate() {
                comma(text, i);
                push(text, item);
            }
            text.push(']');
        }
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| key.as_str());
            text.push('{');
            for (i, (key, item)) in entries.into_iter().enumerate() {
                comma(text, i);
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push(':');
                push(text, item);
            }
            text.push('}');
        }
        scalar => text.push_str(&scalar.to_string()),
    }
}

fn comma(text: &mut String, index: usize) {
    if index > 0 {
        text.push(',');
    }
}

fn sha256(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::{case, on_h200};
    use crate::report::to_json;
    use crate::terms::Outcome;

    fn report() -> Report {
        let cases = vec![
            case("scan_total", 2, Outcome::Fail),
            case("scan_total", 1, Outcome::Pass),
        ];
        on_h200().into_report(cases, Vec::new())
    }

    #[test]
    fn a_report_is_sealed_however_it_is_laid_out() {
        let report = report();
        let text = to_json(&report).unwrap();
        assert_eq!(seal_of(&text).unwrap(), Seal::Whole);
        let compact = serde_json::to_string(&report).unwrap();
        assert_eq!(seal_of(&compact).unwrap(), Seal::Whole);
        let seal = report.seal.unwrap();
        assert_eq!(seal.results_sha256.len(), 64);
        let mut cases = report.cases;
        cases.reverse();
        assert_eq!(results_sha256(&cases).unwrap(), seal.results_sha256);
        cases.pop();
        assert_ne!(results_sha256(&cases).unwrap(), seal.results_sha256);
    }

    #[test]
    fn the_smallest_change_breaks_it() {
        let text = to_json(&report()).unwrap();
        for (from, to, what) in [
            ("\"fail\",", "\"pass\",", "its results do not"),
            ("\"fail\": 1", "\"fail\": 0", "the rest does not"),
            ("NVIDIA H200", "NVIDIA T4", "the rest does not"),
            (
                "\"seal\": {",
                "\"seal\": {\n\"results_sha256\": \"\",",
                "its results do not",
            ),
            (
                "\"schema\":",
                "\"added\": 1,\n\"schema\":",
                "the rest does not",
            ),
        ] {
            let mut changed = text.replacen(from, to, 1);
            if from.starts_with("\"seal") {
                // The later of two equal keys counts: take the true one away.
                let at = changed.rfind("\"results_sha256\"").unwrap();
                let end = at + changed[at..].find('\n').unwrap();
                changed.replace_range(at..end, "");
            }
            assert_ne!(changed, text, "{from}");
            let Seal::Broken(told) = seal_of(&changed).unwrap() else {
                panic!("{from} → {to} is not noticed");
            };
            assert!(told.contains(what), "{from} → {to}: {told}");
        }
    }

    #[test]
    fn a_report_from_before_there_were_seals_says_nothing() {
        let mut report = report();
        report.seal = None;
        let seal = seal_of(&to_json(&report).unwrap()).unwrap();
        assert_eq!((seal.broken(), &seal), (None, &Seal::Absent));
        assert!(seal_of("{").unwrap_err().is_eof());
        // It was taken away.
        let chosen = r#"{"run": {"choices": {"cases": 3}}, "cases": []}"#;
        assert_eq!(seal_of(chosen).unwrap(), Seal::Broken("it lacks"));
    }
}
