//! Records of cases that no worker answered for.

use crate::case::{Case, axis_text};
use crate::outcome::Reason;
use crate::report::record::CaseRecord;
use crate::spec::model::AxisValue;
use crate::terms::Outcome;

/// A case that was not run, or not to its end.
pub(super) fn unjudged(case: &Case, outcome: Outcome, reason: Reason) -> CaseRecord {
    let value = |value: &AxisValue| match value {
        AxisValue::Int(v) => serde_json::Value::from(*v),
        AxisValue::Text(_) => serde_json::Value::from(axis_text(value)),
    };
    CaseRecord {
        id: case.id.clone(),
        suite: case.suite.clone(),
        gate: case.gate.clone(),
        check: case.check.clone(),
        image: case.image,
        params: case
            .params
            .iter()
            .map(|(axis, v)| (axis.clone(), value(v)))
            .collect(),
        outcome,
        expected: None,
        reason: Some(reason),
        findings: Vec::new(),
        reported: Default::default(),
        values: Default::default(),
        timings: Default::default(),
        duration_ms: 0.0,
        kernels: Vec::new(),
        repro: String::new(),
    }
}

#[cfg(test)]
pub(super) fn blank_case(id: &str) -> Case {
    Case {
        id: id.to_owned(),
        suite: "s".into(),
        block: 0,
        gate: "g".into(),
        check: "exact".into(),
        image: crate::terms::ImageKind::Jit,
        params: Default::default(),
    }
}

#[cfg(test)]
pub(super) fn blank_record(id: &str) -> CaseRecord {
    let reason = Reason::new(crate::terms::ReasonKind::Setup, "not run");
    let mut record = unjudged(&blank_case(id), Outcome::Pass, reason);
    record.reason = None;
    record
}
