//! What a card refuses, and what breaks it.

use super::*;

#[test]
fn more_shared_memory_than_48_kib_is_granted_and_too_much_refused() {
    let Some(mut card) = card() else { return };
    let module = card.load(&ptx(PTX)).unwrap().module;
    let to = card.alloc(4, Access::ReadWrite).unwrap();
    let most = card.limits.shared_opt_in;
    for shared in [4, 48 << 10, most, 8] {
        let args = [pointer(to, 0), u32_arg(shared - 4)];
        let launch = Launch {
            shared,
            ..launch(module, "last_shared", 1, 1, &args)
        };
        card.launch(&launch).unwrap();
        card.finish().unwrap();
        assert_eq!(card.download(to, 0, 4).unwrap(), [77, 0, 0, 0]);
    }
    let args = [pointer(to, 0), u32_arg(0)];
    let launch = Launch {
        shared: most + 4,
        ..launch(module, "last_shared", 1, 1, &args)
    };
    let fault = card.launch(&launch).unwrap_err();
    assert_eq!(
        (fault.reason.kind, fault.sticky),
        (ReasonKind::Setup, false),
        "{fault}"
    );
}

#[test]
fn what_cannot_run_is_a_setup_error_and_leaves_the_card_usable() {
    let Some(mut card) = card() else { return };
    let module = card.load(&ptx(PTX)).unwrap().module;
    let to = card.alloc(4, Access::ReadWrite).unwrap();
    let args = [pointer(to, 0), u32_arg(5)];
    let newer = PTX.replace(".version 7.8", ".version 99.0");
    let broken = PTX.replace("setp.ge.u32", "setp.gee.u32");
    let faults = [
        card.load(&ptx(&newer)).unwrap_err(),
        card.load(&ptx(&broken)).unwrap_err(),
        card.launch(&launch(module, "absent", 1, 1, &args))
            .unwrap_err(),
        card.launch(&launch(module, "set", 1, 2048, &args))
            .unwrap_err(),
        card.launch(&launch(module, "set", 0, 1, &args))
            .unwrap_err(),
        card.alloc(1 << 60, Access::ReadWrite).unwrap_err(),
        card.alloc(
            card.info().total_memory_bytes - (64 << 20),
            Access::ReadWrite,
        )
        .unwrap_err(),
    ];
    for fault in &faults {
        println!("{fault}");
        assert_eq!(
            (fault.reason.kind, fault.sticky),
            (ReasonKind::Setup, false),
            "{fault}"
        );
    }
    assert!(
        faults[1].reason.message.contains("the JIT log"),
        "the log is quoted: {}",
        faults[1]
    );
    if card.driver.version >= 12_040 {
        let fault = card
            .launch(&launch(module, "set", 1, 1, &args[..1]))
            .unwrap_err();
        assert!(fault.reason.message.contains("parameters"), "{fault}");
    }
    card.launch(&launch(module, "set", 1, 1, &args)).unwrap();
    assert_eq!(card.download(to, 0, 4).unwrap(), [5, 0, 0, 0]);
}

/// Breaks the context that this process's devices share, so it runs alone, in a process of its own.
#[test]
fn an_illegal_address_is_a_kernel_fault() {
    const ALONE: &str = "CUDA_GATES_TEST_GPU_FAULT";
    let Some(mut card) = card() else { return };
    if std::env::var_os(ALONE).is_none() {
        drop(card);
        let name = "device::cuda::tests::refusals::an_illegal_address_is_a_kernel_fault";
        let own = std::env::current_exe().unwrap();
        let status = std::process::Command::new(own)
            .args(["--exact", name, "--nocapture"])
            .env(ALONE, "1")
            .status();
        assert!(status.unwrap().success());
        return;
    }
    let module = card.load(&ptx(PTX)).unwrap().module;
    let nowhere = Argument::Scalar {
        bytes: 0x10_u64.to_le_bytes(),
        size: 8,
    };
    let args = [nowhere, u32_arg(1)];
    card.launch(&launch(module, "set", 1, 1, &args)).unwrap();
    let fault = card.finish().unwrap_err();
    assert_eq!(
        (fault.reason.kind, fault.sticky),
        (ReasonKind::KernelFault, true),
        "{fault}"
    );
    assert!(
        fault.reason.message.contains("CUDA_ERROR_ILLEGAL_ADDRESS"),
        "{fault}"
    );
    assert!(
        fault.reason.message.contains("after launching set"),
        "{fault}"
    );
    assert!(
        card.alloc(4, Access::ReadWrite).is_err(),
        "the context stays lost"
    );
    assert!(card.take_findings().is_err());
}
