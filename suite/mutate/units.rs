//! What a suite runs: its cases on the simulated device, those that launch the same together.
//!
//! Imports `case`, `expr`, `image`, `plan`, `spec` and `terms`.

use std::collections::HashMap;

use crate::case::{self, Case};
use crate::expr::Engine;
use crate::image::Catalog;
use crate::plan::{self, Prepared, Work};
use crate::spec::model::{Expect, Suite};
use crate::terms::{DeviceKind, ImageKind, Profile};

/// Cases whose launches, inputs and buffers are the same: only what is read of them differs. The device is
/// deterministic, so one of them shows what each of them leaves in memory.
#[derive(Clone, Debug)]
pub struct Unit {
    /// One at least.
    pub cases: Vec<Case>,
}

/// The suite's units in a profile. Gates that expect to fail are left out: they are about other kernels.
///
/// # Errors
/// A case that cannot be planned, with its reason; ids that are there twice.
pub fn units(suite: &Suite, profile: Profile, catalog: &Catalog) -> Result<Vec<Unit>, String> {
    let suites = std::slice::from_ref(suite);
    let cases =
        case::expand(suites, profile, &[ImageKind::Jit]).map_err(|problems| problems.join("\n"))?;
    let engine = Engine::new();
    let mut units: Vec<Unit> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for case in cases {
        let expected = suite.gates.get(&case.gate).map(|gate| &gate.expect);
        let left_out = expected != Some(&Expect::Pass)
            || case::decided(suite, &case, DeviceKind::Sim).is_some()
            || case::calls_native(suite, &case);
        if left_out {
            continue;
        }
        let prepared = plan::build(suite, &case, catalog, &engine)
            .map_err(|fault| format!("{}: {fault}", case.id))?;
        if let Some(key) = key(&prepared) {
            if let Some(&unit) = known.get(&key) {
                units[unit].cases.push(case);
                continue;
            }
            known.insert(key, units.len());
        }
        units.push(Unit { cases: vec![case] });
    }
    Ok(units)
}

/// What decides the content of all buffers after the run; none where a case runs more than one pipeline once.
fn key(prepared: &Prepared) -> Option<String> {
    let Work::Once { steps, .. } = &prepared.plan.work else {
        return None;
    };
    if !prepared.plan.wanted.is_empty() {
        return None;
    }
    let (plan, inputs) = (&prepared.plan, &prepared.inputs);
    Some(format!(
        "{inputs:?} {:?} {:?} {steps:?}",
        plan.buffers, plan.modules
    ))
}
