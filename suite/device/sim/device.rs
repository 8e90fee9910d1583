//! [`SimDevice`]: the `Device` trait over the interpreter.

use std::collections::HashMap;

use super::assertion::FailedAssertion;
use super::block::{Block, Shape};
use super::findings::Recorder;
use super::looks::Watch;
use super::machine::Machine;
use super::memory::{GlobalMemory, Region};
use super::module::Module;
use super::order::Order;
use super::program::Kernel;
use super::schedule::Schedule;
use super::turns::Turns;
use crate::device::{
    Access, Argument, BufferId, Device, DeviceInfo, Elapsed, Launch, Loaded, ModuleId, Stamp,
};
use crate::image::{Code, Image, ptx};
use crate::outcome::{Fault, Finding};
use crate::terms::{DeviceKind, ImageKind};

/// As much as a T4 has, and never touched unless it is used.
const MEMORY_BYTES: u64 = 16 << 30;
/// What a block of this compute capability may have: static alone, and with dynamic memory that the launch asks for.
const MAX_STATIC_SHARED_BYTES: u64 = 48 << 10;
const MAX_SHARED_BYTES: u64 = 64 << 10;
const MAX_BLOCK_THREADS: u64 = 1024;
/// Warp instructions of one launch: some minutes. The largest launch of the full profile takes a hundredth.
const FUEL: u64 = 1 << 33;
/// Findings kept between two calls of `take_findings`.
const MAX_FINDINGS: usize = 256;

/// A device that runs PTX on this machine's CPU, one thread, deterministically.
pub struct SimDevice {
    info: DeviceInfo,
    memory: GlobalMemory,
    used_bytes: u64,
    modules: Vec<Module>,
    by_hash: HashMap<(ImageKind, String, String), ModuleId>,
    /// Storage for resident blocks.
    blocks: Vec<Block>,
    findings: Vec<Finding>,
    failed_assertions: Vec<FailedAssertion>,
    /// Thread instructions since the device was made.
    executed: u64,
    /// Warp instructions since the device was made.
    spent: u64,
    stamps: Vec<u64>,
    fuel: u64,
    memory_bytes: u64,
    schedule: Schedule,
    /// Launches that the schedule has decided, and decisions that are left to its policy.
    launches: u64,
    decisions: u64,
    detectors: bool,
    order: Order,
    /// For downloads that start off an 8-byte boundary.
    staging: Vec<u64>,
}

impl Default for SimDevice {
    fn default() -> Self {
        Self::new()
    }
}

impl SimDevice {
    pub fn new() -> Self {
        Self {
            info: DeviceInfo {
                kind: DeviceKind::Sim,
                name: "cuda-gates simulated device".to_owned(),
                uuid: None,
                compute_capability: (7, 5),
                cuda_driver_version: None,
                total_memory_bytes: MEMORY_BYTES,
                l2_bytes: 0,
            },
            memory: GlobalMemory::default(),
            used_bytes: 0,
            modules: Vec::new(),
            by_hash: HashMap::new(),
            blocks: Vec::new(),
            findings: Vec::new(),
            failed_assertions: Vec::new(),
            executed: 0,
            spent: 0,
            stamps: Vec::new(),
            fuel: FUEL,
            memory_bytes: MEMORY_BYTES,
            schedule: Schedule::default(),
            launches: 0,
            decisions: u64::MAX,
            detectors: true,
            order: Order::default(),
            staging: Vec::new(),
        }
    }

    /// Sets how many warp instructions a launch may run before it counts as hanging.
    pub fn with_budget(mut self, warp_instructions: u64) -> Self {
        self.fuel = warp_instructions;
        self
    }

    /// Sets how much memory buffers, and each module's variables, may take.
    #[must_use]
    pub fn with_memory(mut self, bytes: u64) -> Self {
        self.memory_bytes = bytes;
        self.info.total_memory_bytes = bytes;
        self
    }

