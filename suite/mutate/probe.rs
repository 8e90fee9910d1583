//! The simulated device as mutants run on it: one kernel's launches go to the mutant, and what comes of a run is
//! noted.
//!
//! Its findings are kept from the executor, so that a case's outcome is its gate's alone. Imports `device`, `image`
//! and `outcome`.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hasher};
use std::mem;
use std::rc::Rc;
use std::sync::Arc;

use super::mutant::{Change, Mutant};
use crate::device::sim::{Schedule, SimDevice};
use crate::device::{
    Access, BufferId, Device, DeviceInfo, Elapsed, Launch, Loaded, ModuleId, Stamp,
};
use crate::image::{Code, Image};
use crate::outcome::{Fault, Finding};
use crate::terms::{FindingKind, ImageKind};

/// How many times the baseline's instructions a launch may run before it counts as hanging.
const BUDGET_FACTOR: u64 = 20;
/// And so many more, for launches of a few instructions.
const BUDGET_LEAST: u64 = 10_000;
/// Modules after which the device is made anew: it keeps every module it has loaded.
const MODULES_MAX: usize = 64;

/// What came of one case's launches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// Warp instructions of each launch.
    pub launches: Vec<u64>,
    /// Module and kernel of each launch.
    pub kernels: BTreeSet<(Arc<str>, Arc<str>)>,
    /// What the device itself found.
    pub findings: Vec<Finding>,
    /// Of every buffer's content after every pipeline.
    pub content: u64,
}

impl Trace {
    pub fn cost(&self) -> u64 {
        self.launches.iter().sum()
    }

    /// The same memory and findings of the same kinds: their lines are other ones in a changed text.
    pub fn is_like(&self, other: &Self) -> bool {
        let kinds = |trace: &Self| -> Vec<FindingKind> {
            trace.findings.iter().map(|finding| finding.kind).collect()
        };
        self.content == other.content && kinds(self) == kinds(other)
    }
}

/// What a case runs, and what came of it: shared by the probe and whoever drives it.
#[derive(Default)]
pub struct Control {
    pub mutant: Option<Arc<Mutant>>,
    /// Warp instructions of each launch of the baseline; none: no bound but the device's own.
    pub budget: Option<Vec<u64>>,
    pub trace: Trace,
}

pub struct Probe {
    device: SimDevice,
    control: Rc<RefCell<Control>>,
    /// By module: the name it was loaded by.
    names: HashMap<ModuleId, Arc<str>>,
    /// Buffers that kernels may write, with their lengths.
    buffers: Vec<(BufferId, u64)>,
    /// Modules the device holds.
    loaded: usize,
}

impl Probe {
    pub fn new(control: Rc<RefCell<Control>>) -> Self {
        Self {
            device: SimDevice::new(),
            control,
            names: HashMap::new(),
            buffers: Vec::new(),
            loaded: 0,
        }
    }

    /// The mutant, where it is of this kernel.
    fn mutant_of(&self, launch: &Launch<'_>) -> Option<Arc<Mutant>> {
        let mutant = self.control.borrow().mutant.clone()?;
        let module = self.names.get(&launch.module);
        let is_it = module == Some(&mutant.module) && *mutant.kernel == *launch.kernel;
        is_it.then_some(mutant)
    }

    fn load_mutant(&mut self, mutant: &Mutant, text: &Arc<str>) -> Result<ModuleId, Fault> {
        let image = Image {
            kind: ImageKind::Jit,
            module: mutant.id.clone(),
            code: Code::Ptx(Arc::clone(text)),
            // The id is the mutant's alone, as a hash would be.
            sha256: mutant.id.clone(),
            compiler: String::new(),
        };
        self.loaded += 1;
        Ok(self.device.load(&image)?.module)
    }

    /// Warp instructions that this launch may run.
    fn budget(&self) -> Option<u64> {
        let control = self.control.borrow();
        let baseline = control.budget.as_ref()?;
        let own = baseline.get(control.trace.launches.len());
        let own = own.or(baseline.iter().max()).copied().unwrap_or(0);
        Some(
            own.saturating_mul(BUDGET_FACTOR)
                .saturating_add(BUDGET_LEAST),
        )
    }

