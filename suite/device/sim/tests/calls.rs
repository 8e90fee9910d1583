//! Direct calls, as compilers write them.

use super::{HEADER, kernel, launch, pointer};
use crate::device::sim::SimDevice;
use crate::device::{Access, Device};
use crate::terms::ReasonKind;

/// `count(v, most)`: steps of 3n + 1 from `v` to 1, at most so many; `twice(v)` calls it two times.
const FUNCTIONS: &str = "
    .func (.param .b32 count_returned) count(.param .b32 count_0, .param .b32 count_1)
    {
        .reg .pred %p<5>; .reg .b32 %r<8>;
        ld.param.u32 %r1, [count_0]; ld.param.u32 %r2, [count_1]; mov.u32 %r3, 0;
        STEP: setp.eq.u32 %p1, %r1, 1; @%p1 bra LEAVE;
        setp.ge.u32 %p2, %r3, %r2; @%p2 bra EARLY;
        and.b32 %r4, %r1, 1; setp.eq.u32 %p3, %r4, 1; shr.u32 %r5, %r1, 1; mad.lo.u32 %r6, %r1, 3, 1;
        selp.b32 %r1, %r6, %r5, %p3; add.u32 %r3, %r3, 1; bra STEP;
        EARLY: st.param.b32 [count_returned+0], -1; ret;
        LEAVE: st.param.b32 [count_returned+0], %r3; ret;
    }
    .func (.param .b64 twice_returned) twice(.param .b32 twice_0)
    {
        .reg .b32 %r<8>; .reg .b64 %d<3>;
        ld.param.u32 %r1, [twice_0];
        { .reg .b32 temp; .param .b32 param0; st.param.b32 [param0+0], %r1; .param .b32 param1;
          st.param.b32 [param1+0], 100; .param .b32 retval0;
          call.uni (retval0), count, (param0, param1); ld.param.b32 %r2, [retval0+0]; }
        { .reg .b32 temp; .param .b32 param0; st.param.b32 [param0+0], %r1; .param .b32 param1;
          st.param.b32 [param1+0], 7; .param .b32 retval0;
          call.uni (retval0), count, (param0, param1); ld.param.b32 %r3, [retval0+0]; }
        mov.b64 %d1, {%r2, %r3}; st.param.b64 [twice_returned+0], %d1; ret;
    }";

fn with_functions(functions: &str, body: &str) -> String {
    let text = kernel(".param .u64 out", body);
    text.replacen(HEADER, &format!("{HEADER}{functions}"), 1)
}

#[test]
fn functions_return_to_where_they_were_called() {
    let text = with_functions(
        FUNCTIONS,
        "ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; add.u32 %r2, %r1, 1; mul.wide.u32 %d2, %r1, 8;
        add.u64 %d1, %d1, %d2; mov.u64 %d3, 5; setp.ne.u32 %p1, %r1, 9;
        { .param .b32 param0; st.param.b32 [param0+0], %r2; .param .b64 retval0; st.param.b64 [retval0+0], 5;
          @%p1 call (retval0), twice, (param0); ld.param.b64 %d3, [retval0+0]; }
        bar.sync 0; st.global.u64 [%d1], %d3;",
    );
    let mut device = SimDevice::new();
    let out = device.alloc(8 * 40, Access::ReadWrite).unwrap();
    launch(&mut device, &text, 1, 40, 0, &[pointer(out)]).unwrap();
    assert_eq!(device.take_findings().unwrap(), []);
    let got: &[u32] = bytemuck::cast_slice(device.download(out, 0, 8 * 40).unwrap());
    let count = |from: u32, most: u32| {
        let next = |&v: &u32| Some(if v % 2 == 1 { 3 * v + 1 } else { v / 2 });
        let steps = std::iter::successors(Some(from), next).take_while(|&v| v != 1);
        let steps = steps.count() as u32;
        if steps > most { u32::MAX } else { steps }
    };
    for lane in 0..40 {
        let want = match lane {
            9 => [5, 0],
            _ => [count(lane + 1, 100), count(lane + 1, 7)],
        };
        assert_eq!(got[2 * lane as usize..][..2], want, "lane {lane}");
    }
}

