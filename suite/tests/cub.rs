//! CUB on the simulated device: its block- and warp-wide primitives inside small kernels, against the host; and the
//! kernels of its device-wide algorithms, decoded.
//!
//! `data/cub/*.cu` are compiled by this machine's nvcc, which brings CUB; where there is none these tests say so and
//! pass. Compiled PTX is kept under the build folder by the hash of source and compiler.

mod cub_host;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use cub_host::*;
use cuda_gates::device::sim::SimDevice;
use cuda_gates::device::{Access, Argument, Device, Launch};
use cuda_gates::image::nvcc::{self, Nvcc};
use cuda_gates::image::{Code, Image, ptx};
use cuda_gates::terms::ImageKind;
use sha2::{Digest, Sha256};

const FLAGS: [&str; 4] = ["-ptx", "-arch=compute_75", "-std=c++17", "-lineinfo"];
/// Elements that every kernel works on: whole blocks of each of them.
const N: usize = 1536;
/// Warp instructions; the longest of these kernels takes a hundredth.
const BUDGET: u64 = 1 << 26;

/// PTX of one source, or why there is none.
fn compiled(name: &str) -> Result<String, String> {
    let nvcc = Nvcc::find().ok_or_else(nvcc::missing)?;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("suite/tests/data/cub");
    let source = folder.join(name);
    let text = std::fs::read(&source).expect("the source is there");
    let mut hash = Sha256::new();
    hash.update(&text);
    hash.update(nvcc.name());
    hash.update(FLAGS.join(" "));
    let hash: String = hash.finalize()[..8]
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect();
    let kept = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.{hash}.ptx"));
    if !kept.exists() {
        let part = kept.with_extension(format!("{}.part", std::process::id()));
        let mut arguments: Vec<OsString> = FLAGS.iter().map(OsString::from).collect();
        arguments.extend([source.into(), "-o".into(), part.clone().into()]);
        let output = nvcc.run(&folder, &arguments).map_err(|e| e.to_string())?;
        let said = String::from_utf8_lossy(&output.stderr);
        if said.contains("cub/cub.cuh: No such file") || said.contains("cannot open source file") {
            return Err(format!("{} brings no CUB", nvcc.name()));
        }
        assert!(output.status.success(), "{name}: {said}");
        std::fs::rename(&part, &kept).expect("the build folder can be written");
    }
    Ok(std::fs::read_to_string(&kept).expect("the PTX is there"))
}

fn image(text: &str) -> Image {
    Image {
        kind: ImageKind::Jit,
        module: "cub".to_owned(),
        code: Code::Ptx(text.into()),
        sha256: String::new(),
        compiler: String::new(),
    }
}

/// One kernel: how many threads a block has, and what a block makes of so many elements.
type Case = (&'static str, u32, usize, fn(&[i32]) -> Vec<i32>);

/// Runs each kernel on all elements and compares; gives what is wrong.
fn run(text: &str, cases: &[Case]) -> Vec<String> {
    let parsed = ptx::parse(text).expect("the PTX parses");
    let known: Vec<&str> = cases.iter().map(|case| case.0).collect();
    let mut wrong: Vec<String> = Vec::new();
    for signature in parsed.signatures() {
        // CUB has one of its own in every module.
        let is_ours = !signature.name.starts_with("_Z");
        if is_ours && !known.contains(&signature.name.as_str()) {
            wrong.push(format!("{} is not compared", signature.name));
        }
    }
    let input: Vec<i32> = (0..N as u32)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 7).cast_signed() % 5003 - 1000)
        .collect();
    for &(kernel, threads, elements, want) in cases {
        let want: Vec<i32> = input.chunks(elements).flat_map(want).collect();
        let blocks = (N / elements) as u32;
        match launch(text, kernel, blocks, threads, &input) {
            Err(why) => wrong.push(format!("{kernel}: {why}")),
            Ok(got) => {
                if let Some(at) = got.iter().zip(&want).position(|(a, b)| a != b) {
                    let (got, want) = (got[at], want[at]);
                    wrong.push(format!("{kernel}: out[{at}] is {got}, should be {want}"));
                }
            }
        }
    }
    wrong
}

