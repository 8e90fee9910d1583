//! What a case needs of the host before it runs: plan, images, inputs and what is wanted.

use std::sync::Arc;

use super::judge::Judge;
use super::record::kernel_record;
use super::wanted::Resolver;
use super::{Executor, planned_rows};
use crate::case::{self, Case};
use crate::device::DeviceInfo;
use crate::image::Image;
use crate::input;
use crate::outcome::{Fault, Reason};
use crate::plan::{self, Plan, PlanBuffer, Prepared};
use crate::report::record::CaseRecord;
use crate::spec::model::{Gate, Suite};
use crate::terms::ReasonKind;
use crate::value::Array;

/// What a case needs of the host: the same under every schedule.
pub(super) struct Ready {
    pub info: DeviceInfo,
    pub prepared: Prepared,
    pub images: Vec<Image>,
    pub inputs: Vec<Arc<Array>>,
}

impl Executor {
    /// Everything that is the same under every schedule, without touching the device's memory. The record is filled in
    /// as far as it gets. The reason to skip comes back where there is one.
    pub(super) fn prepare(
        &mut self,
        suite: &Suite,
        gate: &Gate,
        case: &Case,
        record: &mut CaseRecord,
    ) -> Result<Result<Ready, Reason>, Fault> {
        let info = self.device.info().clone();
        if let Some(skip) = case::decided(suite, case, info.kind) {
            return Ok(Err(skip));
        }
        let mut prepared = plan::build(suite, case, self.kernels.as_ref(), &self.engine)?;
        if let Some(skip) = too_large(&prepared.plan, &info) {
            return Ok(Err(skip));
        }
        let mut value = |name: &str, count: u64| record.values.insert(name.into(), count.into());
        value("launches", prepared.launches);
        value("dropped_launches", prepared.dropped_launches);
        let images = self.images(&prepared.plan, case, &info)?;
        record.kernels = images.iter().map(kernel_record).collect();
        if let Some(skip) = self.open_library(suite, gate, &mut prepared.plan, record)? {
            return Ok(Err(skip));
        }
        let inputs = self.inputs(suite, case, &prepared)?;
        Ok(Ok(Ready {
            info,
            prepared,
            images,
            inputs,
        }))
    }

    /// Resolves what the gate wants, once for all schedules.
    pub(super) fn judge<'a>(
        &mut self,
        suite: &'a Suite,
        gate: &'a Gate,
        case: &Case,
        ready: &'a Ready,
    ) -> Result<Judge<'a>, Fault> {
        let rows = planned_rows(gate, &ready.prepared.plan);
        let mut resolver = Resolver {
            suite,
            case,
            prepared: &ready.prepared,
            inputs: &ready.inputs,
            engine: &self.engine,
            references: &mut self.references,
        };
        Judge::new(suite, gate, &rows, &mut resolver)
    }

    fn images(&mut self, plan: &Plan, case: &Case, info: &DeviceInfo) -> Result<Vec<Image>, Fault> {
        let mut images = Vec::with_capacity(plan.modules.len());
        for module in &plan.modules {
            let key = (module.clone(), case.image);
            if let Some(image) = self.images.get(&key) {
                images.push(image.clone());
                continue;
            }
            let image = self
                .kernels
                .image(module, case.image, info.compute_capability)?;
            images.push(image.clone());
            self.images.insert(key, image);
        }
        Ok(images)
    }

    fn inputs(
        &mut self,
        suite: &Suite,
        case: &Case,
        prepared: &Prepared,
    ) -> Result<Vec<Arc<Array>>, Fault> {
        let bytes_of = |array: &Array| array.as_bytes().len() as u64;
        let described = suite.blocks[case.block].inputs.values();
        let requests = prepared.inputs.iter().zip(described);
        requests
            .map(|(request, input)| {
                let make = || input::generate(request);
                let made = self.inputs.get_or_make(request, bytes_of, make);
                made.map_err(|fault| plan::placed(&suite.path, input.place, fault))
            })
            .collect()
    }
}

/// Why a card cannot hold a case at all: its buffers together are larger than all of the card's memory.
fn too_large(plan: &Plan, info: &DeviceInfo) -> Option<Reason> {
    let bytes = |buffer: &PlanBuffer| u128::from(buffer.len) * buffer.element.size() as u128;
    let wanted: u128 = plan.buffers.iter().map(bytes).sum();
    let held = u128::from(info.total_memory_bytes);
    (wanted > held).then(|| {
        let mib = |bytes: u128| bytes.div_ceil(1 << 20);
        let message = format!(
            "the case's buffers take {} MiB, {} has {} MiB",
            mib(wanted),
            info.name,
            held >> 20
        );
        Reason::new(ReasonKind::Unsupported, message)
    })
}