#[test]
fn a_finding_in_a_function_has_its_line() {
    let text = with_functions(
        ".func store(.param .b64 store_0)\n{\n.reg .b64 %d<2>;\nld.param.u64 %d1, [store_0];\n\
         st.global.u32 [%d1+8], 1;\nret;\n}\n",
        "ld.param.u64 %d1, [out]; { .param .b64 param0; st.param.b64 [param0+0], %d1; call store, (param0); }",
    );
    let mut device = SimDevice::new();
    let out = device.alloc(8, Access::ReadWrite).unwrap();
    launch(&mut device, &text, 1, 1, 0, &[pointer(out)]).unwrap();
    let findings = device.take_findings().unwrap();
    let site = findings[0].site.as_ref().unwrap();
    assert_eq!(site.instruction, "st.global.u32 [%d1+8], 1");
    assert_eq!(site.ptx_line, 8);
}

#[test]
fn calls_that_cannot_be_replaced_are_named() {
    let recursive = ".func f()\n{\ncall f;\nret;\n}\n";
    let shared = ".func f()\n{\n.shared .b32 s;\nst.shared.u32 [s], 1;\nret;\n}\n";
    let declared = ".extern .func f();\n";
    let other = ".func f(.param .b32 f_0)\n{\nret;\n}\n";
    for (functions, why) in [
        (
            recursive,
            "f is running already: the simulated device runs no recursion",
        ),
        (
            shared,
            "f declares shared memory, which would be there once for each call",
        ),
        (declared, "the module has no body of f"),
        (other, "f takes other parameters"),
    ] {
        let text = with_functions(functions, "call f;");
        let mut device = SimDevice::new();
        let out = device.alloc(8, Access::ReadWrite).unwrap();
        let fault = launch(&mut device, &text, 1, 1, 0, &[pointer(out)]).unwrap_err();
        assert_eq!(fault.reason.kind, ReasonKind::Setup);
        let words = fault.reason.message;
        assert!(words.ends_with(&format!("`call f`: {why}")), "{words}");
    }
}

/// `add(a, b)`, `times(a, b)` and `minus(a, b)`; tables of them in global and constant memory.
const BINARY: &str = "
    .func (.param .b32 r) add(.param .b32 a, .param .b32 b);
    .global .align 8 .u64 table[3] = {add, times, minus};
    .const .align 8 .u64 reversed[3] = {minus, times, add};
    .func (.param .b32 r) add(.param .b32 a, .param .b32 b)
    { .reg .b32 %r<4>; ld.param.u32 %r1, [a]; ld.param.u32 %r2, [b]; add.u32 %r3, %r1, %r2;
      st.param.b32 [r+0], %r3; ret; }
    .func (.param .b32 r) times(.param .b32 a, .param .b32 b)
    { .reg .b32 %r<4>; ld.param.u32 %r1, [a]; ld.param.u32 %r2, [b]; mul.lo.u32 %r3, %r1, %r2;
      st.param.b32 [r+0], %r3; ret; }
    .func (.param .b32 r) minus(.param .b32 a, .param .b32 b)
    { .reg .b32 %r<4>; ld.param.u32 %r1, [a]; ld.param.u32 %r2, [b]; sub.u32 %r3, %r1, %r2;
      st.param.b32 [r+0], %r3; ret; }
    .func other(.param .b64 a) { ret; }";

/// Calls through `%d5` with the thread and 7, and stores what comes back in `out`.
const THROUGH_D5: &str = "
    { .param .b32 param0; st.param.b32 [param0+0], %r1; .param .b32 param1; st.param.b32 [param1+0], 7;
      .param .b32 retval0;
      prototype_0 : .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);
      call (retval0), %d5, (param0, param1), prototype_0; ld.param.b32 %r5, [retval0+0]; }
    bar.warp.sync -1; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2; st.global.u32 [%d1], %r5;";

