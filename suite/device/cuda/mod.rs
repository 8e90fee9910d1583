//! CUDA devices through the driver API: the only place of this crate that names cudarc.
//!
//! Owns: [`enumerate`], [`CudaDevice`] and [`CardLock`]; inside, the driver's calls (`driver`), its codes (`errors`),
//! memory, guard bands and modules. May import `image`, `value` and `outcome`.
//!
//! A device uses the primary context: libraries built on the runtime API use that one too, and the process is given
//! up after a fault anyhow. All work is on one stream of its own.
//!
//! ```no_run
//! use cuda_gates::device::cuda::{CudaDevice, Select};
//! use cuda_gates::device::{Access, Device};
//! # fn example() -> Result<(), cuda_gates::outcome::Fault> {
//! let mut card = CudaDevice::open(&Select::Ordinal(0))?;
//! let buffer = card.alloc(1024, Access::ReadWrite)?;
//! card.fill(buffer, 0, 1024, &7_u32.to_le_bytes())?;
//! assert_eq!(card.download(buffer, 0, 4)?, [7, 0, 0, 0]);
//! # Ok(())
//! # }
//! ```

use std::sync::Arc;

use super::{
    Access, Argument, BufferId, Device, DeviceInfo, Elapsed, Launch, Loaded, ModuleId, Stamp,
};
use crate::image::Image;
use crate::outcome::{Fault, Finding};
use crate::value::Array;

mod driver;
mod errors;
mod fill;
mod guard;
mod info;
mod inputs;
mod lock;
mod memory;
mod module;

pub use info::{Select, enumerate};
pub use lock::CardLock;

use driver::{Address, Driver, Event, Ordinal, Stream};
use errors::{DriverError, OUT_OF_MEMORY};
use guard::Side;
use inputs::InputCache;
use memory::{Allocation, Pool, Ring, Staging};
use module::{Limits, LoadedImage};

/// Downloads above this many bytes do not get page-locked memory of their full size.
const LARGE: u64 = 256 << 20;

/// One card, open. It belongs to the thread that opened it.
pub struct CudaDevice {
    driver: &'static Driver,
    ordinal: Ordinal,
    info: DeviceInfo,
    limits: Limits,
    stream: Stream,
    modules: Vec<LoadedImage>,
    buffers: Vec<Buffer>,
    pool: Pool,
    staging: Staging,
    large: Vec<u64>,
    ring: Ring,
    inputs: InputCache,
    /// What all guard bands are cut from, here and on the device.
    guards: Vec<u8>,
    guards_on_device: Allocation,
    events: Vec<Event>,
    /// Of `events`, how many are stamps since `free_all`.
    stamps: usize,
    /// Kernels launched since the device was last seen idle, each once: suspects, should it fail.
    suspects: Vec<String>,
    lost: bool,
}

struct Buffer {
    name: String,
    len: u64,
    allocation: Allocation,
}

impl Buffer {
    fn data(&self) -> Address {
        self.allocation.base.at(guard::BAND)
    }

    /// A band's address and length.
    fn band(&self, side: Side) -> (Address, u64) {
        match side {
            Side::Front => (self.allocation.base, guard::BAND),
            Side::Back => (self.data().at(self.len), guard::back_len(self.len)),
        }
    }
}

impl CudaDevice {
    /// Opens a card by ordinal or UUID.
    ///
    /// # Errors
    /// `environment`, with what to do about it: no driver, a stub, a mismatch, no such device, a card in use.
    pub fn open(select: &Select) -> Result<Self, Fault> {
        let driver = Driver::get()?;
        let (ordinal, info) = info::find(driver, select)?;
        let context = format!("opening {}", info.name);
        let failed =
            |error: DriverError| errors::start_fault(error, &driver.words(error.code), &context);
        driver.enter(ordinal).map_err(failed)?;
        Self::set_up(driver, ordinal, info).map_err(failed)
    }

