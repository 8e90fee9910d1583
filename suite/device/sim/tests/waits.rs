//! Who waits, and who only looks: kernels that read by strong loads and unchanging atomics end with their result, those
//! that wait for ever end as a hang, and blocks that wait for nobody run one after another.

use super::{kernel, launch, pointer};
use crate::device::sim::SimDevice;
use crate::device::sim::looks::{Looks, Next, Watch};
use crate::device::{Access, Argument, Device};
use crate::outcome::Fault;
use crate::terms::ReasonKind;

/// Runs `body` in one warp a block, with `%d1` the input, `%d2` one word of zeros for each block, `%r1` the input's
/// length and `%r2` the thread of the block. Gives what it leaves at `%d2`.
fn try_run(body: &str, grid: u32, input: &[u32]) -> Result<Vec<u32>, Fault> {
    let text = kernel(
        ".param .u64 in, .param .u64 out, .param .u32 n",
        &format!(
            "ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x;\n{body}"
        ),
    );
    let mut device = SimDevice::new();
    let bytes = 4 * input.len() as u64;
    let from = device.alloc(bytes, Access::ReadWrite)?;
    device.upload(from, 0, bytemuck::cast_slice(input))?;
    let out = device.alloc(4 * u64::from(grid), Access::ReadWrite)?;
    device.fill(out, 0, 4 * u64::from(grid), &[0])?;
    let n = Argument::Scalar {
        bytes: (input.len() as u64).to_le_bytes(),
        size: 4,
    };
    let args = [pointer(from), pointer(out), n];
    launch(&mut device, &text, grid, 32, 0, &args)?;
    assert_eq!(device.take_findings()?, [], "{body}");
    Ok(bytemuck::cast_slice(device.download(out, 0, 4 * u64::from(grid))?).to_vec())
}

fn run(body: &str, input: &[u32]) -> u32 {
    try_run(body, 1, input).unwrap()[0]
}

/// That it hangs, and is seen to before its budget is spent.
fn assert_hangs(body: &str, grid: u32) {
    let reason = try_run(body, grid, &[0; 64]).unwrap_err().reason;
    assert_eq!(reason.kind, ReasonKind::Hang);
    let words = "every warp that is left waits for memory that none of them changes";
    assert!(reason.message.contains(words), "{}", reason.message);
}

/// Adds `%r5` of all lanes to the output, through shuffles that name them all.
const SUM: &str = "shfl.sync.down.b32 %r6, %r5, 16, 31, -1; add.u32 %r5, %r5, %r6;
    shfl.sync.down.b32 %r6, %r5, 8, 31, -1; add.u32 %r5, %r5, %r6;
    shfl.sync.down.b32 %r6, %r5, 4, 31, -1; add.u32 %r5, %r5, %r6;
    shfl.sync.down.b32 %r6, %r5, 2, 31, -1; add.u32 %r5, %r5, %r6;
    shfl.sync.down.b32 %r6, %r5, 1, 31, -1; add.u32 %r5, %r5, %r6;
    setp.eq.u32 %p2, %r2, 0; @%p2 red.global.add.u32 [%d2], %r5;";

/// A sum over strong loads was a finding from 6405 elements on, and a hang from half a million.
#[test]
fn a_walk_by_strong_loads_is_no_wait() {
    for load in ["ld.global.cg.u32", "ld.volatile.global.u32"] {
        for n in [6405, 64_005, 1_000_000] {
            let body = format!(
                "mov.u32 %r3, %r2; mov.u32 %r5, 0;
                NEXT: setp.ge.u32 %p1, %r3, %r1; @%p1 bra DONE;
                mul.wide.u32 %d3, %r3, 4; add.u64 %d3, %d3, %d1; {load} %r4, [%d3];
                add.u32 %r5, %r5, %r4; add.u32 %r3, %r3, 32; bra NEXT; DONE: {SUM}"
            );
            assert_eq!(run(&body, &vec![3; n]), 3 * n as u32, "{load}, n = {n}");
        }
    }
}

/// The same word read again and again, for a number of times of each lane's own: the lanes that have read it often
/// enough wait for the others, and were sent on without them.
#[test]
fn reading_one_word_often_is_no_wait() {
    for per_lane in [7, 2000] {
        let body = format!(
            "mov.u32 %r3, 0; mov.u32 %r5, 0; mad.lo.u32 %r7, %r2, {per_lane}, 100;
            NEXT: ld.volatile.global.u32 %r4, [%d1]; add.u32 %r5, %r5, %r4;
            add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %r7; @%p1 bra NEXT; {SUM}"
        );
        let want: u32 = (0..32).map(|lane| 2 * (per_lane * lane + 100)).sum();
        assert_eq!(run(&body, &[2]), want);
    }
}

