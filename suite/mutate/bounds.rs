//! The largest value a register can hold, read as unsigned.
//!
//! One number a register over the whole kernel, joined over all its definitions: coarse, but enough to know that a
//! thread index is not negative, so that reading it as signed or unsigned is the same. Imports `image`.

use std::collections::HashMap;

use super::facts::{instructions, register_type};
use crate::image::ptx::{Body, Immediate, Instruction, Operand, Type, TypeClass};

pub struct Bounds<'a> {
    most: HashMap<&'a str, u64>,
}

/// Rounds in which bounds may grow; what grows longer is in a loop and counts as anything.
const ROUNDS: usize = 6;

impl<'a> Bounds<'a> {
    pub fn of(body: &'a Body, definitions: &HashMap<&'a str, Vec<&'a Instruction>>) -> Self {
        let mut bounds = Self {
            most: HashMap::new(),
        };
        for round in 0.. {
            let mut grown = false;
            for instruction in instructions(body) {
                let Some(Operand::Name(name)) = instruction.operands.first() else {
                    continue;
                };
                if !definitions.contains_key(name.as_str()) {
                    continue;
                }
                let limit = limit(body, name);
                let value = bounds.result(instruction, limit).min(limit);
                let known = bounds.most.get(name.as_str());
                if known.is_none_or(|known| *known < value) {
                    let value = if round < ROUNDS { value } else { limit };
                    bounds.most.insert(name, value);
                    grown = true;
                }
            }
            if !grown {
                break;
            }
        }
        // Registers that other instructions write (vectors, pairs) hold anything.
        for (name, writers) in definitions {
            let plain = |i: &&Instruction| matches!(i.operands.first(), Some(Operand::Name(_)));
            if !writers.iter().all(plain) {
                bounds.most.insert(name, u64::MAX);
            }
        }
        bounds
    }

    /// The largest value of a register or special register; anything for a name that is neither.
    pub fn most(&self, name: &str) -> u64 {
        special(name).unwrap_or_else(|| self.most.get(name).copied().unwrap_or(u64::MAX))
    }

    /// While bounds still grow, a register not yet seen counts as 0: its definition comes in this or the next round.
    fn operand(&self, operand: Option<&Operand>) -> u64 {
        match operand {
            Some(Operand::Immediate(Immediate::Int(value))) => *value,
            Some(Operand::Name(name)) if name.starts_with('%') => {
                special(name).unwrap_or_else(|| self.most.get(name.as_str()).copied().unwrap_or(0))
            }
            _ => u64::MAX,
        }
    }

    /// What an instruction can write at most; `limit` where nothing is known.
    fn result(&self, instruction: &Instruction, limit: u64) -> u64 {
        let at = |index: usize| self.operand(instruction.operands.get(index));
        let has = |modifier: &str| instruction.modifiers.iter().any(|m| m == modifier);
        let (a, b) = (at(1), at(2));
        let within = |value: Option<u64>| value.filter(|v| *v <= limit).unwrap_or(limit);
        let types = || {
            instruction
                .modifiers
                .iter()
                .filter_map(|m| Type::from_name(m))
        };
        if types().any(|ty| ty.class == TypeClass::Float) {
            return limit;
        }
        let Some(ty) = types().next_back() else {
            return limit;
        };
        let unsigned = ty.class != TypeClass::Signed;
        // With the sign bit of its own type set, what is read as signed is another value.
        let same_signed = |value: u64| unsigned || value < 1 << (ty.bits.clamp(1, 64) - 1);
        match instruction.opcode.as_str() {
            "mov" => a,
            "cvt" if same_signed(a) => a,
            "and" => a.min(b),
            "or" | "xor" => {
                let above = a.max(b).checked_add(1);
                within(
                    above
                        .and_then(u64::checked_next_power_of_two)
                        .map(|v| v - 1),
                )
            }
            "shr" if same_signed(a) => match instruction.operands.get(2) {
                Some(Operand::Immediate(Immediate::Int(by))) => {
                    a.checked_shr(*by as u32).unwrap_or(0)
                }
                _ => a,
            },
            "shl" => match instruction.operands.get(2) {
                Some(Operand::Immediate(Immediate::Int(by))) if *by < 64 => {
                    within(a.checked_mul(1 << by))
                }
                _ => limit,
            },
            "selp" => a.max(b),
            "add" => within(a.checked_add(b)),
            "mul" if has("lo") || (has("wide") && same_signed(a) && same_signed(b)) => {
                within(a.checked_mul(b))
            }
            "min" if unsigned => a.min(b),
            "max" if unsigned => a.max(b),
            "div" if unsigned => a,
            "rem" if unsigned && b > 0 => a.min(b - 1),
            "popc" | "clz" => 64,
            "ld" if has("u8") => 0xff,
            "ld" if has("u16") => 0xffff,
            _ => limit,
        }
    }
}

/// All ones of the register's width.
fn limit(body: &Body, name: &str) -> u64 {
    match register_type(body, name).map(|ty| ty.bits) {
        Some(bits @ 1..=63) => (1 << bits) - 1,
        _ => u64::MAX,
    }
}

/// What every launch keeps to.
fn special(name: &str) -> Option<u64> {
    let (name, _axis) = name.split_once('.').unwrap_or((name, ""));
    Some(match name {
        "%tid" => 1023,
        "%ntid" => 1024,
        "%ctaid" | "%nctaid" => i32::MAX as u64,
        "%laneid" | "%warpid" | "%nwarpid" => 32,
        _ => return None,
    })
}