    /// As [`SimDevice::with_budget`], for the launches that follow.
    pub fn set_budget(&mut self, warp_instructions: u64) {
        self.fuel = warp_instructions;
    }

    /// Warp instructions run since the device was made.
    pub fn spent(&self) -> u64 {
        self.spent
    }

    /// Sets the schedule of the launches that follow, up to the next `free_all`, where it starts again.
    pub fn set_schedule(&mut self, schedule: Schedule) {
        self.schedule = schedule;
        self.restart_schedule();
    }

    /// Where a buffer starts in global memory: what kernels see of a pointer to it. The same for every device.
    pub fn address(buffer: BufferId) -> u64 {
        GlobalMemory::base(buffer.0)
    }

    fn restart_schedule(&mut self) {
        self.launches = 0;
        self.decisions = self.schedule.switches.map_or(u64::MAX, u64::from);
    }

    /// Switches the detectors of the launches that follow: on at first. Without them only what would end a launch, or
    /// reach memory that is not there, is found.
    pub fn set_detectors(&mut self, on: bool) {
        self.detectors = on;
    }

    pub fn schedule(&self) -> Schedule {
        self.schedule
    }

    /// Decodes a kernel without launching it; a launch then finds it decoded.
    ///
    /// # Errors
    /// `setup` when there is no such kernel, or it has an instruction that is not known.
    pub fn check_kernel(&mut self, module: ModuleId, name: &str) -> Result<(), Fault> {
        self.modules[module.0].kernel(name).map(drop)
    }

    /// Thread instructions run since the device was made, one per active lane.
    pub fn executed(&self) -> u64 {
        self.executed
    }

    /// One for each thread that ended the last launch by a failed assertion; none where it ended otherwise.
    pub fn failed_assertions(&self) -> &[FailedAssertion] {
        &self.failed_assertions
    }

    fn region(&mut self, buffer: BufferId) -> &mut Region {
        &mut self.memory.get_mut(buffer.0).region
    }

    fn fill_bytes(&mut self, to: BufferId, offset: u64, len: u64, pattern: &[u8]) {
        let (at, len) = (offset as usize, len as usize);
        let bytes = &mut self.region(to).bytes_mut()[at..at + len];
        match pattern {
            [] => {}
            [byte] => bytes.fill(*byte),
            _ => {
                for chunk in bytes.chunks_mut(pattern.len()) {
                    chunk.copy_from_slice(&pattern[..chunk.len()]);
                }
            }
        }
    }

    fn params(&self, kernel: &Kernel, args: &[Argument]) -> Result<Region, Fault> {
        if args.len() != kernel.params.len() {
            let (name, wants, got) = (&kernel.name, kernel.params.len(), args.len());
            return Err(Fault::setup(format!(
                "kernel {name} takes {wants} arguments, got {got}"
            )));
        }
        let mut region = Region::initialised(kernel.param_bytes as usize)?;
        for (index, (slot, arg)) in kernel.params.iter().zip(args).enumerate() {
            let (bytes, size) = match *arg {
                Argument::Pointer { buffer, offset } => {
                    let address = GlobalMemory::base(buffer.0).wrapping_add(offset);
                    (address.to_le_bytes(), 8)
                }
                Argument::Scalar { bytes, size } => (bytes, u64::from(size)),
            };
            if size != slot.bytes || size > 8 {
                let (name, wants) = (&kernel.name, slot.bytes);
                let what = format!(
                    "argument {index} of kernel {name} has {size} bytes, its parameter {wants}"
                );
                return Err(Fault::setup(what));
            }
            region.write(
                slot.offset as usize,
                size as usize,
                u64::from_le_bytes(bytes),
            );
        }
        Ok(region)
    }
}