/// Searches for each of the numbers up to the table's length: every search looks at the table's middle first.
#[test]
fn searches_by_strong_loads_are_no_wait() {
    let body = format!(
        "mov.u32 %r3, %r2; mov.u32 %r5, 0;
        NEXT: setp.ge.u32 %p1, %r3, %r1; @%p1 bra DONE; mov.u32 %r7, 0; mov.u32 %r8, %r1;
        STEP: sub.u32 %r9, %r8, %r7; setp.le.u32 %p3, %r9, 1; @%p3 bra FOUND;
        shr.u32 %r9, %r9, 1; add.u32 %r9, %r9, %r7;
        mul.wide.u32 %d3, %r9, 4; add.u64 %d3, %d3, %d1; ld.relaxed.gpu.global.u32 %r4, [%d3];
        setp.le.u32 %p4, %r4, %r3; selp.u32 %r7, %r9, %r7, %p4; selp.u32 %r8, %r8, %r9, %p4; bra STEP;
        FOUND: add.u32 %r5, %r5, %r7; add.u32 %r3, %r3, 32; bra NEXT; DONE: {SUM}"
    );
    let table: Vec<u32> = (0..10_001).collect();
    let want = table.iter().sum::<u32>();
    assert_eq!(run(&body, &table), want);
}

/// Atomics that change nothing, on ever new operands or on the same one: a maximum over two million elements was a
/// hang.
#[test]
fn atomics_that_change_nothing_are_no_wait() {
    for op in ["max.u32", "add.u32", "or.b32"] {
        let body = format!(
            "mov.u32 %r3, %r2;
            NEXT: setp.ge.u32 %p1, %r3, %r1; @%p1 bra DONE;
            mul.wide.u32 %d3, %r3, 4; add.u64 %d3, %d3, %d1; ld.global.u32 %r4, [%d3];
            red.global.{op} [%d2], %r4; add.u32 %r3, %r3, 32; bra NEXT; DONE: mov.u32 %r5, 0; {SUM}"
        );
        assert_eq!(run(&body, &vec![0; 600_001]), 0, "{op}");
    }
    let falling: Vec<u32> = (0..2_000_000).rev().collect();
    let body = "mov.u32 %r3, %r2;
        NEXT: setp.ge.u32 %p1, %r3, %r1; @%p1 bra DONE;
        mul.wide.u32 %d3, %r3, 4; add.u64 %d3, %d3, %d1; ld.global.u32 %r4, [%d3];
        atom.global.max.u32 %r5, [%d2], %r4; add.u32 %r3, %r3, 32; bra NEXT; DONE:";
    assert_eq!(run(body, &falling), 1_999_999);
}

#[test]
fn polls_at_two_places_hang() {
    assert_hangs(
        "WAIT: ld.volatile.global.u32 %r3, [%d1]; setp.ne.u32 %p1, %r3, 0; @%p1 bra DONE;
        ld.volatile.global.u32 %r3, [%d1+4]; setp.eq.u32 %p1, %r3, 0; @%p1 bra WAIT; DONE:",
        100,
    );
    // An atomic is no reason to let other blocks in from the start.
    assert_hangs(
        "WAIT: atom.global.or.b32 %r3, [%d1], 0; setp.ne.u32 %p1, %r3, 0; @%p1 bra DONE;
        atom.global.add.u32 %r3, [%d1+4], 0; setp.eq.u32 %p1, %r3, 0; @%p1 bra WAIT; DONE:",
        3,
    );
}

/// What is read there is told, also where there is nothing.
#[test]
fn polls_before_a_buffer_and_past_it_hang() {
    for address in ["%d1+-8", "%d1+1048576"] {
        let body = format!(
            "WAIT: ld.volatile.global.u32 %r3, [{address}]; setp.eq.u32 %p1, %r3, 0; @%p1 bra WAIT;"
        );
        assert_hangs(&body, 1);
    }
}

/// Each round looks at 60 words, and at the first of them twice.
#[test]
fn polls_of_many_words_hang() {
    let body = |between: &str| {
        format!(
            "WAIT: ld.volatile.global.u32 %r3, [%d1]; mov.u32 %r4, 0; mov.u64 %d3, %d1;
            NEXT: ld.volatile.global.u32 %r5, [%d3]; or.b32 %r3, %r3, %r5; {between}
            add.u64 %d3, %d3, 4; add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 60; @%p1 bra NEXT;
            setp.eq.u32 %p1, %r3, 0; @%p1 bra WAIT;"
        )
    };
    assert_hangs(&body(""), 1);
    assert_hangs(&body("ld.volatile.global.u32 %r6, [%d1+8];"), 2);
    // Turns that end before the next look.
    assert_hangs(
        &body(&"add.u32 %r6, %r6, 1;".repeat(200)).replace("%r6, 1", "%r6, 0"),
        1,
    );
}

