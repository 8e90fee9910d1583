//! One case on one device: buffers, runs, times and readings, in the order the plan asks for.
//!
//! Owns: what happens around a plan's steps (poison, findings, warm-ups, stamps, the inputs' integrity). May import
//! `host`, `plan`, `image`, `value`, `terms` and `outcome`. It hands bytes out and never learns what they should have
//! been.
//!
//! ```no_run
//! # use std::sync::Arc;
//! # use cuda_gates::{device::{Device, session}, image::Image, outcome::Fault, plan::Plan, value::Array};
//! # fn example(device: &mut dyn Device, plan: &Plan, images: &[Image], inputs: &[Arc<Array>]) -> Result<(), Fault> {
//! let ran = session::run(device, plan, images, inputs, &mut |reading| match reading {
//!     session::Reading::Run { slice, bytes, .. } => println!("slice {slice}: {} bytes", bytes.len()),
//!     _ => {}
//! })?;
//! println!("{} findings of the device itself", ran.findings.len());
//! # Ok(())
//! # }
//! ```

use std::sync::Arc;

use super::{Access, BufferId, Device, ModuleId};
use crate::host as host_rungs;
use crate::image::Image;
use crate::outcome::{Fault, Finding};
use crate::plan::{self, Plan, Slice, Step, Work};
use crate::terms::{DeviceKind, FindingKind};
use crate::value::{Array, ArrayRef, POISON_BYTE, WANTED_POISON_BYTE};

mod host;
mod rows;
mod steps;

pub use rows::RowTimes;

/// What a run left in a buffer, handed out as soon as it is on the host.
///
/// The bytes are little-endian elements of the slice's buffer, 8-byte aligned (also when empty), and live only for
/// the call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reading<'a> {
    /// Nothing yet: all is loaded, allocated and uploaded, and the first step follows.
    Begins,
    /// `slice` counts the reads of [`Work::Once`] or [`Work::Repeat`]; `run` counts from 0 and is 0 for `Once`.
    Run {
        run: u32,
        slice: usize,
        bytes: &'a [u8],
    },
    /// `slice` counts [`plan::Row::reads`]: what the last timed run left.
    Row {
        row: usize,
        slice: usize,
        bytes: &'a [u8],
    },
    /// `index` counts [`Plan::wanted`].
    Wanted { index: usize, bytes: &'a [u8] },
}

/// What a session gives besides its readings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ran {
    /// Found by the device itself, and inputs that were written. One that recurs is listed once.
    pub findings: Vec<Finding>,
    /// One a row of [`Work::Rows`], in order; else empty.
    pub rows: Vec<RowTimes>,
    /// One a module of [`Plan::modules`], in order.
    pub jit_logs: Vec<Option<String>>,
}

/// Runs `plan`: `images` in the order of its modules, `inputs` in the order of its input buffers.
///
/// Every buffer is freed at the end, also after a fault (unless the context is lost).
///
/// # Errors
/// What the device says: `setup` for an image, shape or size it refuses, `kernel fault` when a kernel broke the
/// context. `setup` too when `images` or `inputs` do not fit the plan.
pub fn run(
    device: &mut dyn Device,
    plan: &Plan,
    images: &[Image],
    inputs: &[Arc<Array>],
    sink: &mut dyn FnMut(Reading<'_>),
) -> Result<Ran, Fault> {
    let result = Session::open(device, plan, images, inputs).and_then(|mut session| {
        sink(Reading::Begins);
        session.work(sink)?;
        session.wanted(sink)?;
        session.compare_inputs(inputs)?;
        Ok(session.ran)
    });
    if !matches!(&result, Err(fault) if fault.sticky) {
        device.free_all();
    }
    result
}

struct Session<'a> {
    device: &'a mut dyn Device,
    plan: &'a Plan,
    modules: Vec<ModuleId>,
    /// By [`plan::BufferIndex`].
    buffers: Vec<BufferId>,
    ran: Ran,
    host_scratch: host_rungs::Scratch,
    /// What calls of the native library share: the device does them one after the other.
    native_scratch: Option<BufferId>,
}

impl<'a> Session<'a> {
    /// Loads, allocates and uploads.
    fn open(
        device: &'a mut dyn Device,
        plan: &'a Plan,
        images: &[Image],
        inputs: &[Arc<Array>],
    ) -> Result<Self, Fault> {
        fits(plan, images, inputs)?;
        let mut session = Session {
            device,
            plan,
            modules: Vec::with_capacity(images.len()),
            buffers: Vec::with_capacity(plan.buffers.len()),
            ran: Ran::default(),
            host_scratch: host_rungs::Scratch::default(),
            native_scratch: None,
        };
        for image in images {
            let loaded = session.device.load(image)?;
            session.modules.push(loaded.module);
            session.ran.jit_logs.push(loaded.jit_log);
        }
        for buffer in &plan.buffers {
            let access = match buffer.is_input {
                true => Access::ReadOnly,
                false => Access::ReadWrite,
            };
            let id = session.device.alloc(byte_len(buffer), access)?;
            session.device.name_buffer(id, &buffer.name);
            session.buffers.push(id);
        }
        for (index, array) in input_indices(plan).zip(inputs) {
            session.device.upload_input(session.buffers[index], array)?;
        }
        session.allocate_scratch()?;
        Ok(session)
    }

