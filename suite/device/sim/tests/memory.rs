use super::{HEADER, kernel, launch, pointer, run};
use crate::device::sim::SimDevice;
use crate::device::{Access, Argument, Device};

#[test]
fn widths_extend_by_their_sign() {
    let body = "mov.u32 %r1, 0x80fe9c7f; st.global.u32 [%d31], %r1;
        ld.global.s8 %r2, [%d31+1]; st.global.u32 [%d31+4], %r2;
        ld.global.u8 %r2, [%d31+1]; st.global.u32 [%d31+8], %r2;
        ld.global.s16 %r2, [%d31+2]; st.global.u32 [%d31+12], %r2;
        ld.global.s32 %d1, [%d31]; shr.u64 %d1, %d1, 32; st.global.u64 [%d31+16], %d1;
        st.global.u8 [%d31+25], %r1; st.global.u16 [%d31+26], %r1;";
    let (got, findings) = run(body, 1, 7);
    assert_eq!(
        got,
        [
            0x80fe_9c7f,
            0xffff_ff9c,
            0x9c,
            0xffff_80fe,
            0xffff_ffff,
            0,
            0x9c7f_7f00
        ]
    );
    assert_eq!(findings, []);
}

#[test]
fn vectors_move_as_one() {
    let body = "mul.wide.u32 %d1, %r31, 16; add.u64 %d1, %d1, %d31;
        add.u32 %r1, %r31, 100; add.u32 %r2, %r31, 200; add.u32 %r3, %r31, 300;
        st.global.v4.u32 [%d1], {%r31, %r1, %r2, %r3};
        ld.global.v2.u64 {%d2, %d3}, [%d1];
        mov.b64 {%r4, %r5}, %d3;
        st.global.u32 [%d1+4], %r5;
        ld.global.v2.u32 {_, %r6}, [%d1+8];
        st.global.u32 [%d1], %r6;";
    let (got, findings) = run(body, 32, 128);
    let want: Vec<u32> = (0..32)
        .flat_map(|t| [300 + t, 300 + t, 200 + t, 300 + t])
        .collect();
    assert_eq!(got, want);
    assert_eq!(findings, []);
}

#[test]
fn shared_static_and_dynamic_lie_one_after_the_other() {
    let text = format!(
        "{HEADER}.extern .shared .align 16 .b8 dynamic[];
        .visible .entry k(.param .u64 out) {{ .reg .b32 %r<9>; .reg .b64 %d<9>; .shared .align 4 .b8 fixed[20];
        ld.param.u64 %d1, [out]; mov.u32 %r1, dynamic; mov.u32 %r2, fixed; mov.u32 %r3, %dynamic_smem_size;
        st.shared.u32 [%r1+60], %r3; st.shared.u32 [fixed+16], %r1; ld.shared.u32 %r4, [dynamic+60];
        ld.shared.u32 %r5, [%r2+16]; st.global.v4.u32 [%d1], {{%r1, %r2, %r4, %r5}}; ret; }}"
    );
    let mut device = SimDevice::new();
    let out = device.alloc(16, Access::ReadWrite).unwrap();
    launch(&mut device, &text, 1, 1, 64, &[pointer(out)]).unwrap();
    let got: &[u32] = bytemuck::cast_slice(device.download(out, 0, 16).unwrap());
    assert_eq!(got, [32, 0, 64, 32]);
    assert_eq!(device.take_findings().unwrap(), []);
}