/// Refuses what no card of this compute capability launches.
fn check_shape(kernel: &Kernel, shape: &Shape) -> Result<(), Fault> {
    let name = &kernel.name;
    let refuse = |what: String| Err(Fault::setup(format!("kernel {name}: {what}")));
    let ([gx, gy, gz], [bx, by, bz]) = (shape.grid, shape.block);
    if [gx, gy, gz, bx, by, bz].contains(&0) {
        return refuse("a grid or block of size 0".to_owned());
    }
    if gx > i32::MAX as u32 || gy > 65535 || gz > 65535 {
        return refuse(format!(
            "grid ({gx}, {gy}, {gz}) exceeds (2147483647, 65535, 65535)"
        ));
    }
    let threads = u64::from(bx) * u64::from(by) * u64::from(bz);
    if threads > MAX_BLOCK_THREADS || bz > 64 || bx > 1024 || by > 1024 {
        return refuse(format!(
            "block ({bx}, {by}, {bz}) exceeds 1024 threads, or 64 in z"
        ));
    }
    if let Some(required) = kernel.required_threads.filter(|&r| r != shape.block) {
        return refuse(format!(
            "wants blocks of {required:?} threads (.reqntid), got {:?}",
            shape.block
        ));
    }
    let most = kernel
        .max_threads
        .map(|m| m.iter().map(|&d| u64::from(d)).fold(1, u64::saturating_mul));
    if most.is_some_and(|most| threads > most) {
        return refuse(format!(
            "takes at most {} threads a block (.maxntid), got {threads}",
            most.unwrap_or(0)
        ));
    }
    if kernel.static_shared_bytes > MAX_STATIC_SHARED_BYTES {
        return refuse(format!(
            "{} bytes of static shared memory; at most {MAX_STATIC_SHARED_BYTES}",
            kernel.static_shared_bytes
        ));
    }
    let start = kernel.dynamic_offset.unwrap_or(kernel.static_shared_bytes);
    let shared = start + u64::from(shape.shared);
    if shared > MAX_SHARED_BYTES {
        return refuse(format!(
            "{shared} bytes of shared memory; at most {MAX_SHARED_BYTES}"
        ));
    }
    Ok(())
}

