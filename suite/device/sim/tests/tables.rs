//! Branches through a table.

use super::{kernel, launch, pointer, run};
use crate::device::sim::SimDevice;
use crate::device::{Access, Device};
use crate::terms::ReasonKind;

/// Thread t goes to target t mod `count` of 5; all meet before the ballot.
fn through_table(guard: &str) -> (Vec<u32>, usize) {
    let body = format!(
        "rem.u32 %r1, %r31, 5; mov.u32 %r2, 1000; setp.lt.u32 %p1, %r31, 20;
        targets: .branchtargets L0, L1, L2, L1, L4;
        {guard} brx.idx %r1, targets;
        add.u32 %r2, %r2, 5000; bra MEET;
        L0: add.u32 %r2, %r2, 1; bra MEET;
        L1: add.u32 %r2, %r2, 20; bra MEET;
        L4: add.u32 %r2, %r2, 4000; bra MEET;
        L2: add.u32 %r2, %r2, 300;
        MEET: vote.sync.ballot.b32 %r3, 1, -1; sub.u32 %r2, %r2, %r3; st.global.u32 [%d30], %r2;"
    );
    let (got, findings) = run(&body, 32, 32);
    (got, findings.len())
}

#[test]
fn lanes_go_to_several_targets_and_meet() {
    let want = |lane: u32| match lane % 5 {
        0 => 1002,
        1 | 3 => 1021,
        2 => 1301,
        _ => 5001,
    };
    let (got, findings) = through_table("");
    assert_eq!(got, (0..32).map(want).collect::<Vec<_>>());
    assert_eq!(findings, 0);
}

#[test]
fn a_guard_passes_the_table_by() {
    let want = |lane: u32| match lane % 5 {
        _ if lane >= 20 => 6001,
        0 => 1002,
        1 | 3 => 1021,
        2 => 1301,
        _ => 5001,
    };
    let (got, findings) = through_table("@%p1");
    assert_eq!(got, (0..32).map(want).collect::<Vec<_>>());
    assert_eq!(findings, 0);
}

#[test]
fn tables_that_would_fill_memory_are_refused() {
    let labels = vec!["L"; 40_000].join(", ");
    let body = format!("targets: .branchtargets {labels};\nL: brx.idx 0, targets;");
    let mut device = SimDevice::new();
    let fault = launch(&mut device, &kernel("", &body), 1, 1, 0, &[]).unwrap_err();
    assert!(
        fault
            .reason
            .message
            .ends_with("more than 131072 instructions"),
        "{fault}"
    );
    let body = "brx.idx 0, nowhere;";
    let fault = launch(&mut device, &kernel("", body), 1, 1, 0, &[]).unwrap_err();
    assert!(
        fault
            .reason
            .message
            .ends_with("`brx.idx 0, nowhere`: wants a register and a list of targets"),
        "{fault}"
    );
}

#[test]
fn an_index_past_the_table_is_a_kernel_fault() {
    let text = kernel(
        ".param .u64 out",
        "mov.u32 %r1, %tid.x; targets: .branchtargets L0, L1; brx.idx.uni %r1, targets; L0: L1:",
    );
    for (threads, fails) in [(2, false), (3, true)] {
        let mut device = SimDevice::new();
        let out = device.alloc(8, Access::ReadWrite).unwrap();
        let ran = launch(&mut device, &text, 1, threads, 0, &[pointer(out)]);
        match ran {
            Ok(()) => assert!(!fails),
            Err(fault) => {
                assert!(fails, "{fault}");
                assert_eq!(fault.reason.kind, ReasonKind::KernelFault);
                let words = fault.reason.message;
                assert!(
                    words.ends_with("its index leads past the 2 targets"),
                    "{words}"
                );
            }
        }
    }
}