#[test]
fn each_lane_calls_the_function_its_register_names() {
    for (load, order) in [
        (
            "mov.u64 %d4, table; add.u64 %d4, %d4, %d3; ld.global.u64 %d5, [%d4];",
            [0, 1, 2],
        ),
        (
            "mov.u64 %d4, reversed; add.u64 %d4, %d4, %d3; ld.const.u64 %d5, [%d4];",
            [2, 1, 0],
        ),
    ] {
        let text = with_functions(
            BINARY,
            &format!(
                "ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; rem.u32 %r2, %r1, 3;
                mul.wide.u32 %d3, %r2, 8; {load} {THROUGH_D5}"
            ),
        );
        let mut device = SimDevice::new();
        let out = device.alloc(4 * 64, Access::ReadWrite).unwrap();
        launch(&mut device, &text, 1, 64, 0, &[pointer(out)]).unwrap();
        assert_eq!(device.take_findings().unwrap(), []);
        let got: &[u32] = bytemuck::cast_slice(device.download(out, 0, 4 * 64).unwrap());
        for lane in 0..64_u32 {
            let want = match order[lane as usize % 3] {
                0 => lane + 7,
                1 => lane * 7,
                _ => lane.wrapping_sub(7),
            };
            assert_eq!(got[lane as usize], want, "lane {lane}");
        }
    }
}

#[test]
fn a_call_of_no_function_or_of_another_kind_is_a_kernel_fault() {
    for address in [
        "mov.u64 %d5, 0;",
        "mov.u64 %d5, table;",
        "mov.u64 %d5, other;",
    ] {
        let text = with_functions(
            BINARY,
            &format!("ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; {address} {THROUGH_D5}"),
        );
        let mut device = SimDevice::new();
        let out = device.alloc(4 * 64, Access::ReadWrite).unwrap();
        let fault = launch(&mut device, &text, 1, 64, 0, &[pointer(out)]).unwrap_err();
        assert_eq!(fault.reason.kind, ReasonKind::KernelFault);
        let words = fault.reason.message;
        assert!(
            words.contains("`call (retval0), %d5, (param0, param1), prototype_0`")
                && words.ends_with("calls what is no function of this kind"),
            "{words}"
        );
    }
}

#[test]
fn an_assertion_ends_the_kernel_with_its_words() {
    let functions = "
        .global .align 1 .b8 what[6] = {110, 32, 62, 32, 51};
        .global .align 1 .b8 file[5] = {97, 46, 99, 117};
        .global .align 1 .b8 name[2] = {107};
        .extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);";
    let body = "mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, LIMIT; @%p1 bra OVER;
        { mov.u64 %d2, what; cvta.global.u64 %d3, %d2; .param .b64 param0; st.param.b64 [param0+0], %d3;
          mov.u64 %d4, file; cvta.global.u64 %d5, %d4; .param .b64 param1; st.param.b64 [param1+0], %d5;
          mov.u32 %r2, 14; .param .b32 param2; st.param.b32 [param2+0], %r2;
          mov.u64 %d6, name; cvta.global.u64 %d7, %d6; .param .b64 param3; st.param.b64 [param3+0], %d7;
          .param .b64 param4; st.param.b64 [param4+0], 1;
          call.uni __assertfail, (param0, param1, param2, param3, param4); }
        OVER:";
    let run = |limit: &str| {
        let text = with_functions(functions, &body.replace("LIMIT", limit));
        let mut device = SimDevice::new();
        let out = device.alloc(8, Access::ReadWrite).unwrap();
        let ran = launch(&mut device, &text, 1, 32, 0, &[pointer(out)]);
        (ran, device.failed_assertions().to_vec())
    };
    assert_eq!(run("32"), (Ok(()), Vec::new()));
    let (ran, failed) = run("5");
    let [failed] = &failed[..] else {
        panic!("{failed:?}");
    };
    assert_eq!((failed.block, failed.thread), ([0; 3], [5, 0, 0]));
    let assertion = &failed.assertion;
    assert_eq!(assertion.message.as_deref(), Some("n > 3"));
    assert_eq!(assertion.place, Some(("a.cu".to_owned(), 14)));
    assert_eq!(assertion.function.as_deref(), Some("k"));
    let fault = ran.unwrap_err();
    assert_eq!(fault.reason.kind, ReasonKind::KernelFault);
    let words = fault.reason.message;
    assert!(
        words.ends_with("a.cu:14: k: assertion failed: n > 3"),
        "{words}"
    );
}

