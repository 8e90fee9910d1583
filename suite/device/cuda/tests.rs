//! On a card, when CUDA_GATES_TEST_GPU=1; elsewhere each test says that it was left out.

use std::hash::BuildHasher;
use std::sync::Arc;

use super::*;
use crate::device::{Access, Argument, Device, Elapsed, Launch, ModuleId};
use crate::image::{Code, Image};
use crate::terms::{FindingKind, ImageKind, ReasonKind};
use crate::value::{Array, POISON_BYTE};

mod refusals;
mod sessions;

/// `copy(in, out, n)`: one thread an element, no bound but n. `set(address, value)`: one store.
const PTX: &str = "
.version 7.8
.target sm_75
.address_size 64
.visible .entry copy(.param .u64 from, .param .u64 to, .param .u32 n)
{
    .reg .pred %p; .reg .b32 %r<6>; .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [from]; ld.param.u64 %rd2, [to]; ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p, %r5, %r1;
    @%p bra DONE;
    cvta.to.global.u64 %rd1, %rd1; cvta.to.global.u64 %rd2, %rd2;
    mul.wide.u32 %rd3, %r5, 4;
    add.s64 %rd1, %rd1, %rd3; add.s64 %rd2, %rd2, %rd3;
    ld.global.u32 %r2, [%rd1];
    st.global.u32 [%rd2], %r2;
DONE:
    ret;
}
.visible .entry set(.param .u64 to, .param .u32 value)
{
    .reg .b32 %r<2>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [to]; ld.param.u32 %r1, [value];
    st.global.u32 [%rd1], %r1;
    ret;
}
.extern .shared .align 4 .b8 dynamic[];
.visible .entry last_shared(.param .u64 to, .param .u32 offset)
{
    .reg .b32 %r<4>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [to]; ld.param.u32 %r1, [offset];
    mov.u32 %r2, dynamic;
    add.s32 %r2, %r2, %r1;
    st.shared.u32 [%r2], 77;
    ld.shared.u32 %r3, [%r2];
    st.global.u32 [%rd1], %r3;
    ret;
}
";

/// A card, or none with the reason printed.
fn card() -> Option<CudaDevice> {
    if std::env::var("CUDA_GATES_TEST_GPU").as_deref() != Ok("1") {
        println!("left out: CUDA_GATES_TEST_GPU=1 runs this on a card");
        return None;
    }
    Some(CudaDevice::open(&Select::Ordinal(0)).unwrap())
}

fn ptx(text: &str) -> Image {
    Image {
        kind: ImageKind::Jit,
        module: "inline".into(),
        code: Code::Ptx(text.into()),
        sha256: std::hash::BuildHasherDefault::<std::hash::DefaultHasher>::default()
            .hash_one(text)
            .to_string(),
        compiler: "by hand".into(),
    }
}

fn u32_arg(value: u32) -> Argument {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&value.to_le_bytes());
    Argument::Scalar { bytes, size: 4 }
}

fn pointer(buffer: BufferId, offset: u64) -> Argument {
    Argument::Pointer { buffer, offset }
}

fn launch<'a>(
    module: ModuleId,
    kernel: &'a str,
    grid: u32,
    block: u32,
    args: &'a [Argument],
) -> Launch<'a> {
    Launch {
        module,
        kernel,
        grid: [grid, 1, 1],
        block: [block, 1, 1],
        shared: 0,
        args,
    }
}

fn words(count: u32) -> Vec<u8> {
    (0..count)
        .flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes())
        .collect()
}

#[test]
fn a_kernel_copies_and_its_log_is_there() {
    let Some(mut card) = card() else { return };
    let n = 3_000_001_u32;
    let bytes = words(n);
    let loaded = card.load(&ptx(PTX)).unwrap();
    let log = loaded.jit_log.unwrap();
    assert!(log.contains("copy"), "the log names its kernels: {log}");
    assert_eq!(card.load(&ptx(PTX)).unwrap().module, loaded.module);

    let from = card.alloc(bytes.len() as u64, Access::ReadOnly).unwrap();
    let to = card.alloc(bytes.len() as u64, Access::ReadWrite).unwrap();
    card.upload(from, 0, &bytes).unwrap();
    card.poison(to, 0, bytes.len() as u64, &[POISON_BYTE])
        .unwrap();
    let args = [pointer(from, 0), pointer(to, 0), u32_arg(n - 1)];
    card.launch(&launch(loaded.module, "copy", n.div_ceil(256), 256, &args))
        .unwrap();
    card.finish().unwrap();
    assert_eq!(card.take_findings().unwrap(), []);
    let got = card.download(to, 0, bytes.len() as u64).unwrap();
    let written = bytes.len() - 4;
    assert!(got[..written] == bytes[..written]);
    assert_eq!(got[written..], [POISON_BYTE; 4]);
    assert_eq!(
        card.first_difference(to, &bytes).unwrap(),
        Some(written as u64)
    );
    assert_eq!(card.first_difference(from, &bytes).unwrap(), None);
    assert_eq!(card.download(to, 8, 8).unwrap(), &bytes[8..16]);
    assert!(card.download(to, 8, 0).unwrap().is_empty());
}

