//! Which changes of bits anybody can see.
//!
//! Known bits forwards (`Ones`) and demanded bits backwards (`Demands`), one answer a register over the whole kernel,
//! as compilers know them from dead-code elimination (LLVM's `KnownBits` and `DemandedBits`). A change to bits that are
//! nobody's makes no difference on any input. Imports `image`.

use super::bounds::Bounds;
use super::demands::Demands;
use super::ones::Ones;
use crate::image::ptx::{AddressBase, Body, Immediate, Instruction, Operand, Type, TypeClass};

pub struct Bits<'a> {
    ones: Ones<'a>,
    demands: Demands<'a>,
    /// Where of an address in shared memory nobody looks at the upper half.
    demands_below: Demands<'a>,
}

impl<'a> Bits<'a> {
    pub fn of(body: &'a Body, bounds: &Bounds<'a>) -> Self {
        let ones = Ones::of(body, bounds);
        Self {
            demands: Demands::of(body, &ones, |_| None),
            demands_below: Demands::of(body, &ones, shared_base),
            ones,
        }
    }

    /// The bits of a register that anybody looks at.
    pub fn demanded(&self, name: &str) -> u64 {
        self.demands.of_register(name)
    }

    /// Whether any demanded bit of the result can change when the number at `index` becomes `other`.
    pub fn number_matters(&self, instruction: &Instruction, index: usize, other: u64) -> bool {
        let (Some(Operand::Name(result)), Some(number), Some(ty)) = (
            instruction.operands.first(),
            number(instruction, index),
            integer_type(instruction),
        ) else {
            return true;
        };
        let at = |index: usize| self.ones.of_operand(instruction.operands.get(index));
        let changed = match (instruction.opcode.as_str(), index) {
            ("and", 1 | 2) => (number ^ other) & at(3 - index),
            ("or" | "xor", 1 | 2) | ("mov", 1) => number ^ other,
            ("shl", 2) => shifted_left(at(1), number) | shifted_left(at(1), other),
            ("shr", 2) if !self.ones.has_sign(instruction, ty) => {
                shifted_right(at(1), number) | shifted_right(at(1), other)
            }
            _ => u64::MAX,
        };
        changed & self.demanded(result) != 0
    }

    /// Whether any demanded bit of the result can change when the operands' sign bits are read as the other kind's.
    pub fn sign_matters(&self, instruction: &Instruction) -> bool {
        let (Some(Operand::Name(result)), Some(ty)) =
            (instruction.operands.first(), integer_type(instruction))
        else {
            return true;
        };
        let changed = match instruction.opcode.as_str() {
            "shr" => match number(instruction, 2) {
                Some(by) => mask(ty.bits) & !shifted_right(mask(ty.bits), by),
                None => u64::MAX,
            },
            "mul" if has(instruction, "wide") => !mask(ty.bits),
            "cvt" => !mask(ty.bits),
            _ => u64::MAX,
        };
        // An unsigned index with its sign bit set is out of bounds as it is, a negative one need not be.
        let demands = match ty.class {
            TypeClass::Unsigned => &self.demands_below,
            _ => &self.demands,
        };
        changed & demands.of_register(result) != 0
    }
}

/// The register that an access to shared memory takes its address from, where it takes nothing else from it. Shared
/// memory ends far below 2^32: where the kernel is right no higher bit is set.
fn shared_base(instruction: &Instruction) -> Option<&str> {
    let is_shared = |m: &String| m == "shared" || m.starts_with("shared::");
    instruction.modifiers.iter().find(|m| is_shared(m))?;
    let mut operands = instruction.operands.iter();
    let base = operands.find_map(|operand| match operand {
        Operand::Address {
            base: AddressBase::Name(name),
            ..
        } => Some(name.as_str()),
        _ => None,
    })?;
    let times = super::facts::sources(instruction).filter(|name| *name == base);
    (times.count() == 1).then_some(base)
}

pub(super) fn has(instruction: &Instruction, modifier: &str) -> bool {
    instruction.modifiers.iter().any(|m| m == modifier)
}

pub(super) fn number(instruction: &Instruction, index: usize) -> Option<u64> {
    match instruction.operands.get(index) {
        Some(Operand::Immediate(Immediate::Int(value))) => Some(*value),
        _ => None,
    }
}

/// The type of the operands, where all is about whole numbers, nothing is clamped to a type's range, no carry leaves,
/// each operand is one register or number, and the result is not filled up with a sign of fewer bits.
pub(super) fn integer_type(instruction: &Instruction) -> Option<Type> {
    let types = || {
        instruction
            .modifiers
            .iter()
            .filter_map(|m| Type::from_name(m))
    };
    let whole = |operand: &Operand| !matches!(operand, Operand::Vector(_) | Operand::Pair(..));
    let (to, from) = (types().next()?, types().next_back()?);
    let refilled = to.bits < from.bits && to.class == TypeClass::Signed;
    let plain = types().all(|ty| ty.class != TypeClass::Float)
        && !has(instruction, "sat")
        && !has(instruction, "cc")
        && !refilled
        && instruction.operands.iter().all(whole);
    plain.then_some(from)
}

/// So many ones from the lowest bit on.
pub(super) fn mask(bits: u32) -> u64 {
    u64::MAX.checked_shr(64 - bits.min(64)).unwrap_or(0)
}

/// As PTX shifts: by the width or more leaves nothing.
pub(super) fn shifted_left(value: u64, by: u64) -> u64 {
    let by = u32::try_from(by).ok();
    by.and_then(|by| value.checked_shl(by)).unwrap_or(0)
}

