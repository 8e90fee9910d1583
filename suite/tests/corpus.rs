//! The fuzzers' kept inputs, each through what its fuzzer does with it: no panic, no hang, the same twice.

#[path = "../fuzz/executor.rs"]
mod executor;
#[path = "../fuzz/problems.rs"]
mod problems;
#[path = "../fuzz/program.rs"]
mod program;
#[path = "../fuzz/ptx.rs"]
mod ptx;
#[path = "../fuzz/report.rs"]
mod report;
#[path = "../fuzz/spec.rs"]
mod spec;
#[path = "../fuzz/waivers.rs"]
mod waivers;

use std::fs;
use std::path::Path;

use cuda_gates::device::sim::SimDevice;
use cuda_gates::device::{Access, Argument, Device, Launch};
use cuda_gates::image::{Code, Image};
use cuda_gates::terms::{ImageKind, ReasonKind};

/// Runs `input` on every kept input of a fuzzer; gives how many there are.
fn replay(fuzzer: &str, input: impl Fn(&[u8])) -> usize {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("suite/fuzz/corpus");
    let files = fs::read_dir(folder.join(fuzzer)).expect("the corpus is there");
    let mut paths: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    paths.sort();
    for path in &paths {
        // The last line of a failing test's output names its input.
        println!("{}", path.display());
        input(&fs::read(path).expect("a readable file"));
    }
    paths.len()
}

#[test]
fn the_parser_takes_every_kept_text() {
    assert!(replay("ptx", ptx::run) > 100);
}

#[test]
fn the_simulated_device_takes_every_kept_kernel() {
    assert!(replay("executor", executor::run) > 100);
}

#[test]
fn the_loader_takes_every_kept_spec() {
    assert!(replay("spec", spec::run) > 100);
}

#[test]
fn the_readers_take_every_kept_report() {
    assert!(replay("report", report::run) > 50);
}

#[test]
fn the_loader_takes_every_kept_list_of_waivers() {
    assert!(replay("waivers", waivers::run) > 15);
}

/// Bytes without a pattern.
fn noise(seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let byte = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    (0..400).map(byte).collect()
}

/// The executor's fuzzer is worth its time only while its kernels get past the decoder.
#[test]
fn made_kernels_decode() {
    for seed in 0..200 {
        let text = program::text(&mut program::Choices::new(&noise(seed)));
        let mut device = SimDevice::new();
        let image = Image {
            kind: ImageKind::Jit,
            module: "made".to_owned(),
            code: Code::Ptx(text.as_str().into()),
            sha256: String::new(),
            compiler: String::new(),
        };
        let module = device.load(&image).expect("it is PTX").module;
        let buffer = device.alloc(1024, Access::ReadWrite).expect("room");
        let args = [Argument::Pointer { buffer, offset: 0 }; 2];
        let launched = device.with_budget(10_000).launch(&Launch {
            module,
            kernel: "k",
            grid: [1, 1, 1],
            block: [32, 1, 1],
            shared: 0,
            args: &args,
        });
        let refused = launched
            .err()
            .filter(|fault| fault.reason.kind == ReasonKind::Setup);
        let refused = refused.filter(|fault| !fault.reason.message.contains("cannot run that"));
        assert_eq!(refused, None, "{text}");
    }
}