/// One who counts its looks is never in the state it was in, but the count decides nothing.
#[test]
fn polls_that_count_hang() {
    assert_hangs(
        "mov.u32 %r4, 0; WAIT: ld.volatile.global.u32 %r3, [%d1]; add.u32 %r4, %r4, 1;
        setp.eq.u32 %p1, %r3, 0; @%p1 bra WAIT; st.global.u32 [%d2], %r4;",
        2,
    );
}

/// Both sides of a branch wait, for different words that nobody writes.
#[test]
fn sides_of_a_branch_that_both_wait_hang() {
    assert_hangs(
        "setp.lt.u32 %p1, %r2, 16; @%p1 bra B;
        A: ld.volatile.global.u32 %r3, [%d1]; setp.eq.u32 %p2, %r3, 0; @%p2 bra A; bra DONE;
        B: ld.volatile.global.u32 %r3, [%d1+4]; setp.eq.u32 %p2, %r3, 0; @%p2 bra B; DONE:",
        2,
    );
}

/// A lock between the lanes of a warp, by lanes that count how often they tried.
#[test]
fn lanes_that_count_get_the_lock_of_their_warp() {
    let body = "mov.u32 %r4, 0; LOCK: add.u32 %r4, %r4, 1;
        atom.global.cas.b32 %r3, [%d1], 0, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra LOCK;
        ld.volatile.global.u32 %r5, [%d2]; add.u32 %r5, %r5, %r2; st.volatile.global.u32 [%d2], %r5;
        atom.global.exch.b32 %r3, [%d1], 0;";
    assert_eq!(run(body, &[0]), (0..32).sum::<u32>());
}

/// The same where the count decides something, where lanes read the clock, and where they keep a count that others see:
/// each lane waits for the others' sake, but not for long.
#[test]
fn locks_between_lanes_are_handed_over_soon() {
    let body = |wait: &str| {
        format!(
            "mov.u32 %r4, 0; LOCK: atom.global.cas.b32 %r3, [%d1], 0, 1; {wait}
            setp.ne.u32 %p1, %r3, 0; @%p1 bra LOCK;
            ld.volatile.global.u32 %r5, [%d2]; add.u32 %r5, %r5, %r2; st.volatile.global.u32 [%d2], %r5;
            membar.gl; atom.global.exch.b32 %r3, [%d1], 0;"
        )
    };
    let started = std::time::Instant::now();
    for wait in [
        "add.u32 %r4, %r4, 1; min.u32 %r6, %r4, 8; shl.b32 %r6, %r4, %r6; nanosleep.u32 %r6;
        setp.gt.u32 %p2, %r4, 100000000; @%p2 trap;",
        "mov.u64 %d4, %clock64; setp.gt.u64 %p2, %d4, 100000000000; @%p2 trap;",
        "atom.global.add.u32 %r6, [%d1+4], 1;",
        "red.global.add.u32 [%d1+4], 1;",
    ] {
        assert_eq!(run(&body(wait), &[0, 0]), (0..32).sum::<u32>(), "{wait}");
    }
    // Each took a minute and more; this leaves room for a build without optimisation on a busy machine.
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}

/// Each block computes longer than a turn, the first longest, and takes a number at its end. They ended in the other
/// order: all were resident as soon as the first had computed for one turn.
#[test]
fn blocks_that_compute_for_long_run_one_after_another() {
    let body = |before: &str| {
        format!(
            "mov.u32 %r3, %ctaid.x; sub.u32 %r4, 4, %r3; mul.lo.u32 %r4, %r4, 40000; {before}
            NEXT: sub.u32 %r4, %r4, 1; setp.ne.u32 %p1, %r4, 0; @%p1 bra NEXT;
            setp.ne.u32 %p2, %r2, 0; @%p2 bra DONE; atom.global.add.u32 %r5, [%d1], 1;
            mul.wide.u32 %d3, %r3, 4; add.u64 %d3, %d3, %d2; st.global.u32 [%d3], %r5; DONE:"
        )
    };
    assert_eq!(try_run(&body(""), 4, &[0]).unwrap(), [0, 1, 2, 3]);
    // Those that start while the first waits run in order, too.
    let wait = "setp.ne.u32 %p3, %r3, 0; @%p3 bra SET;
        WAIT: atom.global.or.b32 %r6, [%d1+4], 0; setp.eq.u32 %p3, %r6, 0; @%p3 bra WAIT; bra NEXT;
        SET: mov.u32 %r6, 1; st.relaxed.gpu.global.u32 [%d1+4], %r6;";
    assert_eq!(try_run(&body(wait), 4, &[0, 0]).unwrap(), [3, 0, 1, 2]);
}