#[test]
fn inputs_are_kept_on_the_device_and_not_mixed_up() {
    let Some(mut card) = card() else { return };
    let array = |seed: i32| Arc::new(Array::I32((0..200_000).map(|i| i ^ seed).collect()));
    let (one, two) = (array(1), array(2));
    for input in [&one, &two, &one, &two] {
        let buffer = card.alloc(800_000, Access::ReadOnly).unwrap();
        card.upload_input(buffer, input).unwrap();
        assert_eq!(
            card.first_difference(buffer, input.as_bytes()).unwrap(),
            None
        );
        // A case that spoils its copy does not spoil the next one's.
        card.fill(buffer, 0, 800_000, &[0]).unwrap();
        card.finish().unwrap();
        card.free_all();
    }
}

#[test]
fn writes_beside_a_buffer_are_found_once() {
    let Some(mut card) = card() else { return };
    let module = card.load(&ptx(PTX)).unwrap().module;
    let from = card.alloc(16, Access::ReadOnly).unwrap();
    let to = card.alloc(12, Access::ReadWrite).unwrap();
    card.name_buffer(to, "out");
    card.fill(from, 0, 16, &[1, 2, 3, 4]).unwrap();
    // The fourth element goes past the end.
    let args = [pointer(from, 0), pointer(to, 0), u32_arg(4)];
    card.launch(&launch(module, "copy", 1, 32, &args)).unwrap();
    let findings = card.take_findings().unwrap();
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].kind, FindingKind::Guard);
    assert!(
        findings[0].message.contains("`out`") && findings[0].message.contains("past its end"),
        "{}",
        findings[0]
    );
    assert_eq!(card.take_findings().unwrap(), [], "the band is put back");

    // A copy from band to band, one element past two full buffers, is seen as well.
    let args = [pointer(from, 12), pointer(to, 8), u32_arg(2)];
    card.launch(&launch(module, "copy", 1, 32, &args)).unwrap();
    let findings = card.take_findings().unwrap();
    assert_eq!(findings.len(), 1, "{findings:?}");
}

#[test]
fn patterns_of_every_width_fill() {
    let Some(mut card) = card() else { return };
    let buffer = card.alloc(8 * 1_000_003, Access::ReadWrite).unwrap();
    let wide = (-2.5_f64).to_le_bytes();
    for pattern in [&[0xDB][..], &[1, 2], &[1, 2, 3, 4], &wide, &[9; 8]] {
        let len = 8 * 1_000_003;
        card.fill(buffer, 0, len, pattern).unwrap();
        let got = card.download(buffer, 0, len).unwrap();
        assert!(
            got.chunks_exact(pattern.len())
                .all(|chunk| chunk == pattern),
            "{pattern:?}"
        );
    }
    card.fill(buffer, 8, 8, &[7; 8]).unwrap();
    card.fill(buffer, 17, 3, &[5]).unwrap();
    assert_eq!(
        card.download(buffer, 8, 12).unwrap(),
        [7, 7, 7, 7, 7, 7, 7, 7, 9, 5, 5, 5]
    );
    assert_eq!(card.take_findings().unwrap(), []);
}

#[test]
fn events_measure_work() {
    let Some(mut card) = card() else { return };
    let bytes = 64 << 20;
    let from = card.alloc(bytes, Access::ReadWrite).unwrap();
    let to = card.alloc(bytes, Access::ReadWrite).unwrap();
    card.fill(from, 0, bytes, &[1]).unwrap();
    let start = card.stamp().unwrap();
    card.copy((from, 0), (to, 0), bytes).unwrap();
    let middle = card.stamp().unwrap();
    for _ in 0..20 {
        card.copy((from, 0), (to, 0), bytes).unwrap();
    }
    let end = card.stamp().unwrap();
    let ms = |card: &mut CudaDevice, a, b| match card.between(a, b).unwrap() {
        Elapsed::Milliseconds(ms) => ms,
        Elapsed::Instructions(_) => panic!("a card has a clock"),
    };
    let (one, twenty) = (ms(&mut card, start, middle), ms(&mut card, middle, end));
    assert!(one > 0.0 && twenty > one, "{one} ms, {twenty} ms");
}

#[test]
fn downloads_above_the_staging_limit_come_whole() {
    let Some(mut card) = card() else { return };
    let len = LARGE + 12;
    let buffer = card.alloc(len, Access::ReadWrite).unwrap();
    card.fill(buffer, 0, len, &[1, 2, 3, 4]).unwrap();
    card.fill(buffer, len - 4, 4, &[9]).unwrap();
    let got = card.download(buffer, 0, len).unwrap();
    assert_eq!(got.len() as u64, len);
    let (last, rest) = got
        .split_last_chunk::<4>()
        .map(|(rest, last)| (last, rest))
        .unwrap();
    assert!(rest.chunks_exact(4).all(|chunk| chunk == [1, 2, 3, 4]));
    assert_eq!(*last, [9; 4]);
}

#[test]
fn cuda_and_nvml_agree_on_the_cards() {
    if card().is_none() {
        return;
    }
    for info in enumerate().unwrap() {
        println!("{info:?}");
        let by_uuid = CudaDevice::open(&Select::Uuid(info.uuid.clone().unwrap())).unwrap();
        assert_eq!(by_uuid.info(), &info);
        assert!(
            info.l2_bytes > 0
                && info.total_memory_bytes > 1 << 30
                && info.cuda_driver_version > Some(11_070)
        );
    }
    let fault = CudaDevice::open(&Select::Ordinal(999)).err().unwrap();
    assert_eq!(fault.reason.kind, ReasonKind::Environment);
    assert!(fault.reason.message.contains("0: "), "{fault}");
}
