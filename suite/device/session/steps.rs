//! A plan's steps as calls of a device: indices become ids, elements become bytes.
//!
//! Owns: that translation. Imports `plan` and `outcome`.
//!
//! ```text
//! Pointer { buffer: 2, element: 5 } of i32 → Pointer { buffer: BufferId(…), offset: 20 }
//! ```

use super::Session;
use crate::device::{Access, Argument, BufferId, Launch, NativeCall};
use crate::outcome::Fault;
use crate::plan::{self, Slice, Step};

impl Session<'_> {
    /// What several pipelines prepare may be host steps behind device steps, or the other way round. Host steps that
    /// follow each other share what they bring to the host.
    pub(super) fn steps(&mut self, steps: &[Step]) -> Result<(), Fault> {
        let mut rest = steps;
        while let [step, behind @ ..] = rest {
            rest = behind;
            match step {
                Step::Launch(launch) => self.launch(launch)?,
                Step::Native(call) => self.native(call)?,
                Step::Host(call) => {
                    let more = behind.iter().map_while(Step::host);
                    let calls: Vec<&plan::Call> = std::iter::once(call).chain(more).collect();
                    rest = &rest[calls.len() - 1..];
                    self.host_calls(&calls)?;
                }
                Step::Copy { from, to } => self.copy(*from, *to)?,
                Step::Fill { to, pattern } => self.fill(*to, pattern)?,
            }
        }
        Ok(())
    }

    fn copy(&mut self, from: Slice, to: Slice) -> Result<(), Fault> {
        let (from_id, from_offset, len) = self.range(from);
        let (to_id, to_offset, _) = self.range(to);
        match len {
            0 => Ok(()),
            _ => self
                .device
                .copy((from_id, from_offset), (to_id, to_offset), len),
        }
    }

    fn fill(&mut self, to: Slice, pattern: &[u8]) -> Result<(), Fault> {
        let (id, offset, len) = self.range(to);
        match len {
            0 => Ok(()),
            _ => self.device.fill(id, offset, len, pattern),
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

    fn native(&mut self, call: &plan::Call) -> Result<(), Fault> {
        let args: Vec<Argument> = call.args.iter().map(|arg| self.argument(arg)).collect();
        let name = &call.name;
        let scratch = self.native_scratch.ok_or_else(|| {
            Fault::setup(format!(
                "`{name}` is called before it was asked for its scratch"
            ))
        })?;
        let args = &args;
        self.device.call_native(&NativeCall { name, args }, scratch)
    }

    /// Asks each call of the native library what scratch it needs, and allocates the most of it.
    pub(super) fn allocate_scratch(&mut self) -> Result<(), Fault> {
        let plan = self.plan;
        let mut most = None;
        for step in plan.lists().into_iter().flatten() {
            if let Step::Native(plan::Call { name, args, .. }) = step {
                let args: Vec<Argument> = args.iter().map(|arg| self.argument(arg)).collect();
                let args = &args;
                let bytes = self.device.native_scratch(&NativeCall { name, args })?;
                most = most.max(Some(bytes.max(1)));
            }
        }
        if let Some(bytes) = most {
            let id = self.device.alloc(bytes, Access::ReadWrite)?;
            self.device.name_buffer(id, "scratch of the native library");
            self.native_scratch = Some(id);
        }
        Ok(())
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
