//! The interpreter against values worked out by hand or by an independent formula, and each detector against its
//! smallest violation.

mod accesses;
mod bench;
mod bits;
mod calls;
mod control;
mod detectors;
mod device;
mod explored;
mod floats;
mod integers;
mod kernels;
mod litmus;
mod memory;
mod orders;
mod races;
mod rarer;
mod releases;
mod rounding;
mod schedules;
mod single_pass;
mod splits;
mod tables;
mod taint;
mod waits;
mod warps;

use std::fmt::Write;

use super::SimDevice;
use crate::device::{Access, Argument, BufferId, Device, Launch};
use crate::image::{Code, Image};
use crate::outcome::{Fault, Finding};
use crate::terms::ImageKind;

pub(super) const HEADER: &str = ".version 7.8\n.target sm_75\n.address_size 64\n";

/// Registers every test kernel has, by the letter in their names.
const REGISTERS: &str = ".reg .b16 %h<16>; .reg .b32 %r<32>; .reg .f32 %f<16>; .reg .b64 %d<32>; .reg .f64 %g<16>; \
    .reg .pred %p<16>;\n";

/// A kernel `k` with these parameters.
pub(super) fn kernel(params: &str, body: &str) -> String {
    format!("{HEADER}.visible .entry k({params})\n{{\n{REGISTERS}{body}\nret;\n}}\n")
}

pub(super) fn image(text: &str) -> Image {
    Image {
        kind: ImageKind::Jit,
        module: "test".to_owned(),
        code: Code::Ptx(text.into()),
        sha256: format!("{text:p}{}", text.len()),
        compiler: "hand".to_owned(),
    }
}

/// Loads a text and launches its kernel `k`.
pub(super) fn launch(
    device: &mut SimDevice,
    text: &str,
    grid: u32,
    block: u32,
    shared: u32,
    args: &[Argument],
) -> Result<(), Fault> {
    let module = device.load(&image(text))?.module;
    device.launch(&Launch {
        module,
        kernel: "k",
        grid: [grid, 1, 1],
        block: [block, 1, 1],
        shared,
        args,
    })
}

pub(super) fn pointer(buffer: BufferId) -> Argument {
    Argument::Pointer { buffer, offset: 0 }
}

/// Runs `body` in one block over one buffer `%d31` of `words` 32-bit zeros, with `%r31` = thread; gives the buffer
/// and the findings.
pub(super) fn run(body: &str, threads: u32, words: usize) -> (Vec<u32>, Vec<Finding>) {
    let text = kernel(
        ".param .u64 out",
        &format!(
            "ld.param.u64 %d31, [out];\nmov.u32 %r31, %tid.x;\nmul.wide.u32 %d30, %r31, 4;\n\
             add.s64 %d30, %d30, %d31;\n{body}"
        ),
    );
    let mut device = SimDevice::new().with_budget(1 << 22);
    let out = device.alloc(4 * words as u64, Access::ReadWrite).unwrap();
    device.fill(out, 0, 4 * words as u64, &[0]).unwrap();
    launch(&mut device, &text, 1, threads, 0, &[pointer(out)]).unwrap();
    let bytes = device.download(out, 0, 4 * words as u64).unwrap();
    let values = bytemuck::cast_slice(bytes).to_vec();
    (values, device.take_findings().unwrap())
}

/// The register names of an instruction: letter and number.
fn registers(op: &str) -> Vec<(char, usize)> {
    let mut all: Vec<(char, usize)> = op
        .split('%')
        .skip(1)
        .filter_map(|rest| {
            let letter = rest.chars().next()?;
            let digits = rest[1..].chars().take_while(char::is_ascii_digit).count();
            Some((letter, rest[1..1 + digits].parse().ok()?))
        })
        .collect();
    all.sort_unstable_by_key(|&(_, number)| number);
    all.dedup();
    all
}

/// Runs one instruction for each vector in a lane of its own: register number 0 is the result, `n` takes input `n-1`.
pub(super) fn check(op: &str, vectors: &[(&[u64], u64)]) {
    let mut body = String::from(
        "ld.param.u64 %d31, [in];\nld.param.u64 %d30, [out];\nmov.u32 %r31, %tid.x;\n",
    );
    body += "mul.wide.u32 %d29, %r31, 32;\nadd.s64 %d31, %d31, %d29;\nmul.wide.u32 %d29, %r31, 8;\n\
     add.s64 %d30, %d30, %d29;\n";
    let mut store = String::new();
    // Higher numbers are the instruction's own business.
    for (letter, number) in registers(op).into_iter().filter(|&(_, number)| number <= 4) {
        let ty = match letter {
            'h' => "b16",
            'r' => "b32",
            'f' => "f32",
            'd' => "b64",
            'g' => "f64",
            _ => "pred",
        };
        let at = number.wrapping_sub(1).wrapping_mul(8);
        match (number, ty) {
            (0, "pred") => store += "selp.u32 %r30, 1, 0, %p0;\nst.global.u32 [%d30], %r30;\n",
            (0, _) => writeln!(store, "st.global.{ty} [%d30], %{letter}0;").unwrap(),
            (_, "pred") => writeln!(
                body,
                "ld.global.u32 %r30, [%d31+{at}];\nsetp.ne.u32 %p{number}, %r30, 0;"
            )
            .unwrap(),
            _ => writeln!(body, "ld.global.{ty} %{letter}{number}, [%d31+{at}];").unwrap(),
        }
    }
    let text = kernel(
        ".param .u64 in, .param .u64 out",
        &format!("{body}{op};\n{store}"),
    );
    let mut device = SimDevice::new();
    let mut inputs = vec![0_u64; 4 * vectors.len()];
    for (index, (values, _)) in vectors.iter().enumerate() {
        inputs[4 * index..4 * index + values.len()].copy_from_slice(values);
    }
    let bytes = 8 * vectors.len() as u64;
    let input = device.alloc(4 * bytes, Access::ReadOnly).unwrap();
    let out = device.alloc(bytes, Access::ReadWrite).unwrap();
    device
        .upload(input, 0, bytemuck::cast_slice(&inputs))
        .unwrap();
    device.fill(out, 0, bytes, &[0]).unwrap();
    let threads = vectors.len() as u32;
    launch(
        &mut device,
        &text,
        1,
        threads,
        0,
        &[pointer(input), pointer(out)],
    )
    .unwrap_or_else(|e| panic!("{op}: {e}"));
    let got: Vec<u64> = bytemuck::cast_slice(device.download(out, 0, bytes).unwrap()).to_vec();
    for ((values, want), got) in vectors.iter().zip(got) {
        assert_eq!(
            got, *want,
            "{op} of {values:#x?}: got {got:#x}, want {want:#x}"
        );
    }
    assert_eq!(device.take_findings().unwrap(), [], "{op}");
}
