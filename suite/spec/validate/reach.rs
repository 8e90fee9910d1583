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
        check => names.extend(run_of(check)),
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

fn run_of(check: &Check) -> Option<&str> {
    match check {
        Check::ScanTotal { run, .. }
        | Check::Count { run, .. }
        | Check::Exact { run, .. }
        | Check::Multiset { run, .. }
        | Check::Partition { run, .. }
        | Check::Sorted { run, .. }
        | Check::Permutation { run, .. }
        | Check::Near { run, .. }
        | Check::Repeatable { run, .. }
        | Check::Assert { run, .. } => Some(run),
        Check::Timings(_) => None,
    }
}

/// A gate's own check, and of timings the checks that verify its rows.
pub(super) fn checks<'s>(suite: &'s Suite, gate: &'s Gate) -> Vec<&'s Check> {
    let Check::Timings(timings) = &gate.check else {
        return vec![&gate.check];
    };
    let verify = timings.rows.values().flat_map(|row| &row.verify);
    let checks = verify.filter_map(|verify| match verify {
        Verify::Gate(name) => suite.gates.get(name).map(|gate| &gate.check),
        Verify::Inline(check) => Some(&**check),
    });
    checks.collect()
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
    let judged = checks(suite, gate).into_iter().filter_map(want_of);
    let measured = gate.report.values().map(|Measure::Against(want)| want);
    judged.chain(measured).collect()
}

fn want_of(check: &Check) -> Option<&Want> {
    match check {
        Check::ScanTotal { want, .. }
        | Check::Count { want, .. }
        | Check::Exact { want, .. }
        | Check::Multiset { want, .. }
        | Check::Partition { want, .. }
        | Check::Permutation { want, .. }
        | Check::Near { want, .. } => Some(want),
        Check::Sorted { .. }
        | Check::Repeatable { .. }
        | Check::Assert { .. }
        | Check::Timings(_) => None,
    }
}

/// The parts of buffers that judging a gate reads.
pub(super) fn results<'s>(suite: &'s Suite, gate: &'s Gate) -> Vec<&'s Slice> {
    let mut slices = Vec::new();
    for check in checks(suite, gate) {
        match check {
            Check::ScanTotal { got, .. }
            | Check::Count { got, .. }
            | Check::Exact { got, .. }
            | Check::Multiset { got, .. }
            | Check::Sorted { got, .. }
            | Check::Permutation { got, .. }
            | Check::Near { got, .. }
            | Check::Repeatable { got, .. } => slices.push(got),
            Check::Partition { got, split, .. } => {
                slices.push(got);
                slices.extend(split);
            }
            Check::Assert { .. } | Check::Timings(_) => {}
        }
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
