use super::{kernel, launch, run};
use crate::device::sim::SimDevice;
use crate::device::{Access, Device};
use crate::terms::ReasonKind;

#[test]
fn both_sides_of_a_branch_run_and_meet() {
    let body = "and.b32 %r1, %r31, 1;
        setp.eq.u32 %p1, %r1, 0;
        @%p1 bra EVEN;
        mov.u32 %r2, 100;
        bra.uni MEET;
        EVEN: mov.u32 %r2, 200;
        MEET: activemask.b32 %r3;
        xor.b32 %r3, %r3, -1;
        add.u32 %r2, %r2, %r3;
        add.u32 %r2, %r2, %r31;
        st.global.u32 [%d30], %r2;";
    let (got, findings) = run(body, 32, 32);
    let want: Vec<u32> = (0..32)
        .map(|t| t + if t % 2 == 0 { 200 } else { 100 })
        .collect();
    assert_eq!(got, want);
    assert_eq!(findings, []);
}

#[test]
fn a_loop_runs_as_often_as_each_lane_says() {
    // Thread t adds 0 + 1 + … + t, with an inner loop that counts every step one by one.
    let body = "mov.u32 %r1, 0; mov.u32 %r2, 0;
        OUTER: setp.gt.u32 %p1, %r1, %r31;
        @%p1 bra DONE;
        mov.u32 %r3, 0;
        INNER: setp.ge.u32 %p2, %r3, %r1;
        @%p2 bra NEXT;
        add.u32 %r2, %r2, 1;
        add.u32 %r3, %r3, 1;
        bra INNER;
        NEXT: add.u32 %r1, %r1, 1;
        bra OUTER;
        DONE: activemask.b32 %r4;
        st.global.u32 [%d30], %r2;
        st.global.u32 [%d30+256], %r4;";
    let (got, findings) = run(body, 64, 128);
    let want: Vec<u32> = (0..64)
        .map(|t| t * (t + 1) / 2)
        .chain([u32::MAX; 64])
        .collect();
    assert_eq!(got, want);
    assert_eq!(findings, []);
}

#[test]
fn lanes_that_return_early_leave_the_rest_alone() {
    let body = "setp.lt.u32 %p1, %r31, 7;
        @%p1 ret;
        setp.lt.u32 %p2, %r31, 20;
        @%p2 bra SKIP;
        exit;
        SKIP: activemask.b32 %r1;
        st.global.u32 [%d30], %r1;";
    let (got, _) = run(body, 40, 40);
    for (thread, value) in got.into_iter().enumerate() {
        let want = if (7..20).contains(&thread) {
            (1 << 20) - (1 << 7)
        } else {
            0
        };
        assert_eq!(value, want, "thread {thread}");
    }
}

#[test]
fn predicated_instructions_touch_only_their_lanes() {
    let body =
        "setp.ge.u32 %p1, %r31, 16; mov.u32 %r1, 1; @%p1 mov.u32 %r1, 2; @!%p1 add.u32 %r1, %r1, 4;
        mov.u64 %d1, 1; @%p1 mov.u64 %d1, 9; cvt.u32.u64 %r2, %d1; add.u32 %r1, %r1, %r2;
        @%p1 st.global.u32 [%d30], %r1; @!%p1 st.global.u32 [%d30], %r1;";
    let (got, findings) = run(body, 32, 32);
    assert_eq!(got[..16], [6; 16]);
    assert_eq!(got[16..], [11; 16]);
    assert_eq!(findings, []);
}

#[test]
fn a_barrier_in_a_loop_orders_warps() {
    // In each of four rounds thread 0 writes the round and all read it.
    let body = ".shared .u32 round;
        mov.u32 %r1, 0; mov.u32 %r2, 0;
        LOOP: setp.ne.u32 %p1, %r31, 96;
        @%p1 bra READ;
        st.shared.u32 [round], %r1;
        READ: bar.sync 0;
        ld.shared.u32 %r3, [round];
        shl.b32 %r2, %r2, 4;
        or.b32 %r2, %r2, %r3;
        bar.sync 0;
        add.u32 %r1, %r1, 1;
        setp.lt.u32 %p2, %r1, 4;
        @%p2 bra LOOP;
        st.global.u32 [%d30], %r2;";
    let (got, findings) = run(body, 128, 128);
    assert_eq!(got, [0x0123; 128]);
    assert_eq!(findings, []);
}

