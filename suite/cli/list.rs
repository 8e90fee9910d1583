//! `list`: the cases a run would take.

use serde_json::json;

use super::args::Format;
use super::output::{self, Answer, Outcome};
use crate::runner::PlannedCase;
use crate::spec::model::AxisValue;
use crate::spec::waivers::{ByCase, Waiver, Waivers};

/// Exit code when nothing is selected, as of a run.
const NOTHING: u8 = 4;

/// `heading`: what chose them, for the JSON document.
pub(super) fn list(
    cases: &[PlannedCase],
    waivers: &Waivers,
    heading: serde_json::Value,
    format: Format,
) -> Outcome {
    let code = if cases.is_empty() { NOTHING } else { 0 };
    let answer = match format {
        Format::Json => {
            let mut document = json!({"schema": "cuda-gates.list/1.0"});
            document["run"] = heading;
            let waivers = waivers_of(cases, waivers);
            let both = cases.iter().zip(&waivers);
            document["cases"] = both.map(|(case, waivers)| as_json(case, waivers)).collect();
            output::json(&document)
        }
        Format::Text => {
            // Ids alone, so that each line can be given back as an argument.
            let lines = cases.iter().map(|planned| format!("{}\n", planned.case.id));
            Answer::from(lines.collect::<String>())
        }
    };
    Ok(Answer { code, ..answer })
}

/// Of each case the waivers that name it, in the file's order. Whether one holds here is known once a device is open.
fn waivers_of<'w>(cases: &[PlannedCase], waivers: &'w Waivers) -> Vec<Vec<&'w Waiver>> {
    let numbers = cases.iter().enumerate();
    let numbers = ByCase::new(numbers.map(|(number, planned)| (planned.case.id.as_str(), number)));
    let mut of = vec![Vec::new(); cases.len()];
    for waiver in &waivers.entries {
        numbers
            .named_by(waiver)
            .for_each(|number| of[number].push(waiver));
    }
    of
}

fn as_json(planned: &PlannedCase, waivers: &[&Waiver]) -> serde_json::Value {
    let case = &planned.case;
    let params: serde_json::Map<String, serde_json::Value> = case
        .params
        .iter()
        .map(|(axis, value)| (axis.clone(), axis_json(value)))
        .collect();
    let waivers: Vec<serde_json::Value> =
        waivers.iter().map(|waiver| waiver_json(waiver)).collect();
    json!({
        "id": case.id,
        "suite": case.suite,
        "gate": case.gate,
        "subject": case.subject,
        "check": case.check,
        "image": case.image,
        "params": params,
        "skip": planned.decided,
        "waivers": waivers,
    })
}

fn waiver_json(waiver: &Waiver) -> serde_json::Value {
    json!({
        "cases": waiver.cases,
        "cards": waiver.cards,
        "kinds": waiver.kind_names(),
        "drivers": waiver.drivers.to_string(),
        "reason": waiver.reason,
        "link": waiver.link,
        "expires": waiver.expires,
        "intermittent": waiver.intermittent,
    })
}

fn axis_json(value: &AxisValue) -> serde_json::Value {
    match value {
        AxisValue::Int(value) => (*value).into(),
        AxisValue::Text(value) => value.as_str().into(),
    }
}
