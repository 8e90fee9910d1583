use super::{HEADER, image, kernel, launch, pointer};
use crate::device::sim::SimDevice;
use crate::device::{Access, Argument, Device, Elapsed, Launch};
use crate::image::{Code, Image};
use crate::terms::{ImageKind, ReasonKind};

/// What a launch of `k` is refused with.
fn refused(text: &str, grid: u32, block: u32, shared: u32, args: &[Argument]) -> String {
    let fault = launch(&mut SimDevice::new(), text, grid, block, shared, args).unwrap_err();
    assert_eq!(fault.reason.kind, ReasonKind::Setup);
    assert!(!fault.sticky);
    fault.reason.message
}

#[test]
fn an_unknown_instruction_is_named_when_its_kernel_is_launched() {
    let text = format!(
        "{HEADER}.visible .entry k() {{ ret; }}\n.visible .entry odd() {{ .reg .f32 %f<3>;\n\
         bfi.b16 %f1, %f2; ret; }}"
    );
    let mut device = SimDevice::new();
    launch(&mut device, &text, 1, 1, 0, &[]).unwrap();
    let module = device.load(&image(&text)).unwrap().module;
    let launch = Launch {
        module,
        kernel: "odd",
        grid: [1; 3],
        block: [1; 3],
        shared: 0,
        args: &[],
    };
    let message = device.launch(&launch).unwrap_err().reason.message;
    let start = "kernel odd, PTX line 6: `bfi.b16 %f1, %f2`: the simulated device does not know";
    assert!(message.starts_with(start), "{message}");
}

#[test]
fn what_is_nearly_known_is_not_guessed() {
    for (op, word) in [
        ("add.rz.f64 %g1, %g2, %g3", "know"),
        ("add.ftz.f64 %g1, %g2, %g3", "know"),
        ("add.s32 %r1, %r2", "operands"),
        ("add.s32 %r1, %r2, %d3", "64-bit"),
        ("add.s64 %d1, %d2, %undeclared", "not declared"),
        ("add.s32 %r99, %r2, %r3", "no register"),
        ("bra NOWHERE", "no label"),
        ("ld.global.u32 %r1, [nothing]", "not declared"),
        ("ld.global.v3.u32 {%r1, %r2, %r3}, [%d1]", "know"),
        ("call f", "no body of f"),
        (
            "ex2.approx.f32 %f1, %f2",
            "approximate results differ between cards",
        ),
        ("div.full.f32 %f1, %f2, %f3", "approximate"),
        (
            "redux.sync.add.s32 %r1, %r2, -1",
            "needs compute capability 8.0",
        ),
        ("atom.global.add.b32 %r1, [%d1], 1", "know"),
        ("fence.proxy.alias", "know"),
    ] {
        let message = refused(&kernel("", &format!("{op};")), 1, 1, 0, &[]);
        assert!(
            message.contains(word) && message.contains(&format!("`{op}`")),
            "{op}: {message}"
        );
    }
}

#[test]
fn impossible_launches_are_refused() {
    let plain = kernel("", "");
    assert!(refused(&plain, 0, 32, 0, &[]).contains("size 0"));
    assert!(refused(&plain, 1, 1025, 0, &[]).contains("1024 threads"));
    assert!(refused(&plain, 1, 1, 65_537, &[]).contains("shared memory"));
    assert!(
        refused(&kernel(".param .u32 n", ""), 1, 1, 0, &[]).contains("takes 1 arguments, got 0")
    );
    let wrong = [Argument::Scalar {
        bytes: [0; 8],
        size: 8,
    }];
    assert!(
        refused(&kernel(".param .u32 n", ""), 1, 1, 0, &wrong)
            .contains("has 8 bytes, its parameter 4")
    );
    let bound = format!("{HEADER}.visible .entry k() .maxntid 64, 1, 1 {{ ret; }}");
    assert!(refused(&bound, 1, 65, 0, &[]).contains(".maxntid"));
    let required = format!("{HEADER}.visible .entry k() .reqntid 64 {{ ret; }}");
    assert!(refused(&required, 1, 32, 0, &[]).contains(".reqntid"));
}

/// A block was refused more than 48 KiB, which a card gives to a launch that asks for it.
#[test]
fn a_block_may_have_64_kib_of_shared_memory() {
    let body = |at: u32| {
        let start = "mov.u32 %r1, s; mov.u32 %r2, 7;";
        format!("{start} st.shared.u32 [%r1+{at}], %r2; ld.shared.u32 %r3, [%r1+{at}];")
    };
    let text = |at: u32| {
        let text = kernel("", &body(at));
        text.replacen(
            ".visible",
            ".extern .shared .align 16 .b8 s[];\n.visible",
            1,
        )
    };
    let found = |at: u32| {
        let mut device = SimDevice::new();
        launch(&mut device, &text(at), 2, 1, 65_536, &[]).unwrap();
        device.take_findings().unwrap().len()
    };
    // The store and the load.
    assert_eq!((found(65_532), found(65_536)), (0, 2));
    let fixed = kernel("", ".shared .align 4 .b8 s[49156];");
    assert!(refused(&fixed, 1, 1, 0, &[]).contains("static shared memory"));
}

