//! Kernels made from bytes: every choice of an instruction, a register or a number is one of them.
//!
//! Most of what is made decodes and runs: that reaches further into the interpreter than edits of text do.

use std::fmt::Write;

/// A stream of choices; past its end every choice is the first.
pub struct Choices<'a> {
    bytes: &'a [u8],
}

impl<'a> Choices<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    pub fn below(&mut self, limit: u32) -> u32 {
        let Some((&first, rest)) = self.bytes.split_first() else {
            return 0;
        };
        self.bytes = rest;
        u32::from(first) % limit
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub fn rest(&self) -> &'a [u8] {
        self.bytes
    }

    fn of<'t>(&mut self, table: &[&'t str]) -> &'t str {
        table[self.below(table.len() as u32) as usize]
    }
}

/// Statements of one kernel.
const MAX_STATEMENTS: u32 = 96;
const LABELS: u32 = 6;

/// What `{…}` in a statement stands for: `r` a 32-bit register or number, `d` a 64-bit one, `f` a 32-bit float, `p` a
/// predicate, `a` an address in the two buffers or in shared memory, `m` a membermask, `o` an offset, `l` a label,
/// `i` a 32-bit number; capitals are written to.
const STATEMENTS: &[&str] = &[
    "add.s32 {R}, {r}, {r};",
    "sub.s32 {R}, {r}, {r};",
    "mul.lo.s32 {R}, {r}, {r};",
    "mul.hi.u32 {R}, {r}, {r};",
    "mad.lo.s32 {R}, {r}, {r}, {r};",
    "mul.wide.u32 {D}, {r}, {r};",
    "add.s64 {D}, {d}, {d};",
    "and.b32 {R}, {r}, {r};",
    "xor.b64 {D}, {d}, {d};",
    "shl.b32 {R}, {r}, {r};",
    "shr.s32 {R}, {r}, {r};",
    "shf.l.wrap.b32 {R}, {r}, {r}, {r};",
    "prmt.b32 {R}, {r}, {r}, {r};",
    "bfe.u32 {R}, {r}, {r}, {r};",
    "bfind.u32 {R}, {r};",
    "popc.b32 {R}, {r};",
    "brev.b32 {R}, {r};",
    "lop3.b32 {R}, {r}, {r}, {r}, 0x6a;",
    "min.s32 {R}, {r}, {r};",
    "div.u32 {R}, {r}, {r};",
    "rem.s32 {R}, {r}, {r};",
    "add.cc.u32 {R}, {r}, {r};",
    "addc.u32 {R}, {r}, {r};",
    "selp.b32 {R}, {r}, {r}, {p};",
    "setp.lt.s32 {P}, {r}, {r};",
    "setp.eq.u32 {P}, {r}, {r};",
    "setp.ge.and.u32 {P}, {r}, {r}, {p};",
    "cvt.u32.u64 {R}, {d};",
    "cvt.s64.s32 {D}, {r};",
    "cvt.rn.f32.s32 {F}, {r};",
    "cvt.rzi.s32.f32 {R}, {f};",
    "add.f32 {F}, {f}, {f};",
    "fma.rn.f32 {F}, {f}, {f}, {f};",
    "mov.b64 {D}, {{{r}, {r}}};",
    "mov.u32 {R}, %tid.x;",
    "mov.u32 {R}, %ctaid.x;",
    "mov.u32 {R}, %laneid;",
    "mov.u32 {R}, %lanemask_lt;",
    "mov.u32 {R}, {i};",
    "ld.global.u32 {R}, [{a}+{o}];",
    "ld.global.nc.u32 {R}, [{a}+{o}];",
    "ld.volatile.global.u32 {R}, [{a}+{o}];",
    "ld.acquire.gpu.u32 {R}, [{a}+{o}];",
    "ld.relaxed.cta.u32 {R}, [{a}+{o}];",
    "ld.global.v2.u32 {{{R}, {R}}}, [{a}+{o}];",
    "ld.global.u8 {R}, [{a}+{o}];",
    "ld.global.u64 {D}, [{a}+{o}];",
    "ld.u32 {R}, [{a}+{o}];",
    "st.global.u32 [{a}+{o}], {r};",
    "st.volatile.global.u32 [{a}+{o}], {r};",
    "st.release.gpu.u32 [{a}+{o}], {r};",
    "st.global.u8 [{a}+{o}], {r};",
    "st.global.v4.u32 [{a}+{o}], {{{r}, {r}, {r}, {r}}};",
    "ld.shared.u32 {R}, [tile+{o}];",
    "ld.shared.u32 {R}, [{s}+{o}];",
    "st.shared.u32 [tile+{o}], {r};",
    "st.shared.u32 [{s}+{o}], {r};",
    "st.shared.u16 [{s}+{o}], {r};",
    "st.local.u32 [own+{o}], {r};",
    "ld.local.u32 {R}, [own+{o}];",
    "atom.global.add.u32 {R}, [{a}+{o}], {r};",
    "atom.global.cas.b32 {R}, [{a}+{o}], {r}, {r};",
    "atom.acq_rel.gpu.global.exch.b32 {R}, [{a}+{o}], {r};",
    "atom.shared.max.s32 {R}, [{s}+{o}], {r};",
    "red.global.add.u32 [{a}+{o}], {r};",
    "atom.global.add.f32 {F}, [{a}+{o}], {f};",
    "membar.gl;",
    "fence.acq_rel.cta;",
    "bar.sync 0;",
    "bar.sync 1, 64;",
    "bar.arrive 1, 64;",
    "barrier.sync 2;",
    "bar.red.popc.u32 {R}, 0, {p};",
    "bar.warp.sync {m};",
    "shfl.sync.up.b32 {R}, {r}, {i}, 0, {m};",
    "shfl.sync.bfly.b32 {R}|{P}, {r}, {r}, 31, {m};",
    "shfl.sync.idx.b32 {R}, {r}, {r}, 31, {m};",
    "vote.sync.ballot.b32 {R}, {p}, {m};",
    "vote.sync.any.pred {P}, {p}, {m};",
    "match.any.sync.b32 {R}, {r}, {m};",
    "activemask.b32 {R};",
    "nanosleep.u32 20;",
    "bra {l};",
    "bra {l};",
    "exit;",
    "trap;",
];