#[test]
fn an_alias_is_its_function() {
    let functions = format!(
        "{BINARY}.func (.param .b32 r) also(.param .b32 a, .param .b32 b);\n.alias also, minus;\n"
    );
    let text = with_functions(
        &functions,
        "ld.param.u64 %d1, [out];
        { .param .b32 param0; st.param.b32 [param0+0], 9; .param .b32 param1; st.param.b32 [param1+0], 7;
          .param .b32 retval0; call (retval0), also, (param0, param1); ld.param.b32 %r5, [retval0+0]; }
        st.global.u32 [%d1], %r5;",
    );
    let mut device = SimDevice::new();
    let out = device.alloc(4, Access::ReadWrite).unwrap();
    launch(&mut device, &text, 1, 1, 0, &[pointer(out)]).unwrap();
    assert_eq!(device.download(out, 0, 4).unwrap(), [2, 0, 0, 0]);
}

#[test]
fn vectors_are_passed_and_returned() {
    let functions = "
        .func (.param .align 16 .b8 r[16]) turned(.param .align 16 .b8 a[16])
        { .reg .b32 %r<5>; ld.param.v4.b32 {%r1, %r2, %r3, %r4}, [a];
          st.param.v2.b32 [r+0], {%r4, %r3}; st.param.v2.b32 [r+8], {%r2, %r1}; ret; }";
    let text = with_functions(
        functions,
        "ld.param.u64 %d1, [out];
        { .param .align 16 .b8 param0[16]; mov.u32 %r1, 1; mov.u32 %r2, 2; mov.u32 %r3, 3; mov.u32 %r4, 260;
          st.param.v4.b32 [param0+0], {%r1, %r2, %r3, %r4}; .param .align 16 .b8 retval0[16];
          call.uni (retval0), turned, (param0); ld.param.v4.u8 {%r5, %r6, %r7, %r8}, [retval0+0];
          ld.param.b32 %r9, [retval0+12]; }
        st.global.v4.u32 [%d1], {%r5, %r6, %r7, %r9};",
    );
    let mut device = SimDevice::new();
    let out = device.alloc(16, Access::ReadWrite).unwrap();
    launch(&mut device, &text, 1, 1, 0, &[pointer(out)]).unwrap();
    assert_eq!(device.take_findings().unwrap(), []);
    let got: &[u32] = bytemuck::cast_slice(device.download(out, 0, 16).unwrap());
    assert_eq!(got, [4, 1, 0, 1]);
}

#[test]
fn output_and_the_heap_are_refused_by_name() {
    for (name, why) in [
        ("vprintf", "the simulated device has nowhere to print to"),
        ("malloc", "the simulated device has no heap"),
    ] {
        let functions = format!(".extern .func {name}();\n");
        let text = with_functions(&functions, &format!("call {name};"));
        let mut device = SimDevice::new();
        let out = device.alloc(8, Access::ReadWrite).unwrap();
        let fault = launch(&mut device, &text, 1, 1, 0, &[pointer(out)]).unwrap_err();
        assert!(fault.reason.message.ends_with(why), "{fault}");
    }
}
