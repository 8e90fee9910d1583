//! One case, from its plan to its record: the glue of the worker process.
//!
//! Owns: the order plan → images → inputs → references → session → checks → expectation, the schedules that a case
//! takes on the simulated device, the caches of inputs and references, and the record's numbers. May import everything
//! the flow names up to `report::record`; third-party crates stay where they are.
//!
//! ```no_run
//! use cuda_gates::{case, device::Device, spec::model::Suite, worker::execute::{Executor, Kernels}};
//! # fn example(kernels: Box<dyn Kernels>, suites: Vec<Suite>, device: Box<dyn Device>) -> Option<()> {
//! let case = case::find(&suites, "compaction::exact_compaction::keep=128::n=65537::jit")?;
//! let mut executor = Executor::new(kernels, suites, device);
//! let record = executor.run(&case);
//! println!("{}: {}", record.id, record.outcome);
//! # Some(())
//! # }
//! ```

mod bounds;
mod cache;
mod ended;
mod explore;
mod judge;
mod native;
mod prepare;
mod record;
mod shrink;
#[cfg(test)]
mod tests;
mod timing;
mod wanted;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::case::Case;
use crate::check;
use crate::device::session::{self, Ran, Reading};
use crate::device::sim::Schedule;
use crate::device::{Device, DeviceInfo};
use crate::expr::Engine;
use crate::image::Image;
use crate::image::native::Library;
use crate::input;
use crate::outcome::{Fault, Finding, Reason};
use crate::plan::{Plan, Prepared, Signatures, Work};
use crate::report::record::CaseRecord;
use crate::spec::model::{Check, Gate, Row, Suite, Timings};
use crate::terms::{DeviceKind, ImageKind, Outcome, ReasonKind};
use crate::value::Array;

use super::Schedules;
use bounds::Facts;
pub use explore::{Progress, Tell};
pub use record::{blank, expected};

use cache::Cache;
use judge::{Judge, Verdict};
use prepare::Ready;
use wanted::References;

/// The kernels a run can use.
pub trait Kernels: Signatures {
    /// A module's code for a device of this compute capability.
    ///
    /// # Errors
    /// `setup` when there is none, naming what makes it.
    fn image(
        &self,
        module: &str,
        kind: ImageKind,
        compute_capability: (u32, u32),
    ) -> Result<Image, Fault>;

    /// The native library, where it is built.
    ///
    /// # Errors
    /// `built without`, naming what makes it.
    fn library(&self) -> Result<Library, Reason> {
        Err(Reason::new(
            ReasonKind::BuiltWithout,
            "there is no native library",
        ))
    }
}

/// Host bytes kept of inputs, and as many of reference results.
const CACHE_BYTES_MAX: u64 = 1 << 30;

/// Runs cases on one device, one after the other.
pub struct Executor {
    kernels: Box<dyn Kernels>,
    suites: Arc<[Suite]>,
    device: Box<dyn Device>,
    engine: Engine,
    images: HashMap<(String, ImageKind), Image>,
    inputs: Cache<input::Request, Array>,
    references: References,
    schedules: Schedules,
    /// The schedule that the device was last given.
    under: Schedule,
    lost: bool,
}

impl Executor {
    pub fn new(kernels: Box<dyn Kernels>, suites: Vec<Suite>, device: Box<dyn Device>) -> Self {
        Self {
            kernels,
            suites: suites.into(),
            device,
            engine: Engine::new(),
            images: HashMap::new(),
            inputs: Cache::new(CACHE_BYTES_MAX),
            references: Cache::new(CACHE_BYTES_MAX),
            schedules: Schedules::default(),
            under: Schedule::default(),
            lost: false,
        }
    }

    pub fn suites(&self) -> &[Suite] {
        &self.suites
    }

    pub fn info(&self) -> &DeviceInfo {
        self.device.info()
    }

    /// Whether the device context is gone, so that nothing more can run in this process.
    pub fn lost(&self) -> bool {
        self.lost
    }

    /// Closes the device; gives what failed meanwhile.
    pub fn close(mut self) -> Vec<String> {
        self.device.close()
    }

    /// Sets the schedules under which `run` runs every case; the fair one alone where none are set.
    pub fn set_schedules(&mut self, schedules: Schedules) {
        self.schedules = schedules;
    }

    /// Runs a case. Everything it can end in is an outcome of its record.
    pub fn run(&mut self, case: &Case) -> CaseRecord {
        self.run_telling(case, &mut |_| {})
    }

    /// Runs a case once, under this schedule, whatever `run` would do. Nothing is kept of earlier runs but what a
    /// kernel's own `__device__` variables hold; a fault is survived, although `lost` says so.
    pub fn run_under(&mut self, case: &Case, schedule: Schedule) -> CaseRecord {
        self.explore(case, Schedules::Only(schedule), &mut |_| {})
    }

    /// As `run`, and tells how far it is where there are several schedules or one was asked for.
    pub fn run_telling(&mut self, case: &Case, tell: &mut Tell<'_>) -> CaseRecord {
        self.explore(case, self.schedules, tell)
    }

