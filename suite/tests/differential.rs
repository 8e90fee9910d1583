//! The simulated device against the host: kernels from random C, compiled by nvcc 13.0 and NVRTC 11.8, whose results
//! the same C gave when gcc compiled it for this machine's CPU.
//!
//! `data/differential/NAME.ptx` holds kernel `k(const u32* in, u32* out)`; `NAME.want` begins with blocks, threads a
//! block and the seed of `in`, and then gives `out`. `CUDA_GATES_DIFFERENTIAL` names one more folder to replay.

use std::path::{Path, PathBuf};

use cuda_gates::device::sim::SimDevice;
use cuda_gates::device::{Access, Argument, Device, Launch};
use cuda_gates::image::{Code, Image};
use cuda_gates::terms::ImageKind;

const INPUT_WORDS: usize = 1024;
/// Warp instructions; the largest of these kernels takes a hundredth.
const BUDGET: u64 = 1 << 26;

struct Wanted {
    blocks: u32,
    threads: u32,
    seed: u32,
    out: Vec<u32>,
}

fn wanted(text: &str) -> Wanted {
    let (head, body) = text.split_once('\n').expect("a first line");
    let head: Vec<u32> = head
        .split_whitespace()
        .map(|word| word.parse().expect("a number"))
        .collect();
    let out: Vec<u32> = body
        .split_whitespace()
        .map(|word| u32::from_str_radix(word, 16).expect("a hexadecimal word"))
        .collect();
    assert_eq!(
        out.len() as u32,
        head[0] * head[1],
        "a word for each thread"
    );
    Wanted {
        blocks: head[0],
        threads: head[1],
        seed: head[2],
        out,
    }
}

/// Words of all magnitudes, from one linear congruential generator.
fn input(seed: u32) -> Vec<u32> {
    let mut x = seed;
    let mut next = || {
        x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if x >> 28 < 5 { x >> 20 } else { x ^ x >> 13 }
    };
    (0..INPUT_WORDS).map(|_| next()).collect()
}

/// What differs, if anything does.
fn replay(path: &Path) -> Result<(), String> {
    let read = |path: &Path| std::fs::read_to_string(path).map_err(|e| e.to_string());
    let want = wanted(&read(&path.with_extension("want"))?);
    let image = Image {
        kind: ImageKind::Jit,
        module: path.display().to_string(),
        code: Code::Ptx(read(path)?.into()),
        sha256: String::new(),
        compiler: String::new(),
    };
    let mut device = SimDevice::new().with_budget(BUDGET);
    let module = device.load(&image).map_err(|e| e.to_string())?.module;
    let mut run = || {
        let words = input(want.seed);
        let read_only = device.alloc(4 * INPUT_WORDS as u64, Access::ReadOnly)?;
        device.upload(read_only, 0, bytemuck::cast_slice(&words))?;
        let len = 4 * want.out.len() as u64;
        let out = device.alloc(len, Access::ReadWrite)?;
        device.fill(out, 0, len, &[0])?;
        device.launch(&Launch {
            module,
            kernel: "k",
            grid: [want.blocks, 1, 1],
            block: [want.threads, 1, 1],
            shared: 0,
            args: &[read_only, out].map(|buffer| Argument::Pointer { buffer, offset: 0 }),
        })?;
        let got: Vec<u32> = bytemuck::cast_slice(device.download(out, 0, len)?).to_vec();
        Ok((got, device.take_findings()?))
    };
    let (got, findings) = run().map_err(|e: cuda_gates::outcome::Fault| e.to_string())?;
    if let Some(at) = got.iter().zip(&want.out).position(|(a, b)| a != b) {
        let wrong = got.iter().zip(&want.out).filter(|(a, b)| a != b).count();
        let (got, want) = (got[at], want.out[at]);
        return Err(format!(
            "thread {at} gives {got:08x}, the host {want:08x}; {wrong} differ"
        ));
    }
    match findings.first() {
        Some(finding) => Err(format!("a finding: {finding:?}")),
        None => Ok(()),
    }
}

/// Replays every kernel of a folder; gives how many there were.
fn replay_all(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let mut kernels: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "ptx"))
        .collect();
    kernels.sort();
    let wrong: Vec<String> = kernels
        .iter()
        .filter_map(|path| {
            let why = replay(path).err()?;
            Some(format!("{}: {why}", path.display()))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    kernels.len()
}

#[test]
fn kernels_give_what_the_host_gives() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("suite/tests/data/differential");
    assert!(
        replay_all(&folder) > 0,
        "no kernels in {}",
        folder.display()
    );
}

#[test]
fn kernels_of_another_folder_give_what_the_host_gives() {
    if let Some(folder) = std::env::var_os("CUDA_GATES_DIFFERENTIAL") {
        replay_all(Path::new(&folder));
    }
}