#[test]
fn a_missing_barrier_fails_every_time() {
    // The last warp writes what the first reads.
    let body = ".shared .u32 flag;
        setp.ne.u32 %p1, %r31, 127;
        @%p1 bra READ;
        mov.u32 %r1, 5; st.shared.u32 [flag], %r1;
        READ: ld.shared.u32 %r2, [flag];
        st.global.u32 [%d30], %r2;";
    let first = run(body, 128, 128);
    let with = run(&body.replace("READ:", "READ: bar.sync 0;"), 128, 128);
    assert_eq!(with.0, [5; 128]);
    assert_ne!(first.0, [5; 128]);
    assert_eq!(first, run(body, 128, 128));
}

#[test]
fn scopes_have_registers_of_their_own() {
    let body = "mov.u32 %r1, 3;
        { .reg .u32 %r1; .reg .u32 t; mov.u32 %r1, 40; add.u32 t, %r1, 2; { mov.u32 %r2, t; } }
        add.u32 %r2, %r2, %r1;
        st.global.u32 [%d30], %r2;";
    assert_eq!(run(body, 1, 1).0, [45]);
}

#[test]
fn an_endless_loop_ends_as_a_hang() {
    let mut device = SimDevice::new().with_budget(1000);
    let fault = launch(&mut device, &kernel("", "LOOP: bra LOOP;"), 1, 32, 0, &[]).unwrap_err();
    assert_eq!(fault.reason.kind, ReasonKind::Hang);
}

#[test]
fn a_trap_is_a_kernel_fault() {
    let mut device = SimDevice::new();
    let fault = launch(&mut device, &kernel("", "trap;"), 1, 32, 0, &[]).unwrap_err();
    assert_eq!(fault.reason.kind, ReasonKind::KernelFault);
    assert!(fault.sticky);
}

#[test]
fn a_warp_that_spins_does_not_starve_the_one_it_waits_for() {
    let body = "setp.ge.u32 %p1, %r31, 32;
        @%p1 bra SET;
        SPIN: ld.volatile.global.u32 %r1, [%d31];
        setp.eq.u32 %p2, %r1, 0;
        @%p2 bra SPIN;
        bra DONE;
        SET: st.volatile.global.u32 [%d31], 1;
        DONE: nanosleep.u32 100;";
    assert_eq!(run(body, 64, 1).0, [1]);
}

#[test]
fn a_barrier_after_an_early_return_is_no_divergence() {
    // Lanes leave by a branch to the closing `ret`, as compilers write it.
    let body = "setp.ge.u32 %p1, %r31, 40; @%p1 bra OUT; bar.sync 0; st.global.u32 [%d30], 1; bar.sync 0; OUT:";
    let (got, findings) = run(body, 64, 64);
    assert_eq!(got, [[1; 40].as_slice(), &[0; 24]].concat());
    assert_eq!(findings, []);
}

#[test]
fn a_return_inside_a_branch_does_not_part_those_that_stay() {
    // Some lanes of the branch return; the others must meet those that went around it before the shuffle.
    let body = "mov.u32 %r2, 1;
        setp.ge.u32 %p1, %r31, 16; @%p1 bra MEET;
        setp.eq.u32 %p2, %r31, 5; @%p2 bra OUT;
        mov.u32 %r2, 2;
        MEET: bar.sync 0; shfl.sync.idx.b32 %r3, %r31, 20, 31, -1;
        mad.lo.u32 %r3, %r3, 10, %r2; st.global.u32 [%d30], %r3; OUT:";
    let (got, findings) = run(body, 32, 32);
    let want = |t| match t {
        5 => 0,
        0..16 => 202,
        _ => 201,
    };
    assert_eq!(got, (0..32).map(want).collect::<Vec<u32>>());
    assert_eq!(findings, []);
}

#[test]
fn a_return_from_a_loop_does_not_part_those_that_stay() {
    let body = "mov.u32 %r1, 0; mov.u32 %r3, 0;
        LOOP: setp.eq.u32 %p1, %r31, %r1; @%p1 ret;
        add.u32 %r3, %r3, 2; add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 4; @%p2 bra LOOP;
        activemask.b32 %r4; st.global.u32 [%d30], %r4;";
    let (got, findings) = run(body, 32, 32);
    assert_eq!(got, [[0; 4].as_slice(), &[0xffff_fff0; 28]].concat());
    assert_eq!(findings, []);
}

