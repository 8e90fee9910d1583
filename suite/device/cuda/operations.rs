//! What the trait [`Device`] asks of a card.
//!
//! Owns: the order of the driver's calls for each request. Imports `image`, `value` and `outcome`. Everything goes to
//! the card's one stream; only what hands bytes or times to the host waits.
//!
//! ```text
//! alloc → arm both bands   take_findings → fetch all bands, compare, arm again what was written
//! ```

use std::sync::Arc;

use super::errors::{DriverError, OUT_OF_MEMORY};
use super::guard::{self, Side};
use super::module::LoadedImage;
use super::native::NativeLibrary;
use super::{Buffer, CudaDevice, LARGE, fill};
use crate::device::{
    Access, Argument, BufferId, Device, DeviceInfo, Elapsed, Launch, Loaded, ModuleId, NativeCall,
    Stamp, first_difference,
};
use crate::image::Image;
use crate::image::native::Library;
use crate::outcome::{Fault, Finding};
use crate::value::Array;

impl CudaDevice {
    /// Each argument's value, in the memory's order of bytes and aligned for every type that an argument has.
    fn values(&self, args: &[Argument]) -> Vec<u64> {
        let value = |arg: &Argument| match *arg {
            Argument::Pointer { buffer, offset } => self.address(buffer, offset, 0).get(),
            Argument::Scalar { bytes, .. } => u64::from_ne_bytes(bytes),
        };
        args.iter().map(value).collect()
    }

    fn library(&self) -> Result<&NativeLibrary, Fault> {
        let none = || Fault::setup("no native library was opened");
        self.native.as_ref().ok_or_else(none)
    }
}

