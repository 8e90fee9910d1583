//! Which bits of a register can ever be one, and which of them anybody looks at.
//!
//! Known bits forwards and demanded bits backwards, one answer a register over the whole kernel, as compilers know
//! them from dead-code elimination (LLVM's `KnownBits` and `DemandedBits`). A change to bits that are nobody's makes no
//! difference on any input. Imports `image`.

use std::collections::HashMap;

use super::bounds::Bounds;
use super::facts::{destinations, instructions, is_pure, names, register_type, sources};
use crate::image::ptx::{AddressBase, Body, Immediate, Instruction, Operand, Type, TypeClass};

pub struct Bits<'a> {
    /// Bits that can be one; nothing is known of a name that is not here.
    ones: HashMap<&'a str, u64>,
    /// Bits that reach memory, control or another lane.
    demanded: HashMap<&'a str, u64>,
}

impl<'a> Bits<'a> {
    pub fn of(body: &'a Body, bounds: &Bounds<'a>) -> Self {
        let written = instructions(body).flat_map(destinations);
        let mut bits = Self {
            ones: written.map(|name| (name, 0)).collect(),
            demanded: HashMap::new(),
        };
        // Both sets only grow, and at most by 64 bits a register: they end.
        while instructions(body).fold(false, |grown, i| bits.forwards(body, bounds, i) | grown) {}
        while instructions(body).fold(false, |grown, i| bits.backwards(i) | grown) {}
        bits
    }

    /// The bits of a register that anybody looks at.
    pub fn demanded(&self, name: &str) -> u64 {
        self.demanded.get(name).copied().unwrap_or(0)
    }

    /// Whether any demanded bit of the result can change when the number at `index` becomes `other`.
    pub fn number_matters(&self, instruction: &Instruction, index: usize, other: u64) -> bool {
        let (Some(Operand::Name(result)), Some(number)) =
            (instruction.operands.first(), number(instruction, index))
        else {
            return true;
        };
        let a = self.operand(instruction.operands.get(1));
        let changed = match (instruction.opcode.as_str(), index) {
            ("and", 1 | 2) => (number ^ other) & self.operand(instruction.operands.get(3 - index)),
            ("or" | "xor", 1 | 2) | ("mov", 1) => number ^ other,
            ("shl", 2) => shifted_left(a, number) | shifted_left(a, other),
            ("shr", 2)
                if integer_type(instruction).is_some_and(|ty| !self.has_sign(instruction, ty)) =>
            {
                shifted_right(a, number) | shifted_right(a, other)
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
            "mul" if instruction.modifiers.iter().any(|m| m == "wide") => !mask(ty.bits),
            "cvt" => !mask(ty.bits),
            _ => u64::MAX,
        };
        changed & self.demanded(result) != 0
    }

    /// Whether the shifted operand, read as signed, can be negative.
    fn has_sign(&self, instruction: &Instruction, ty: Type) -> bool {
        let sign = 1_u64 << (ty.bits.clamp(1, 64) - 1);
        ty.class == TypeClass::Signed && self.operand(instruction.operands.get(1)) & sign != 0
    }

    fn operand(&self, operand: Option<&Operand>) -> u64 {
        match operand {
            Some(Operand::Immediate(Immediate::Int(value))) => *value,
            Some(Operand::Name(name)) => self.ones.get(name.as_str()).copied().unwrap_or(u64::MAX),
            _ => u64::MAX,
        }
    }

    /// Adds the ones that an instruction's result can have; whether some of them are new.
    fn forwards(&mut self, body: &Body, bounds: &Bounds<'a>, instruction: &'a Instruction) -> bool {
        let single = matches!(instruction.operands.first(), Some(Operand::Name(_)));
        let result = if single {
            self.result(instruction)
        } else {
            u64::MAX
        };
        let mut grown = false;
        for name in destinations(instruction) {
            let width = register_type(body, name).map_or(64, |ty| ty.bits);
            let within = mask(width) & mask(u64::BITS - bounds.most(name).leading_zeros());
            grown |= add(&mut self.ones, name, result & within);
        }
        grown
    }

    /// The ones that an instruction's result can have; all where nothing is known.
    fn result(&self, instruction: &Instruction) -> u64 {
        let Some(ty) = integer_type(instruction) else {
            return u64::MAX;
        };
        let (a, b) = (
            self.operand(instruction.operands.get(1)),
            self.operand(instruction.operands.get(2)),
        );
        match instruction.opcode.as_str() {
            "mov" => a,
            "and" => a & b,
            "or" | "xor" => a | b,
            "selp" => a | b,
            "shl" => number(instruction, 2).map_or(u64::MAX, |by| shifted_left(a, by)),
            "shr" if !self.has_sign(instruction, ty) => {
                number(instruction, 2).map_or(u64::MAX, |by| shifted_right(a & mask(ty.bits), by))
            }
            // Without a carry it is an or; with one, the zeros below both operands' lowest ones stay.
            "add" if a & b == 0 => a | b,
            "add" => u64::MAX.checked_shl((a | b).trailing_zeros()).unwrap_or(0),
            "cvt" if ty.class == TypeClass::Unsigned || ty.class == TypeClass::Bits => {
                a & mask(ty.bits)
            }
            _ => u64::MAX,
        }
    }

    /// Adds the bits of its operands that an instruction looks at; whether some of them are new.
    fn backwards(&mut self, instruction: &'a Instruction) -> bool {
        if is_hint(&instruction.opcode) {
            return false;
        }
        let mut grown = false;
        if !is_pure(&instruction.opcode) {
            for name in destinations(instruction) {
                grown |= add(&mut self.demanded, name, u64::MAX);
            }
            for name in sources(instruction) {
                let looked_at = match shared_base(instruction) {
                    Some(base) if base == name => mask(32),
                    _ => u64::MAX,
                };
                grown |= add(&mut self.demanded, name, looked_at);
            }
            return grown;
        }
        let wanted = destinations(instruction).fold(0, |all, name| all | self.demanded(name));
        if wanted == 0 {
            return false;
        }
        if let Some(guard) = &instruction.guard {
            grown |= add(&mut self.demanded, &guard.name, u64::MAX);
        }
        for (index, operand) in instruction.operands.iter().enumerate().skip(1) {
            let looked_at = self.looked_at(instruction, index, wanted);
            for name in names(operand) {
                grown |= add(&mut self.demanded, name, looked_at);
            }
        }
        grown
    }

    /// The bits of an operand that decide the wanted bits of the result; all where nothing is known.
    fn looked_at(&self, instruction: &Instruction, index: usize, wanted: u64) -> u64 {
        let Some(ty) = integer_type(instruction) else {
            return u64::MAX;
        };
        let of_type = mask(ty.bits);
        let signed = ty.class == TypeClass::Signed;
        let by = number(instruction, 2);
        match (instruction.opcode.as_str(), index) {
            ("mov" | "not" | "xor", _) | ("selp", 1 | 2) => wanted,
            ("and", 1 | 2) => wanted & self.operand(instruction.operands.get(3 - index)),
            // Where a number already has the one, the other operand is not asked.
            ("or", 1) => wanted & !by.unwrap_or(0),
            ("or", 2) => wanted,
            ("shl", 1) if by.is_some() => shifted_right(wanted, by.unwrap_or(0)),
            ("shr", 1) if by.is_some() => {
                let by = by.unwrap_or(0);
                let filled = of_type & !shifted_right(of_type, by);
                let sign = of_type & !(of_type >> 1);
                let copied = if signed && wanted & filled != 0 {
                    sign
                } else {
                    0
                };
                shifted_left(wanted, by) & of_type | copied
            }
            // A carry goes upwards only.
            ("add" | "sub", 1 | 2) => below(wanted),
            ("mul", 1 | 2) if instruction.modifiers.iter().any(|m| m == "lo") => below(wanted),
            ("setp", 1) if asks_sign(instruction) => of_type & !(of_type >> 1),
            ("cvt", 1) => {
                let copied = if signed && wanted & !of_type != 0 {
                    of_type & !(of_type >> 1)
                } else {
                    0
                };
                wanted & of_type | copied
            }
            _ => u64::MAX,
        }
    }
}

/// Whether a comparison asks of its first operand whether it is negative, and nothing else.
fn asks_sign(instruction: &Instruction) -> bool {
    let Some(ty) = integer_type(instruction).filter(|ty| ty.class == TypeClass::Signed) else {
        return false;
    };
    let all = mask(ty.bits);
    let bound = number(instruction, 2).map(|bound| bound & all);
    match instruction.modifiers.first().map(String::as_str) {
        Some("lt" | "ge") => bound == Some(0),
        Some("gt" | "le") => bound == Some(all),
        _ => false,
    }
}

/// Adds bits to a name's; whether some are new.
fn add<'a>(all: &mut HashMap<&'a str, u64>, name: &'a str, bits: u64) -> bool {
    let known = all.entry(name).or_insert(0);
    let grown = bits & !*known != 0;
    *known |= bits;
    grown
}