const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "4",
    "31",
    "32",
    "255",
    "-1",
    "0x80000000",
    "65536",
];
const OFFSETS: &[&str] = &["0", "4", "8", "16", "1", "2", "508", "1020", "1024", "-4"];
const MASKS: &[&str] = &["-1", "0xffff", "0xffff0000", "1", "%r1", "%r2"];

/// A module with one kernel `k(u64, u64)`.
pub fn text(choices: &mut Choices<'_>) -> String {
    let mut text = String::from(
        ".version 7.8\n.target sm_75\n.address_size 64\n\
         .visible .entry k(.param .u64 a, .param .u64 b)\n{\n\
         .shared .align 8 .b8 tile[256];\n.local .align 8 .b8 own[64];\n\
         .reg .b32 %r<8>;\n.reg .b64 %d<8>;\n.reg .f32 %f<4>;\n.reg .pred %p<4>;\n.reg .b64 %a<4>;\n.reg .b32 %s<2>;\n\
         ld.param.u64 %a0, [a];\nld.param.u64 %a1, [b];\nmov.u32 %r1, %tid.x;\nand.b32 %r2, %r1, 31;\n\
         mul.wide.u32 %a2, %r2, 4;\nadd.s64 %a3, %a2, %a1;\nadd.s64 %a2, %a2, %a0;\nmov.u32 %s0, tile;\n\
         mad.lo.s32 %s1, %r2, 4, %s0;\n",
    );
    let mut placed = 0;
    for _ in 0..MAX_STATEMENTS {
        if choices.is_empty() {
            break;
        }
        if placed < LABELS && choices.below(8) == 0 {
            let _ = writeln!(text, "L{placed}:");
            placed += 1;
        }
        match choices.below(4) {
            0 => _ = write!(text, "@%p{} ", choices.below(4)),
            1 => _ = write!(text, "@!%p{} ", choices.below(4)),
            _ => {}
        }
        let statement = choices.of(STATEMENTS);
        fill(&mut text, statement, choices);
    }
    for label in placed..LABELS {
        let _ = writeln!(text, "L{label}:");
    }
    text.push_str("ret;\n}\n");
    text
}

/// Appends a statement, with a choice for each of its places.
fn fill(text: &mut String, statement: &str, choices: &mut Choices<'_>) {
    let mut chars = statement.chars().peekable();
    while let Some(c) = chars.next() {
        if (c == '{' || c == '}') && chars.peek() == Some(&c) {
            text.push(c);
            chars.next();
        } else if c == '{' {
            let place = chars.next().unwrap_or('r');
            chars.next();
            let _ = match place {
                'r' if choices.below(3) == 0 => write!(text, "{}", choices.of(NUMBERS)),
                'r' | 'R' => write!(text, "%r{}", choices.below(8)),
                'd' if choices.below(3) == 0 => write!(text, "{}", choices.of(NUMBERS)),
                'd' | 'D' => write!(text, "%d{}", choices.below(8)),
                'f' | 'F' => write!(text, "%f{}", choices.below(4)),
                'p' | 'P' => write!(text, "%p{}", choices.below(4)),
                'a' => write!(text, "%a{}", choices.below(4)),
                's' => write!(text, "%s{}", choices.below(2)),
                'm' => write!(text, "{}", choices.of(MASKS)),
                'o' => write!(text, "{}", choices.of(OFFSETS)),
                'l' => write!(text, "L{}", choices.below(LABELS)),
                _ => write!(text, "{}", choices.of(NUMBERS)),
            };
        } else {
            text.push(c);
        }
    }
    text.push('\n');
}