    /// Adds the content of every buffer to the trace.
    fn note_content(&mut self) -> Result<(), Fault> {
        let mut hash = DefaultHasher::new();
        hash.write_u64(self.control.borrow().trace.content);
        for (buffer, len) in &self.buffers {
            hash.write_u64(*len);
            if *len > 0 {
                hash.write(self.device.download(*buffer, 0, *len)?);
            }
        }
        self.control.borrow_mut().trace.content = hash.finish();
        Ok(())
    }
}

impl Device for Probe {
    fn info(&self) -> &DeviceInfo {
        self.device.info()
    }

    fn load(&mut self, image: &Image) -> Result<Loaded, Fault> {
        let loaded = self.device.load(image)?;
        let named = self.names.entry(loaded.module);
        named.or_insert_with(|| image.module.as_str().into());
        Ok(loaded)
    }

    fn alloc(&mut self, len: u64, access: Access) -> Result<BufferId, Fault> {
        let buffer = self.device.alloc(len, access)?;
        if access == Access::ReadWrite {
            self.buffers.push((buffer, len));
        }
        Ok(buffer)
    }

    fn name_buffer(&mut self, buffer: BufferId, name: &str) {
        self.device.name_buffer(buffer, name);
    }

    fn free_all(&mut self) {
        self.device.free_all();
        self.buffers.clear();
        // No module is in use now.
        if self.loaded > MODULES_MAX {
            let schedule = self.device.schedule();
            self.device = SimDevice::new();
            self.device.set_schedule(schedule);
            self.names.clear();
            self.loaded = 0;
        }
    }

    fn upload(&mut self, to: BufferId, offset: u64, bytes: &[u8]) -> Result<(), Fault> {
        self.device.upload(to, offset, bytes)
    }

    fn fill(&mut self, to: BufferId, offset: u64, len: u64, pattern: &[u8]) -> Result<(), Fault> {
        self.device.fill(to, offset, len, pattern)
    }

    fn poison(&mut self, to: BufferId, offset: u64, len: u64, pattern: &[u8]) -> Result<(), Fault> {
        self.device.poison(to, offset, len, pattern)
    }

    fn copy(&mut self, from: (BufferId, u64), to: (BufferId, u64), len: u64) -> Result<(), Fault> {
        self.device.copy(from, to, len)
    }

    fn launch(&mut self, launch: &Launch<'_>) -> Result<(), Fault> {
        let mut changed = launch.clone();
        if let Some(module) = self.names.get(&launch.module) {
            let key = (Arc::clone(module), launch.kernel.into());
            self.control.borrow_mut().trace.kernels.insert(key);
        }
        if let Some(mutant) = self.mutant_of(launch) {
            match &mutant.change {
                Change::Text(text) => changed.module = self.load_mutant(&mutant, text)?,
                Change::Grid(by) => changed.grid[0] = launch.grid[0].saturating_add_signed(*by),
            }
        }
        if let Some(budget) = self.budget() {
            self.device.set_budget(budget);
        }
        let before = self.device.spent();
        // No block is no launch, as in a plan.
        let ran = match changed.grid.contains(&0) {
            true => Ok(()),
            false => self.device.launch(&changed),
        };
        let spent = self.device.spent() - before;
        self.control.borrow_mut().trace.launches.push(spent);
        // The simulated device goes on after a fault, and what the case allocated is to be freed.
        ran.map_err(|fault| Fault {
            sticky: false,
            ..fault
        })
    }

    fn set_schedule(&mut self, schedule: Schedule) -> Result<(), Fault> {
        Device::set_schedule(&mut self.device, schedule)
    }

    fn finish(&mut self) -> Result<(), Fault> {
        self.device.finish()
    }

    fn take_findings(&mut self) -> Result<Vec<Finding>, Fault> {
        let findings = self.device.take_findings()?;
        self.control.borrow_mut().trace.findings.extend(findings);
        self.note_content()?;
        Ok(Vec::new())
    }

    fn download(&mut self, from: BufferId, offset: u64, len: u64) -> Result<&[u8], Fault> {
        self.device.download(from, offset, len)
    }

    fn stamp(&mut self) -> Result<Stamp, Fault> {
        self.device.stamp()
    }

    fn between(&mut self, start: Stamp, end: Stamp) -> Result<Elapsed, Fault> {
        self.device.between(start, end)
    }
}

impl Control {
    /// The trace of what ran since the last call.
    pub fn take_trace(&mut self) -> Trace {
        mem::take(&mut self.trace)
    }
}
