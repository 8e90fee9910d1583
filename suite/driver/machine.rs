//! The cards of this machine, each a simulated device, and what a driver keeps for them.
//!
//! Owns: memory by address, modules, kernels, events, and the context that a fault breaks. Imports the suite's
//! simulated device. All work is done when it is asked for; what a kernel did wrong shows in the next call, as on a
//! card.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::time::Instant;

use cuda_gates::device::sim::{FailedAssertion, SimDevice};
use cuda_gates::device::{Access, Argument, BufferId, Device, Launch, ModuleId};
use cuda_gates::image::{Code, Image, Signature, ptx};
use cuda_gates::terms::{FindingKind, ImageKind, ReasonKind};

use crate::codes;
use crate::injection::Plan;

/// The code of a call that failed.
pub(crate) type Answer<T = ()> = Result<T, u32>;

/// Everything that has a handle: a handle is the thing's number and one.
pub(crate) struct Machine {
    pub cards: Vec<Card>,
    modules: Vec<Module>,
    pub kernels: Vec<Kernel>,
    pub events: Vec<Option<Instant>>,
}

/// One device as CUDA sees it, with its primary context.
pub(crate) struct Card {
    sim: SimDevice,
    /// Live allocations by their first address.
    allocations: BTreeMap<u64, Allocation>,
    /// Freed ones by their length: the simulated device frees all buffers or none.
    freed: HashMap<u64, Vec<BufferId>>,
    used_bytes: u64,
    /// What every call in this context gives since a kernel broke it.
    pub broken: Option<u32>,
}

#[derive(Clone, Copy)]
struct Allocation {
    buffer: BufferId,
    len: u64,
}

struct Module {
    card: usize,
    id: ModuleId,
    signatures: Vec<Signature>,
}

/// A kernel that was asked for by name.
pub(crate) struct Kernel {
    card: usize,
    module: ModuleId,
    pub signature: Signature,
}

impl Machine {
    /// Does something with this thread's. A device of the suite belongs to the thread that opened it, so one thread
    /// makes all calls that have a context.
    pub(crate) fn with<T>(act: impl FnOnce(&mut Self) -> T) -> T {
        thread_local! {
            static MACHINE: RefCell<Machine> = RefCell::new(Machine::new(Plan::get().cards));
        }
        MACHINE.with_borrow_mut(act)
    }

    fn new(cards: usize) -> Self {
        Self {
            cards: (0..cards).map(|_| Card::new()).collect(),
            modules: Vec::new(),
            kernels: Vec::new(),
            events: Vec::new(),
        }
    }

    /// Loads PTX onto a card; gives the module's number, and the compiler's words with or without it.
    pub(crate) fn load(&mut self, card: usize, text: &str) -> (Answer<usize>, String) {
        let module = match ptx::parse(text) {
            Ok(module) => module,
            Err(error) => return (Err(codes::INVALID_PTX), format!("ptxas fatal: {error}")),
        };
        let (newest, asked) = (newest_ptx(Plan::get().cuda), module.version);
        if asked > newest {
            let words = format!(
                "ptxas fatal: unsupported .version {}.{}; current version is '{}.{}'",
                asked.0, asked.1, newest.0, newest.1
            );
            return (Err(codes::UNSUPPORTED_PTX), words);
        }
        let name = format!("module {}", self.modules.len());
        let image = Image {
            kind: ImageKind::Jit,
            sha256: name.clone(),
            module: name,
            code: Code::Ptx(text.into()),
            compiler: String::new(),
        };
        let signatures = module.signatures();
        let names: Vec<&str> = signatures
            .iter()
            .map(|kernel| kernel.name.as_str())
            .collect();
        let words = format!("ptxas info: compiled {}", names.join(", "));
        match self.cards[card].sim.load(&image) {
            Ok(loaded) => {
                self.modules.push(Module {
                    card,
                    id: loaded.module,
                    signatures,
                });
                (Ok(self.modules.len() - 1), words)
            }
            Err(fault) => (Err(codes::INVALID_PTX), format!("ptxas fatal: {fault}")),
        }
    }