    fn work(&mut self, sink: &mut dyn FnMut(Reading<'_>)) -> Result<(), Fault> {
        match &self.plan.work {
            Work::Once { steps, reads } => self.checked_run(0, steps, reads, sink),
            Work::Repeat { runs, steps, reads } => {
                (0..*runs).try_for_each(|run| self.checked_run(run, steps, reads, sink))
            }
            Work::Rows {
                warmups,
                runs,
                rows,
            } => {
                for (index, row) in rows.iter().enumerate() {
                    let times = match self.device.info().kind {
                        DeviceKind::Cuda if row.is_host() => self.host_row(row, *warmups, *runs)?,
                        DeviceKind::Cuda => self.timed_row(row, *warmups, *runs)?,
                        DeviceKind::Sim => self.simulated_row(row)?,
                    };
                    self.ran.rows.push(times);
                    self.settle()?;
                    self.read(&row.reads, |slice, bytes| {
                        let row = index;
                        sink(Reading::Row { row, slice, bytes });
                    })?;
                }
                Ok(())
            }
        }
    }

    fn checked_run(
        &mut self,
        run: u32,
        steps: &[Step],
        reads: &[Slice],
        sink: &mut dyn FnMut(Reading<'_>),
    ) -> Result<(), Fault> {
        self.poison(POISON_BYTE)?;
        self.steps(steps)?;
        self.settle()?;
        self.read(reads, |slice, bytes| {
            sink(Reading::Run { run, slice, bytes })
        })
    }

    /// Runs that give other gates' wanted values; what the device finds in them counts as well.
    fn wanted(&mut self, sink: &mut dyn FnMut(Reading<'_>)) -> Result<(), Fault> {
        for (index, wanted) in self.plan.wanted.iter().enumerate() {
            self.poison(WANTED_POISON_BYTE)?;
            self.steps(&wanted.steps)?;
            self.settle()?;
            self.read(&[wanted.read], |_, bytes| {
                sink(Reading::Wanted { index, bytes })
            })?;
        }
        Ok(())
    }

    /// Every buffer but the inputs, over its full length, with this byte.
    fn poison(&mut self, byte: u8) -> Result<(), Fault> {
        for (buffer, id) in self.plan.buffers.iter().zip(&self.buffers) {
            let len = byte_len(buffer);
            if !buffer.is_input && len > 0 {
                self.device.poison(*id, 0, len, &[byte])?;
            }
        }
        Ok(())
    }

    /// Waits, and keeps what the device found.
    fn settle(&mut self) -> Result<(), Fault> {
        self.device.finish()?;
        for finding in self.device.take_findings()? {
            if !self.ran.findings.contains(&finding) {
                self.ran.findings.push(finding);
            }
        }
        Ok(())
    }

    fn read(&mut self, reads: &[Slice], mut sink: impl FnMut(usize, &[u8])) -> Result<(), Fault> {
        for (index, slice) in reads.iter().enumerate() {
            let (id, offset, len) = self.range(*slice);
            match len {
                // Aligned for every element type, as a device's own bytes are.
                0 => sink(index, bytemuck::cast_slice::<u64, u8>(&[])),
                _ => sink(index, self.device.download(id, offset, len)?),
            }
        }
        Ok(())
    }

    /// An input that changed was written by a kernel. The simulated device sees that write itself, and says where.
    fn compare_inputs(&mut self, inputs: &[Arc<Array>]) -> Result<(), Fault> {
        if self.device.info().kind == DeviceKind::Sim {
            return Ok(());
        }
        for (index, array) in input_indices(self.plan).zip(inputs) {
            let id = self.buffers[index];
            if let Some(at) = self.device.first_difference(id, array.as_bytes())? {
                let size = array.element_type().size() as u64;
                let element = at / size;
                let got = self.device.download(id, element * size, size)?;
                let finding =
                    written_input(&self.plan.buffers[index].name, array, element as usize, got);
                self.ran.findings.push(finding);
            }
        }
        Ok(())
    }
}

fn byte_len(buffer: &plan::PlanBuffer) -> u64 {
    buffer.len * buffer.element.size() as u64
}

fn input_indices(plan: &Plan) -> impl Iterator<Item = usize> + '_ {
    (0..plan.buffers.len()).filter(|&index| plan.buffers[index].is_input)
}

/// What is handed over must be what the plan was built for.
fn fits(plan: &Plan, images: &[Image], inputs: &[Arc<Array>]) -> Result<(), Fault> {
    let modules = images.iter().map(|image| image.module.as_str());
    if !modules.eq(plan.modules.iter().map(String::as_str)) {
        let given: Vec<_> = images.iter().map(|image| &image.module).collect();
        let message = format!("the plan launches from {:?}, given {given:?}", plan.modules);
        return Err(Fault::setup(message));
    }
    let wanted = input_indices(plan).count();
    if wanted != inputs.len() {
        let given = inputs.len();
        let message = format!("the plan has {wanted} inputs, given {given}");
        return Err(Fault::setup(message));
    }
    for (index, array) in input_indices(plan).zip(inputs) {
        let buffer = &plan.buffers[index];
        if array.element_type() != buffer.element || array.len() as u64 != buffer.len {
            return Err(Fault::setup(format!(
                "input `{}` is {} × {}, given {} × {}",
                buffer.name,
                buffer.len,
                buffer.element.name(),
                array.len(),
                array.element_type().name()
            )));
        }
    }
    Ok(())
}

fn written_input(name: &str, want: &Array, element: usize, got: &[u8]) -> Finding {
    let now = match ArrayRef::from_bytes(want.element_type(), got) {
        Ok(view) if !view.is_empty() => view.get(0).to_string(),
        _ => "unreadable".to_owned(),
    };
    let was = want.view().get(element);
    let message = format!("input `{name}` was written: element {element} was {was}, is {now}");
    Finding::new(FindingKind::StrayWrite, message)
}

#[cfg(test)]
mod fake;
#[cfg(test)]
mod tests;