#[test]
fn generic_addresses_reach_every_space() {
    let body = ".shared .u32 box; .local .align 8 .b8 mine[8];
        mov.u64 %d1, box; cvta.shared.u64 %d2, %d1; setp.eq.u32 %p9, %r31, 0;
        @%p9 st.u32 [%d2], 11; bar.sync 0; ld.shared.u32 %r1, [box];
        mov.u64 %d3, mine; cvta.local.u64 %d4, %d3; st.u32 [%d4+4], %r31; ld.local.u32 %r2, [mine+4];
        cvta.to.global.u64 %d5, %d31; st.u32 [%d30], %r2;
        cvta.to.shared.u64 %d6, %d2; ld.shared.u32 %r3, [%d6];
        isspacep.shared %p1, %d2; isspacep.global %p2, %d31; isspacep.global %p3, %d2;
        selp.u32 %r4, 100, 0, %p1; @%p2 add.u32 %r4, %r4, 1000; @%p3 add.u32 %r4, %r4, 10000;
        add.u32 %r4, %r4, %r1; add.u32 %r4, %r4, %r3;
        st.global.u32 [%d30+128], %r4;";
    let (got, findings) = run(body, 32, 64);
    assert_eq!(findings, []);
    assert_eq!(got[..32], (0..32).collect::<Vec<u32>>());
    assert_eq!(got[32..], [1122; 32]);
}

#[test]
fn module_variables_start_with_their_values() {
    let text = format!(
        "{HEADER}.global .align 4 .u32 table[4] = {{1, 2, 3}};
        .const .align 8 .b8 small[12] = {{0, 0, 0, 0, 9, 0, 0, 0, 255, 255, 255, 255}};
        .global .align 8 .u64 where = generic(table)+8;
        .visible .entry k(.param .u64 out) {{ .reg .b32 %r<9>; .reg .b64 %d<9>;
        ld.param.u64 %d1, [out]; ld.global.u32 %r1, [table+4]; ld.const.u32 %r2, [small+4]; ld.const.s8 %r3, [small+11];
        ld.global.u64 %d2, [where]; ld.u32 %r4, [%d2]; st.global.v4.u32 [%d1], {{%r1, %r2, %r3, %r4}}; ret; }}"
    );
    let mut device = SimDevice::new();
    let out = device.alloc(16, Access::ReadWrite).unwrap();
    launch(&mut device, &text, 1, 1, 0, &[pointer(out)]).unwrap();
    let got: &[u32] = bytemuck::cast_slice(device.download(out, 0, 16).unwrap());
    assert_eq!(got, [2, 9, u32::MAX, 3]);
    assert_eq!(device.take_findings().unwrap(), []);
}

#[test]
fn parameters_of_every_size_and_by_address() {
    let text = kernel(
        ".param .u64 out, .param .u8 a, .param .align 8 .b8 s[8], .param .u32 b",
        "ld.param.u64 %d1, [out]; ld.param.s8 %r1, [a]; ld.param.v2.u32 {%r2, %r3}, [s]; ld.param.u32 %r4, [b];
        mov.b64 %d2, s; ld.param.u32 %r5, [%d2+4]; add.u32 %r4, %r4, %r5;
        st.global.v4.u32 [%d1], {%r1, %r2, %r3, %r4};",
    );
    let mut device = SimDevice::new();
    let out = device.alloc(16, Access::ReadWrite).unwrap();
    let scalar = |value: u64, size| Argument::Scalar {
        bytes: value.to_le_bytes(),
        size,
    };
    let args = [
        pointer(out),
        scalar(0xfe, 1),
        scalar(0x7_0000_0005, 8),
        scalar(30, 4),
    ];
    launch(&mut device, &text, 1, 1, 0, &args).unwrap();
    let got: &[u32] = bytemuck::cast_slice(device.download(out, 0, 16).unwrap());
    assert_eq!(got, [0xffff_fffe, 5, 7, 37]);
}

/// All lanes update word 0 and store what was there.
fn atomic(op: &str, start: u32) -> (u32, Vec<u32>) {
    let body = format!(
        "setp.eq.u32 %p9, %r31, 0; @%p9 st.global.u32 [%d31], {start}; bar.warp.sync -1;
         atom.global.{op}; st.global.u32 [%d30+4], %r1;"
    );
    let (got, findings) = run(&body, 32, 33);
    assert_eq!(findings, []);
    (got[0], got[1..].to_vec())
}