fn launch(
    text: &str,
    kernel: &str,
    blocks: u32,
    threads: u32,
    input: &[i32],
) -> Result<Vec<i32>, String> {
    let mut device = SimDevice::new().with_budget(BUDGET);
    let mut run = || {
        let module = device.load(&image(text))?.module;
        let bytes = 4 * N as u64;
        let read_only = device.alloc(bytes, Access::ReadOnly)?;
        device.upload(read_only, 0, bytemuck::cast_slice(input))?;
        let out = device.alloc(bytes, Access::ReadWrite)?;
        device.poison(out, 0, bytes, &UNTOUCHED.to_le_bytes())?;
        device.launch(&Launch {
            module,
            kernel,
            grid: [blocks, 1, 1],
            block: [threads, 1, 1],
            shared: 0,
            args: &[read_only, out].map(|buffer| Argument::Pointer { buffer, offset: 0 }),
        })?;
        let got: Vec<i32> = bytemuck::cast_slice(device.download(out, 0, bytes)?).to_vec();
        Ok((got, device.take_findings()?))
    };
    let (got, findings) = run().map_err(|e: cuda_gates::outcome::Fault| e.to_string())?;
    match findings.first() {
        Some(finding) => Err(format!("a finding: {finding:?}")),
        None => Ok(got),
    }
}

const BLOCK: [Case; 23] = [
    ("exclusive_sum_raking", 128, 512, exclusive_sum),
    ("exclusive_sum_raking_memoize", 128, 512, exclusive_sum),
    ("exclusive_sum_warp_scans", 128, 512, exclusive_sum),
    ("inclusive_max", 128, 512, inclusive_max),
    ("reduce_raking", 128, 512, sum_and_largest),
    ("reduce_raking_commutative", 128, 512, sum_and_largest),
    ("reduce_warp_reductions", 128, 512, sum_and_largest),
    ("radix_sort", 128, 512, sorted),
    ("radix_sort_pairs", 128, 512, by_five_bits_descending),
    ("radix_rank", 128, 512, ranks),
    ("load_direct", 128, 512, guarded),
    ("load_vectorize", 128, 512, guarded),
    ("load_transpose", 128, 512, guarded),
    ("load_warp_transpose", 128, 512, guarded),
    ("load_warp_transpose_timesliced", 128, 512, guarded),
    ("exchange", 128, 512, |tile| striped(tile, 128)),
    ("exchange_scatter", 128, 512, |tile| {
        tile.iter().rev().copied().collect()
    }),
    ("histogram_atomic", 128, 512, histogram),
    ("histogram_sort", 128, 512, histogram),
    ("merge_sort", 128, 512, by_low_byte),
    ("discontinuity", 128, 512, heads_and_tails),
    ("adjacent_difference", 128, 512, differences),
    ("run_length_decode", 128, 512, decoded_runs),
];

const WARP: [Case; 8] = [
    ("warp_scan_32", 64, 64, |tile| scanned(tile, 32)),
    ("warp_scan_8", 64, 64, |tile| scanned(tile, 8)),
    ("warp_reduce_32", 64, 64, |tile| {
        at_first(tile, 32, sum_with_largest)
    }),
    ("warp_reduce_16", 64, 64, |tile| {
        at_first(tile, 16, sum_with_largest)
    }),
    ("warp_reduce_5", 64, 64, |tile| {
        at_first(tile, 32, |group| group[..5].iter().sum())
    }),
    ("warp_segmented_sum", 64, 64, sums_of_runs),
    ("warp_exchange", 64, 256, |tile| striped(tile, 16)),
    ("warp_merge_sort", 64, 256, |tile| {
        tile.chunks(128).flat_map(sorted).collect()
    }),
];

/// Compares all kernels of a source, or tells why it cannot.
fn compare(source: &str, cases: &[Case]) {
    match compiled(source) {
        Ok(text) => {
            let wrong = run(&text, cases);
            assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        }
        Err(why) => println!("skipped: {why}"),
    }
}

#[test]
fn block_wide_primitives_give_what_the_host_gives() {
    compare("block.cu", &BLOCK);
}

#[test]
fn warp_wide_primitives_give_what_the_host_gives() {
    compare("warp.cu", &WARP);
}

#[test]
fn every_kernel_of_the_device_wide_algorithms_decodes() {
    let text = match compiled("device.cu") {
        Ok(text) => text,
        Err(why) => return println!("skipped: {why}"),
    };
    let mut device = SimDevice::new();
    let module = device.load(&image(&text)).expect("it loads").module;
    let signatures = ptx::parse(&text).expect("it parses").signatures();
    assert!(signatures.len() > 50, "{} kernels", signatures.len());
    let wrong: Vec<String> = signatures
        .iter()
        .filter_map(|signature| {
            Some(
                device
                    .check_kernel(module, &signature.name)
                    .err()?
                    .to_string(),
            )
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