    /// The number of a module's kernel.
    pub(crate) fn kernel(&mut self, module: usize, name: &str) -> Answer<usize> {
        let module = self.modules.get(module).ok_or(codes::INVALID_HANDLE)?;
        let signature = module.signatures.iter().find(|kernel| kernel.name == name);
        self.kernels.push(Kernel {
            card: module.card,
            module: module.id,
            signature: signature.ok_or(codes::NOT_FOUND)?.clone(),
        });
        Ok(self.kernels.len() - 1)
    }

    pub(crate) fn has_module(&self, module: usize) -> bool {
        module < self.modules.len()
    }

    /// Runs a kernel to its end. `values` are its parameters' bytes. None where it never ends.
    pub(crate) fn launch(
        &mut self,
        kernel: usize,
        (grid, block): ([u32; 3], [u32; 3]),
        shared: u32,
        values: &[u64],
    ) -> Option<Answer> {
        let Some(kernel) = self.kernels.get(kernel) else {
            return Some(Err(codes::INVALID_HANDLE));
        };
        let sizes = kernel.signature.params.iter().map(|param| param.size);
        let args: Vec<Argument> = sizes
            .zip(values)
            .map(|(size, value)| Argument::Scalar {
                bytes: value.to_le_bytes(),
                size,
            })
            .collect();
        let launch = Launch {
            module: kernel.module,
            kernel: &kernel.signature.name,
            grid,
            block,
            shared,
            args: &args,
        };
        self.cards[kernel.card].launch(&launch)
    }
}

impl Card {
    fn new() -> Self {
        let mut sim = SimDevice::new();
        // A card has none.
        sim.set_detectors(false);
        Self {
            sim,
            allocations: BTreeMap::new(),
            freed: HashMap::new(),
            used_bytes: 0,
            broken: None,
        }
    }

    pub(crate) fn used_bytes(&self) -> u64 {
        self.used_bytes
    }

    pub(crate) fn alloc(&mut self, len: u64) -> Answer<u64> {
        if len == 0 {
            return Err(codes::INVALID_VALUE);
        }
        let used = self.used_bytes.saturating_add(len);
        if used
            > Plan::get()
                .memory_bytes
                .saturating_sub(Plan::get().taken_bytes)
        {
            return Err(codes::OUT_OF_MEMORY);
        }
        let freed = self.freed.get_mut(&len).and_then(Vec::pop);
        let buffer = match freed {
            Some(buffer) => buffer,
            None => {
                let made = self.sim.alloc(len, Access::ReadWrite);
                made.map_err(|_| codes::OUT_OF_MEMORY)?
            }
        };
        let address = SimDevice::address(buffer);
        self.allocations.insert(address, Allocation { buffer, len });
        self.used_bytes = used;
        Ok(address)
    }

    pub(crate) fn free(&mut self, address: u64) -> Answer {
        let gone = self.allocations.remove(&address);
        let Allocation { buffer, len } = gone.ok_or(codes::INVALID_VALUE)?;
        self.freed.entry(len).or_default().push(buffer);
        self.used_bytes -= len;
        Ok(())
    }

    /// The buffer and offset of `len` bytes, all of which lie in one allocation.
    fn place(&self, address: u64, len: u64) -> Answer<(BufferId, u64)> {
        let (start, allocation) = self
            .allocations
            .range(..=address)
            .next_back()
            .ok_or(codes::INVALID_VALUE)?;
        let offset = address - start;
        let end = offset.checked_add(len).ok_or(codes::INVALID_VALUE)?;
        match end <= allocation.len {
            true => Ok((allocation.buffer, offset)),
            false => Err(codes::INVALID_VALUE),
        }
    }

    pub(crate) fn upload(&mut self, to: u64, bytes: &[u8]) -> Answer {
        let (buffer, offset) = self.place(to, bytes.len() as u64)?;
        done(self.sim.upload(buffer, offset, bytes))
    }

