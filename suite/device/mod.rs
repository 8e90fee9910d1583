//! Devices: memory, launches and clocks behind one trait.
//!
//! Owns: [`Device`], its implementations `cuda` (the only place that names cudarc) and `sim`, [`session`] (a plan on
//! any device) and [`presence`](fn@presence) (is there a card at all).
//! May import `host`, `image`, `plan`, `value`, `terms` and `outcome`. It never sees a reference, a check or a spec.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::image::Image;
use crate::image::native::Library;
use crate::outcome::{Fault, Finding};
use crate::terms::DeviceKind;
use crate::value::Array;

pub mod cuda;
pub mod presence;
pub mod session;
pub mod sim;

pub use presence::{Presence, presence};

use sim::Schedule;

/// What a device says of itself without NVML.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceInfo {
    pub kind: DeviceKind,
    pub name: String,
    /// `GPU-xxxxxxxx-…`; none on the simulator.
    pub uuid: Option<String>,
    /// Major and minor.
    pub compute_capability: (u32, u32),
    /// `13000` for CUDA 13.0, as the driver reports it; none on the simulator.
    pub cuda_driver_version: Option<u32>,
    pub total_memory_bytes: u64,
    pub l2_bytes: u64,
}

/// A device buffer: an index into the device's own table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BufferId(pub usize);

/// A loaded module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ModuleId(pub usize);

/// A point on the device's time line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stamp(pub usize);

/// What lies between two stamps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Elapsed {
    /// By the device's own clock.
    Milliseconds(f64),
    /// The simulated device has no clock: thread-instructions executed (one per active lane).
    Instructions(u64),
}

/// A module as loaded, with what its compiler said.
#[derive(Clone, Debug)]
pub struct Loaded {
    pub module: ModuleId,
    /// The driver's JIT log, where it compiled PTX and said anything.
    pub jit_log: Option<String>,
}

/// One launch, all numbers known.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch<'a> {
    pub module: ModuleId,
    pub kernel: &'a str,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Dynamic shared memory, bytes.
    pub shared: u32,
    pub args: &'a [Argument],
}

/// One call of the native library, all numbers known.
#[derive(Clone, Debug, PartialEq)]
pub struct NativeCall<'a> {
    pub name: &'a str,
    pub args: &'a [Argument],
}

/// One kernel argument, already of the size the kernel's PTX declares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Argument {
    /// The address of byte `offset` of a buffer (of its data, not of its guard band).
    Pointer { buffer: BufferId, offset: u64 },
    /// The first `size` of these little-endian bytes.
    Scalar { bytes: [u8; 8], size: u32 },
}

/// Whether kernels may write a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    ReadOnly,
    ReadWrite,
}

/// A device that runs PTX (or native code): memory, launches in order, one clock.
///
/// All work is ordered as it is asked for, as on one stream. Offsets and lengths are bytes; a device may assume that
/// they lie inside the buffer (the plan has checked them) and panics otherwise.
pub trait Device {
    fn info(&self) -> &DeviceInfo;

    /// Loads an image; loading the same one (kind and hash) again is free.
    ///
    /// # Errors
    /// `setup` when the image cannot be used on this device, with the compiler's words.
    fn load(&mut self, image: &Image) -> Result<Loaded, Fault>;

    /// Allocates `len` bytes (0 is allowed) whose content is undefined.
    ///
    /// # Errors
    /// `setup` when memory runs out.
    fn alloc(&mut self, len: u64, access: Access) -> Result<BufferId, Fault>;

    /// Tells the device what the plan calls a buffer, for its findings.
    fn name_buffer(&mut self, _buffer: BufferId, _name: &str) {}

    /// Frees every buffer. Stamps made so far are void; findings stay until they are taken.
    fn free_all(&mut self);

    /// Host to device; also allowed on a read-only buffer.
    fn upload(&mut self, to: BufferId, offset: u64, bytes: &[u8]) -> Result<(), Fault>;

    /// Uploads a whole input. A device may keep its own copy of an array it has seen and is still alive, and take the
    /// content from there.
    fn upload_input(&mut self, to: BufferId, array: &Arc<Array>) -> Result<(), Fault> {
        self.upload(to, 0, array.as_bytes())
    }

