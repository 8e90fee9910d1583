//! Every instruction on its own: what it gives for edges and random values, recorded on a card, replayed bit for bit.
//!
//! `data/vectors/*.txt` hold the instructions and their results; the first lines of each say where they come from.
//! They are part of this binary, which needs no other file. Variables:
//!
//! - `CUDA_GATES_DEVICE=cuda` (or `cuda:1`) runs on that card what else runs on the simulated device.
//! - `CUDA_GATES_RECORD=DIR` writes there what the device gives, in place of comparing. To add an instruction, write
//!   its line into a file and record.

mod vector_file;
mod vector_inputs;
mod vector_kernels;

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use cuda_gates::device::cuda::{CudaDevice, Select};
use cuda_gates::device::sim::SimDevice;
use cuda_gates::device::{Access, Argument, BufferId, Device, Launch, ModuleId};
use cuda_gates::identity;
use cuda_gates::image::{Code, Image};
use cuda_gates::outcome::Fault;
use cuda_gates::terms::{DeviceKind, ImageKind};
use vector_file::{Entry, Family};
use vector_kernels::{OWN_BYTES, SLOTS};

/// Differences of one instruction that are shown.
const SHOWN: usize = 4;

/// A card belongs to one test at a time.
static DEVICE: Mutex<()> = Mutex::new(());

fn open() -> Result<Box<dyn Device>, Fault> {
    match std::env::var("CUDA_GATES_DEVICE").ok().as_deref() {
        Some("cuda") => Ok(Box::new(CudaDevice::open(&Select::Ordinal(0))?)),
        Some(name) if name.starts_with("cuda:") => {
            let number = name[5..].parse().map_err(|_| {
                Fault::setup(format!("CUDA_GATES_DEVICE={name}: wants cuda:0, cuda:1, …"))
            })?;
            Ok(Box::new(CudaDevice::open(&Select::Ordinal(number))?))
        }
        _ => {
            // Threads write the same words here, on purpose; results are what is asked for.
            let mut device = SimDevice::new();
            device.set_detectors(false);
            Ok(Box::new(device))
        }
    }
}

/// `simulated`, or `NVIDIA H200, driver 580.159.04`.
fn source(device: &dyn Device) -> String {
    let info = device.info();
    if info.kind == DeviceKind::Sim {
        return "simulated".to_owned();
    }
    let driver = identity::read(info.uuid.as_deref()).driver_version;
    format!(
        "{}, driver {}",
        info.name,
        driver.as_deref().unwrap_or("of unknown version")
    )
}

/// One family on one device.
struct Bench<'a> {
    device: &'a mut dyn Device,
    module: ModuleId,
    input: BufferId,
    out: BufferId,
    memory: BufferId,
    threads: usize,
}

impl<'a> Bench<'a> {
    fn new(device: &'a mut dyn Device, family: &Family) -> Result<Self, Fault> {
        let image = Image {
            kind: ImageKind::Jit,
            module: family.name.clone(),
            code: Code::Ptx(vector_kernels::module(family).into()),
            sha256: family.name.clone(),
            compiler: String::new(),
        };
        let module = device.load(&image)?.module;
        let slots = (8 * SLOTS * family.threads) as u64;
        let memory = (OWN_BYTES * (family.threads + 1)) as u64;
        Ok(Self {
            module,
            input: device.alloc(slots, Access::ReadOnly)?,
            out: device.alloc(slots, Access::ReadWrite)?,
            memory: device.alloc(memory, Access::ReadWrite)?,
            threads: family.threads,
            device,
        })
    }

    /// What kernel `number` gives: for each output a value a thread.
    fn run(
        &mut self,
        number: usize,
        entry: &Entry,
        inputs: &[u64],
    ) -> Result<Vec<Vec<u64>>, Fault> {
        let bytes = 8 * (SLOTS * self.threads) as u64;
        self.device
            .upload(self.input, 0, bytemuck::cast_slice(inputs))?;
        self.device.fill(self.out, 0, bytes, &[0])?;
        let own = (0..OWN_BYTES * self.threads).map(vector_inputs::byte);
        let memory: Vec<u8> = std::iter::repeat_n(0, OWN_BYTES).chain(own).collect();
        self.device.upload(self.memory, 0, &memory)?;
        self.device.launch(&Launch {
            module: self.module,
            kernel: &format!("k{number}"),
            grid: [1; 3],
            block: [self.threads as u32, 1, 1],
            shared: 0,
            args: &[self.input, self.out, self.memory]
                .map(|buffer| Argument::Pointer { buffer, offset: 0 }),
        })?;
        let got: Vec<u64> =
            bytemuck::cast_slice(self.device.download(self.out, 0, bytes)?).to_vec();
        if let Some(finding) = self.device.take_findings()?.first() {
            return Err(Fault::kernel(format!("a finding: {finding:?}")));
        }
        let of = |slot: usize| got.iter().skip(slot).step_by(SLOTS).copied().collect();
        Ok((0..entry.outputs.len()).map(of).collect())
    }
}

