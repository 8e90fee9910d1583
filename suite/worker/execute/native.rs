//! Cases that call the native library where it is not: the whole case is skipped, or of a timing gate the rows alone.

use indexmap::IndexMap;

use crate::outcome::Reason;
use crate::plan::{Plan, Work, is_native, wanted_key};
use crate::spec::model::{Check, Gate, Suite, Want};

/// Takes the rows that need the library out of a timing gate's plan; the rows, each with the reason. None where nothing
/// would be left, so that the case as a whole is skipped.
pub(super) fn leave_out(
    suite: &Suite,
    gate: &Gate,
    plan: &mut Plan,
    reason: &Reason,
) -> Option<IndexMap<String, Reason>> {
    let (Check::Timings(spec), Work::Rows { rows, .. }) = (&gate.check, &mut plan.work) else {
        return None;
    };
    let wanted = plan.wanted.iter().filter(|run| is_native(&run.steps));
    let native: Vec<&str> = wanted.map(|run| run.key.as_str()).collect();
    let is_wanted = |check: &&Check| match check.want() {
        Some(Want::Run { pipeline, buffer }) => {
            native.contains(&wanted_key(pipeline, buffer).as_str())
        }
        _ => false,
    };
    let mut skipped = IndexMap::new();
    rows.retain(|row| {
        let checks = spec.rows.get(&row.name).map(|row| suite.verifying(row));
        let needs = row.is_native() || checks.unwrap_or_default().iter().any(is_wanted);
        if needs {
            skipped.insert(row.name.clone(), reason.clone());
        }
        !needs
    });
    let any = !rows.is_empty();
    plan.wanted.retain(|run| !is_native(&run.steps));
    any.then_some(skipped)
}
