//! Data races within a block: each against its nearest correct neighbour.

use super::{kernel, launch, pointer};
use crate::device::sim::SimDevice;
use crate::device::{Access, Device};
use crate::outcome::Finding;
use crate::terms::FindingKind::{self, Race, ValueRace};

/// Runs `body` over 256 zero words at `%d31`, with `%r31` the thread, `%r30` the block, `%d30` the thread's own word,
/// `%r29` the address of its word of shared memory, of which there are 128.
pub(super) fn found(body: &str, grid: u32, threads: u32) -> Vec<Finding> {
    let text = kernel(
        ".param .u64 out",
        &format!(
            ".shared .align 16 .b8 s[512]; ld.param.u64 %d31, [out]; mov.u32 %r31, %tid.x; mov.u32 %r30, %ctaid.x;
            mul.wide.u32 %d30, %r31, 4; add.s64 %d30, %d30, %d31; shl.b32 %r29, %r31, 2; mov.u32 %r28, s;
            add.u32 %r29, %r29, %r28; setp.eq.u32 %p9, %r31, 0; setp.eq.u32 %p8, %r30, 0;\n{body}"
        ),
    );
    let mut device = SimDevice::new().with_budget(1 << 22);
    // Block 0 first: an instruction is reported once, and which one depends on the order.
    let forward = "fair,forward".parse().unwrap();
    SimDevice::set_schedule(&mut device, forward);
    let out = device.alloc(1024, Access::ReadWrite).unwrap();
    device.fill(out, 0, 1024, &[0]).unwrap();
    launch(&mut device, &text, grid, threads, 0, &[pointer(out)]).unwrap();
    device.take_findings().unwrap()
}

pub(super) fn kinds(body: &str, grid: u32, threads: u32) -> Vec<FindingKind> {
    found(body, grid, threads).iter().map(|f| f.kind).collect()
}

/// That `right` has no finding, and that with `part` replaced it has just this one.
#[track_caller]
fn differ(right: &str, part: &str, wrong: &str, threads: u32, kind: FindingKind) {
    assert!(right.contains(part), "{right}");
    assert_eq!(found(right, 1, threads), [], "{right}");
    let broken = right.replacen(part, wrong, 1);
    let mut found = kinds(&broken, 1, threads);
    found.dedup();
    assert_eq!(found, [kind], "{broken}");
}

#[test]
fn a_barrier_orders_shared_memory() {
    // Warps run one after another, so that warp 1 reads what warp 0 wrote, barrier or not.
    let body = "st.shared.u32 [%r29], %r31; bar.sync 0; xor.b32 %r1, %r31, 32; shl.b32 %r1, %r1, 2;
        add.u32 %r1, %r1, %r28; ld.shared.u32 %r2, [%r1];";
    differ(body, "bar.sync 0;", "bar.warp.sync -1;", 64, Race);
    // The other way round: a write after reads of it.
    let body = "st.shared.u32 [%r29], %r31; bar.sync 0; ld.shared.u32 %r2, [s+4]; bar.sync 0;
        st.shared.u32 [%r29], %r29;";
    differ(body, "[s+4]; bar.sync 0;", "[s+4];", 64, Race);
    differ(
        body,
        "[s+4]; bar.sync 0;",
        "[s+4]; bar.warp.sync -1;",
        64,
        Race,
    );
}

#[test]
fn a_race_names_both_threads_and_what_is_missing() {
    let findings = found(
        "st.shared.u32 [%r29], %r31;\nld.shared.u32 %r2, [s];",
        1,
        64,
    );
    let [finding] = &findings[..] else {
        panic!("{findings:?}");
    };
    assert!(
        finding
            .message
            .contains("a read at byte 0 of shared memory (512 bytes)"),
        "{finding:?}"
    );
    assert!(
        finding.detail[0]
            .contains("`st.shared.u32 [%r29], %r31` in block (0, 0, 0), thread (0, 0, 0)")
    );
    assert!(
        finding.detail[1].starts_with("no bar.warp.sync and no barrier"),
        "{finding:?}"
    );
    let site = finding.site.as_ref().unwrap();
    assert_eq!((site.thread, site.address), ([1, 0, 0], Some(0)));
    // A write after reads.
    let findings = found(
        "ld.global.u32 %r2, [%d31+256];\nst.global.u32 [%d30], %r31;",
        1,
        96,
    );
    let site = findings[0].site.as_ref().unwrap();
    assert_eq!((findings.len(), site.thread), (1, [64, 0, 0]));
    assert!(
        findings[0]
            .message
            .contains("a write at byte 256 of buffer 0 (1024 bytes)"),
        "{findings:?}"
    );
    assert!(
        findings[0].detail[0]
            .contains("`ld.global.u32 %r2, [%d31+256]` in block (0, 0, 0), thread (0, 0, 0)")
    );
}

