//! Reads of memory never written: found where the value decides something, and only there.

use super::{kernel, launch, pointer};
use crate::device::sim::SimDevice;
use crate::device::{Access, Device};
use crate::outcome::Finding;
use crate::terms::FindingKind::{self, Uninitialised};

/// Runs `body` in 32 threads over 64 words at `%d31`: the first 32 are zeros, the others were never written. `%d30` is
/// the thread's own of the zeros, `%d29` of the others, `%r31` the thread; `%r0` is a word never written.
fn found(body: &str) -> Vec<Finding> {
    let text = kernel(
        ".param .u64 out",
        &format!(
            ".shared .align 16 .b8 s[256]; ld.param.u64 %d31, [out]; mov.u32 %r31, %tid.x; mul.wide.u32 %d30, %r31, 4;
            add.s64 %d30, %d30, %d31; add.u64 %d29, %d30, 128; shl.b32 %r30, %r31, 2; mov.u32 %r29, s;
            add.u32 %r30, %r30, %r29; ld.global.u32 %r0, [%d29];\n{body}"
        ),
    );
    let mut device = SimDevice::new().with_budget(1 << 20);
    let out = device.alloc(256, Access::ReadWrite).unwrap();
    device.fill(out, 0, 128, &[0]).unwrap();
    device.poison(out, 128, 128, &[0xdb]).unwrap();
    launch(&mut device, &text, 1, 32, 0, &[pointer(out)]).unwrap();
    device.take_findings().unwrap()
}

fn kinds(body: &str) -> Vec<FindingKind> {
    found(body).iter().map(|f| f.kind).collect()
}

#[track_caller]
fn says(body: &str, words: &str) {
    let findings = found(body);
    assert_eq!(findings.len(), 1, "{body}: {findings:?}");
    assert_eq!(findings[0].kind, Uninitialised);
    assert!(findings[0].message.contains(words), "{findings:?}");
    assert!(
        findings[0].detail[0].contains("PTX line 9: `ld.global.u32 %r0, [%d29]`"),
        "{findings:?}"
    );
    assert!(
        findings[0].detail[0].contains("byte 128 of buffer 0"),
        "{findings:?}"
    );
}

#[test]
fn a_value_that_is_not_used_is_no_fault() {
    assert_eq!(found(""), []);
    assert_eq!(
        found("add.u32 %r1, %r0, 1; setp.eq.u32 %p1, %r1, 3; mov.u32 %r2, %r1;"),
        []
    );
    assert_eq!(
        found("add.u32 %r0, %r0, 1; mov.u32 %r0, 5; st.global.u32 [%d30], %r0;"),
        []
    );
}

#[test]
fn a_value_that_is_stored_is_an_output() {
    says("st.global.u32 [%d30], %r0;", "is stored to global memory");
    says(
        "add.u32 %r1, %r0, 1; shl.b32 %r1, %r1, 3; st.global.u32 [%d30], %r1;",
        "is stored to global memory",
    );
    says(
        "red.global.add.u32 [%d30], %r0;",
        "is stored to global memory",
    );
    says(
        "mov.b64 %d1, {%r31, %r0}; mov.b64 {%r1, %r2}, %d1; st.global.u32 [%d30], %r2;",
        "is stored",
    );
    says(
        "add.cc.u32 %r1, %r0, %r0; addc.u32 %r2, %r31, 0; st.global.u32 [%d30], %r2;",
        "is stored",
    );
    let after = "add.cc.u32 %r1, %r0, %r0; add.cc.u32 %r1, %r31, %r31; addc.u32 %r2, %r31, 0;
        st.global.u32 [%d30], %r2;";
    assert_eq!(found(after), []);
}

#[test]
fn a_value_that_decides_an_address_is_found_there() {
    says(
        "and.b32 %r1, %r0, 0; cvt.u64.u32 %d1, %r1; add.u64 %d1, %d1, %d30; ld.global.u32 %r2, [%d1];",
        "an address",
    );
    says(
        "and.b32 %r1, %r0, 0; add.u32 %r1, %r1, %r30; st.shared.u32 [%r1], %r31;",
        "an address",
    );
}

#[test]
fn a_value_that_decides_where_lanes_go_is_found_there() {
    says(
        "setp.eq.u32 %p1, %r0, 7; @%p1 bra OUT; add.u32 %r1, %r1, 1; OUT:",
        "decides a branch",
    );
    says(
        "setp.eq.u32 %p1, %r0, 7; @!%p1 st.global.u32 [%d30], %r31;",
        "whether this is done",
    );
    says("setp.eq.u32 %p1, %r0, 7; @%p1 ret;", "decides a branch");
    says(
        "setp.eq.u32 %p1, %r0, 7; bar.red.or.pred %p2, 0, %p1;",
        "a barrier",
    );
    // Instructions that run under it are choices: their results are tainted, in all lanes.
    says(
        "setp.eq.u32 %p1, %r0, 7; mov.u32 %r1, 1; @%p1 mov.u32 %r1, 2; st.global.u32 [%d30], %r1;",
        "is stored",
    );
}