#[test]
fn lanes_meet_inside_a_branch_that_returns() {
    let body = "setp.ge.u32 %p1, %r31, 8; @%p1 bra REST;
        setp.lt.u32 %p2, %r31, 4; mov.u32 %r1, 1; @%p2 bra MEET; mov.u32 %r1, 2;
        MEET: activemask.b32 %r2; add.u32 %r1, %r1, %r2; st.global.u32 [%d30], %r1; ret;
        REST: activemask.b32 %r2; st.global.u32 [%d30], %r2;";
    let (got, _) = run(body, 32, 32);
    let want = [[256; 4].as_slice(), &[257; 4], &[0xffff_ff00; 24]].concat();
    assert_eq!(got, want);
}

#[test]
fn an_early_return_that_stands_last_is_not_the_main_exit() {
    // The compiler put the returning side behind the main path, before the only `ret`.
    let body = "setp.eq.u32 %p1, %r31, 5; @%p1 bra EARLY;
        setp.lt.u32 %p2, %r31, 16; mov.u32 %r1, 1; @%p2 bra MEET; mov.u32 %r1, 2;
        MEET: bar.sync 0; st.global.u32 [%d30], %r1; bra.uni OUT;
        EARLY: st.global.u32 [%d30], 9; OUT:";
    // Nor is it for having more blocks than the main path.
    let longer = body.replace(
        "EARLY:",
        "EARLY: @%p1 bra A; A: @%p1 bra B; B: @%p1 bra C; C:",
    );
    let want = [[1; 5].as_slice(), &[9], &[1; 10], &[2; 16]].concat();
    for body in [body, &longer] {
        let (got, findings) = run(body, 32, 32);
        assert_eq!(got, want);
        assert_eq!(findings, []);
    }
}

/// A lane that has what the others of its warp wait for gets on: such a launch used to hang.
#[test]
fn lanes_that_wait_for_lanes_of_their_own_warp_get_on() {
    // A lock that each lane takes in a loop of its own, before the section it guards.
    let (got, findings) = run(
        "LOCK: atom.global.cas.b32 %r1, [%d31], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra LOCK;
        membar.gl; ld.volatile.global.u32 %r2, [%d31+4]; add.u32 %r2, %r2, %r31; st.volatile.global.u32 [%d31+4], %r2;
        membar.gl; atom.global.exch.b32 %r1, [%d31], 0;",
        64,
        2,
    );
    assert_eq!(got, [0, (0..64).sum::<u32>()]);
    assert_eq!(findings, []);
    // One side of a branch waits for the other, whichever runs first.
    for lanes in ["lt", "ge"] {
        let (got, findings) = run(
            &format!(
                "setp.{lanes}.u32 %p1, %r31, 16; @%p1 bra SET;
                WAIT: ld.acquire.gpu.global.u32 %r1, [%d31]; setp.eq.u32 %p2, %r1, 0; @%p2 bra WAIT; bra DONE;
                SET: st.release.gpu.global.u32 [%d31], 7;
                DONE: bar.warp.sync -1; st.global.u32 [%d30+4], 1;"
            ),
            32,
            33,
        );
        assert_eq!(got[0], 7);
        assert_eq!(got[1..], [1; 32]);
        assert_eq!(findings, []);
    }
}

/// A warp that waits at a named barrier of its own between polls is no progress for others.
#[test]
fn a_block_that_meets_itself_in_a_loop_lets_others_start() {
    let text = super::kernel(
        ".param .u64 out",
        "ld.param.u64 %d1, [out]; mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra SET;
        WAIT: bar.sync 0; ld.global.u32 %r2, [%d1]; setp.eq.u32 %p2, %r2, 0; @%p2 bra WAIT; bra DONE;
        SET: st.global.u32 [%d1], 1; DONE:",
    );
    let mut device = SimDevice::new();
    let out = device.alloc(4, Access::ReadWrite).unwrap();
    device.fill(out, 0, 4, &[0]).unwrap();
    super::launch(&mut device, &text, 2, 32, 0, &[super::pointer(out)]).unwrap();
    assert_eq!(device.download(out, 0, 4).unwrap(), [1, 0, 0, 0]);
}
