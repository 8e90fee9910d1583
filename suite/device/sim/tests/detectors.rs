use super::{kernel, launch, pointer, run};
use crate::device::sim::SimDevice;
use crate::device::{Access, Device};
use crate::outcome::Finding;
use crate::terms::FindingKind;

/// The kind and the threads of each finding.
fn kinds(findings: &[Finding]) -> Vec<FindingKind> {
    findings.iter().map(|f| f.kind).collect()
}

/// Loads from and stores to a buffer of 33 words through a pointer to word 0, with the buffer's content undefined.
fn on_poison(body: &str) -> (Vec<u32>, Vec<Finding>) {
    let text = kernel(
        ".param .u64 p",
        &format!(
            "ld.param.u64 %d31, [p];\nmov.u32 %r31, %tid.x;\nsetp.eq.u32 %p9, %r31, 0;\n{body}"
        ),
    );
    let mut device = SimDevice::new();
    let buffer = device.alloc(132, Access::ReadWrite).unwrap();
    device.poison(buffer, 0, 132, &[0xdb]).unwrap();
    launch(&mut device, &text, 1, 32, 0, &[pointer(buffer)]).unwrap();
    let got = bytemuck::cast_slice(device.download(buffer, 0, 132).unwrap()).to_vec();
    (got, device.take_findings().unwrap())
}

#[test]
fn one_element_past_the_end_is_found_and_dropped() {
    let (got, findings) = run("st.global.u32 [%d30+4], %r31;", 32, 32);
    assert_eq!(got, [0].into_iter().chain(0..31).collect::<Vec<u32>>());
    assert_eq!(kinds(&findings), [FindingKind::OutOfBounds]);
    let site = findings[0].site.as_ref().unwrap();
    assert_eq!((site.kernel.as_str(), site.thread), ("k", [31, 0, 0]));
    assert_eq!(site.instruction, "st.global.u32 [%d30+4], %r31");
    assert!(site.address.is_some());
    assert!(
        findings[0]
            .message
            .contains("just past the end of buffer 0 (128 bytes)"),
        "{}",
        findings[0].message
    );
    assert_eq!(run("st.global.u32 [%d30], %r31;", 32, 32).1, []);
}

#[test]
fn a_load_out_of_bounds_gives_zero() {
    let (got, findings) = run(
        "mov.u32 %r1, 9; ld.global.u32 %r1, [%d30+-4]; st.global.u32 [%d30], %r1;",
        1,
        1,
    );
    assert_eq!(got, [0]);
    assert_eq!(kinds(&findings), [FindingKind::OutOfBounds]);
    assert!(
        findings[0].message.contains("4 bytes before buffer 0"),
        "{}",
        findings[0].message
    );
    assert_eq!(
        kinds(&run("mov.u64 %d1, 0; ld.global.u32 %r1, [%d1];", 1, 1).1),
        [FindingKind::OutOfBounds]
    );
    assert_eq!(
        kinds(&run("mov.u64 %d1, 0; ld.u32 %r1, [%d1];", 1, 1).1),
        [FindingKind::OutOfBounds]
    );
}

#[test]
fn an_access_off_its_alignment_is_found() {
    assert_eq!(
        kinds(&run("ld.global.u32 %r1, [%d31+2];", 1, 4).1),
        [FindingKind::Misaligned]
    );
    assert_eq!(
        kinds(&run("ld.global.v2.u32 {%r1, %r2}, [%d31+4];", 1, 4).1),
        [FindingKind::Misaligned]
    );
    assert_eq!(
        run(
            "ld.global.v2.u32 {%r1, %r2}, [%d31+8]; ld.global.u16 %r1, [%d31+2];",
            1,
            4
        )
        .1,
        []
    );
}

#[test]
fn shared_memory_ends_where_it_is_declared() {
    let body = |at: u32| {
        format!(".shared .align 4 .b8 s[8]; mov.u32 %r1, s; st.shared.u32 [%r1+{at}], 1;")
    };
    assert_eq!(run(&body(4), 1, 1).1, []);
    assert_eq!(kinds(&run(&body(8), 1, 1).1), [FindingKind::OutOfBounds]);
    let before = ".shared .align 4 .b8 s[8]; mov.u32 %r1, s; ld.shared.u32 %r2, [%r1+-4];";
    let (_, findings) = run(before, 1, 1);
    assert!(
        findings[0]
            .message
            .contains("before shared memory (offset -4)"),
        "{}",
        findings[0].message
    );
}

