//! Data races between blocks: launches, fences, scopes, releases and acquires.

use super::races::{found, kinds};
use super::{kernel, launch, pointer};
use crate::device::sim::SimDevice;
use crate::device::{Access, Device};
use crate::terms::FindingKind::{self, Race};

/// Block 0 writes word 0 and sets the flag in word 1; the others wait for the flag and read word 0. `set` and `get`
/// access the flag at `[%d31+4]`.
fn passing(before: &str, set: &str, get: &str, after: &str) -> String {
    format!(
        "@!%p9 bra DONE; @!%p8 bra WAIT; st.global.u32 [%d31], 7; {before} {set} [%d31+4], 1; bra DONE;
        WAIT: {get} %r1, [%d31+4]; setp.eq.u32 %p1, %r1, 0; @%p1 bra WAIT; {after} ld.global.u32 %r2, [%d31]; DONE:"
    )
}

fn kinds_of(before: &str, set: &str, get: &str, after: &str) -> Vec<FindingKind> {
    kinds(&passing(before, set, get, after), 3, 32)
}

const SET: &str = "st.relaxed.gpu.global.u32";
const GET: &str = "ld.relaxed.gpu.global.u32";

#[test]
fn fences_on_both_sides_pass_a_message() {
    for fence in [
        "membar.gl;",
        "membar.sys;",
        "fence.acq_rel.gpu;",
        "fence.sc.gpu;",
    ] {
        assert_eq!(kinds_of(fence, SET, GET, fence), []);
        let volatile = ("st.volatile.global.u32", "ld.volatile.global.u32");
        assert_eq!(kinds_of(fence, volatile.0, volatile.1, fence), []);
    }
    assert_eq!(kinds_of("", SET, GET, "membar.gl;"), [Race]);
    assert_eq!(kinds_of("membar.gl;", SET, GET, ""), [Race]);
    // A fence on the wrong side of the flag.
    let late = passing("", SET, GET, "membar.gl;").replace("1; bra", "1; membar.gl; bra");
    assert_eq!(kinds(&late, 3, 32), [Race]);
}

#[test]
fn the_scope_of_a_fence_must_reach_the_other_block() {
    assert_eq!(kinds_of("membar.cta;", SET, GET, "membar.gl;"), [Race]);
    assert_eq!(kinds_of("membar.gl;", SET, GET, "membar.cta;"), [Race]);
    let findings = found(&passing("membar.cta;", SET, GET, "membar.gl;"), 3, 32);
    assert!(findings[0].detail[1].contains("scope .cta"), "{findings:?}");
    let findings = found(&passing("", SET, GET, "membar.gl;"), 3, 32);
    assert!(
        findings[0].detail[1].starts_with("no fence of scope .gpu"),
        "{findings:?}"
    );
    let findings = found(&passing("membar.gl;", SET, GET, ""), 3, 32);
    assert!(
        findings[0].detail[1].contains("not acquired here"),
        "{findings:?}"
    );
}

#[test]
fn release_and_acquire_need_no_fence() {
    let (set, get) = ("st.release.gpu.global.u32", "ld.acquire.gpu.global.u32");
    assert_eq!(kinds_of("", set, get, ""), []);
    assert_eq!(kinds_of("membar.gl;", SET, get, ""), []);
    assert_eq!(kinds_of("", set, GET, "membar.gl;"), []);
    assert_eq!(kinds_of("", SET, get, ""), [Race]);
    assert_eq!(kinds_of("", set, GET, ""), [Race]);
    // With a block's scope the flag itself is no longer morally strong either.
    assert_eq!(
        kinds_of("", "st.release.cta.global.u32", get, ""),
        [Race, Race]
    );
    assert_eq!(
        kinds_of("", set, "ld.acquire.cta.global.u32", ""),
        [Race, Race]
    );
}

