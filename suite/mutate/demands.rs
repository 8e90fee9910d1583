//! Which bits of a register anybody looks at: demanded bits, backwards. Imports `image`.

use std::collections::HashMap;

use super::bits::{has, integer_type, mask, number, shifted_left, shifted_right};
use super::facts::{destinations, instructions, is_pure, names, sources};
use super::ones::Ones;
use crate::image::ptx::{Body, Instruction, TypeClass};

/// Bits that reach memory, control or another lane; none of a name that is not here.
pub struct Demands<'a>(HashMap<&'a str, u64>);

impl<'a> Demands<'a> {
    /// Of the register that `address` names, an instruction with an effect looks at the lower half only.
    pub fn of(body: &'a Body, ones: &Ones<'a>, address: fn(&Instruction) -> Option<&str>) -> Self {
        let mut demands = Self(HashMap::new());
        // They only grow, and at most by 64 bits a register: this ends.
        while instructions(body).fold(false, |grown, i| demands.grow(ones, address, i) | grown) {}
        demands
    }

    pub fn of_register(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or(0)
    }

    /// Adds the bits of its operands that an instruction looks at; whether some of them are new.
    fn grow(
        &mut self,
        ones: &Ones<'a>,
        address: fn(&Instruction) -> Option<&str>,
        instruction: &'a Instruction,
    ) -> bool {
        // A prefetch asks for memory and changes nothing.
        if matches!(instruction.opcode.as_str(), "prefetch" | "prefetchu") {
            return false;
        }
        if !is_pure(&instruction.opcode) || has(instruction, "cc") {
            return self.effect(address(instruction), instruction);
        }
        let wanted = destinations(instruction).fold(0, |all, name| all | self.of_register(name));
        if wanted == 0 {
            return false;
        }
        let mut grown = false;
        if let Some(guard) = &instruction.guard {
            grown |= self.add(&guard.name, u64::MAX);
        }
        for (index, operand) in instruction.operands.iter().enumerate().skip(1) {
            let looked_at = looked_at(ones, instruction, index, wanted);
            for name in names(operand) {
                grown |= self.add(name, looked_at);
            }
        }
        grown
    }

    /// What does more than make a value looks at all of what it reads, and its result is others' business too.
    fn effect(&mut self, address: Option<&str>, instruction: &'a Instruction) -> bool {
        let mut grown = false;
        for name in destinations(instruction) {
            grown |= self.add(name, u64::MAX);
        }
        for name in sources(instruction) {
            let looked_at = match address == Some(name) {
                true => mask(32),
                false => u64::MAX,
            };
            grown |= self.add(name, looked_at);
        }
        grown
    }

    /// Adds bits to a register's; whether some are new.
    fn add(&mut self, name: &'a str, bits: u64) -> bool {
        let known = self.0.entry(name).or_insert(0);
        let grown = bits & !*known != 0;
        *known |= bits;
        grown
    }
}

/// The bits of an operand that decide the wanted bits of the result; all where nothing is known.
fn looked_at(ones: &Ones<'_>, instruction: &Instruction, index: usize, wanted: u64) -> u64 {
    let Some(ty) = integer_type(instruction) else {
        return u64::MAX;
    };
    let of_type = mask(ty.bits);
    let sign = of_type & !(of_type >> 1);
    let if_signed = |filled: u64| match ty.class == TypeClass::Signed && wanted & filled != 0 {
        true => sign,
        false => 0,
    };
    let at = |index: usize| ones.of_operand(instruction.operands.get(index));
    let by = number(instruction, 2);
    match (instruction.opcode.as_str(), index) {
        ("mov" | "not" | "xor", _) | ("selp", 1 | 2) => wanted,
        // Bits that are zero on both sides are looked at on one: one zero at least must stay.
        ("and", 1) => wanted & at(2),
        ("and", 2) => wanted & (at(1) | !at(2)),
        // Where a number already has the one, the other operand is not asked.
        ("or", 1) => wanted & !by.unwrap_or(0),
        ("or", 2) => wanted,
        ("shl", 1) if by.is_some() => shifted_right(wanted, by.unwrap_or(0)),
        ("shr", 1) if by.is_some() => {
            let by = by.unwrap_or(0);
            shifted_left(wanted, by) & of_type | if_signed(of_type & !shifted_right(of_type, by))
        }
        // A carry goes upwards only.
        ("add" | "sub", 1 | 2) => below(wanted),
        ("mul", 1 | 2) if has(instruction, "lo") => below(wanted),
        ("setp", 1) if asks_sign(instruction) => sign,
        ("cvt", 1) => wanted & of_type | if_signed(!of_type),
        _ => u64::MAX,
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

/// All bits up to the highest of these.
fn below(bits: u64) -> u64 {
    mask(u64::BITS - bits.leading_zeros())
}
