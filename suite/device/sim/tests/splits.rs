//! Lanes of one warp that go on independently: they hand over to each other through memory, meet at `.sync`
//! instructions from wherever they are, and come to barriers in parts.

use super::{kernel, launch, pointer};
use crate::device::sim::{Schedule, SimDevice};
use crate::device::{Access, Device};
use crate::outcome::{Fault, Finding};
use crate::terms::{FindingKind, ReasonKind};

/// Schedules with lanes together and apart, of all policies.
fn schedules() -> impl Iterator<Item = Schedule> {
    let apart = Schedule {
        apart: true,
        ..Schedule::default()
    };
    (0..12)
        .map(|number| Schedule::nth(7, number))
        .chain([apart])
}

/// Runs `body` as `super::run` does, with a schedule.
fn try_run(
    schedule: Schedule,
    body: &str,
    threads: u32,
    words: usize,
) -> Result<(Vec<u32>, Vec<Finding>), Fault> {
    let text = kernel(
        ".param .u64 out",
        &format!(
            ".shared .align 8 .b8 s[1024]; ld.param.u64 %d31, [out];\nmov.u32 %r31, %tid.x;
            mul.wide.u32 %d30, %r31, 4; add.s64 %d30, %d30, %d31;
            mov.u32 %r30, s; mad.lo.u32 %r30, %r31, 4, %r30; mov.u32 %r29, %laneid;\n{body}"
        ),
    );
    let mut device = SimDevice::new().with_budget(1 << 24);
    device.set_schedule(schedule);
    let out = device.alloc(4 * words as u64, Access::ReadWrite)?;
    device.fill(out, 0, 4 * words as u64, &[0])?;
    launch(&mut device, &text, 1, threads, 0, &[pointer(out)])?;
    let bytes = device.download(out, 0, 4 * words as u64)?;
    let values = bytemuck::cast_slice(bytes).to_vec();
    Ok((values, device.take_findings()?))
}

fn run(schedule: Schedule, body: &str, threads: u32, words: usize) -> (Vec<u32>, Vec<Finding>) {
    try_run(schedule, body, threads, words).unwrap_or_else(|e| panic!("{schedule}: {e}"))
}

fn kinds(findings: &[Finding]) -> Vec<FindingKind> {
    findings.iter().map(|finding| finding.kind).collect()
}

const APART: Schedule = Schedule {
    apart: true,
    policy: super::super::Policy::Fair,
    order: None,
    resident: None,
    switches: None,
};

#[test]
fn lanes_take_a_lock_from_each_other() {
    let body =
        "LOCK: atom.global.cas.b32 %r1, [%d31], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra LOCK;
        membar.gl; ld.volatile.global.u32 %r2, [%d31+4]; add.u32 %r2, %r2, %r31;
        st.volatile.global.u32 [%d31+4], %r2; membar.gl; atom.global.exch.b32 %r1, [%d31], 0;";
    for schedule in schedules() {
        let (got, findings) = run(schedule, body, 64, 2);
        assert_eq!(got, [0, (0..64).sum::<u32>()], "{schedule}");
        assert_eq!(findings, [], "{schedule}");
    }
}

/// Lane `l` waits for `l` and then writes `l + 1`: the word goes through all lanes of both warps.
#[test]
fn lanes_hand_a_word_from_one_to_the_next() {
    for order in ["%r31", "%r3"] {
        let body = format!(
            "sub.u32 %r3, 63, %r31; mov.u32 %r4, {order};
            WAIT: ld.volatile.global.u32 %r1, [%d31]; setp.ne.u32 %p1, %r1, %r4; @%p1 bra WAIT;
            add.u32 %r2, %r4, 1; st.volatile.global.u32 [%d31], %r2; bar.warp.sync -1; mov.u32 %r5, %r1;"
        );
        for schedule in schedules() {
            let (got, findings) = run(schedule, &body, 64, 1);
            assert_eq!(got, [64], "{schedule}");
            assert_eq!(findings, [], "{schedule}");
        }
    }
}