#[test]
fn local_memory_is_each_threads_own() {
    let body = |at: u32| {
        format!(
            ".local .align 16 .b8 m[16]; st.local.u32 [m+{at}], %r31; ld.local.u32 %r1, [m+{at}]; \
             st.global.u32 [%d30], %r1;"
        )
    };
    assert_eq!(run(&body(12), 32, 32), ((0..32).collect(), vec![]));
    assert_eq!(
        kinds(&run(&body(16), 32, 32).1),
        [FindingKind::OutOfBounds; 2]
    );
}

#[test]
fn a_read_of_poison_is_found() {
    let store =
        "mul.wide.u32 %d1, %r31, 4; add.u64 %d1, %d1, %d31; st.global.u32 [%d1], %r31; bar.sync 0;";
    let (got, findings) = on_poison(&format!(
        "{store} ld.global.u32 %r1, [%d1+4]; st.global.u32 [%d1+4], %r1;"
    ));
    assert_eq!(got[31..], [31, 0xdbdb_dbdb]);
    assert_eq!(kinds(&findings), [FindingKind::Uninitialised]);
    assert_eq!(findings[0].site.as_ref().unwrap().thread, [31, 0, 0]);
    assert_eq!(
        on_poison(&format!("{store} ld.global.u32 %r1, [%d1];")).1,
        []
    );
    // One byte of a word is not the word.
    let byte = "@%p9 st.global.u8 [%d31+4], 1; bar.sync 0; ld.global.u8 %r1, [%d31+4];";
    assert_eq!(on_poison(byte).1, []);
    assert_eq!(
        kinds(
            &on_poison(&format!(
                "{byte} ld.global.u32 %r1, [%d31+4]; setp.eq.u32 %p1, %r1, 3; @%p1 ret;"
            ))
            .1
        ),
        [FindingKind::Uninitialised]
    );
    assert_eq!(
        kinds(&on_poison("atom.global.add.u32 %r1, [%d31], 1;").1),
        [FindingKind::Uninitialised]
    );
}

#[test]
fn shared_memory_starts_unwritten_in_every_block() {
    let body = ".shared .align 4 .b8 s[128]; mul.lo.u32 %r1, %r31, 4; mov.u32 %r2, s; add.u32 %r1, %r1, %r2;
        st.shared.u32 [%r1], %r31; ld.shared.u32 %r3, [%r1]; setp.eq.u32 %p2, %r3, 77; @%p2 ret;";
    assert_eq!(run(body, 32, 1).1, []);
    let text = kernel(
        "",
        &body
            .replace(
                "st.shared.u32 [%r1], %r31;",
                "mov.u32 %r4, %ctaid.x; setp.eq.u32 %p1, %r4, 0; @%p1 st.shared.u32 [%r1], %r31;",
            )
            .replace("%r31", "%r9"),
    );
    let text = text.replace("mul.lo.u32", "mov.u32 %r9, %tid.x; mul.lo.u32");
    let mut device = SimDevice::new();
    launch(&mut device, &text, 2, 32, 0, &[]).unwrap();
    let findings = device.take_findings().unwrap();
    assert_eq!(kinds(&findings), [FindingKind::Uninitialised]);
    assert_eq!(findings[0].site.as_ref().unwrap().block, [1, 0, 0]);
}

#[test]
fn a_write_to_an_input_is_found_and_dropped() {
    let text = kernel(
        ".param .u64 p",
        "ld.param.u64 %d1, [p]; ld.global.u32 %r1, [%d1]; st.global.u32 [%d1], 1; red.global.add.u32 [%d1], 1;",
    );
    let mut device = SimDevice::new();
    let buffer = device.alloc(4, Access::ReadOnly).unwrap();
    device.upload(buffer, 0, &[7, 0, 0, 0]).unwrap();
    launch(&mut device, &text, 1, 1, 0, &[pointer(buffer)]).unwrap();
    assert_eq!(device.download(buffer, 0, 4).unwrap(), [7, 0, 0, 0]);
    assert_eq!(
        kinds(&device.take_findings().unwrap()),
        [FindingKind::StrayWrite; 2]
    );
}

#[test]
fn warps_at_different_barriers_deadlock() {
    let body = |other: u32| {
        format!(
            "setp.lt.u32 %p1, %r31, 32; @%p1 bra A; bar.sync {other}; bra B; A: bar.sync 1; B: st.global.u32 [%d30], 1;"
        )
    };
    let (got, findings) = run(&body(2), 64, 64);
    assert_eq!(got, [0; 64]);
    assert_eq!(kinds(&findings), [FindingKind::Deadlock]);
    assert_eq!(findings[0].detail.len(), 2);
    assert_eq!(run(&body(1), 64, 64), (vec![1; 64], vec![]));
}