    pub(crate) fn download(&mut self, from: u64, to: &mut [u8]) -> Answer {
        let (buffer, offset) = self.place(from, to.len() as u64)?;
        let held = self.sim.download(buffer, offset, to.len() as u64);
        done(held.map(|held| to.copy_from_slice(held)))
    }

    pub(crate) fn copy(&mut self, to: u64, from: u64, len: u64) -> Answer {
        let (to, from) = (self.place(to, len)?, self.place(from, len)?);
        done(self.sim.copy(from, to, len))
    }

    pub(crate) fn fill(&mut self, to: u64, pattern: &[u8], count: u64) -> Answer {
        let len = count.checked_mul(pattern.len() as u64);
        let len = len.ok_or(codes::INVALID_VALUE)?;
        let (buffer, offset) = self.place(to, len)?;
        done(self.sim.fill(buffer, offset, len, pattern))
    }

    fn launch(&mut self, launch: &Launch<'_>) -> Option<Answer> {
        let ran = self.sim.launch(launch);
        let findings = self.sim.take_findings().unwrap_or_default();
        let broken = findings.iter().find_map(|finding| match finding.kind {
            FindingKind::OutOfBounds => Some(codes::ILLEGAL_ADDRESS),
            FindingKind::Misaligned => Some(codes::MISALIGNED_ADDRESS),
            _ => None,
        });
        match ran.map_err(|fault| fault.reason.kind) {
            // A kernel that left its memory may also never end.
            _ if broken.is_some() => self.broken = broken,
            Ok(()) => {}
            Err(ReasonKind::Hang) => return None,
            Err(ReasonKind::KernelFault) => {
                let failed = self.sim.failed_assertions();
                print(failed);
                self.broken = Some(match failed {
                    [] => codes::LAUNCH_FAILED,
                    _ => codes::ASSERT,
                });
            }
            Err(_) => return Some(Err(codes::INVALID_VALUE)),
        }
        Some(Ok(()))
    }
}

/// Prints a line for each thread, as CUDA does.
fn print(failed: &[FailedAssertion]) {
    let mut stderr = std::io::stderr().lock();
    for FailedAssertion {
        assertion,
        block: [bx, by, bz],
        thread: [x, y, z],
    } in failed
    {
        let unknown = || "?".to_owned();
        let (file, line) = assertion.place.clone().unwrap_or_else(|| (unknown(), 0));
        let function = assertion.function.clone().unwrap_or_else(unknown);
        let message = assertion.message.clone().unwrap_or_else(unknown);
        // A process without a stderr has nobody to tell.
        let _ = writeln!(
            stderr,
            "{file}:{line}: {function}: block: [{bx},{by},{bz}], thread: [{x},{y},{z}] \
             Assertion `{message}` failed."
        );
    }
}

/// The simulated device refuses no access to memory that is there.
fn done<T>(result: Result<T, cuda_gates::outcome::Fault>) -> Answer<T> {
    result.map_err(|_| codes::INVALID_VALUE)
}

/// The newest PTX ISA that a driver of this CUDA version compiles, by the PTX ISA's release history.
fn newest_ptx(cuda: u32) -> (u32, u32) {
    let (major, minor) = (cuda / 1000, cuda % 1000 / 10);
    match (major, minor) {
        (11, minor) => (7, minor),
        (12, minor @ 0..=5) => (8, minor),
        // 12.6 kept 8.5; each later one is its own number less one.
        (12, minor) => (8, minor - 1),
        (13.., minor) => (major - 4, minor),
        _ => (6, 5),
    }
}

#[cfg(test)]
mod tests {
    use super::newest_ptx;

    #[test]
    fn a_driver_knows_the_ptx_of_its_own_toolkit() {
        for (cuda, isa) in [
            (11_040, (7, 4)),
            (11_080, (7, 8)),
            (12_040, (8, 4)),
            (12_060, (8, 5)),
            (12_080, (8, 7)),
            (13_000, (9, 0)),
        ] {
            assert_eq!(newest_ptx(cuda), isa);
        }
    }
}