#[test]
fn images_are_checked_on_loading() {
    let mut device = SimDevice::new();
    let native = Image {
        code: Code::Cubin(vec![0].into()),
        kind: ImageKind::Sass,
        ..image("")
    };
    assert!(
        device
            .load(&native)
            .unwrap_err()
            .reason
            .message
            .contains("not native code")
    );
    let broken = image(".version 7.8\n.target sm_75\n.bogus");
    assert!(
        device
            .load(&broken)
            .unwrap_err()
            .reason
            .message
            .contains("test.ptx: line 3")
    );
    let text = kernel("", "");
    let first = device.load(&image(&text)).unwrap().module;
    assert_eq!(device.load(&image(&text)).unwrap().module, first);
}

#[test]
fn copies_carry_the_shadow() {
    let text = kernel(
        ".param .u64 p",
        "ld.param.u64 %d1, [p]; ld.global.u32 %r1, [%d1]; ld.global.u32 %r2, [%d1+4];
        setp.eq.u32 %p1, %r1, 9; @%p1 ret; setp.eq.u32 %p2, %r2, 9; @%p2 ret;",
    );
    let mut device = SimDevice::new();
    let from = device.alloc(8, Access::ReadWrite).unwrap();
    let to = device.alloc(8, Access::ReadWrite).unwrap();
    device.fill(from, 0, 4, &[1, 2, 3, 4]).unwrap();
    device.fill(to, 0, 8, &[0]).unwrap();
    launch(&mut device, &text, 1, 1, 0, &[pointer(to)]).unwrap();
    assert_eq!(device.take_findings().unwrap(), []);
    device.copy((from, 0), (to, 0), 8).unwrap();
    launch(&mut device, &text, 1, 1, 0, &[pointer(to)]).unwrap();
    let findings = device.take_findings().unwrap();
    assert_eq!(findings.len(), 1);
    assert!(findings[0].detail[0].contains("ld.global.u32 %r2, [%d1+4]"));
    device.copy((to, 0), (to, 4), 4).unwrap();
    launch(&mut device, &text, 1, 1, 0, &[pointer(to)]).unwrap();
    assert_eq!(device.take_findings().unwrap(), []);
    assert_eq!(device.download(to, 4, 4).unwrap(), [1, 2, 3, 4]);
}

#[test]
fn stamps_count_thread_instructions() {
    let text = kernel(
        "",
        "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 3; @%p1 mov.u32 %r2, 0;",
    );
    let mut device = SimDevice::new();
    let start = device.stamp().unwrap();
    launch(&mut device, &text, 2, 40, 0, &[]).unwrap();
    let end = device.stamp().unwrap();
    // Two instructions and the return for 80 threads, one for three threads of each block.
    assert_eq!(
        device.between(start, end).unwrap(),
        Elapsed::Instructions(3 * 80 + 6)
    );
}

#[test]
fn pointers_take_offsets_and_memory_runs_out() {
    let text = kernel(
        ".param .u64 p",
        "ld.param.u64 %d1, [p]; st.global.u32 [%d1], 5;",
    );
    let mut device = SimDevice::new();
    let buffer = device.alloc(12, Access::ReadWrite).unwrap();
    device.fill(buffer, 0, 12, &[0]).unwrap();
    launch(
        &mut device,
        &text,
        1,
        1,
        0,
        &[Argument::Pointer { buffer, offset: 4 }],
    )
    .unwrap();
    assert_eq!(
        device.download(buffer, 0, 12).unwrap(),
        [0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0]
    );
    let fault = device.alloc(1 << 40, Access::ReadWrite).unwrap_err();
    assert_eq!(fault.reason.kind, ReasonKind::Setup);
    device.free_all();
    let again = device.alloc(12, Access::ReadWrite).unwrap();
    assert_eq!(again, buffer);
}