#[test]
fn exited_threads_count_at_a_barrier_of_the_whole_block() {
    let body = "setp.ge.u32 %p1, %r31, 32; @%p1 ret; bar.sync 0; st.global.u32 [%d30], 1;";
    let (got, findings) = run(body, 96, 96);
    assert_eq!(got[..32], [1; 32]);
    assert_eq!(findings, []);
    let (_, findings) = run(&body.replace("bar.sync 0", "bar.sync 0, 96"), 96, 96);
    assert_eq!(kinds(&findings), [FindingKind::Deadlock]);
}

#[test]
fn a_barrier_that_a_part_of_a_warp_reaches_is_found() {
    let body = "setp.ge.u32 %p1, %r31, 16; @%p1 bra OUT; bar.sync 0; OUT: st.global.u32 [%d30], 1;";
    let (_, findings) = run(body, 32, 32);
    assert_eq!(kinds(&findings), [FindingKind::Barrier]);
    assert!(
        findings[0].message.contains("0x0000ffff"),
        "{}",
        findings[0].message
    );
    assert_eq!(run(&body.replace("16", "32"), 32, 32).1, []);
}

#[test]
fn a_membermask_names_who_is_there() {
    let body = |mask: &str| {
        format!(
            "setp.ge.u32 %p1, %r31, 16; @%p1 bra OUT; shfl.sync.idx.b32 %r1, %r31, 0, 31, {mask}; \
             OUT: st.global.u32 [%d30], 1;"
        )
    };
    assert_eq!(run(&body("0xffff"), 32, 32).1, []);
    assert_eq!(
        kinds(&run(&body("-1"), 32, 32).1),
        [FindingKind::Membermask]
    );
    assert_eq!(
        kinds(&run(&body("0xff"), 32, 32).1),
        [FindingKind::Membermask]
    );
    // Lanes that do not exist or have left may be named.
    assert_eq!(run("bar.warp.sync -1;", 7, 7).1, []);
}

#[test]
fn findings_are_capped_and_counted() {
    let many: String = (0..12)
        .map(|i| format!("ld.global.u32 %r1, [%d31+{}];\n", 400 + 4 * i))
        .collect();
    let (_, findings) = run(&many, 64, 64);
    assert_eq!(findings.len(), 8);
    assert_eq!(findings[0].detail, ["64 times in all, over all threads"]);
    assert_eq!(
        findings[7].detail[1],
        "4 more instructions of this launch have findings"
    );
    assert_eq!(findings, run(&many, 64, 64).1);
}

/// Findings spoke of `buffer 0` where the spec says `input`.
#[test]
fn a_finding_names_the_buffer_as_the_spec_does() {
    let text = kernel(
        ".param .u64 p",
        "ld.param.u64 %d1, [p];\nst.global.u32 [%d1+4], 1;",
    );
    let mut device = SimDevice::new();
    let buffer = device.alloc(4, Access::ReadWrite).unwrap();
    device.name_buffer(buffer, "ranks");
    launch(&mut device, &text, 1, 1, 0, &[pointer(buffer)]).unwrap();
    let findings = device.take_findings().unwrap();
    assert!(
        findings[0]
            .message
            .contains("the end of buffer ranks (4 bytes)"),
        "{findings:?}"
    );
}

#[test]
fn a_finding_names_the_source_line() {
    let text = kernel(
        ".param .u64 p",
        ".loc 1 42 7\nld.param.u64 %d1, [p];\nld.global.u32 %r1, [%d1+4];\n.loc 1 0 0\nld.global.u32 %r1, [%d1+8];",
    );
    let text = format!("{text}.file 1 \"scan.cu\"\n");
    let mut device = SimDevice::new();
    let buffer = device.alloc(4, Access::ReadWrite).unwrap();
    launch(&mut device, &text, 1, 1, 0, &[pointer(buffer)]).unwrap();
    let findings = device.take_findings().unwrap();
    let sites: Vec<_> = findings.iter().filter_map(|f| f.site.as_ref()).collect();
    assert_eq!(sites[0].source.as_deref(), Some("scan.cu:42"));
    assert_eq!(sites[0].ptx_line, 9);
    assert_eq!(sites[1].source, None);
}

/// A length taken for unsigned made a copy run to 2^32 elements, and its deadline hid what it did.
#[test]
fn a_launch_that_floods_out_of_bounds_ends_and_keeps_its_finding() {
    let (_, findings) = run("LOOP: st.global.u32 [%d31+4096], 1; bra LOOP;", 64, 64);
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].kind, FindingKind::OutOfBounds);
    assert!(
        findings[0].detail[1].starts_with("the launch was ended early"),
        "{findings:?}"
    );
}