#[test]
fn a_flag_must_be_strong() {
    let plain = kinds_of(
        "membar.gl;",
        "st.global.u32",
        "ld.global.cg.u32",
        "membar.gl;",
    );
    assert_eq!(plain, [Race, Race]);
    assert_eq!(
        kinds_of(
            "membar.gl;",
            "st.global.u32",
            "ld.volatile.global.u32",
            "membar.gl;"
        ),
        [Race, Race]
    );
}

#[test]
fn atomics_pass_on_what_they_overwrite() {
    // Every block adds to a counter after its write; the last one reads what all have written.
    let body = |fence: &str, scope: &str| {
        format!(
            "mul.wide.u32 %d1, %r30, 4; add.u64 %d1, %d1, %d31; @!%p9 bra DONE; st.global.u32 [%d1+8], 5; {fence}
            atom.global{scope}.add.u32 %r1, [%d31], 1; {fence} setp.ne.u32 %p1, %r1, 3; @%p1 bra DONE;
            ld.global.u32 %r2, [%d31+8]; ld.global.u32 %r2, [%d31+12]; ld.global.u32 %r2, [%d31+16];
            ld.global.u32 %r2, [%d31+20]; DONE:"
        )
    };
    assert_eq!(kinds(&body("membar.gl;", ""), 4, 32), []);
    assert_eq!(kinds(&body("", ".acq_rel.gpu"), 4, 32), []);
    assert_eq!(kinds(&body("", ""), 4, 32), [Race; 3]);
    assert_eq!(kinds(&body("membar.cta;", ""), 4, 32), [Race; 3]);
    assert_eq!(kinds(&body("", ".acquire.gpu"), 4, 32), [Race; 3]);
    assert_eq!(kinds(&body("", ".release.gpu"), 4, 32), [Race; 3]);
    // An atomic of a block's scope is not atomic to another block.
    assert_eq!(kinds(&body("membar.gl;", ".relaxed.cta"), 4, 32)[0], Race);
}

#[test]
fn a_barrier_carries_what_a_thread_acquired_and_what_it_releases() {
    // All threads write, thread 0 publishes; over there thread 0 waits, all threads read.
    let body = "@!%p8 bra WAIT; add.u32 %r1, %r31, 1; st.global.u32 [%d30], %r1; bar.sync 0; @!%p9 bra DONE; membar.gl;
        st.relaxed.gpu.global.u32 [%d31+512], 1; bra DONE;
        WAIT: @!%p9 bra SEEN; LOOK: ld.relaxed.gpu.global.u32 %r1, [%d31+512]; setp.eq.u32 %p1, %r1, 0;
        @%p1 bra LOOK; membar.gl; SEEN: bar.sync 1; ld.global.u32 %r2, [%d30]; DONE:";
    assert_eq!(found(body, 2, 64), []);
    assert_eq!(kinds(&body.replace("bar.sync 0;", ""), 2, 64), [Race]);
    assert_eq!(kinds(&body.replace("bar.sync 1;", ""), 2, 64), [Race]);
    assert_eq!(kinds(&body.replacen("membar.gl;", "", 1), 2, 64), [Race]);
    // The warp's threads alone have met: the other warp's have not.
    assert_eq!(
        kinds(&body.replace("bar.sync 1;", "bar.warp.sync -1;"), 2, 64),
        [Race]
    );
    assert_eq!(
        found(&body.replace("bar.sync 1;", "bar.warp.sync -1;"), 2, 32),
        []
    );
}

/// Every thread writes, thread 0 counts its block, and the threads of the last block read: `fence` before the first
/// barrier, `own` around the count, `late` after the second.
fn last_block(meet: &str, [fence, own, late]: [&str; 3]) -> String {
    format!(
        "mad.lo.u32 %r1, %r30, 32, %r31; mul.wide.u32 %d1, %r1, 4; add.u64 %d1, %d1, %d31; add.u32 %r1, %r31, 1;
        st.global.u32 [%d1+64], %r1; {fence} {meet} @!%p9 bra MEET; {own} atom.global.add.u32 %r1, [%d31], 1; {own}
        st.shared.u32 [s], %r1; MEET: {meet} ld.shared.u32 %r1, [s]; setp.ne.u32 %p1, %r1, 1; @%p1 bra DONE; {late}
        ld.global.u32 %r2, [%d30+64]; ld.global.u32 %r2, [%d30+192]; DONE:"
    )
}

