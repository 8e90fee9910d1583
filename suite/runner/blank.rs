//! Records of cases that no worker answered for.

use crate::case::Case;
use crate::outcome::Reason;
use crate::report::record::CaseRecord;
use crate::terms::Outcome;
use crate::worker::execute::blank;

/// A case that was not run, or not to its end.
pub(super) fn unjudged(case: &Case, outcome: Outcome, reason: Reason) -> CaseRecord {
    CaseRecord {
        outcome,
        reason: Some(reason),
        ..blank(case)
    }
}

#[cfg(test)]
pub(super) fn blank_case(id: &str) -> Case {
    Case {
        id: id.to_owned(),
        suite: "s".into(),
        block: 0,
        gate: "g".into(),
        subject: "what is judged".into(),
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