    /// The offset of the first byte of a buffer, from its start, that differs from `bytes`; none when all are equal.
    /// After all work asked for so far.
    fn first_difference(&mut self, buffer: BufferId, bytes: &[u8]) -> Result<Option<u64>, Fault> {
        if bytes.is_empty() {
            return Ok(None);
        }
        let held = self.download(buffer, 0, bytes.len() as u64)?;
        Ok(first_difference(held, bytes))
    }

    /// Fills `len` bytes with copies of `pattern` (1, 2, 4 or 8 bytes).
    fn fill(&mut self, to: BufferId, offset: u64, len: u64, pattern: &[u8]) -> Result<(), Fault>;

    /// As `fill`, but the content counts as never written: the simulated device reports reads of it.
    fn poison(&mut self, to: BufferId, offset: u64, len: u64, pattern: &[u8]) -> Result<(), Fault>;

    /// Device to device; the ranges do not overlap.
    fn copy(&mut self, from: (BufferId, u64), to: (BufferId, u64), len: u64) -> Result<(), Fault>;

    /// # Errors
    /// `setup` for a shape this device cannot launch; a kernel's own faults may come here or from `finish`.
    fn launch(&mut self, launch: &Launch<'_>) -> Result<(), Fault>;

    /// Loads the native library; loading the same one again is free.
    ///
    /// # Errors
    /// `built without` where it has no code for this device, `setup` where it cannot be used.
    fn open_native(&mut self, _library: &Library) -> Result<(), Fault> {
        Err(no_native())
    }

    /// Bytes of scratch that a call of the open library needs. Does no work.
    ///
    /// # Errors
    /// `setup` with the library's words.
    fn native_scratch(&mut self, _call: &NativeCall<'_>) -> Result<u64, Fault> {
        Err(no_native())
    }

    /// Calls the open library with scratch of as many bytes as the call asked for, or more: calls share what the
    /// largest of them needs, at least one byte.
    ///
    /// # Errors
    /// `setup` or `kernel fault`, with the library's words.
    fn call_native(&mut self, _call: &NativeCall<'_>, _scratch: BufferId) -> Result<(), Fault> {
        Err(no_native())
    }

    /// Sets the schedule of the launches that follow; the simulated device's alone can be chosen.
    ///
    /// # Errors
    /// `setup` on a device that schedules as it likes.
    fn set_schedule(&mut self, schedule: Schedule) -> Result<(), Fault> {
        let name = &self.info().name;
        Err(Fault::setup(format!(
            "{name} schedules as it likes: `{schedule}` is for the simulated device"
        )))
    }

    /// Waits for all work.
    ///
    /// # Errors
    /// `kernel fault` (sticky) when a kernel broke the context.
    fn finish(&mut self) -> Result<(), Fault>;

    /// What the device itself found since the last call: guard bands written (cuda), or the simulator's detectors.
    /// Waits for all work.
    fn take_findings(&mut self) -> Result<Vec<Finding>, Fault>;

    /// Device to host, after all work asked for so far. The bytes are 8-byte aligned and live until the next call.
    fn download(&mut self, from: BufferId, offset: u64, len: u64) -> Result<&[u8], Fault>;

    /// Marks the present point of the time line.
    fn stamp(&mut self) -> Result<Stamp, Fault>;

    /// Between two stamps; waits for the later one.
    fn between(&mut self, start: Stamp, end: Stamp) -> Result<Elapsed, Fault>;

    /// Gives everything back, and says what failed meanwhile, each with its call. Nothing may be asked of the device
    /// afterwards.
    fn close(&mut self) -> Vec<String> {
        Vec::new()
    }
}

fn no_native() -> Fault {
    Fault::setup("native code of the host's side cannot be called on this device")
}

/// The first index at which two byte strings of one length differ.
fn first_difference(a: &[u8], b: &[u8]) -> Option<u64> {
    if a == b {
        return None;
    }
    let at = a.iter().zip(b).position(|(x, y)| x != y)?;
    Some(at as u64)
}