#[test]
fn atomics_return_the_old_value_in_lane_order() {
    assert_eq!(
        atomic("add.u32 %r1, [%d31], 2", 5),
        (69, (0..32).map(|l| 5 + 2 * l).collect())
    );
    assert_eq!(
        atomic("acq_rel.gpu.max.s32 %r1, [%d31], %r31", u32::MAX).0,
        31
    );
    assert_eq!(atomic("min.u32 %r1, [%d31], 3", u32::MAX).0, 3);
    assert_eq!(atomic("or.b32 %r1, [%d31], %r31", 0).0, 31);
    assert_eq!(atomic("and.b32 %r1, [%d31], 6", 0xff).0, 6);
    assert_eq!(atomic("xor.b32 %r1, [%d31], %r31", 1).0, 1);
    assert_eq!(
        atomic("exch.b32 %r1, [%d31], %r31", 50),
        (31, [50].into_iter().chain(0..31).collect())
    );
    assert_eq!(
        atomic("cas.b32 %r1, [%d31], 7, 9", 7),
        (9, [7].into_iter().chain([9; 31]).collect())
    );
    assert_eq!(atomic("inc.u32 %r1, [%d31], 2", 0).1[..5], [0, 1, 2, 0, 1]);
    assert_eq!(atomic("dec.u32 %r1, [%d31], 2", 1).1[..5], [1, 0, 2, 1, 0]);
    assert_eq!(atomic("dec.u32 %r1, [%d31], 2", 9).1[..3], [9, 2, 1]);
}

#[test]
fn atomics_of_other_widths_and_spaces() {
    let body = ".shared .align 8 .u64 sum; .shared .u32 top;
        setp.eq.u32 %p1, %r31, 0; @%p1 st.shared.u64 [sum], 0; @%p1 st.shared.u32 [top], 0; bar.sync 0;
        cvt.u64.u32 %d1, %r31; shl.b64 %d1, %d1, 32; atom.shared.add.u64 %d2, [sum], %d1;
        red.shared.max.u32 [top], %r31; red.release.gpu.global.add.u32 [%d31], 1;
        atom.add.f32 %f1, [%d31+16], 0f3F000000;
        bar.sync 0; ld.shared.u64 %d3, [sum]; @%p1 st.global.u64 [%d31+8], %d3;
        ld.shared.u32 %r1, [top]; @%p1 st.global.u32 [%d31+4], %r1;";
    let (got, findings) = run(body, 64, 5);
    assert_eq!(got, [64, 63, 0, 2016, 32.0_f32.to_bits()]);
    assert_eq!(findings, []);
}

#[test]
fn orderings_and_cache_operators_are_accepted() {
    let body = "st.release.gpu.global.u32 [%d30], %r31; membar.gl; fence.acq_rel.gpu; fence.sc.sys;
        ld.acquire.gpu.global.u32 %r1, [%d30]; ld.relaxed.gpu.u32 %r2, [%d30];
        ld.global.nc.L1::no_allocate.u32 %r3, [%d30];
        ld.volatile.global.u32 %r4, [%d30]; add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; add.u32 %r1, %r1, %r4;
        st.global.cg.u32 [%d30], %r1;";
    assert_eq!(
        run(body, 32, 32).0,
        (0..32).map(|t| 4 * t).collect::<Vec<u32>>()
    );
}

#[test]
fn a_float_sum_flushes_subnormals_in_global_memory_only() {
    let tiny = 1_u32;
    let body =
        ".shared .f32 sum; st.shared.f32 [sum], 0f00000001; st.global.f32 [%d31], 0f00000001;
        atom.global.add.f32 %f1, [%d31], 0f80000001; atom.shared.add.f32 %f2, [sum], 0f00000001;
        st.global.f32 [%d31+4], %f1; ld.shared.f32 %f3, [sum]; st.global.f32 [%d31+8], %f3;";
    assert_eq!(run(body, 1, 3), (vec![0, tiny, 2], vec![]));
}