#[test]
fn a_choice_takes_the_taint_of_what_it_chooses() {
    let body = |chosen: &str| {
        format!(
            "setp.lt.u32 %p1, %r31, 32; selp.u32 %r1, {chosen}, %p1; st.global.u32 [%d30], %r1;"
        )
    };
    assert_eq!(kinds(&body("%r0, 4")), [Uninitialised]);
    assert_eq!(kinds(&body("4, %r0")), []);
    let by = "setp.eq.u32 %p1, %r0, 1; selp.u32 %r1, 4, 5, %p1; st.global.u32 [%d30], %r1;";
    assert_eq!(kinds(by), [Uninitialised]);
}

/// CUB's merge reads one key past a list's end and compares it; that the end is reached decides alone.
#[test]
fn a_predicate_that_decides_alone_ends_it() {
    let body = |join: &str| {
        format!(
            "setp.eq.u32 %p1, %r0, 3; setp.lt.u32 %p2, %r31, 32; {join} @%p3 bra OUT; add.u32 %r1, %r1, 1; OUT:"
        )
    };
    assert_eq!(kinds(&body("or.pred %p3, %p1, %p2;")), []);
    assert_eq!(kinds(&body("and.pred %p3, %p2, %p1;")), [Uninitialised]);
    assert_eq!(
        kinds(&body("not.pred %p4, %p2; and.pred %p3, %p4, %p1;")),
        []
    );
    assert_eq!(
        kinds(&body("not.pred %p4, %p2; or.pred %p3, %p1, %p4;")),
        [Uninitialised]
    );
    assert_eq!(kinds(&body("setp.eq.or.u32 %p3, %r0, 5, %p2;")), []);
    assert_eq!(
        kinds(&body("setp.eq.and.u32 %p3, %r0, 5, %p2;")),
        [Uninitialised]
    );
    assert_eq!(kinds(&body("setp.eq.and.u32 %p3, %r0, 5, !%p2;")), []);
    assert_eq!(kinds(&body("setp.lt.or.u32 %p3, %r31, 32, %p1;")), []);
    assert_eq!(
        kinds(&body("setp.lt.and.u32 %p3, %r31, 32, %p1;")),
        [Uninitialised]
    );
}

#[test]
fn lanes_pass_it_on() {
    // Only lane 31 holds one.
    let one = "setp.ne.u32 %p7, %r31, 31; @%p7 mov.u32 %r0, 3;";
    let shuffle = |from: u32| {
        format!("{one} shfl.sync.idx.b32 %r1, %r0, {from}, 31, -1; st.global.u32 [%d30], %r1;")
    };
    assert_eq!(kinds(&shuffle(31)), [Uninitialised]);
    assert_eq!(kinds(&shuffle(30)), []);
    let vote = |test: &str| {
        format!(
            "{one} setp.eq.u32 %p1, {test}, 3; vote.sync.ballot.b32 %r1, %p1, -1; st.global.u32 [%d30], %r1;"
        )
    };
    assert_eq!(kinds(&vote("%r0")), [Uninitialised]);
    assert_eq!(kinds(&vote("%r31")), []);
}

#[test]
fn memory_keeps_it() {
    let body = |from: &str| {
        format!(
            "st.shared.u32 [%r30], {from}; bar.warp.sync -1; ld.shared.u32 %r1, [%r30]; st.global.u32 [%d30], %r1;"
        )
    };
    assert_eq!(kinds(&body("%r0")), [Uninitialised]);
    assert_eq!(kinds(&body("%r31")), []);
    let local = |from: &str| {
        format!(
            ".local .align 4 .b8 m[4]; st.local.u32 [m], {from}; ld.local.u32 %r1, [m]; st.global.u32 [%d30], %r1;"
        )
    };
    assert_eq!(kinds(&local("%r0")), [Uninitialised]);
    assert_eq!(kinds(&local("%r31")), []);
    let over = "st.shared.u32 [%r30], %r0; st.shared.u32 [%r30], 1; ld.shared.u32 %r1, [%r30];
        st.global.u32 [%d30], %r1;";
    assert_eq!(kinds(over), []);
}

