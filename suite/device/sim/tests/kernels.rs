//! Whole kernels of the kind the suite runs.

use super::{kernel, launch, pointer};
use crate::device::sim::SimDevice;
use crate::device::{Access, Argument, BufferId, Device};
use crate::outcome::Finding;
use crate::terms::FindingKind;

/// Exclusive scan of each tile of 256, in place; totals to `sums`. Hillis–Steele between two halves of shared memory.
const SCAN: &str = "
    .shared .align 4 .b8 buf[2048];
    ld.param.u64 %d1, [data]; ld.param.u64 %d2, [sums]; ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; shl.b32 %r4, %r3, 8; add.s32 %r4, %r4, %r2;
    mul.wide.u32 %d3, %r4, 4; add.s64 %d3, %d3, %d1;
    setp.lt.u32 %p1, %r4, %r1; mov.u32 %r5, 0; @%p1 ld.global.u32 %r5, [%d3];
    mov.u32 %r6, buf; shl.b32 %r7, %r2, 2; add.s32 %r6, %r6, %r7; mov.u32 %r8, 0; mov.u32 %r9, 1;
    st.shared.u32 [%r6], %r5;
    bar.sync 0;
    STEP: add.s32 %r10, %r6, %r8; ld.shared.u32 %r11, [%r10];
    setp.lt.u32 %p2, %r2, %r9; @%p2 bra KEEP;
    shl.b32 %r12, %r9, 2; sub.s32 %r12, %r10, %r12; ld.shared.u32 %r13, [%r12]; add.s32 %r11, %r11, %r13;
    KEEP: xor.b32 %r8, %r8, 1024; add.s32 %r10, %r6, %r8; st.shared.u32 [%r10], %r11;
    bar.sync 0;
    shl.b32 %r9, %r9, 1; setp.lt.u32 %p3, %r9, 256; @%p3 bra STEP;
    sub.s32 %r14, %r11, %r5; @%p1 st.global.u32 [%d3], %r14;
    setp.ne.u32 %p4, %r2, 255; @%p4 ret;
    mul.wide.u32 %d4, %r3, 4; add.s64 %d4, %d4, %d2; st.global.u32 [%d4], %r11;";

/// Grid-stride: each nonzero element to a place of its own, by one atomic each.
const COMPACT: &str = "
    ld.param.u64 %d1, [data]; ld.param.u64 %d2, [sums]; ld.param.u32 %r1, [n];
    mov.u32 %r2, %ntid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r5, %r3, %r2, %r4;
    mov.u32 %r6, %nctaid.x; mul.lo.s32 %r6, %r6, %r2;
    NEXT: setp.ge.s32 %p1, %r5, %r1; @%p1 bra DONE;
    mul.wide.s32 %d3, %r5, 4; add.s64 %d3, %d3, %d1; ld.global.u32 %r7, [%d3];
    setp.eq.s32 %p2, %r7, 0; @%p2 bra SKIP;
    atom.global.add.u32 %r8, [%d2], 1; mul.wide.u32 %d4, %r8, 4; add.s64 %d4, %d4, %d2; st.global.u32 [%d4+4], %r7;
    SKIP: add.s32 %r5, %r5, %r6; bra NEXT;
    DONE:";

struct Ran {
    data: Vec<u32>,
    sums: Vec<u32>,
    findings: Vec<Finding>,
}

fn words(device: &mut SimDevice, buffer: BufferId, len: usize) -> Vec<u32> {
    bytemuck::cast_slice(device.download(buffer, 0, 4 * len as u64).unwrap()).to_vec()
}

fn run(body: &str, grid: u32, data: &[u32], sums_len: usize) -> Ran {
    let text = kernel(".param .u64 data, .param .u64 sums, .param .u32 n", body);
    let mut device = SimDevice::new();
    let buffer = device
        .alloc(4 * data.len() as u64, Access::ReadWrite)
        .unwrap();
    let sums = device
        .alloc(4 * sums_len as u64, Access::ReadWrite)
        .unwrap();
    device
        .upload(buffer, 0, bytemuck::cast_slice(data))
        .unwrap();
    device
        .poison(sums, 0, 4 * sums_len as u64, &[0xdb])
        .unwrap();
    device.fill(sums, 0, 4, &[0]).unwrap();
    let n = Argument::Scalar {
        bytes: (data.len() as u64).to_le_bytes(),
        size: 4,
    };
    launch(
        &mut device,
        &text,
        grid,
        256,
        0,
        &[pointer(buffer), pointer(sums), n],
    )
    .unwrap();
    Ran {
        data: words(&mut device, buffer, data.len()),
        sums: words(&mut device, sums, sums_len),
        findings: device.take_findings().unwrap(),
    }
}

#[test]
fn a_tile_scan_is_the_running_sum_of_each_tile() {
    for n in [1_u32, 255, 256, 257, 1000] {
        let data: Vec<u32> = (0..n).map(|i| i * 7 % 13).collect();
        let tiles = n.div_ceil(256);
        let ran = run(SCAN, tiles, &data, tiles as usize);
        let mut sum = 0;
        for (i, value) in data.iter().enumerate() {
            sum = if i % 256 == 0 { 0 } else { sum };
            assert_eq!(ran.data[i], sum, "n = {n}, element {i}");
            sum += value;
        }
        let totals: Vec<u32> = data.chunks(256).map(|tile| tile.iter().sum()).collect();
        assert_eq!(ran.sums, totals, "n = {n}");
        assert_eq!(ran.findings, [], "n = {n}");
    }
}

#[test]
fn a_tile_scan_without_its_barriers_is_wrong_every_time() {
    let faulty = SCAN.replace("bar.sync 0;", "");
    let data = vec![1; 256];
    let ran = run(&faulty, 1, &data, 1);
    assert_ne!(ran.data, run(SCAN, 1, &data, 1).data);
    let again = run(&faulty, 1, &data, 1);
    assert_eq!(
        (ran.data, ran.sums, ran.findings),
        (again.data, again.sums, again.findings)
    );
}

#[test]
fn an_atomic_compaction_keeps_every_survivor() {
    let data: Vec<u32> = (0..5000).map(|i| if i % 3 == 0 { 0 } else { i }).collect();
    let mut want: Vec<u32> = data.iter().copied().filter(|&v| v != 0).collect();
    let ran = run(COMPACT, 4, &data, 1 + want.len());
    assert_eq!(ran.sums[0] as usize, want.len());
    let mut got = ran.sums[1..].to_vec();
    got.sort_unstable();
    want.sort_unstable();
    assert_eq!(got, want);
    assert_eq!(ran.findings, []);
    let small = run(COMPACT, 4, &data, want.len());
    let kinds: Vec<_> = small.findings.iter().map(|f| f.kind).collect();
    assert_eq!(kinds, [FindingKind::OutOfBounds]);
}
