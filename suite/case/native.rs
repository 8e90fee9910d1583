//! Which cases certainly call the native library, whatever their axes: what can be known when cases are listed.

use super::Case;
use crate::spec::model::{Action, Callee, Check, Gate, Row, Suite, Want};

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

/// Whether a step that surely runs calls it. Each pipeline is looked at once, however often others run it.
fn pipeline_calls(suite: &Suite, name: &str) -> bool {
    let mut seen: Vec<&str> = Vec::new();
    let mut open = vec![name];
    while let Some(name) = open.pop() {
        let Some((name, steps)) = suite.pipelines.get_key_value(name) else {
            continue;
        };
        if seen.contains(&name.as_str()) {
            continue;
        }
        seen.push(name);
        for step in steps.iter().filter(|step| step.when.is_none()) {
            match &step.action {
                Action::Call {
                    callee: Callee::Native,
                    ..
                } => return true,
                Action::Pipeline { name } => open.push(name),
                Action::Kernel { .. }
                | Action::Call { .. }
                | Action::Memset { .. }
                | Action::Copy { .. }
                | Action::For { .. } => {}
            }
        }
    }
    false
}