#[test]
fn a_fence_sc_need_not_be_of_the_thread_that_counts() {
    for meet in ["bar.sync 0;", "bar.warp.sync -1;"] {
        for fences in [
            ["membar.gl;", "", "membar.gl;"],
            ["fence.sc.gpu;", "", "membar.sys;"],
            ["membar.gl;", "membar.gl;", ""],
            ["", "membar.gl;", "membar.gl;"],
            ["", "fence.acq_rel.gpu;", ""],
        ] {
            assert_eq!(found(&last_block(meet, fences), 2, 32), [], "{fences:?}");
        }
        for fences in [
            ["membar.gl;", "", ""],
            ["", "", "membar.gl;"],
            ["fence.acq_rel.gpu;", "", "membar.gl;"],
            ["membar.gl;", "", "fence.acq_rel.gpu;"],
            ["fence.acq_rel.gpu;", "", "fence.acq_rel.gpu;"],
            ["membar.cta;", "", "membar.gl;"],
        ] {
            let mut kinds = kinds(&last_block(meet, fences), 2, 32);
            kinds.dedup();
            assert_eq!(kinds, [Race], "{fences:?}");
        }
    }
    // Without a meet the other threads' fences are of no use, and theirs to come are too late.
    let body = last_block("bar.sync 0;", ["membar.gl;", "", "membar.gl;"]);
    let early = body.replacen("bar.sync 0;", "", 1);
    assert_eq!(kinds(&early, 2, 32)[0], Race);
}