pub(super) fn shifted_right(value: u64, by: u64) -> u64 {
    let by = u32::try_from(by).ok();
    by.and_then(|by| value.checked_shr(by)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::facts::Facts;
    use super::*;
    use crate::image::ptx;

    /// Asks about the kernel made of these instructions.
    fn with<T>(code: &str, ask: impl Fn(&Facts<'_>, &[&Instruction]) -> T) -> T {
        let text = format!(
            ".version 7.8 .target sm_75 .address_size 64 .visible .entry k(.param .u64 p) {{ \
             .reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; {code} }}"
        );
        let module = ptx::parse(&text).expect("PTX");
        let facts = Facts::of(&module.functions[0]).expect("a body");
        let all: Vec<&Instruction> = facts.instructions().collect();
        ask(&facts, &all)
    }

    #[test]
    fn a_mask_over_bits_that_a_shift_cleared_may_keep_them() {
        let code = "ld.global.u32 %r1, [p]; shl.b32 %r2, %r1, 8; and.b32 %r3, %r2, 256; st.global.u32 [p], %r3;";
        with(code, |facts, all| {
            assert!(
                !facts.number_matters(all[2], 2, 257),
                "bit 0 is always zero"
            );
            assert!(facts.number_matters(all[2], 2, 255), "bit 8 is gone");
        });
    }

    #[test]
    fn bits_that_are_masked_away_are_nobodys() {
        let code = "ld.global.u32 %r1, [p]; xor.b32 %r2, %r1, 6; and.b32 %r3, %r2, 2; st.global.u32 [p], %r3;";
        with(code, |facts, all| {
            assert!(!facts.number_matters(all[1], 2, 7));
            assert!(facts.number_matters(all[1], 2, 4));
        });
    }

    #[test]
    fn who_asks_for_the_sign_sees_no_other_bit() {
        let code = "ld.global.u32 %r1, [p]; or.b32 %r2, %r1, 7; setp.gt.s32 %p1, %r2, -1; @%p1 bra L; L: ret;";
        with(code, |facts, all| {
            assert!(!facts.number_matters(all[1], 2, 6))
        });
        let other = code.replace("gt.s32", "gt.u32");
        with(&other, |facts, all| {
            assert!(facts.number_matters(all[1], 2, 6))
        });
    }

    #[test]
    fn an_index_into_shared_memory_has_no_sign() {
        let code =
            "ld.global.u32 %r1, [p]; mul.wide.u32 %rd1, %r1, 4; st.shared.u32 [%rd1+8], %r1;";
        with(code, |facts, all| assert!(!facts.sign_matters(all[1])));
        let stored = code
            .replace("[%rd1+8], %r1", "[8], %rd1")
            .replace("shared.u32", "shared.u64");
        with(&stored, |facts, all| assert!(facts.sign_matters(all[1])));
        let global = code.replace("st.shared", "st.global");
        with(&global, |facts, all| assert!(facts.sign_matters(all[1])));
    }

    #[test]
    fn what_has_an_effect_is_looked_at_whole() {
        let code = "ld.global.u32 %r1, [p]; mov.b64 %rd1, {%r1, %r2}; xor.b32 %r2, %r1, 1; st.global.u64 [p], %rd1;";
        with(code, |facts, all| {
            assert!(facts.number_matters(all[2], 2, 0))
        });
        let float = "ld.global.u32 %r1, [p]; and.b32 %r2, %r1, 255; cvt.rn.f32.u32 %r3, %r2; st.global.u32 [p], %r3;";
        with(float, |facts, all| {
            assert!(facts.number_matters(all[1], 2, 254))
        });
        let hint = "ld.param.u64 %rd1, [p]; add.s64 %rd2, %rd1, 1; prefetch.global.L2 [%rd2];";
        with(hint, |facts, all| {
            assert!(!facts.number_matters(all[1], 2, 2))
        });
    }

    #[test]
    fn a_bit_that_is_zero_on_both_sides_is_somebodys() {
        for second in ["%r2", "%r4"] {
            let code = format!(
                "ld.global.u32 %r1, [p]; and.b32 %r2, %r1, 6; mov.b32 %r4, %r2; and.b32 %r3, %r2, {second}; \
                 st.global.u32 [p], %r3;"
            );
            with(&code, |facts, all| {
                assert!(facts.number_matters(all[1], 2, 7), "{second}");
            });
        }
    }

    #[test]
    fn a_carry_that_leaves_looks_at_every_bit() {
        let code = "ld.global.u32 %r1, [p]; or.b32 %r2, %r1, 6; add.cc.u32 %r3, %r2, %r1; addc.u32 %r4, 0, 0; \
                    st.global.u32 [p], %r4;";
        with(code, |facts, all| {
            assert!(facts.number_matters(all[1], 2, 7));
            assert!(!facts.is_hint(all[2]));
        });
    }

    #[test]
    fn a_negative_index_into_shared_memory_has_its_sign() {
        let code =
            "ld.global.u32 %r1, [p]; mul.wide.s32 %rd1, %r1, 4; st.shared.u32 [%rd1+8], %r1;";
        with(code, |facts, all| assert!(facts.sign_matters(all[1])));
        let stored =
            "ld.global.u32 %r1, [p]; mul.wide.u32 %rd1, %r1, 4; st.shared.u64 [%rd1], %rd1;";
        with(stored, |facts, all| assert!(facts.sign_matters(all[1])));
    }

    #[test]
    fn a_sign_of_few_bits_fills_the_register() {
        let code = "ld.global.u32 %r1, [p]; xor.b32 %r2, %r1, 128; cvt.s8.u32 %r3, %r2; shr.u32 %r4, %r3, 8; \
                    st.global.u32 [p], %r4;";
        with(code, |facts, all| {
            assert!(facts.number_matters(all[1], 2, 0))
        });
    }
}