#[test]
fn lanes_of_a_warp_are_threads_of_their_own() {
    let body = "st.shared.u32 [%r29], %r31; bar.warp.sync -1; xor.b32 %r1, %r29, 4; ld.shared.u32 %r2, [%r1];";
    differ(body, "bar.warp.sync -1;", "", 32, Race);
    // Shuffles and votes do not order memory.
    differ(
        body,
        "bar.warp.sync -1;",
        "vote.sync.any.pred %p1, %p9, -1;",
        32,
        Race,
    );
    // In one instruction: two lanes, one word.
    let body = "and.b32 %r1, %r31, 30; shl.b32 %r1, %r1, 2; add.u32 %r1, %r1, %r28; st.shared.u32 [%r29], %r31;";
    differ(body, "[%r29], %r31", "[%r1], %r31", 32, Race);
    differ(body, "[%r29], %r31", "[%r1], 7", 32, ValueRace);
    // A warp that is synchronised with itself is not with others.
    let body = "st.shared.u32 [%r29], %r31; bar.sync 0; ld.shared.u32 %r2, [s];";
    differ(body, "bar.sync 0;", "bar.warp.sync -1;", 64, Race);
}

#[test]
fn a_membermask_orders_those_it_names() {
    let body = "setp.ge.u32 %p1, %r31, 16; @%p1 bra UPPER; st.shared.u32 [%r29], %r31; bar.warp.sync 0xffff;
        xor.b32 %r1, %r29, 4; ld.shared.u32 %r2, [%r1]; bra DONE;
        UPPER: bar.warp.sync 0xffff0000; ld.shared.u32 %r2, [s+128]; DONE: bar.warp.sync -1;";
    let init = "st.shared.u32 [%r29+128], %r31; bar.warp.sync -1;";
    let body = format!("{init} {body}");
    differ(&body, "[s+128]", "[s]", 32, Race);
}

#[test]
fn barriers_of_some_warps_order_those() {
    // Warp 1 produces for warp 0, warp 2 has no part in it.
    let body =
        "setp.ge.u32 %p1, %r31, 32; setp.ge.u32 %p2, %r31, 64; @%p2 bra DONE; @%p1 bra PRODUCE;
        bar.sync 3, 64; ld.shared.u32 %r1, [%r29+128]; bra DONE;
        PRODUCE: st.shared.u32 [%r29], %r31; bar.arrive 3, 64; DONE:";
    differ(
        body,
        "st.shared.u32 [%r29], %r31; bar.arrive 3, 64;",
        "bar.arrive 3, 64; st.shared.u32 [%r29], %r31;",
        96,
        Race,
    );
    differ(
        body,
        "@%p2 bra DONE;",
        "@%p2 ld.shared.u32 %r2, [s+128]; @%p2 bra DONE;",
        96,
        Race,
    );
}

#[test]
fn a_chain_of_barriers_orders_its_ends() {
    let body = "setp.ge.u32 %p1, %r31, 32; setp.ge.u32 %p2, %r31, 64; @%p2 bra LAST; @%p1 bra MIDDLE;
        st.shared.u32 [s], 7; bar.sync 1, 64; bra DONE; MIDDLE: bar.sync 1, 64; bar.sync 2, 64; bra DONE;
        LAST: bar.sync 2, 64; ld.shared.u32 %r1, [s]; DONE:"
        .replace("st.shared.u32 [s], 7", "@%p9 st.shared.u32 [s], 7");
    differ(
        &body,
        "bar.sync 1, 64; bar.sync 2, 64;",
        "bar.sync 2, 64; bar.sync 1, 64;",
        96,
        Race,
    );
}

#[test]
fn bytes_of_a_word_are_places_of_their_own() {
    let own =
        "add.u32 %r1, %r31, %r28; st.shared.u8 [%r1], %r31; bar.sync 0; ld.shared.u8 %r2, [%r1];";
    differ(
        own,
        "st.shared.u8 [%r1], %r31;",
        "st.shared.u8 [%r1], %r31; ld.shared.u8 %r3, [s];",
        64,
        Race,
    );
    // A half that covers a byte of another thread.
    let body = "add.u32 %r1, %r31, %r28; @%p9 bra WORD; st.shared.u8 [%r1+1], %r31; bra DONE;
        WORD: st.shared.u16 [s], 7; DONE: bar.sync 0;";
    differ(body, "[s], 7", "[s+2], 7", 4, Race);
}

#[test]
fn vectors_touch_all_their_words() {
    let body = "shl.b32 %r1, %r31, 4; add.u32 %r1, %r1, %r28; st.shared.v4.u32 [%r1], {%r31, %r31, %r31, %r31};
        bar.sync 0; ld.shared.u32 %r2, [s+28]; bar.sync 0;";
    differ(body, "bar.sync 0;", "", 32, Race);
    let wide =
        "shl.b32 %r1, %r31, 3; add.u32 %r1, %r1, %r28; st.shared.u64 [%r1], %d31; bar.sync 0;
        ld.shared.u32 %r2, [s+12]; bar.sync 0;";
    differ(wide, "bar.sync 0;", "", 32, Race);
}