/// Four slots a thread, those of inputs filled.
fn inputs(entry: &Entry, threads: usize) -> Vec<u64> {
    let mut all = vec![0; SLOTS * threads];
    for (register, generator) in &entry.inputs {
        for thread in 0..threads {
            let value = vector_inputs::value(generator, register.letter, register.number, thread);
            all[SLOTS * thread + register.number as usize - 1] = value;
        }
    }
    all
}

/// The first results that differ from those recorded, in words.
fn differences(entry: &Entry, inputs: &[u64], got: &[Vec<u64>]) -> Vec<String> {
    let mut all = Vec::new();
    for (at, register) in entry.outputs.iter().enumerate() {
        let (letter, number) = (register.letter, register.number);
        let pairs = got[at].iter().zip(&entry.results[at]).enumerate();
        for (thread, (got, want)) in pairs.filter(|(_, (got, want))| got != want) {
            let given = entry.inputs.iter().map(|(register, _)| {
                let value = inputs[SLOTS * thread + register.number as usize - 1];
                format!("{value:x}")
            });
            let given: Vec<String> = given.collect();
            all.push(format!(
                "thread {thread} of {}: %{letter}{number} is {got:x}, recorded {want:x}",
                given.join(", ")
            ));
        }
    }
    let count = all.len();
    all.truncate(SHOWN);
    if count > SHOWN {
        all.push(format!("and {} more", count - SHOWN));
    }
    all
}

/// Runs a family and compares, or records.
fn replay(name: &str, text: &str) {
    let _one = DEVICE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut family = vector_file::parse(name, text).unwrap_or_else(|why| panic!("{why}"));
    let record = std::env::var_os("CUDA_GATES_RECORD").filter(|folder| !folder.is_empty());
    let mut device = open().unwrap_or_else(|why| panic!("{why}"));
    let source = source(&*device);
    let mut bench = Bench::new(&mut *device, &family).unwrap_or_else(|why| panic!("{name}: {why}"));
    let mut wrong = Vec::new();
    let threads = family.threads;
    for (number, entry) in family.entries.iter_mut().enumerate() {
        let (line, op) = (entry.line, entry.op.clone());
        let mut fail = |why: &str| wrong.push(format!("{name}.txt:{line}: {op}: {why}"));
        let inputs = inputs(entry, threads);
        let got = match bench.run(number, entry, &inputs) {
            Ok(got) => got,
            Err(why) => {
                fail(&why.to_string());
                continue;
            }
        };
        let checksum = vector_inputs::checksum(&inputs);
        if record.is_some() {
            entry.checksum = checksum;
            entry.results = got;
        } else if entry
            .results
            .iter()
            .map(Vec::len)
            .ne(got.iter().map(Vec::len))
        {
            fail("has no results, or too few: set CUDA_GATES_RECORD to record them");
        } else if entry.checksum != checksum {
            fail("has results of other inputs: set CUDA_GATES_RECORD to record new ones");
        } else {
            let differences = differences(entry, &inputs, &got);
            if !differences.is_empty() {
                fail(&differences.join("\n    "));
            }
        }
    }
    if let Some(folder) = record {
        family.source = source;
        let path = Path::new(&folder).join(format!("{name}.txt"));
        let text = vector_file::print(&family, &vector_file::about(text));
        std::fs::write(&path, text).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    }
    let count = wrong.len();
    assert!(
        wrong.is_empty(),
        "{count} of {} instructions differ from {}:\n{}",
        family.entries.len(),
        family.source,
        wrong.join("\n")
    );
}

macro_rules! families {
    ($($name:ident)+) => { $(
        #[test]
        fn $name() {
            let name = stringify!($name);
            replay(name, include_str!(concat!("data/vectors/", stringify!($name), ".txt")));
        }
    )+ };
}

families! {
    integers products carries bits shifts fields video compares selects
    floats doubles halves flushed tiny roundings
    conversions float_conversions
    shuffles votes atomics shared_atomics accesses addresses barriers
}

#[test]
fn a_planted_difference_is_told_with_its_inputs() {
    let text = "source: by hand\nthreads: 2\n\nadd.u32 %r0, %r1, %r2\n  inputs 00000001\n  %r0 00000000 00000007\n";
    let family = vector_file::parse("planted", text).unwrap();
    let entry = &family.entries[0];
    let told = differences(entry, &[1, 2, 0, 0, 3, 4, 0, 0], &[vec![0, 8]]);
    assert_eq!(told, ["thread 1 of 3, 4: %r0 is 8, recorded 7"]);
    assert_eq!(vector_file::print(&family, ""), text);
}
