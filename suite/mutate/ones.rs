//! Which bits of a register can ever be one: known bits, forwards. Imports `image`.

use std::collections::HashMap;

use super::bits::{integer_type, mask, number, shifted_left, shifted_right};
use super::bounds::Bounds;
use super::facts::{destinations, instructions, register_type};
use crate::image::ptx::{Body, Immediate, Instruction, Operand, Type, TypeClass};

/// Nothing is known of a name that is not here.
pub struct Ones<'a>(HashMap<&'a str, u64>);

impl<'a> Ones<'a> {
    pub fn of(body: &'a Body, bounds: &Bounds<'a>) -> Self {
        let written = instructions(body).flat_map(destinations);
        let mut ones = Self(written.map(|name| (name, 0)).collect());
        // They only grow, and at most by 64 bits a register: this ends.
        while instructions(body).fold(false, |grown, i| ones.grow(body, bounds, i) | grown) {}
        ones
    }

    pub fn of_operand(&self, operand: Option<&Operand>) -> u64 {
        match operand {
            Some(Operand::Immediate(Immediate::Int(value))) => *value,
            Some(Operand::Name(name)) => self.0.get(name.as_str()).copied().unwrap_or(u64::MAX),
            _ => u64::MAX,
        }
    }

    /// Whether the first operand, read as signed, can be negative.
    pub fn has_sign(&self, instruction: &Instruction, ty: Type) -> bool {
        let sign = 1_u64 << (ty.bits.clamp(1, 64) - 1);
        ty.class == TypeClass::Signed && self.of_operand(instruction.operands.get(1)) & sign != 0
    }

    /// Adds the ones that an instruction's result can have; whether some of them are new.
    fn grow(&mut self, body: &Body, bounds: &Bounds<'a>, instruction: &'a Instruction) -> bool {
        let single = matches!(instruction.operands.first(), Some(Operand::Name(_)));
        let result = match single {
            true => self.result(instruction),
            false => u64::MAX,
        };
        let mut grown = false;
        for name in destinations(instruction) {
            let width = register_type(body, name).map_or(64, |ty| ty.bits);
            let within = mask(width) & mask(u64::BITS - bounds.most(name).leading_zeros());
            let known = self.0.entry(name).or_insert(0);
            grown |= result & within & !*known != 0;
            *known |= result & within;
        }
        grown
    }

    /// The ones that an instruction's result can have; all where nothing is known.
    fn result(&self, instruction: &Instruction) -> u64 {
        let Some(ty) = integer_type(instruction) else {
            return u64::MAX;
        };
        let at = |index: usize| self.of_operand(instruction.operands.get(index));
        let (a, b, by) = (at(1), at(2), number(instruction, 2));
        match instruction.opcode.as_str() {
            "mov" => a,
            "and" => a & b,
            "or" | "xor" | "selp" => a | b,
            "shl" => by.map_or(u64::MAX, |by| shifted_left(a, by)),
            "shr" if !self.has_sign(instruction, ty) => {
                by.map_or(u64::MAX, |by| shifted_right(a & mask(ty.bits), by))
            }
            // Without a carry it is an or; with one, the zeros below both operands' lowest ones stay.
            "add" if a & b == 0 => a | b,
            "add" => u64::MAX.checked_shl((a | b).trailing_zeros()).unwrap_or(0),
            "cvt" if ty.class != TypeClass::Signed => a & mask(ty.bits),
            _ => u64::MAX,
        }
    }
}