/// Looks that repeat are seen to, however they are laid out; what walks is not, even where it comes back to one place.
#[test]
fn cycles_of_looks_are_found() {
    let goes_round = |look: &dyn Fn(u64) -> u64| {
        let (mut looks, mut ran) = (Looks::default(), 0);
        for step in 1..100_000 {
            looks.saw(look(step), 5 * step);
            ran = 5 * step;
        }
        looks.goes_round(ran)
    };
    let cycles: [&[u64]; 4] = [&[7], &[7, 8], &[7, 8, 7, 9, 7, 7, 8], &[1, 1, 1, 2]];
    for cycle in cycles {
        assert!(
            goes_round(&|step| cycle[step as usize % cycle.len()]),
            "{cycle:?}"
        );
        // After a walk.
        let after = |step| {
            if step < 30_000 {
                100 + step
            } else {
                cycle[step as usize % cycle.len()]
            }
        };
        assert!(goes_round(&after), "{cycle:?}");
    }
    assert!(goes_round(&|step| step % 10_000));
    assert!(!goes_round(&|step| step));
    assert!(!goes_round(&|step| if step.is_multiple_of(5) {
        7
    } else {
        step
    }));
}

/// Warps that go round without being known to be stuck: their lanes take turns, and some seconds on they hang.
#[test]
fn a_launch_without_anything_new_hangs_at_last() {
    let mut watch = Watch::default();
    let (mut turns, mut rotations) = (0_u64, 0);
    loop {
        watch.open = true;
        watch.add_turn(4);
        turns += 1;
        match watch.end_round() {
            Next::GoOn => {}
            Next::Rotate => rotations += 1,
            Next::Hang => break,
        }
    }
    assert!((1 << 22..5 << 20).contains(&turns), "{turns}");
    assert!((20..30).contains(&rotations), "{rotations}");
    // Those that are stuck need no patience.
    let ends = (0..100).position(|_| watch.end_round() == Next::Hang);
    assert!(ends.is_some());
}

/// What lanes keep for themselves while they wait is no change of memory, nor is a store of what is there already.
#[test]
fn stores_that_nobody_sees_are_no_change() {
    let body = |keep: &str| {
        format!(
            ".local .align 4 .b8 own[8]; .shared .align 4 .b8 all[128];
            mov.u32 %r7, all; mad.lo.u32 %r7, %r2, 4, %r7; mov.u64 %d4, own; cvta.local.u64 %d4, %d4;
            mov.u32 %r4, 0; st.local.u32 [own], %r4;
            LOCK: atom.global.cas.b32 %r3, [%d1], 0, 1; {keep} setp.ne.u32 %p1, %r3, 0; @%p1 bra LOCK;
            ld.volatile.global.u32 %r5, [%d2]; add.u32 %r5, %r5, %r2; st.volatile.global.u32 [%d2], %r5;
            membar.gl; atom.global.exch.b32 %r3, [%d1], 0;"
        )
    };
    for keep in [
        "st.local.u32 [own], %r3;",
        "st.u32 [%d4], %r3;",
        "st.shared.u32 [%r7], %r3;",
        "ld.local.u32 %r4, [own]; add.u32 %r4, %r4, 1; st.local.u32 [own], %r4; mov.u32 %r4, 0;",
    ] {
        assert_eq!(run(&body(keep), &[0]), (0..32).sum::<u32>(), "{keep}");
    }
    // And so it is where nobody ever gets on.
    for keep in ["st.local.u32 [own], %r3;", "st.shared.u32 [%r7], %r3;"] {
        let reason = try_run(&body(keep), 1, &[1]).unwrap_err().reason;
        assert!(
            reason.message.contains("waits for memory"),
            "{}",
            reason.message
        );
    }
}

/// A loop that counts in its threads' own memory ends.
#[test]
fn counting_in_local_memory_is_no_wait() {
    let body = "{ .local .align 4 .b8 own[4]; mov.u32 %r4, 0; st.local.u32 [own], %r4;
        NEXT: ld.volatile.global.u32 %r5, [%d1]; ld.local.u32 %r4, [own]; add.u32 %r4, %r4, 1;
        st.local.u32 [own], %r4; setp.lt.u32 %p1, %r4, 100000; mov.u32 %r4, 0; @%p1 bra NEXT;
        mov.u32 %r5, 1; SUM }";
    assert_eq!(run(&body.replace("SUM", SUM), &[0]), 32);
}