#[test]
fn coordinates_cover_grid_and_block() {
    let text = kernel(
        ".param .u64 p",
        "ld.param.u64 %d1, [p]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y;
        mov.u32 %r3, %ctaid.z; mov.u32 %r4, %tid.x;
        mov.u32 %r5, %tid.y; mov.u32 %r6, %tid.z; mov.u32 %r7, %nctaid.y; mov.u32 %r8, %ntid.y;
        mad.lo.u32 %r9, %r3, 3, %r2; mad.lo.u32 %r9, %r9, 2, %r1; mad.lo.u32 %r10, %r6, 5, %r5;
        mad.lo.u32 %r10, %r10, 4, %r4;
        mad.lo.u32 %r9, %r9, 40, %r10; mul.wide.u32 %d2, %r9, 4; add.u64 %d1, %d1, %d2;
        mad.lo.u32 %r7, %r7, 100, %r8; atom.global.add.u32 %r11, [%d1], %r7;",
    );
    let mut device = SimDevice::new();
    let threads = 2 * 3 * 2 * 4 * 5 * 2;
    let out = device.alloc(4 * threads, Access::ReadWrite).unwrap();
    device.fill(out, 0, 4 * threads, &[0]).unwrap();
    let module = device.load(&image(&text)).unwrap().module;
    let args = [pointer(out)];
    device
        .launch(&Launch {
            module,
            kernel: "k",
            grid: [2, 3, 2],
            block: [4, 5, 2],
            shared: 0,
            args: &args,
        })
        .unwrap();
    let got: &[u32] = bytemuck::cast_slice(device.download(out, 0, 4 * threads).unwrap());
    assert_eq!(got, vec![305; threads as usize]);
    assert_eq!(device.take_findings().unwrap(), []);
}

#[test]
fn sizes_that_no_card_has_are_refused() {
    for (params, body, what) in [
        (".param .b8 p[1000000000000]", "", "parameters"),
        ("", ".local .b8 m[1000000000000];", "local memory"),
        ("", ".shared .b8 m[1000000000000];", "shared memory"),
    ] {
        let fault = launch(
            &mut SimDevice::new(),
            &kernel(params, body),
            1,
            1024,
            0,
            &[],
        );
        let fault = fault.unwrap_err();
        assert_eq!(fault.reason.kind, ReasonKind::Setup, "{what}");
        assert!(fault.to_string().contains(what), "{fault}");
    }
}

#[test]
fn a_huge_grid_ends_with_its_budget() {
    let mut device = SimDevice::new().with_budget(100_000);
    let text = kernel("", "");
    let fault = launch(&mut device, &text, i32::MAX as u32, 32, 0, &[]).unwrap_err();
    assert_eq!(fault.reason.kind, ReasonKind::Hang);
}

#[test]
fn blocks_of_every_shape_number_their_threads() {
    let text = kernel(
        ".param .u64 out",
        "ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z;
        mov.u32 %r4, %ntid.x; mov.u32 %r5, %ntid.y; mad.lo.u32 %r6, %r3, %r5, %r2; mad.lo.u32 %r6, %r6, %r4, %r1;
        mul.wide.u32 %d2, %r6, 4; add.u64 %d1, %d1, %d2; mad.lo.u32 %r7, %r3, 100, %r2; mad.lo.u32 %r7, %r7, 100, %r1;
        bar.sync 0; st.global.u32 [%d1], %r7;",
    );
    for block in [
        [1, 1, 1],
        [3, 5, 7],
        [33, 1, 1],
        [1, 1, 64],
        [5, 13, 2],
        [1, 1000, 1],
    ] {
        let [x, y, z] = block;
        let threads = (x * y * z) as usize;
        let mut device = SimDevice::new();
        let out = device.alloc(4 * threads as u64, Access::ReadWrite).unwrap();
        let module = device.load(&image(&text)).unwrap().module;
        let args = [pointer(out)];
        device
            .launch(&Launch {
                module,
                kernel: "k",
                grid: [1, 1, 1],
                block,
                shared: 0,
                args: &args,
            })
            .unwrap();
        let got: &[u32] =
            bytemuck::cast_slice(device.download(out, 0, 4 * threads as u64).unwrap());
        let want = (0..z)
            .flat_map(|k| (0..y).flat_map(move |j| (0..x).map(move |i| (k * 100 + j) * 100 + i)));
        assert_eq!(got, want.collect::<Vec<u32>>(), "{block:?}");
        assert_eq!(device.take_findings().unwrap(), [], "{block:?}");
    }
}

/// A table of 8 bits, and 2^16 rows of one size: registers, and each number that some instruction names.
#[test]
fn numbers_beyond_what_there_is_are_refused_by_what_they_are() {
    let text = kernel("", "lop3.b32 %r1, %r1, %r1, %r1, 300;");
    let words = refused(&text, 1, 1, 0, &[]);
    assert!(
        words.ends_with("the table is a number from 0 to 255"),
        "{words}"
    );
    launch(
        &mut SimDevice::new(),
        &kernel("", "lop3.b32 %r1, %r1, %r1, %r1, 255;"),
        1,
        1,
        0,
        &[],
    )
    .unwrap();
    let many: String = (0..65_536)
        .map(|number| format!("mov.u32 %r1, {number};\n"))
        .collect();
    let words = refused(&kernel("", &many), 1, 1, 0, &[]);
    let end = "the kernel has more than 65536 registers and different numbers of one size";
    assert!(words.ends_with(end), "{words}");
}