/// The register that an access to shared memory takes its address from. Shared memory ends far below 2^32: with a
/// higher bit set the access is out of bounds, whichever bit it is, so in a kernel that is right none is.
fn shared_base(instruction: &Instruction) -> Option<&str> {
    let is_shared = |m: &String| m == "shared" || m.starts_with("shared::");
    let mut operands = instruction.operands.iter();
    instruction.modifiers.iter().find(|m| is_shared(m))?;
    operands.find_map(|operand| match operand {
        Operand::Address {
            base: AddressBase::Name(name),
            ..
        } => Some(name.as_str()),
        _ => None,
    })
}

/// A prefetch asks for memory and changes nothing.
fn is_hint(opcode: &str) -> bool {
    matches!(opcode, "prefetch" | "prefetchu")
}

fn number(instruction: &Instruction, index: usize) -> Option<u64> {
    match instruction.operands.get(index) {
        Some(Operand::Immediate(Immediate::Int(value))) => Some(*value),
        _ => None,
    }
}

/// The last type, of the operands, where none of the types is a float's, nothing is clamped to a type's range and each
/// operand is one register or number.
fn integer_type(instruction: &Instruction) -> Option<Type> {
    let types = || {
        instruction
            .modifiers
            .iter()
            .filter_map(|m| Type::from_name(m))
    };
    let whole = |operand: &Operand| !matches!(operand, Operand::Vector(_) | Operand::Pair(..));
    let plain = types().all(|ty| ty.class != TypeClass::Float)
        && instruction.modifiers.iter().all(|m| m != "sat")
        && instruction.operands.iter().all(whole);
    types().next_back().filter(|_| plain)
}

/// So many ones from the lowest bit on.
fn mask(bits: u32) -> u64 {
    u64::MAX.checked_shr(64 - bits.min(64)).unwrap_or(0)
}

/// All bits up to the highest of these.
fn below(bits: u64) -> u64 {
    mask(u64::BITS - bits.leading_zeros())
}

/// As PTX shifts: by the width or more leaves nothing.
fn shifted_left(value: u64, by: u64) -> u64 {
    u32::try_from(by)
        .ok()
        .and_then(|by| value.checked_shl(by))
        .unwrap_or(0)
}

fn shifted_right(value: u64, by: u64) -> u64 {
    u32::try_from(by)
        .ok()
        .and_then(|by| value.checked_shr(by))
        .unwrap_or(0)
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
}