/// A struct with padding is copied word by word.
#[test]
fn an_element_that_is_partly_written_may_be_copied() {
    let body = |set: &str, then: &str| {
        format!("{set} ld.shared.u32 %r1, [%r30]; {then} st.global.u32 [%d30], %r1;")
    };
    let byte = "st.shared.u8 [%r30], %r31;";
    let bytes = |set: &str| {
        format!(
            "{set} ld.shared.v2.u8 {{%r1, %r2}}, [%r30+2]; st.global.v2.u8 [%d30], {{%r1, %r2}};"
        )
    };
    assert_eq!(found(&bytes(byte)), []);
    assert_eq!(kinds(&bytes("")), [Uninitialised]);
    assert_eq!(found(&body(byte, "")), []);
    assert_eq!(kinds(&body("", "")), [Uninitialised]);
    assert_eq!(kinds(&body(byte, "add.u32 %r1, %r1, 1;")), [Uninitialised]);
    let branch = "setp.eq.u32 %p1, %r1, 7; @%p1 bra OUT; add.u32 %r2, %r2, 1; OUT:";
    assert_eq!(kinds(&body(byte, branch)), [Uninitialised]);
}

#[test]
fn local_memory_is_never_written_at_first() {
    let body = |at: u32| {
        format!(
            ".local .align 4 .b8 m[8]; st.local.u32 [m+4], %r31; ld.local.u32 %r1, [m+{at}]; st.global.u32 [%d30], %r1;"
        )
    };
    assert_eq!(kinds(&body(4)), []);
    let findings = found(&body(0));
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].kind, Uninitialised);
    let detail = &findings[0].detail[0];
    assert!(detail.contains("byte 0 of local memory"), "{findings:?}");
}

#[test]
fn a_shuffle_gives_nothing_of_a_lane_that_takes_no_part() {
    let lower = |op: &str, then: &str| {
        format!(
            "setp.ge.u32 %p1, %r31, 16; @%p1 bra OUT; shfl.sync.{op} %r1, %r31, {then}; st.global.u32 [%d30], %r1;
            OUT:"
        )
    };
    assert_eq!(found(&lower("idx.b32", "15, 31, 0xffff")), []);
    let findings = found(&lower("idx.b32", "20, 31, 0xffff"));
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].kind, FindingKind::Membermask);
    let message = "a value of a lane that the membermask leaves out, or that is not there, is stored to global memory";
    assert_eq!(findings[0].message, message);
    assert!(findings[0].detail[0].contains("`shfl.sync.idx.b32 %r1, %r31, 20, 31, 0xffff`"));
    // Where the lane there is out of range a lane has its own value.
    assert_eq!(found(&lower("down.b32", "8, 0x180f, 0xffff")), []);
    assert_eq!(
        kinds(&lower("down.b32", "8, 31, 0xffff")),
        [FindingKind::Membermask]
    );
    // Lanes that have left are named, and are not there; who does not use what they gave is right.
    let left = lower("down.b32", "8, 31, -1").replace("bra OUT", "exit");
    assert_eq!(kinds(&left), [FindingKind::Membermask]);
    let chosen = left.replace(
        "st.global",
        "setp.lt.u32 %p2, %r31, 8; selp.u32 %r1, %r1, 0, %p2; st.global",
    );
    assert_eq!(kinds(&chosen), []);
}

#[test]
fn an_atomic_on_shared_memory_never_written_gives_nothing_better() {
    let body = |op: &str, then: &str| {
        format!("atom.shared.{op} %r1, [%r30], 1; {then} st.global.u32 [%d30], %r1;")
    };
    assert_eq!(kinds(&body("add.u32", "")), [Uninitialised]);
    assert_eq!(
        kinds(&body("add.u32", "ld.shared.u32 %r1, [%r30];")),
        [Uninitialised]
    );
    assert_eq!(kinds(&body("exch.b32", "ld.shared.u32 %r1, [%r30];")), []);
    assert_eq!(kinds("red.global.add.u32 [%d29], 1;"), [Uninitialised]);
}

#[test]
fn of_a_vector_each_element_counts_for_itself() {
    let body = |taken: &str| {
        format!(
            "setp.eq.u32 %p1, %r31, 0; @!%p1 ret; ld.global.v2.u32 {{%r1, %r2}}, [%d31+120];
            st.global.u32 [%d31+128], 1; ld.global.v2.u32 {{%r3, %r4}}, [%d31+128]; st.global.u32 [%d30], {taken};"
        )
    };
    assert_eq!(kinds(&body("%r2")), []);
    assert_eq!(kinds(&body("%r3")), []);
    assert_eq!(kinds(&body("%r4")), [Uninitialised]);
}
