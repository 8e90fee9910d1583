//! A plan's steps as calls of a device: indices become ids, elements become bytes.
//!
//! Owns: that translation. Imports `plan` and `outcome`.
//!
//! ```text
//! Pointer { buffer: 2, element: 5 } of i32 → Pointer { buffer: BufferId(…), offset: 20 }
//! ```

use super::Session;
use crate::device::{Argument, BufferId, Launch};
use crate::outcome::Fault;
use crate::plan::{self, Slice, Step};

impl Session<'_> {
    pub(super) fn steps(&mut self, steps: &[Step]) -> Result<(), Fault> {
        steps.iter().try_for_each(|step| self.step(step))
    }

    fn step(&mut self, step: &Step) -> Result<(), Fault> {
        match step {
            Step::Launch(launch) => self.launch(launch),
            Step::Copy { from, to } => {
                let (from_id, from_offset, len) = self.range(*from);
                let (to_id, to_offset, _) = self.range(*to);
                match len {
                    0 => Ok(()),
                    _ => self
                        .device
                        .copy((from_id, from_offset), (to_id, to_offset), len),
                }
            }
            Step::Fill { to, pattern } => {
                let (id, offset, len) = self.range(*to);
                match len {
                    0 => Ok(()),
                    _ => self.device.fill(id, offset, len, pattern),
                }
            }
        }
    }

    fn launch(&mut self, launch: &plan::Launch) -> Result<(), Fault> {
        let args: Vec<Argument> = launch.args.iter().map(|arg| self.argument(arg)).collect();
        self.device.launch(&Launch {
            module: self.modules[launch.module],
            kernel: &launch.kernel,
            grid: launch.grid,
            block: launch.block,
            shared: launch.shared,
            args: &args,
        })
    }

    fn argument(&self, argument: &plan::Argument) -> Argument {
        match *argument {
            plan::Argument::Pointer { buffer, element } => Argument::Pointer {
                buffer: self.buffers[buffer.0],
                offset: element * self.element_size(buffer),
            },
            plan::Argument::Scalar { bytes, size } => Argument::Scalar { bytes, size },
        }
    }

    /// Buffer, byte offset and byte length.
    pub(super) fn range(&self, slice: Slice) -> (BufferId, u64, u64) {
        let size = self.element_size(slice.buffer);
        (
            self.buffers[slice.buffer.0],
            slice.from * size,
            slice.len * size,
        )
    }

    pub(super) fn element_size(&self, buffer: plan::BufferIndex) -> u64 {
        self.plan.buffers[buffer.0].element.size() as u64
    }
}