#[test]
fn both_sides_of_a_branch_meet_at_their_warp_barriers() {
    // Each side writes its half, meets the other, and reads the other's.
    let body = "xor.b32 %r1, %r30, 64; setp.lt.u32 %p1, %r29, 16; @%p1 bra LOW;
        add.u32 %r2, %r31, 100; st.shared.u32 [%r30], %r2; bar.warp.sync -1; ld.shared.u32 %r3, [%r1]; bra MEET;
        LOW: add.u32 %r2, %r31, 200; st.shared.u32 [%r30], %r2; bar.warp.sync -1; ld.shared.u32 %r3, [%r1];
        MEET: st.global.u32 [%d30], %r3;";
    let want: Vec<u32> = (0..32)
        .map(|l| if l < 16 { 116 + l } else { 184 + l })
        .collect();
    for schedule in schedules() {
        let (got, findings) = run(schedule, body, 32, 32);
        assert_eq!(got, want, "{schedule}");
        assert_eq!(findings, [], "{schedule}");
    }
}

/// As CUDA has it: any barrier of the warp with the same mask, also one that others come to later on.
#[test]
fn lanes_past_a_branch_meet_those_within() {
    let body = "setp.ge.u32 %p1, %r29, 16; @%p1 bra PAST; st.shared.u32 [%r30], %r31; bar.warp.sync -1; bra OUT;
        PAST: bar.warp.sync -1; xor.b32 %r1, %r30, 64; ld.shared.u32 %r2, [%r1]; st.global.u32 [%d30], %r2; OUT:";
    let want: Vec<u32> = (0..32_u32).map(|l| l.saturating_sub(16)).collect();
    for schedule in schedules() {
        assert_eq!(
            run(schedule, body, 32, 32),
            (want.clone(), vec![]),
            "{schedule}"
        );
    }
}

/// A sum over a warp through volatile shared memory, as before compute capability 7.0: right only in step, and no race,
/// as all accesses are strong.
#[test]
fn sums_that_rely_on_being_in_step_are_wrong_where_lanes_go_apart() {
    let sum = |between: &str| {
        let step = |width: u32| {
            format!(
                "ld.volatile.shared.u32 %r1, [%r30]; ld.volatile.shared.u32 %r2, [%r30+{}]; {between}
                add.u32 %r1, %r1, %r2; st.volatile.shared.u32 [%r30], %r1; {between}",
                4 * width
            )
        };
        let steps: String = [16, 8, 4, 2, 1].map(step).concat();
        format!(
            "st.volatile.shared.u32 [%r30], %r31; mov.u32 %r3, 0; st.volatile.shared.u32 [%r30+128], %r3; {between}
            {steps} ld.volatile.shared.u32 %r1, [%r30]; setp.eq.u32 %p1, %r31, 0; @%p1 st.global.u32 [%d31], %r1;"
        )
    };
    let want = (0..32).sum::<u32>();
    assert_eq!(
        run(Schedule::default(), &sum(""), 32, 1),
        (vec![want], vec![])
    );
    let wrong = schedules().filter(|&schedule| run(schedule, &sum(""), 32, 1).0 != [want]);
    let apart = schedules().filter(|schedule| schedule.apart);
    assert!(wrong.eq(apart));
    for schedule in schedules() {
        let right = sum("bar.warp.sync -1;");
        assert_eq!(
            run(schedule, &right, 32, 1),
            (vec![want], vec![]),
            "{schedule}"
        );
    }
}

#[test]
fn lanes_that_came_apart_meet_at_a_shuffle() {
    // After the branch both sides come to one instruction, together or not.
    let body = "and.b32 %r1, %r31, 3; setp.eq.u32 %p1, %r1, 0; @%p1 bra FOUR; add.u32 %r2, %r31, 1; bra MEET;
        FOUR: mul.lo.u32 %r2, %r31, 7;
        MEET: shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1; vote.sync.ballot.b32 %r4, %p1, -1;
        activemask.b32 %r5; xor.b32 %r6, %r5, -1; add.u32 %r3, %r3, %r6; add.u32 %r3, %r3, %r4;
        match.any.sync.b32 %r7, %r1, -1; add.u32 %r3, %r3, %r7; st.global.u32 [%d30], %r3;";
    let want = (0..32_u32).map(|lane| {
        let other = lane ^ 1;
        let value = if other % 4 == 0 { 7 * other } else { other + 1 };
        value
            .wrapping_add(0x1111_1111)
            .wrapping_add(0x1111_1111 << (lane % 4))
    });
    let want: Vec<u32> = want.collect();
    for schedule in schedules() {
        assert_eq!(
            run(schedule, body, 32, 32),
            (want.clone(), vec![]),
            "{schedule}"
        );
    }
}

