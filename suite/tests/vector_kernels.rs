//! A kernel for each entry of a family: every thread loads its inputs, runs the instruction and stores the results.
//!
//! An instruction that touches memory names one of these, where each thread has 64 bytes of its own and all share 64
//! more: `%d20` and `%d21` in global memory, `%r20` and `%r21` in shared memory, `%d22` and `%r22` in local memory,
//! `%d23` and `%d24` the generic addresses of `%r20` and `%d22`, `bytes_of_const` 64 bytes of constant memory. A
//! thread's own bytes are known, the shared ones are zero.

use std::fmt::Write;

use super::vector_file::{Entry, Family, Register};
use super::vector_inputs::byte;

/// Bytes a thread has in each state space, and bytes that all share.
pub const OWN_BYTES: usize = 64;
/// Inputs and results of a thread: four of 8 bytes each.
pub const SLOTS: usize = 4;

const REGISTERS: &str = ".reg .b16 %h<16>; .reg .b32 %r<40>; .reg .f32 %f<16>; .reg .b64 %d<40>; \
    .reg .f64 %g<16>; .reg .pred %p<16>;";

/// The module; kernel number n is `k` and n.
pub fn module(family: &Family) -> String {
    let mut text = ".version 7.8\n.target sm_75\n.address_size 64\n".to_owned();
    let table: Vec<String> = (0..OWN_BYTES).map(|at| byte(at).to_string()).collect();
    let _ = writeln!(
        text,
        ".const .align 16 .b8 bytes_of_const[{OWN_BYTES}] = {{{}}};",
        table.join(", ")
    );
    for (number, entry) in family.entries.iter().enumerate() {
        kernel(&mut text, number, entry, family.threads);
    }
    text
}

fn kernel(text: &mut String, number: usize, entry: &Entry, threads: usize) {
    let _ = writeln!(
        text,
        ".visible .entry k{number}(.param .u64 in, .param .u64 out, .param .u64 memory)\n{{\n{REGISTERS}
        .shared .align 16 .b8 of_block[{}];\n.local .align 16 .b8 of_thread[{OWN_BYTES}];
        ld.param.u64 %d39, [in]; cvta.to.global.u64 %d39, %d39;
        ld.param.u64 %d38, [out]; cvta.to.global.u64 %d38, %d38;
        ld.param.u64 %d21, [memory]; cvta.to.global.u64 %d21, %d21;
        mov.u32 %r39, %tid.x; mul.wide.u32 %d37, %r39, {};
        add.u64 %d39, %d39, %d37; add.u64 %d38, %d38, %d37;
        mul.wide.u32 %d37, %r39, {OWN_BYTES}; add.u64 %d20, %d21, %d37; add.u64 %d20, %d20, {OWN_BYTES};",
        OWN_BYTES * (threads + 1),
        8 * SLOTS,
    );
    let names = |name: &str| entry.op.contains(name);
    if ["%r20", "%r21", "%d23"].into_iter().any(names) {
        shared(text);
    }
    if ["%d22", "%r22", "%d24"].into_iter().any(names) {
        local(text);
    }
    for (register, _) in &entry.inputs {
        load(text, *register);
    }
    let _ = writeln!(text, "{};", entry.op);
    for (slot, register) in entry.outputs.iter().enumerate() {
        store(text, slot, *register);
    }
    text.push_str("ret;\n}\n");
}

/// Copies the thread's own bytes and zeros the common ones.
fn shared(text: &mut String) {
    text.push_str("mov.u32 %r21, of_block; shl.b32 %r38, %r39, 6; add.u32 %r20, %r21, %r38;\n");
    text.push_str("add.u32 %r20, %r20, 64; cvt.u64.u32 %d23, %r20; cvta.shared.u64 %d23, %d23;\n");
    text.push_str("mov.u64 %d36, 0;\n");
    for at in (0..OWN_BYTES).step_by(8) {
        let _ = writeln!(
            text,
            "ld.global.b64 %d37, [%d20+{at}]; st.shared.b64 [%r20+{at}], %d37;"
        );
        let _ = writeln!(text, "st.shared.b64 [%r21+{at}], %d36;");
    }
    text.push_str("bar.sync 0;\n");
}

fn local(text: &mut String) {
    text.push_str("mov.u64 %d22, of_thread; cvt.u32.u64 %r22, %d22; cvta.local.u64 %d24, %d22;\n");
    for at in (0..OWN_BYTES).step_by(8) {
        let _ = writeln!(
            text,
            "ld.global.b64 %d37, [%d20+{at}]; st.local.b64 [%d22+{at}], %d37;"
        );
    }
}

fn load(text: &mut String, Register { number, letter }: Register) {
    let at = 8 * (number - 1);
    let _ = match letter {
        'p' => writeln!(
            text,
            "ld.global.b32 %r38, [%d39+{at}]; setp.ne.u32 %p{number}, %r38, 0;"
        ),
        _ => writeln!(
            text,
            "ld.global.{} %{letter}{number}, [%d39+{at}];",
            ty(letter)
        ),
    };
}

fn store(text: &mut String, slot: usize, Register { number, letter }: Register) {
    let at = 8 * slot;
    let _ = match letter {
        'p' => writeln!(
            text,
            "selp.u32 %r38, 1, 0, %p{number}; st.global.b32 [%d38+{at}], %r38;"
        ),
        _ => writeln!(
            text,
            "st.global.{} [%d38+{at}], %{letter}{number};",
            ty(letter)
        ),
    };
}

fn ty(letter: char) -> &'static str {
    match letter {
        'h' => "b16",
        'r' => "b32",
        'f' => "f32",
        'g' => "f64",
        _ => "b64",
    }
}
