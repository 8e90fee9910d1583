//! Which cases certainly call the native library, whatever their axes: what can be known when cases are listed.

use super::Case;
use crate::spec::model::{Action, Callee, Check, Gate, Row, Step, Suite, Want};

/// Whether a case cannot do without the native library: its pipeline calls it, or every row of a timing gate does. A
/// step under a `when` or in a loop may not run, and so does not count; its plan tells.
pub fn calls_native(suite: &Suite, case: &Case) -> bool {
    let gate = suite.gates.get(&case.gate);
    gate.is_some_and(|gate| gate_calls(suite, gate))
}

fn gate_calls(suite: &Suite, gate: &Gate) -> bool {
    match &gate.check {
        Check::Timings(timings) => {
            !timings.rows.is_empty() && timings.rows.values().all(|row| row_calls(suite, row))
        }
        check => check_calls(suite, check),
    }
}

fn row_calls(suite: &Suite, row: &Row) -> bool {
    let prepared = row.prepare.iter().chain(&row.prepare_each);
    let mut pipelines = prepared.chain([&row.run]);
    let wants = |check: &&Check| check.want().is_some_and(|want| want_calls(suite, want));
    pipelines.any(|name| pipeline_calls(suite, name)) || suite.verifying(row).iter().any(wants)
}

fn check_calls(suite: &Suite, check: &Check) -> bool {
    let run = check.run().is_some_and(|run| pipeline_calls(suite, run));
    run || check.want().is_some_and(|want| want_calls(suite, want))
}

fn want_calls(suite: &Suite, want: &Want) -> bool {
    match want {
        Want::Run { pipeline, .. } => pipeline_calls(suite, pipeline),
        Want::Reference { .. } | Want::File { .. } | Want::Script { .. } => false,
    }
}

/// A loaded suite's pipelines do not run themselves.
fn pipeline_calls(suite: &Suite, name: &str) -> bool {
    let calls = |step: &Step| match &step.action {
        _ if step.when.is_some() => false,
        Action::Call { callee, .. } => *callee == Callee::Native,
        Action::Pipeline { name } => pipeline_calls(suite, name),
        Action::Kernel { .. }
        | Action::Memset { .. }
        | Action::Copy { .. }
        | Action::For { .. } => false,
    };
    let steps = suite.pipelines.get(name);
    steps.is_some_and(|steps| steps.iter().any(calls))
}