    fn set_up(driver: &'static Driver, ordinal: Ordinal, info: DeviceInfo) -> driver::Result<Self> {
        let limits = Limits::read(driver, ordinal)?;
        let stream = driver.stream()?;
        let mut ring = Ring::new(driver)?;
        let mut pool = Pool::default();
        let guards = guard::source();
        let guards_on_device = pool.alloc(driver, guard::SOURCE)?;
        ring.upload(driver, guards_on_device.base, &guards, stream)?;
        driver.wait(stream)?;
        let inputs = InputCache::new(info.total_memory_bytes / 8);
        Ok(Self {
            driver,
            ordinal,
            info,
            limits,
            stream,
            modules: Vec::new(),
            buffers: Vec::new(),
            pool,
            staging: Staging::default(),
            large: Vec::new(),
            ring,
            inputs,
            guards,
            guards_on_device,
            events: Vec::new(),
            stamps: 0,
            suspects: Vec::new(),
            lost: false,
        })
    }

    /// The virtual and the native architecture of a kernel's code, times ten: `(75, 90)` for PTX for sm_75 that the
    /// driver compiled for this card, `(90, 90)` for native code.
    ///
    /// # Errors
    /// `setup` when the module has no such kernel.
    pub fn code_versions(&mut self, module: ModuleId, kernel: &str) -> Result<(u32, u32), Fault> {
        let kernel = self.modules[module.0].kernel(self.driver, kernel)?;
        Ok((kernel.ptx_version, kernel.binary_version))
    }

    /// A failed call as a fault, which says what ran before it where a kernel may be to blame.
    fn fault(&mut self, error: DriverError, context: &str) -> Fault {
        let mut context = context.to_owned();
        if errors::meaning(error.code).0 == errors::Reach::Context && !self.suspects.is_empty() {
            context.push_str(&format!(", after launching {}", self.suspects.join(", ")));
        }
        let fault = errors::fault(error, &self.driver.words(error.code), &context);
        self.lost |= fault.sticky;
        fault
    }

    fn checked<T>(&mut self, result: driver::Result<T>, context: &str) -> Result<T, Fault> {
        result.map_err(|error| self.fault(error, context))
    }

    /// The address of byte `offset` of a buffer, of which `len` bytes follow.
    fn address(&self, buffer: BufferId, offset: u64, len: u64) -> Address {
        let held = &self.buffers[buffer.0];
        let end = offset.checked_add(len);
        assert!(
            end.is_some_and(|end| end <= held.len),
            "bytes {offset}..+{len} of `{}`, which has {}",
            held.name,
            held.len
        );
        held.data().at(offset)
    }

    /// Memory from the pool; what caches hold gives way to what a case needs.
    fn allocate(&mut self, bytes: u64) -> driver::Result<Allocation> {
        match self.pool.alloc(self.driver, bytes) {
            Err(DriverError {
                code: OUT_OF_MEMORY,
                ..
            }) => {
                self.inputs.clear(&mut self.pool);
                self.pool.alloc(self.driver, bytes)
            }
            other => other,
        }
    }

    fn out_of_memory(&self, len: u64) -> Fault {
        let mib = |bytes: u64| bytes.div_ceil(1 << 20);
        let free = self.driver.memory().map_or(0, |(free, _)| free);
        Fault::setup(format!(
            "a buffer of {} MiB does not fit: {} has {} MiB free of {} MiB",
            mib(len),
            self.info.name,
            mib(free),
            mib(self.info.total_memory_bytes)
        ))
    }

    /// Puts a band's bytes in place, without the host.
    fn arm(&self, index: usize, side: Side) -> driver::Result<()> {
        let (band, len) = self.buffers[index].band(side);
        let source = self.guards_on_device.base.at(guard::slot(index, side));
        self.driver.copy_on_device(band, source, len, self.stream)
    }

