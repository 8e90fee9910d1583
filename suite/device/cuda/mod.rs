//! CUDA devices through the driver API: the only place of this crate that names cudarc.
//!
//! Owns: [`enumerate`], [`CudaDevice`] and [`CardTurns`]; inside, the driver's calls (`driver`), its codes (`errors`),
//! memory, guard bands and modules. May import `image`, `value`, `terms` and `outcome`.
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

use super::{BufferId, DeviceInfo};
use crate::outcome::Fault;

mod closing;
mod driver;
mod entry;
mod errors;
mod fill;
mod guard;
mod info;
mod inputs;
mod lock;
mod memory;
mod module;
mod native;
mod operations;
mod probes;
mod scribble;

pub use info::{Select, enumerate};
pub use lock::{CardLock, CardTurns};

use driver::{Address, Driver, Event, Ordinal, Stream};
use errors::{DriverError, OUT_OF_MEMORY};
use guard::Side;
use inputs::InputCache;
use memory::{Allocation, Pool, Ring, Staging};
use module::{Limits, LoadedImage};
use native::NativeLibrary;
use probes::Probes;

/// Downloads above this many bytes do not get page-locked memory of their full size.
const LARGE: u64 = 256 << 20;
const EVENTS_AT_ONCE: usize = 64;

/// One card, open. It belongs to the thread that opened it.
pub struct CudaDevice {
    driver: &'static Driver,
    ordinal: Ordinal,
    info: DeviceInfo,
    limits: Limits,
    stream: Stream,
    modules: Vec<LoadedImage>,
    native: Option<NativeLibrary>,
    buffers: Vec<Buffer>,
    pool: Pool,
    staging: Staging,
    large: Vec<u64>,
    ring: Ring,
    probes: Probes,
    inputs: InputCache,
    /// What all guard bands are cut from, here and on the device.
    guards: Vec<u8>,
    guards_on_device: Allocation,
    /// The stamps since `free_all`. None is used again: one that the driver fails to record would still hold a time.
    events: Vec<Event>,
    /// Events that were never recorded.
    spare: Vec<Event>,
    /// Of events that could not be destroyed: told when the device is closed.
    kept: Vec<DriverError>,
    /// Kernels launched since the device was last seen idle, each once: suspects, should it fail.
    suspects: Vec<String>,
    lost: bool,
    closed: bool,
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
        let probes = Probes::new(driver)?;
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
            native: None,
            buffers: Vec::new(),
            pool,
            staging: Staging::default(),
            large: Vec::new(),
            ring,
            probes,
            inputs,
            guards,
            guards_on_device,
            events: Vec::new(),
            spare: Vec::new(),
            kept: Vec::new(),
            suspects: Vec::new(),
            lost: false,
            closed: false,
        })
    }

    /// An event, and spare ones beside it. Stamps come in pairs, and an even number is made at once: no event is made
    /// between the two of a pair, where its time would count.
    fn fresh_event(&mut self) -> Result<Event, Fault> {
        for _ in 1..EVENTS_AT_ONCE {
            let made = self.driver.event();
            let event = self.checked(made, "making an event")?;
            self.spare.push(event);
        }
        let made = self.driver.event();
        self.checked(made, "making an event")
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

#[cfg(test)]
mod tests;