impl Device for CudaDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn load(&mut self, image: &Image) -> Result<Loaded, Fault> {
        let index = match self.modules.iter().position(|loaded| loaded.is(image)) {
            Some(index) => index,
            None => {
                let loaded = LoadedImage::load(self.driver, image)
                    .inspect_err(|fault| self.lost |= fault.sticky)?;
                self.modules.push(loaded);
                self.modules.len() - 1
            }
        };
        Ok(Loaded {
            module: ModuleId(index),
            jit_log: self.modules[index].jit_log.clone(),
        })
    }

    fn alloc(&mut self, len: u64, _access: Access) -> Result<BufferId, Fault> {
        let total = guard::total_len(len).filter(|&total| total <= self.info.total_memory_bytes);
        let total = total.ok_or_else(|| self.out_of_memory(len))?;
        let allocation = match self.allocate(total) {
            Err(DriverError {
                code: OUT_OF_MEMORY,
                ..
            }) => return Err(self.out_of_memory(len)),
            other => self.checked(other, "allocating a buffer")?,
        };
        let index = self.buffers.len();
        self.buffers.push(Buffer {
            name: format!("buffer {index}"),
            len,
            allocation,
        });
        let armed = self
            .arm(index, Side::Front)
            .and_then(|()| self.arm(index, Side::Back));
        self.checked(armed, "writing guard bands")?;
        Ok(BufferId(index))
    }

    fn name_buffer(&mut self, buffer: BufferId, name: &str) {
        self.buffers[buffer.0].name = name.to_owned();
    }

    fn free_all(&mut self) {
        for buffer in self.buffers.drain(..) {
            self.pool.free(buffer.allocation);
        }
        self.probes.forget();
        for event in self.events.drain(..) {
            self.kept.extend(self.driver.destroy_event(event).err());
        }
    }

    fn upload(&mut self, to: BufferId, offset: u64, bytes: &[u8]) -> Result<(), Fault> {
        let to = self.address(to, offset, bytes.len() as u64);
        let done = self.ring.upload(self.driver, to, bytes, self.stream);
        self.checked(done, "uploading")
    }

    fn upload_input(&mut self, to: BufferId, array: &Arc<Array>) -> Result<(), Fault> {
        let bytes = array.as_bytes();
        let address = self.address(to, 0, bytes.len() as u64);
        let kept = self.inputs.find_or_make(self.driver, &mut self.pool, array);
        let Some(kept) = self.checked(kept, "allocating an input's copy")? else {
            return self.upload(to, 0, bytes);
        };
        let filled = match kept.fresh {
            true => self.ring.upload(self.driver, kept.base, bytes, self.stream),
            false => Ok(()),
        };
        let done = filled.and_then(|()| {
            self.driver
                .copy_on_device(address, kept.base, bytes.len() as u64, self.stream)
        });
        if done.is_err() {
            // A copy that may be half there must not serve the next case.
            self.inputs.clear(&mut self.pool);
        }
        self.checked(done, "uploading an input")
    }

    fn first_difference(&mut self, buffer: BufferId, bytes: &[u8]) -> Result<Option<u64>, Fault> {
        let from = self.address(buffer, 0, bytes.len() as u64);
        let mut found = None;
        let range = (from, bytes.len() as u64);
        let done = self
            .ring
            .visit(self.driver, range, self.stream, |start, piece| {
                let at = first_difference(piece, &bytes[start..start + piece.len()]);
                found = at.map(|at| at + start as u64);
                found.is_none()
            });
        self.checked(done, "comparing an input")?;
        Ok(found)
    }

    fn fill(&mut self, to: BufferId, offset: u64, len: u64, pattern: &[u8]) -> Result<(), Fault> {
        let to = self.address(to, offset, len);
        let done = fill::fill(self.driver, to, len, pattern, self.stream);
        self.checked(done, "filling")
    }

    /// One word is on its way back at once: a fill that did nothing would leave what an earlier case wrote there.
    fn poison(&mut self, to: BufferId, offset: u64, len: u64, pattern: &[u8]) -> Result<(), Fault> {
        self.fill(to, offset, len, pattern)?;
        let from = self.address(to, offset, len);
        let name = &self.buffers[to.0].name;
        let probed = self
            .probes
            .probe(self.driver, name, (from, len), pattern, self.stream);
        self.checked(probed, "reading poison")
    }

    fn copy(&mut self, from: (BufferId, u64), to: (BufferId, u64), len: u64) -> Result<(), Fault> {
        let (from, to) = (
            self.address(from.0, from.1, len),
            self.address(to.0, to.1, len),
        );
        if len == 0 {
            return Ok(());
        }
        let done = self.driver.copy_on_device(to, from, len, self.stream);
        self.checked(done, "copying")
    }

    fn launch(&mut self, launch: &Launch<'_>) -> Result<(), Fault> {
        let kernel = self.modules[launch.module.0]
            .kernel(self.driver, launch.kernel)
            .inspect_err(|fault| self.lost |= fault.sticky)?;
        kernel.admit(self.driver, self.limits, launch)?;
        let function = kernel.function;
        let mut values = self.values(launch.args);
        if !self.suspects.iter().any(|name| name == launch.kernel) {
            self.suspects.push(launch.kernel.to_owned());
        }
        let (grid, block, stream) = (launch.grid, launch.block, self.stream);
        // SAFETY: `admit` compared number and sizes of the arguments with the kernel's own, where the driver knows
        // them; before driver 12.4 the plan's comparison with the PTX signature stands alone.
        let done = unsafe {
            self.driver
                .launch(function, grid, block, launch.shared, &mut values, stream)
        };
        self.checked(done, "launching")
    }

    fn open_native(&mut self, library: &Library) -> Result<(), Fault> {
        if self.native.as_ref().is_some_and(|open| open.is(library)) {
            return Ok(());
        }
        let supported = library.supports(self.info.compute_capability);
        supported.map_err(|reason| Fault {
            reason,
            sticky: false,
        })?;
        self.native = Some(NativeLibrary::open(library)?);
        Ok(())
    }

    fn native_scratch(&mut self, call: &NativeCall<'_>) -> Result<u64, Fault> {
        let mut values = self.values(call.args);
        let stream = self.stream.raw();
        let library = self.library()?;
        // SAFETY: the stream is this device's, whose context is current.
        let asked = unsafe { library.query(call.name, &mut values, stream) };
        asked.inspect_err(|fault| self.lost |= fault.sticky)
    }

    fn call_native(&mut self, call: &NativeCall<'_>, scratch: BufferId) -> Result<(), Fault> {
        let mut values = self.values(call.args);
        let stream = self.stream.raw();
        let len = self.buffers[scratch.0].len;
        let scratch = (self.address(scratch, 0, len).get(), len as usize);
        if !self.suspects.iter().any(|name| name == call.name) {
            self.suspects.push(call.name.to_owned());
        }
        let library = self.library()?;
        // SAFETY: the stream and the buffers are this device's, whose context is current; the scratch is as long as it
        // says. What the library does beyond what its arguments point to, guard bands and the context tell.
        let called = unsafe { library.call(call.name, &mut values, stream, scratch) };
        called.inspect_err(|fault| self.lost |= fault.sticky)
    }

    fn finish(&mut self) -> Result<(), Fault> {
        let done = self.driver.wait(self.stream);
        self.checked(done, "waiting for the device")?;
        self.suspects.clear();
        self.probes.take_lost().map_or(Ok(()), Err)
    }

    fn take_findings(&mut self) -> Result<Vec<Finding>, Fault> {
        let checked = self.check_bands();
        let mut findings = Vec::new();
        for (index, side, violation) in self.checked(checked, "reading guard bands")? {
            let buffer = &self.buffers[index];
            findings.push(guard::finding(
                &buffer.name,
                side,
                buffer.band(side).1,
                violation,
            ));
            let armed = self.arm(index, side);
            self.checked(armed, "writing guard bands")?;
        }
        Ok(findings)
    }

    fn download(&mut self, from: BufferId, offset: u64, len: u64) -> Result<&[u8], Fault> {
        let from = self.address(from, offset, len);
        if len <= LARGE {
            let done = self
                .staging
                .fetch(self.driver, &[(from, len)], self.stream)
                .map(|_| ());
            self.checked(done, "downloading")?;
            return Ok(self.staging.fetched());
        }
        self.large.resize(len.div_ceil(8) as usize, 0);
        let bytes = bytemuck::cast_slice_mut::<u64, u8>(&mut self.large);
        let done = self
            .ring
            .visit(self.driver, (from, len), self.stream, |start, piece| {
                bytes[start..start + piece.len()].copy_from_slice(piece);
                true
            });
        self.checked(done, "downloading")?;
        Ok(&bytemuck::cast_slice::<u64, u8>(&self.large)[..len as usize])
    }

    fn close(&mut self) -> Vec<String> {
        self.close_all()
    }

    fn stamp(&mut self) -> Result<Stamp, Fault> {
        let event = match self.spare.pop() {
            Some(event) => event,
            None => self.fresh_event()?,
        };
        self.events.push(event);
        let recorded = self.driver.record(event, self.stream);
        self.checked(recorded, "recording an event")?;
        Ok(Stamp(self.events.len() - 1))
    }

    fn between(&mut self, start: Stamp, end: Stamp) -> Result<Elapsed, Fault> {
        let (start, end) = (self.events[start.0], self.events[end.0]);
        let elapsed = self
            .driver
            .wait_event(end)
            .and_then(|()| self.driver.elapsed_ms(start, end));
        let ms = self.checked(elapsed, "reading a time")?;
        Ok(Elapsed::Milliseconds(f64::from(ms)))
    }
}