#[test]
fn what_one_block_acquired_it_passes_on() {
    // Block 0 to block 1 to block 2, by a flag each.
    let body = "@!%p9 bra DONE; setp.eq.u32 %p7, %r30, 1; @!%p8 bra WAIT; st.global.u32 [%d31], 7; membar.gl;
        st.relaxed.gpu.global.u32 [%d31+4], 1; bra DONE;
        WAIT: mul.wide.u32 %d1, %r30, 4; add.u64 %d1, %d1, %d31;
        LOOK: ld.relaxed.gpu.global.u32 %r1, [%d1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra LOOK; membar.gl;
        @%p7 st.relaxed.gpu.global.u32 [%d1+4], 1; @%p7 bra DONE; ld.global.u32 %r2, [%d31]; DONE:";
    assert_eq!(found(body, 3, 32), []);
    let broken = body.replace(
        "@%p1 bra LOOK; membar.gl;",
        "@%p1 bra LOOK; @!%p7 membar.gl;",
    );
    assert_eq!(kinds(&broken, 3, 32), [Race]);
}

/// Each block takes a ticket, and the one with the last resets the counter: it comes after all atomics that it read.
#[test]
fn what_an_atomic_has_read_comes_before_what_its_thread_does_then() {
    let body = "@!%p9 bra MEET; atom.global.inc.u32 %r1, [%d31], 4; st.shared.u32 [s], %r1; MEET: bar.sync 0;
        ld.shared.u32 %r1, [s]; setp.ne.u32 %p1, %r1, 3; @%p1 bra DONE; @%p9 st.global.u32 [%d31], 0; bar.sync 0;
        ld.global.u32 %r2, [%d31]; DONE:";
    assert_eq!(found(body, 4, 64), []);
    // Another thread of its block, after a barrier.
    let other = body.replace("@%p9 st", "setp.eq.u32 %p2, %r31, 40; @%p2 st");
    assert_eq!(found(&other, 4, 64), []);
    assert_eq!(kinds(&other.replacen("bar.sync 0;", "", 1), 4, 64)[0], Race);
    // A block that has not seen all of them, and a read before the atomic.
    assert_eq!(kinds(&body.replace("%r1, 3;", "%r1, 2;"), 4, 64)[0], Race);
    let before = body.replacen("@!%p9", "@%p9 ld.global.u32 %r2, [%d31]; @!%p9", 1);
    assert_eq!(kinds(&before, 4, 64)[0], Race);
    // An atomic that does not reach the other blocks.
    let near = body.replace("atom.global", "atom.global.relaxed.cta");
    assert_eq!(kinds(&near, 4, 64)[0], Race);
    // A strong read sees them too, and a strong write hides them.
    let read = |set: &str| {
        format!(
            "@!%p9 bra DONE; @%p8 bra WAIT; {set} bra DONE; WAIT: ld.relaxed.gpu.global.u32 %r1, [%d31];
            setp.ne.u32 %p1, %r1, 2; @%p1 bra WAIT; st.global.u32 [%d31], 9; DONE:"
        )
    };
    assert_eq!(found(&read("red.global.add.u32 [%d31], 1;"), 3, 32), []);
    assert_eq!(
        kinds(&read("st.relaxed.gpu.global.u32 [%d31], 2;"), 3, 32)[0],
        Race
    );
}

#[test]
fn blocks_that_write_one_word_race() {
    assert_eq!(
        kinds(
            "add.u32 %r1, %r30, 1; @%p9 st.global.u32 [%d31], %r1;",
            2,
            32
        ),
        [Race]
    );
    assert_eq!(
        kinds("@%p9 st.global.u32 [%d31], 5;", 2, 32),
        [FindingKind::ValueRace]
    );
    assert_eq!(
        found(
            "mad.lo.u32 %r1, %r30, 32, %r31; mul.wide.u32 %d1, %r1, 4; add.u64 %d1, %d1, %d31;
        st.global.u32 [%d1], %r31;",
            2,
            32
        ),
        []
    );
    assert_eq!(
        found(
            "ld.global.u32 %r1, [%d31]; ld.global.u32 %r1, [%d30];",
            5,
            64
        ),
        []
    );
    // A barrier is for one block only.
    assert_eq!(
        kinds(
            "add.u32 %r1, %r31, 1; @%p8 st.global.u32 [%d30], %r1; bar.sync 0; @!%p8 ld.global.u32 %r1, [%d30];",
            2,
            32
        ),
        [Race]
    );
}

#[test]
fn a_launch_comes_after_the_one_before() {
    let text = |body: &str| {
        kernel(
            ".param .u64 out",
            &format!("ld.param.u64 %d1, [out]; mov.u32 %r1, %ctaid.x; {body}"),
        )
    };
    let write = text("st.relaxed.cta.global.u32 [%d1], 1;");
    let read = text("ld.global.nc.u32 %r2, [%d1];");
    let mut device = SimDevice::new();
    let out = device.alloc(4, Access::ReadWrite).unwrap();
    for text in [&write, &read, &write, &read] {
        launch(&mut device, text, 1, 1, 0, &[pointer(out)]).unwrap();
        assert_eq!(device.take_findings().unwrap(), []);
    }
}

#[test]
fn the_read_only_cache_is_for_what_a_launch_does_not_write() {
    let body = "@%p9 st.global.u32 [%d31+4], 1; bar.sync 0; ld.global.nc.u32 %r1, [%d31];";
    assert_eq!(found(body, 1, 64), []);
    assert_eq!(
        kinds(&body.replace("[%d31];", "[%d31+4];"), 1, 64),
        [FindingKind::Stale]
    );
    let after = "ld.global.nc.u32 %r1, [%d31]; bar.sync 0; @%p9 st.global.u32 [%d31], 1;";
    assert_eq!(kinds(after, 1, 64), [FindingKind::Stale]);
    assert_eq!(found(&after.replace("[%d31], 1", "[%d31+4], 1"), 1, 64), []);
}