    /// Runs the plan once under the device's schedule and judges what it wrote. Fills the record in as far as it gets.
    /// The reason of a skip comes back, if no finding stands against it.
    fn once(
        &mut self,
        suite: &Suite,
        gate: &Gate,
        ready: &Ready,
        judge: Judge<'_>,
        record: &mut CaseRecord,
        begins: &mut dyn FnMut(),
    ) -> Result<Option<Reason>, Fault> {
        let Ready { prepared, info, .. } = ready;
        let ran = self.session(ready, judge, begins);
        let (verdicts, ran) = ran.inspect_err(|_| {
            // What was found before the fault says most about it; left on the device, the next case would be told. A
            // lost context has nothing to say.
            let found = self.device.take_findings();
            record.findings.extend(found.unwrap_or_default());
        })?;
        for (kernel, log) in record.kernels.iter_mut().zip(&ran.jit_logs) {
            kernel.jit_log.clone_from(log);
        }
        record.findings.extend(idle(prepared, gate));
        record.findings.extend(ran.findings.iter().cloned());
        let unverified = merge(&prepared.plan, verdicts?, record);
        let facts = Facts::new(suite, &self.engine, prepared, info);
        match &gate.check {
            Check::Assert { that, .. } => record.findings.extend(facts.assertion(that)?),
            Check::Timings(spec) => {
                let (timings, findings) =
                    timing::rows(&prepared.plan, spec, &ran.rows, &unverified, info);
                record.findings.extend(findings);
                record.timings = timings;
                let bounds = facts.bounds(spec, record)?;
                record.findings.extend(bounds);
                return Ok((info.kind == DeviceKind::Sim).then(needs_hardware));
            }
            _ => {}
        }
        Ok(None)
    }

    /// What the device found stands even where a check cannot be made.
    fn session(
        &mut self,
        ready: &Ready,
        mut judge: Judge<'_>,
        begins: &mut dyn FnMut(),
    ) -> Result<(Result<Vec<Verdict>, Fault>, Ran), Fault> {
        let (device, plan) = (self.device.as_mut(), &ready.prepared.plan);
        let ran =
            session::run(
                device,
                plan,
                &ready.images,
                &ready.inputs,
                &mut |reading| match reading {
                    Reading::Begins => begins(),
                    reading => judge.take(reading),
                },
            )?;
        Ok((judge.finish(), ran))
    }
}

/// Moves the verdicts into the record; the rows that are not as they should be come back.
fn merge(plan: &Plan, verdicts: Vec<Verdict>, record: &mut CaseRecord) -> BTreeSet<usize> {
    let mut unverified = BTreeSet::new();
    for verdict in verdicts {
        let Some(row) = verdict.row else {
            record.findings.extend(verdict.findings);
            record.values.extend(verdict.values);
            record.reported.extend(verdict.reported);
            continue;
        };
        let name = match &plan.work {
            Work::Rows { rows, .. } => rows[row].name.as_str(),
            Work::Once { .. } | Work::Repeat { .. } => "",
        };
        for mut finding in verdict.findings {
            unverified.insert(row);
            finding.message = format!("row `{name}`: {}", finding.message);
            record.findings.push(finding);
        }
    }
    unverified
}

/// The spec's rows that the plan holds, in its order.
fn planned_rows<'a>(gate: &'a Gate, plan: &Plan) -> Vec<&'a Row> {
    match (&gate.check, &plan.work) {
        (Check::Timings(Timings { rows, .. }), Work::Rows { rows: planned, .. }) => planned
            .iter()
            .filter_map(|row| rows.get(&row.name))
            .collect(),
        _ => Vec::new(),
    }
}

/// The findings of gates and rows that do nothing at all: what they would read shows nothing. A launch whose grid has
/// a zero counts as something (a gate over no elements is a gate), but a row without work has no time. An assertion
/// may be about nothing being launched.
fn idle(prepared: &Prepared, gate: &Gate) -> Vec<Finding> {
    match &prepared.plan.work {
        Work::Once { steps, .. } | Work::Repeat { steps, .. } => {
            let asserts = matches!(gate.check, Check::Assert { .. });
            let works = !steps.is_empty() || prepared.dropped_launches > 0;
            match works || asserts {
                true => Vec::new(),
                false => vec![check::no_work("the gate")],
            }
        }
        Work::Rows { rows, .. } if rows.is_empty() => {
            vec![check::no_work("the gate, none of whose rows takes part,")]
        }
        Work::Rows { rows, .. } => {
            let idle = rows.iter().filter(|row| row.steps.is_empty());
            idle.map(|row| check::no_work(&format!("row `{}`", row.name)))
                .collect()
        }
    }
}

/// A reason to skip stays one, whoever finds it.
fn outcome_of(reason: &Reason) -> Outcome {
    match reason.kind {
        ReasonKind::Unsupported
        | ReasonKind::Deselected
        | ReasonKind::NeedsHardware
        | ReasonKind::BuiltWithout => Outcome::Skip,
        ReasonKind::Environment
        | ReasonKind::KernelFault
        | ReasonKind::Hang
        | ReasonKind::Setup => Outcome::Error,
    }
}

fn needs_hardware() -> Reason {
    Reason::new(
        ReasonKind::NeedsHardware,
        "the simulated device has no clock; each row ran once and its output is as it should be",
    )
}