impl Device for SimDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn load(&mut self, image: &Image) -> Result<Loaded, Fault> {
        let key = (image.kind, image.module.clone(), image.sha256.clone());
        if let Some(&module) = self.by_hash.get(&key) {
            return Ok(Loaded {
                module,
                jit_log: None,
            });
        }
        let Code::Ptx(text) = &image.code else {
            let what = format!(
                "{}: the simulated device runs PTX, not native code",
                image.module
            );
            return Err(Fault::setup(what));
        };
        let parsed =
            ptx::parse(text).map_err(|e| Fault::setup(format!("{}.ptx: {e}", image.module)))?;
        let room = self.memory_bytes.saturating_sub(self.used_bytes);
        let module = Module::load(parsed, &mut self.memory, room)?;
        self.modules.push(module);
        let module = ModuleId(self.modules.len() - 1);
        self.by_hash.insert(key, module);
        Ok(Loaded {
            module,
            jit_log: None,
        })
    }

    fn alloc(&mut self, len: u64, access: Access) -> Result<BufferId, Fault> {
        let used = self.used_bytes.saturating_add(len);
        if used > self.memory_bytes {
            return Err(Fault::setup(format!(
                "out of memory: {used} of {} bytes",
                self.memory_bytes
            )));
        }
        let region = Region::new(len as usize)?;
        let index = self.memory.add_buffer(region, access);
        let index = index.ok_or_else(|| Fault::setup("too many buffers"))?;
        self.used_bytes = used;
        Ok(BufferId(index))
    }

    fn name_buffer(&mut self, buffer: BufferId, name: &str) {
        self.memory.name_buffer(buffer.0, name);
    }

    fn free_all(&mut self) {
        self.memory.free_buffers();
        self.used_bytes = 0;
        self.stamps.clear();
        self.restart_schedule();
    }

    fn upload(&mut self, to: BufferId, offset: u64, bytes: &[u8]) -> Result<(), Fault> {
        let region = self.region(to);
        let at = offset as usize;
        region.bytes_mut()[at..at + bytes.len()].copy_from_slice(bytes);
        region.mark_written(at, bytes.len());
        Ok(())
    }

    fn fill(&mut self, to: BufferId, offset: u64, len: u64, pattern: &[u8]) -> Result<(), Fault> {
        self.fill_bytes(to, offset, len, pattern);
        self.region(to).mark_written(offset as usize, len as usize);
        Ok(())
    }

    fn poison(&mut self, to: BufferId, offset: u64, len: u64, pattern: &[u8]) -> Result<(), Fault> {
        self.fill_bytes(to, offset, len, pattern);
        self.region(to)
            .mark_unwritten(offset as usize, len as usize);
        Ok(())
    }

    fn copy(&mut self, from: (BufferId, u64), to: (BufferId, u64), len: u64) -> Result<(), Fault> {
        let (from_at, to_at, len) = (from.1 as usize, to.1 as usize, len as usize);
        if let Some((source, target)) = self.memory.pair_mut(from.0.0, to.0.0) {
            target.copy_from(to_at, source, from_at, len);
        } else {
            self.region(to.0).copy_within(to_at, from_at, len);
        }
        Ok(())
    }

    fn launch(&mut self, launch: &Launch<'_>) -> Result<(), Fault> {
        let kernel = self.modules[launch.module.0].kernel(launch.kernel)?;
        let shape = Shape {
            grid: launch.grid,
            block: launch.block,
            shared: launch.shared,
        };
        check_shape(&kernel, &shape)?;
        let mut params = self.params(&kernel, launch.args)?;
        if self.order.begin_launch(self.detectors) {
            self.memory.forget_accesses();
        }
        let mut machine = Machine {
            kernel: &kernel,
            shape,
            global: &mut self.memory,
            constants: &mut self.modules[launch.module.0].constants,
            params: &mut params,
            blocks: &mut self.blocks,
            current: 0,
            schedule: self.schedule,
            turns: Turns::new(&self.schedule, self.launches, self.decisions),
            candidates: Vec::new(),
            watch: Watch::default(),
            recorder: Recorder::default(),
            order: &mut self.order,
            executed: 0,
            fuel: self.fuel,
        };
        let ran = machine.run();
        self.launches += 1;
        self.decisions = machine.turns.left;
        self.executed += machine.executed;
        self.spent += self.fuel - machine.fuel;
        self.failed_assertions = std::mem::take(&mut machine.recorder.failed_assertions);
        for finding in machine.recorder.finish(machine.order.lost) {
            if self.findings.len() < MAX_FINDINGS {
                self.findings.push(finding);
            }
        }
        ran
    }

    fn set_schedule(&mut self, schedule: Schedule) -> Result<(), Fault> {
        SimDevice::set_schedule(self, schedule);
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    fn take_findings(&mut self) -> Result<Vec<Finding>, Fault> {
        Ok(std::mem::take(&mut self.findings))
    }

    fn download(&mut self, from: BufferId, offset: u64, len: u64) -> Result<&[u8], Fault> {
        let (at, len) = (offset as usize, len as usize);
        let bytes = &self.memory.get(from.0).region.bytes()[at..at + len];
        if at.is_multiple_of(8) {
            return Ok(bytes);
        }
        self.staging.clear();
        self.staging.resize(len.div_ceil(8), 0);
        let staged = &mut bytemuck::cast_slice_mut(&mut self.staging)[..len];
        staged.copy_from_slice(bytes);
        Ok(staged)
    }

    fn stamp(&mut self) -> Result<Stamp, Fault> {
        self.stamps.push(self.executed);
        Ok(Stamp(self.stamps.len() - 1))
    }

    fn between(&mut self, start: Stamp, end: Stamp) -> Result<Elapsed, Fault> {
        Ok(Elapsed::Instructions(
            self.stamps[end.0].saturating_sub(self.stamps[start.0]),
        ))
    }
}