/// Lanes in step hide what only a barrier of the warp promises; lanes that never meet again show it every time.
#[test]
fn a_missing_warp_barrier_fails_with_lanes_apart() {
    let body = |barrier: &str| {
        format!(
            "setp.lt.u32 %p1, %r29, 16; @%p1 bra LOW; add.u32 %r2, %r31, 100; st.shared.u32 [%r30], %r2; bra MEET;
            LOW: add.u32 %r2, %r31, 200; st.shared.u32 [%r30], %r2;
            MEET: {barrier} xor.b32 %r1, %r30, 64; ld.shared.u32 %r3, [%r1]; st.global.u32 [%d30], %r3;"
        )
    };
    let want: Vec<u32> = (0..32)
        .map(|l| if l < 16 { 116 + l } else { 184 + l })
        .collect();
    assert_eq!(run(Schedule::default(), &body(""), 32, 32).0, want);
    let (got, findings) = run(APART, &body(""), 32, 32);
    assert_ne!(got, want);
    assert!(
        kinds(&findings).contains(&FindingKind::Race),
        "{findings:?}"
    );
    for schedule in schedules() {
        let with = run(schedule, &body("bar.warp.sync -1;"), 32, 32);
        assert_eq!(with, (want.clone(), vec![]), "{schedule}");
    }
}

#[test]
fn halves_of_a_warp_come_to_a_barrier_that_is_not_aligned() {
    // At different instructions; another warp waits for both.
    let body = "setp.ge.u32 %p2, %r31, 32; @%p2 bra WHOLE; setp.lt.u32 %p1, %r29, 16; @%p1 bra LOW;
        st.shared.u32 [%r30], 3; barrier.sync 0; bra DONE;
        LOW: st.shared.u32 [%r30], 4; barrier.sync 0; bra DONE;
        WHOLE: barrier.sync 0; mov.u32 %r1, s; ld.shared.u32 %r2, [%r1]; ld.shared.u32 %r3, [%r1+124];
        mad.lo.u32 %r2, %r2, 10, %r3; st.global.u32 [%d30], %r2; DONE:";
    for schedule in schedules() {
        let (got, findings) = run(schedule, body, 64, 64);
        assert_eq!(findings, [], "{schedule}");
        assert_eq!(got, [[0; 32], [43; 32]].concat(), "{schedule}");
    }
}

/// A count is of threads: half of each of two warps are 32, and their other halves another 32.
#[test]
fn a_count_takes_threads_of_several_warps() {
    let body = "setp.lt.u32 %p1, %r29, 16; st.shared.u32 [%r30], %r31; xor.b32 %r1, %r30, 128; @%p1 bra LOW;
        barrier.sync 2, 32; bra READ; LOW: barrier.sync 3, 32;
        READ: ld.shared.u32 %r2, [%r1]; st.global.u32 [%d30], %r2;";
    let want: Vec<u32> = (0..64).map(|thread| thread ^ 32).collect();
    for schedule in schedules() {
        assert_eq!(
            run(schedule, body, 64, 64),
            (want.clone(), vec![]),
            "{schedule}"
        );
    }
    // A warp counts with the lanes it lacks, also if it comes in parts: 40 threads are two warps.
    let short = "setp.lt.u32 %p1, %r29, 3; @%p1 bra LOW; barrier.sync 1, 64; bra READ; LOW: barrier.sync 1, 64;
        READ: st.global.u32 [%d30], 1;";
    for schedule in schedules() {
        assert_eq!(
            run(schedule, short, 40, 40),
            (vec![1; 40], vec![]),
            "{schedule}"
        );
    }
    // The number may differ by lane.
    let by_lane = "st.shared.u32 [%r30], %r31; xor.b32 %r1, %r30, 128; shr.u32 %r3, %r29, 4; add.u32 %r3, %r3, 5;
        barrier.sync %r3, 32; ld.shared.u32 %r2, [%r1]; st.global.u32 [%d30], %r2;";
    for schedule in schedules() {
        assert_eq!(
            run(schedule, by_lane, 64, 64),
            (want.clone(), vec![]),
            "{schedule}"
        );
    }
}

#[test]
fn lanes_apart_come_to_an_aligned_barrier_together() {
    let body = "setp.lt.u32 %p1, %r29, 7; @%p1 bra LOW; st.shared.u32 [%r30], 5; bra MEET;
        LOW: st.shared.u32 [%r30], 6; MEET: setp.eq.u32 %p2, %r31, 63; bar.red.popc.u32 %r4, 0, %p1;
        xor.b32 %r1, %r30, 128; ld.shared.u32 %r2, [%r1]; mad.lo.u32 %r2, %r4, 10, %r2; st.global.u32 [%d30], %r2;";
    let want: Vec<u32> = (0..64)
        .map(|t| if t % 32 < 7 { 146 } else { 145 })
        .collect();
    for schedule in schedules() {
        assert_eq!(
            run(schedule, body, 64, 64),
            (want.clone(), vec![]),
            "{schedule}"
        );
    }
    // Lanes that leave early are not waited for, whenever they do.
    let early = body.replace("setp.lt", "setp.eq.u32 %p3, %r29, 31; @%p3 ret; setp.lt");
    let mut want = want;
    (want[31], want[63]) = (0, 0);
    for schedule in schedules() {
        assert_eq!(
            run(schedule, &early, 64, 64),
            (want.clone(), vec![]),
            "{schedule}"
        );
    }
}

