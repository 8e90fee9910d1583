//! What a gate reaches: its checks, their wanted values, and every pipeline they run.

use indexmap::IndexSet;

use crate::spec::model::{Action, Check, Gate, Measure, Slice, Step, Suite, Verify, Want};

/// Pipelines that these gates run, directly or through others, in order.
pub(super) fn pipelines<'s>(suite: &'s Suite, gates: &[String]) -> IndexSet<&'s str> {
    let mut found = IndexSet::new();
    for gate in gates.iter().filter_map(|name| suite.gates.get(name)) {
        for root in roots(suite, gate) {
            add(suite, root, &mut found);
        }
    }
    found
}

fn add<'s>(suite: &'s Suite, name: &'s str, found: &mut IndexSet<&'s str>) {
    if let Some(steps) = suite.pipelines.get(name)
        && found.insert(name)
    {
        for callee in callees(steps) {
            add(suite, callee, found);
        }
    }
}

/// Pipelines that these steps name, loops included.
pub(super) fn callees(steps: &[Step]) -> Vec<&str> {
    let mut names = Vec::new();
    for step in steps {
        match &step.action {
            Action::Pipeline { name } => names.push(name.as_str()),
            Action::For { steps, .. } => names.extend(callees(steps)),
            _ => {}
        }
    }
    names
}

/// Pipelines that a gate names.
pub(super) fn roots<'s>(suite: &'s Suite, gate: &'s Gate) -> Vec<&'s str> {
    let mut names = Vec::new();
    match &gate.check {
        Check::Timings(timings) => {
            for row in timings.rows.values() {
                let prepared = row.prepare.iter().chain(&row.prepare_each);
                names.extend(prepared.map(String::as_str));
                names.push(row.run.as_str());
            }
        }
        check => names.extend(check.run()),
    }
    names.extend(
        wants(suite, gate)
            .into_iter()
            .filter_map(|want| match want {
                Want::Run { pipeline, .. } => Some(pipeline.as_str()),
                _ => None,
            }),
    );
    names
}

/// A gate's own check, and of timings the checks that verify its rows.
pub(super) fn checks<'s>(suite: &'s Suite, gate: &'s Gate) -> Vec<&'s Check> {
    let Check::Timings(timings) = &gate.check else {
        return vec![&gate.check];
    };
    let rows = timings.rows.values();
    rows.flat_map(|row| suite.verifying(row)).collect()
}

/// Gates that verify this gate's rows.
pub(super) fn verifying(gate: &Gate) -> impl Iterator<Item = &str> {
    let rows = match &gate.check {
        Check::Timings(timings) => Some(timings.rows.values()),
        _ => None,
    };
    let verify = rows.into_iter().flatten().flat_map(|row| &row.verify);
    verify.filter_map(|verify| match verify {
        Verify::Gate(name) => Some(name.as_str()),
        Verify::Inline(_) => None,
    })
}

/// Every wanted value that judging a gate needs.
pub(super) fn wants<'s>(suite: &'s Suite, gate: &'s Gate) -> Vec<&'s Want> {
    let judged = checks(suite, gate).into_iter().filter_map(Check::want);
    let measured = gate.report.values().map(|Measure::Against(want)| want);
    judged.chain(measured).collect()
}

/// The parts of buffers that judging a gate reads.
pub(super) fn results<'s>(suite: &'s Suite, gate: &'s Gate) -> Vec<&'s Slice> {
    let mut slices = Vec::new();
    for check in checks(suite, gate) {
        slices.extend(check.slices());
    }
    slices.extend(
        wants(suite, gate)
            .into_iter()
            .filter_map(|want| match want {
                Want::Run { buffer, .. } => Some(buffer),
                _ => None,
            }),
    );
    slices
}
