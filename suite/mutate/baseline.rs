//! The suite as it is: every case must pass, and what each does is what mutants are held against.
//!
//! Imports `case`, `device` (schedules), `outcome` and `terms`.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::bench::{Bench, Ran, Setting};
use super::mutant::Mutant;
use super::pool::Pool;
use super::probe::Trace;
use super::units::Unit;
use crate::case::Case;
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

/// Runs every case under the first schedule. The cheapest units come first.
///
/// # Errors
/// The cases that do not pass, one line each.
pub fn baseline(
    pool: &Pool<'_>,
    units: &[Unit],
    schedule: Schedule,
) -> Result<Vec<Known>, Vec<String>> {
    let run = |bench: &mut Bench, unit: &Unit| traces(bench, &unit.cases, &[schedule]);
    let mut known = Vec::new();
    let mut problems = Vec::new();
    for (unit, ran) in units.iter().zip(pool.map("units", units, run)) {
        match ran {
            // The cases of a unit leave the same in memory.
            Ok(mut traces) => {
                traces.truncate(1);
                // A case without a launch notices no mutant.
                if traces.first().is_some_and(|t| !t.kernels.is_empty()) {
                    known.push(Known {
                        unit: unit.clone(),
                        traces,
                    });
                }
            }
            Err(failed) => problems.extend(failed),
        }
    }
    known.sort_by_key(|known| known.traces[0].cost());
    match problems.is_empty() {
        true => Ok(known),
        false => Err(problems),
    }
}

/// Runs one case of each unit that launches one of these mutants' kernels under further schedules.
///
/// # Errors
/// The cases that do not pass, one line each.
pub fn explore(
    pool: &Pool<'_>,
    known: &mut [Known],
    schedules: &[Schedule],
    mutants: &[Arc<Mutant>],
) -> Result<(), Vec<String>> {
    let open = |known: &Known| mutants.iter().any(|m| known.launches(&m.module, &m.kernel));
    let open: Vec<usize> = (0..known.len()).filter(|&i| open(&known[i])).collect();
    let ran = pool.map("units", &open, |bench: &mut Bench, &index| {
        traces(bench, &known[index].unit.cases[..1], schedules)
    });
    let mut problems = Vec::new();
    for (index, ran) in open.into_iter().zip(ran) {
        match ran {
            Ok(traces) => known[index].traces.extend(traces),
            Err(failed) => problems.extend(failed),
        }
    }
    match problems.is_empty() {
        true => Ok(()),
        false => Err(problems),
    }
}

/// One trace a schedule and case, or the cases that do not pass.
fn traces(
    bench: &mut Bench,
    cases: &[Case],
    schedules: &[Schedule],
) -> Result<Vec<Trace>, Vec<String>> {
    let mut traces = Vec::with_capacity(schedules.len() * cases.len());
    let mut problems = Vec::new();
    for &schedule in schedules {
        for case in cases {
            let setting = Setting {
                schedule,
                ..Setting::default()
            };
            let ran = bench.run(case, &setting);
            if let Some(why) = failed(&ran) {
                problems.push(format!("{} (schedule {schedule}): {why}", case.id));
            }
            traces.push(ran.trace);
        }
    }
    match problems.is_empty() {
        true => Ok(traces),
        false => Err(problems),
    }
}

/// Why the suite as it is cannot be the measure.
fn failed(ran: &Ran) -> Option<String> {
    let mut found = ran.findings.iter().chain(&ran.trace.findings);
    if let Some(finding) = found.find(|finding| !finding.kind.is_note()) {
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