#[test]
fn a_wrong_membermask_says_where_the_others_are() {
    let body = |after: &str| {
        format!(
            "mov.u32 %r1, 9; setp.ge.u32 %p1, %r29, 16; @%p1 bra OUT; shfl.sync.idx.b32 %r1, %r31, 0, 31, -1;
            OUT: {after} st.global.u32 [%d30], %r1;"
        )
    };
    let (got, findings) = run(Schedule::default(), &body(""), 32, 32);
    assert_eq!(got, [[0; 16], [9; 16]].concat());
    assert_eq!(kinds(&findings), [FindingKind::Membermask]);
    assert_eq!(
        findings[0].message,
        "membermask 0xffffffff names lanes 0xffff0000 that are not at this instruction"
    );
    assert_eq!(
        findings[0].detail[0],
        "lanes 0xffff0000 have left the kernel"
    );
    // They wait elsewhere, for those that wait for them: with lanes apart, too.
    for schedule in schedules() {
        let (got, findings) = run(
            schedule,
            &body("vote.sync.ballot.b32 %r2, %p1, -1;"),
            32,
            32,
        );
        assert_eq!(got, [[0; 16], [9; 16]].concat(), "{schedule}");
        assert_eq!(kinds(&findings), [FindingKind::Membermask], "{schedule}");
        let place = "wait for lanes 0xffffffff at PTX line";
        assert!(findings[0].detail[0].contains(place), "{findings:?}");
    }
    // They wait at a barrier that those who wait for them never come to.
    let (_, findings) = run(Schedule::default(), &body("bar.sync 1, 64;"), 32, 32);
    assert_eq!(kinds(&findings)[0], FindingKind::Membermask, "{findings:?}");
}

#[test]
fn a_deadlock_says_how_many_threads_are_there() {
    let body = "setp.lt.u32 %p1, %r31, 32; @%p1 bra A; barrier.sync 2, 96; A: barrier.sync 1, 64;";
    for schedule in schedules() {
        let (_, findings) = run(schedule, body, 64, 64);
        assert_eq!(kinds(&findings), [FindingKind::Deadlock], "{schedule}");
        let detail = &findings[0].detail;
        assert!(
            detail[0].starts_with("warp 0 waits at barrier 1 (PTX line"),
            "{detail:?}"
        );
        assert!(
            detail[0].ends_with("32 of 64 threads are there"),
            "{detail:?}"
        );
        assert!(
            detail[1].ends_with("32 of 96 threads are there"),
            "{detail:?}"
        );
    }
}

#[test]
fn a_hang_says_who_waits_for_what() {
    let body = "st.global.u32 [%d31+4], 6; setp.lt.u32 %p1, %r29, 16; @%p1 bra LOW;
        A: ld.volatile.global.u32 %r1, [%d31+4]; setp.ne.u32 %p2, %r1, 7; @%p2 bra A; bra DONE;
        LOW: atom.global.or.b32 %r1, [%d31+8], 0; setp.eq.u32 %p2, %r1, 0; @%p2 bra LOW; DONE:";
    for schedule in [
        Schedule::default(),
        APART,
        "random:3".parse().unwrap(),
        "pct:4".parse().unwrap(),
    ] {
        let fault = try_run(schedule, body, 32, 3).unwrap_err().reason;
        assert_eq!(fault.kind, ReasonKind::Hang);
        for words in [
            "`ld.volatile.global.u32 %r1, [%d31+4]` waits block (0, 0, 0), warp 0, lanes 0xffff0000: \
             lane 16 reads 0x6, 4 bytes at byte 4 of buffer 0 (12 bytes)",
            "warp 0, lanes 0x0000ffff: lane 0 reads 0x0, 4 bytes at byte 8 of buffer 0 (12 bytes)",
        ] {
            assert!(
                fault.message.contains(words),
                "{schedule}: {}",
                fault.message
            );
        }
    }
}