#[test]
fn a_write_of_what_is_there_is_of_a_kind_of_its_own() {
    // Every thread of two warps sets one word; the value is the same.
    assert_eq!(kinds("st.shared.u32 [s], 1;", 1, 64), [ValueRace]);
    assert_eq!(kinds("st.shared.u32 [s], %r31;", 1, 64), [Race]);
    assert_eq!(kinds("st.global.u32 [%d31], 0;", 1, 64), [ValueRace]);
    // Who reads it meanwhile reads the same.
    let read = "ld.global.u32 %r1, [%d31]; st.global.u32 [%d31], 0;";
    assert_eq!(
        kinds(
            &format!(
                "setp.eq.u32 %p1, %r31, 5; {}",
                read.replace(" st", " @%p1 st")
            ),
            1,
            32
        ),
        [ValueRace]
    );
    assert_eq!(
        kinds(
            &format!(
                "{} ld.global.u32 %r1, [%d31];",
                "@%p9 st.global.u32 [%d31], 0;"
            ),
            1,
            32
        ),
        [ValueRace]
    );
    assert_eq!(
        kinds(
            "@%p9 st.global.u32 [%d31], 3; ld.global.u32 %r1, [%d31];",
            1,
            32
        ),
        [Race]
    );
}

#[test]
fn atomics_do_not_race_with_each_other_but_with_plain_accesses() {
    let body = "@%p9 st.shared.u32 [s], 0; bar.sync 0; atom.shared.add.u32 %r1, [s], 1; bar.sync 0;
        ld.shared.u32 %r2, [s];";
    differ(body, "bar.sync 0;\n        ld", "ld", 64, Race);
    differ(
        body,
        "@%p9 st.shared.u32 [s], 0; bar.sync 0;",
        "@%p9 st.shared.u32 [s], 0;",
        64,
        Race,
    );
}

#[test]
fn of_many_strong_writes_the_first_are_not_forgotten() {
    // The last thread knows its own warp's writes, which came last, and not those of the warps before.
    let body = "add.u32 %r1, %r31, 1000; st.volatile.shared.u32 [s], %r31; st.volatile.shared.u32 [s], %r1; bar.sync 0;
        setp.eq.u32 %p1, %r31, 255; @%p1 st.shared.u32 [s], 7;";
    differ(body, "bar.sync 0;", "bar.warp.sync -1;", 256, Race);
    let read = body.replace("st.shared.u32 [s], 7", "ld.shared.u32 %r2, [s]");
    differ(&read, "bar.sync 0;", "bar.warp.sync -1;", 256, Race);
    // The other way round: atomics after a plain access of one thread.
    let body = "@%p9 st.shared.u32 [s], 7; bar.sync 0; atom.shared.add.u32 %r1, [s], 1;";
    differ(body, "bar.sync 0;", "bar.warp.sync -1;", 256, Race);
}

#[test]
fn atomics_of_different_sizes_race() {
    let body = "@%p9 st.shared.u64 [s], 0; bar.sync 0; atom.shared.add.u32 %r1, [s], 1; bar.sync 0;
        atom.shared.add.u64 %d1, [s], 1;";
    differ(body, "1; bar.sync 0;", "1; bar.warp.sync -1;", 64, Race);
}

#[test]
fn a_place_that_another_block_left_is_new() {
    // The second block takes the first one's place, and its shared memory.
    let body = "st.shared.u32 [%r29], %r31; ld.shared.u32 %r1, [%r29];";
    assert_eq!(found(body, 70, 128), []);
    let body = "add.u32 %r1, %r31, %r30; and.b32 %r1, %r1, 63; shl.b32 %r1, %r1, 2; add.u32 %r1, %r1, %r28;
        st.shared.u32 [%r1], %r31; ld.shared.u32 %r2, [%r1];";
    assert_eq!(found(body, 70, 64), []);
}

#[test]
fn switched_off_nothing_is_followed() {
    let text = kernel(
        ".param .u64 out",
        "ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; st.global.u32 [%d1], %r1; st.global.u32 [%d1+4], 1;",
    );
    let mut device = SimDevice::new();
    let out = device.alloc(4, Access::ReadWrite).unwrap();
    let mut found = |on: bool| {
        device.set_detectors(on);
        launch(&mut device, &text, 1, 64, 0, &[pointer(out)]).unwrap();
        let findings = device.take_findings().unwrap();
        findings.iter().map(|f| f.kind).collect::<Vec<_>>()
    };
    assert_eq!(found(false), [FindingKind::OutOfBounds]);
    assert_eq!(found(true), [Race, FindingKind::OutOfBounds]);
    assert_eq!(found(false), [FindingKind::OutOfBounds]);
}