    /// Every band of every buffer, as they are now, in the order of `bands`.
    fn check_bands(&mut self) -> driver::Result<Vec<(usize, Side, guard::Violation)>> {
        let bands: Vec<(usize, Side)> = (0..self.buffers.len())
            .flat_map(|index| [(index, Side::Front), (index, Side::Back)])
            .collect();
        let ranges: Vec<(Address, u64)> = bands
            .iter()
            .map(|&(index, side)| self.buffers[index].band(side))
            .collect();
        let mut held = self.staging.fetch(self.driver, &ranges, self.stream)?;
        let mut violations = Vec::new();
        for ((index, side), (_, len)) in bands.into_iter().zip(ranges) {
            let (got, rest) = held.split_at(len as usize);
            held = rest;
            let start = guard::slot(index, side) as usize;
            let want = &self.guards[start..start + len as usize];
            violations
                .extend(guard::violation(want, got).map(|violation| (index, side, violation)));
        }
        Ok(violations)
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
        self.stamps = 0;
    }

    fn upload(&mut self, to: BufferId, offset: u64, bytes: &[u8]) -> Result<(), Fault> {
        let to = self.address(to, offset, bytes.len() as u64);
        let done = self.ring.upload(self.driver, to, bytes, self.stream);
        self.checked(done, "uploading")
    }

    fn upload_input(&mut self, to: BufferId, array: &Arc<Array>) -> Result<(), Fault> {
        let bytes = array.as_bytes();
        let address = self.address(to, 0, bytes.len() as u64);
        let Some(kept) = self.inputs.find_or_make(self.driver, &mut self.pool, array) else {
            return self.upload(to, 0, bytes);
        };
        let mut done = Ok(());
        if kept.fresh {
            done = self.ring.upload(self.driver, kept.base, bytes, self.stream);
        }
        let done = done.and_then(|()| {
            self.driver
                .copy_on_device(address, kept.base, bytes.len() as u64, self.stream)
        });
        self.checked(done, "uploading an input")
    }

    fn first_difference(&mut self, buffer: BufferId, bytes: &[u8]) -> Result<Option<u64>, Fault> {
        let from = self.address(buffer, 0, bytes.len() as u64);
        let mut found = None;
        let range = (from, bytes.len() as u64);
        let done = self
            .ring
            .visit(self.driver, range, self.stream, |start, piece| {
                let at = super::first_difference(piece, &bytes[start..start + piece.len()]);
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

    fn poison(&mut self, to: BufferId, offset: u64, len: u64, pattern: &[u8]) -> Result<(), Fault> {
        self.fill(to, offset, len, pattern)
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
        let mut values: Vec<[u8; 8]> = launch
            .args
            .iter()
            .map(|arg| match *arg {
                Argument::Pointer { buffer, offset } => {
                    self.address(buffer, offset, 0).get().to_le_bytes()
                }
                Argument::Scalar { bytes, .. } => bytes,
            })
            .collect();
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

    fn finish(&mut self) -> Result<(), Fault> {
        let done = self.driver.wait(self.stream);
        self.checked(done, "waiting for the device")?;
        self.suspects.clear();
        Ok(())
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

    fn stamp(&mut self) -> Result<Stamp, Fault> {
        if self.stamps == self.events.len() {
            let made = self.driver.event();
            let event = self.checked(made, "making an event")?;
            self.events.push(event);
        }
        let stamp = self.stamps;
        let recorded = self.driver.record(self.events[stamp], self.stream);
        self.checked(recorded, "recording an event")?;
        self.stamps += 1;
        Ok(Stamp(stamp))
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

impl Drop for CudaDevice {
    /// Gives everything back, as far as the context still answers: errors have nowhere to go from here.
    fn drop(&mut self) {
        if !self.lost && self.driver.wait(self.stream).is_ok() {
            self.free_all();
            self.inputs.clear(&mut self.pool);
            self.pool.free(self.guards_on_device);
            let _ = self.pool.trim(self.driver);
            let _ = self.staging.release(self.driver);
            let _ = self.ring.release(self.driver);
            for &event in &self.events {
                let _ = self.driver.destroy_event(event);
            }
            for loaded in &self.modules {
                let _ = self.driver.unload(loaded.module);
            }
            let _ = self.driver.destroy_stream(self.stream);
        }
        let _ = self.driver.leave(self.ordinal);
    }
}

#[cfg(test)]
mod tests;
