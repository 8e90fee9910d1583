//! The native library, opened for the cases that call it. Where there is none, the whole case is skipped, or of a
//! timing gate the rows alone.

use indexmap::IndexMap;

use super::record::library_record;
use super::{Executor, outcome_of};
use crate::image::native::{Library, on_simulator};
use crate::outcome::{Fault, Reason};
use crate::plan::{Plan, Work, is_native, wanted_key};
use crate::report::record::CaseRecord;
use crate::spec::model::{Check, Gate, Suite, Want};
use crate::terms::{DeviceKind, Outcome};

impl Executor {
    /// Opens the native library where the plan calls it. Where it is not to be had, the plan goes on without the rows
    /// that need it; the reason comes back if nothing would be left.
    pub(super) fn open_library(
        &mut self,
        suite: &Suite,
        gate: &Gate,
        plan: &mut Plan,
        record: &mut CaseRecord,
    ) -> Result<Option<Reason>, Fault> {
        if !plan.is_native() {
            return Ok(None);
        }
        match self.library()? {
            Ok(library) => record.kernels.push(library_record(&library)),
            Err(reason) => match leave_out(suite, gate, plan, &reason) {
                Some(skipped) => record.skipped_rows = skipped,
                None => return Ok(Some(reason)),
            },
        }
        Ok(None)
    }

    /// The native library, open on the device; else the reason to do without.
    fn library(&mut self) -> Result<Result<Library, Reason>, Fault> {
        let found = match self.device.info().kind {
            DeviceKind::Sim => Err(on_simulator()),
            DeviceKind::Cuda => self.kernels.library(),
        };
        let library = match found {
            Ok(library) => library,
            Err(reason) => return Ok(Err(reason)),
        };
        match self.device.open_native(&library) {
            Ok(()) => Ok(Ok(library)),
            Err(fault) if outcome_of(&fault.reason) == Outcome::Skip => Ok(Err(fault.reason)),
            Err(fault) => Err(fault),
        }
    }
}

/// Takes the rows that need the library out of a timing gate's plan; the rows, each with the reason. None where nothing
/// would be left, so that the case as a whole is skipped.
fn leave_out(
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
