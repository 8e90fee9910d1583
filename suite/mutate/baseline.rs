//! The suite as it is: every case must pass, and what each does is what mutants are held against.
//!
//! Imports `case`, `device` (schedules), `outcome` and `terms`.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::bench::{Bench, Ran, Setting};
use super::pool::Pool;
use super::probe::Trace;
use super::units::Unit;
use crate::device::sim::Schedule;
use crate::terms::Outcome;

/// A unit with what it does when nothing is changed.
#[derive(Clone, Debug)]
pub struct Known {
    pub unit: Unit,
    /// One a schedule, the fair one first.
    pub traces: Vec<Trace>,
}

impl Known {
    pub fn launches(&self, module: &Arc<str>, kernel: &Arc<str>) -> bool {
        let key = (Arc::clone(module), Arc::clone(kernel));
        self.traces[0].kernels.contains(&key)
    }
}

/// Runs every case under the first schedule, and each unit under the others. The cheapest units come first.
///
/// # Errors
/// The cases that do not pass, one line each.
pub fn baseline(
    pool: &Pool<'_>,
    units: &[Unit],
    schedules: &[Schedule],
) -> Result<Vec<Known>, Vec<String>> {
    let run = |bench: &mut Bench, unit: &Unit| unit_traces(bench, unit, schedules);
    let mut known = Vec::new();
    let mut problems = Vec::new();
    for (unit, ran) in units.iter().zip(pool.map("units", units, run)) {
        match ran {
            // A case without a launch notices no mutant.
            Ok(traces) if traces.first().is_none_or(|t| t.kernels.is_empty()) => {}
            Ok(traces) => known.push(Known {
                unit: unit.clone(),
                traces,
            }),
            Err(failed) => problems.extend(failed),
        }
    }
    known.sort_by_key(|known| known.traces[0].cost());
    match problems.is_empty() {
        true => Ok(known),
        false => Err(problems),
    }
}

/// One trace a schedule, or the cases that do not pass.
fn unit_traces(
    bench: &mut Bench,
    unit: &Unit,
    schedules: &[Schedule],
) -> Result<Vec<Trace>, Vec<String>> {
    let mut traces = Vec::with_capacity(schedules.len());
    let mut problems = Vec::new();
    for (number, &schedule) in schedules.iter().enumerate() {
        let cases = match number {
            0 => &unit.cases[..],
            _ => &unit.cases[..1],
        };
        let mut first = None;
        for case in cases {
            let setting = Setting {
                schedule,
                ..Setting::default()
            };
            let ran = bench.run(case, &setting);
            if let Some(why) = failed(&ran) {
                problems.push(format!("{} (schedule {schedule}): {why}", case.id));
            }
            first.get_or_insert(ran.trace);
        }
        traces.extend(first);
    }
    match problems.is_empty() {
        true => Ok(traces),
        false => Err(problems),
    }
}

/// Why the suite as it is cannot be the measure.
fn failed(ran: &Ran) -> Option<String> {
    if let Some(finding) = ran.findings.first().or(ran.trace.findings.first()) {
        return Some(finding.to_string());
    }
    match ran.outcome {
        Outcome::Pass | Outcome::Skip => None,
        outcome => Some(match &ran.reason {
            Some(reason) => reason.to_string(),
            None => outcome.to_string(),
        }),
    }
}

/// Module and kernel of everything that is launched.
pub fn kernels(known: &[Known]) -> BTreeSet<(Arc<str>, Arc<str>)> {
    let all = known.iter().flat_map(|known| &known.traces[0].kernels);
    all.cloned().collect()
}
