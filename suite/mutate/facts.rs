//! What is known of a kernel's registers without running it: types, constants, who reads what.
//!
//! Operators ask here whether a change can make any difference. Imports `image` (the parsed form).

use std::collections::{HashMap, HashSet};

use super::bits::Bits;
use super::bounds::Bounds;
use crate::image::ptx::{
    AddressBase, Body, Function, Immediate, Instruction, Operand, Statement, Type,
};

pub struct Facts<'a> {
    body: &'a Body,
    /// Instructions that write a register, by its name.
    definitions: HashMap<&'a str, Vec<&'a Instruction>>,
    /// How often a register is read.
    reads: HashMap<&'a str, usize>,
    bounds: Bounds<'a>,
    bits: Bits<'a>,
}

impl<'a> Facts<'a> {
    /// None for a declaration.
    pub fn of(function: &'a Function) -> Option<Self> {
        let body = function.body.as_ref()?;
        let mut definitions: HashMap<&str, Vec<&Instruction>> = HashMap::new();
        let mut reads: HashMap<&str, usize> = HashMap::new();
        for instruction in instructions(body) {
            for name in destinations(instruction) {
                definitions.entry(name).or_default().push(instruction);
            }
            for name in sources(instruction) {
                *reads.entry(name).or_default() += 1;
            }
        }
        let bounds = Bounds::of(body, &definitions);
        Some(Self {
            bits: Bits::of(body, &bounds),
            body,
            definitions,
            reads,
            bounds,
        })
    }

    pub fn instructions(&self) -> impl Iterator<Item = &'a Instruction> + use<'a> {
        instructions(self.body)
    }

    pub fn is_read(&self, name: &str) -> bool {
        self.reads.contains_key(name)
    }

    /// Whether nothing but hints (prefetches) depends on it.
    pub fn is_hint(&self, instruction: &Instruction) -> bool {
        let mut written = destinations(instruction).peekable();
        written.peek().is_some() && written.all(|name| self.bits.demanded(name) == 0)
    }

    /// Whether anybody can see that the number at `index` has become `other`.
    pub fn number_matters(&self, instruction: &Instruction, index: usize, other: u64) -> bool {
        self.bits.number_matters(instruction, index, other)
    }

    /// Whether anybody can see that an integer instruction's operands are read as signed, or no longer are.
    pub fn sign_matters(&self, instruction: &Instruction) -> bool {
        self.bits.sign_matters(instruction)
    }

    /// The value of an operand that is always the same number.
    pub fn constant(&self, operand: &Operand) -> Option<u64> {
        match operand {
            Operand::Immediate(Immediate::Int(bits)) => Some(*bits),
            Operand::Name(name) => match self.definitions.get(name.as_str())?.as_slice() {
                [only] if only.opcode == "mov" && only.guard.is_none() => {
                    match only.operands.as_slice() {
                        [_, Operand::Immediate(Immediate::Int(bits))] => Some(*bits),
                        _ => None,
                    }
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether an operand of so many bits, read as signed, is never negative.
    pub fn is_never_negative(&self, operand: &Operand, bits: u32) -> bool {
        let most = match operand {
            Operand::Immediate(Immediate::Int(value)) => *value,
            Operand::Name(name) => self.bounds.most(name),
            _ => return false,
        };
        most < 1_u64 << (bits.clamp(1, 64) - 1)
    }

    /// Whether the kernel walks its input in strides of the whole grid: it adds what is made of `%nctaid` by copies
    /// and multiplications to a register.
    pub fn is_grid_stride(&self) -> bool {
        let mut strides: HashSet<&str> = HashSet::new();
        loop {
            let before = strides.len();
            for instruction in self.instructions() {
                let carries = matches!(instruction.opcode.as_str(), "mov" | "cvt" | "mul" | "shl");
                let of_grid = |name: &str| name.starts_with("%nctaid") || strides.contains(name);
                if carries && sources(instruction).any(of_grid) {
                    let written: Vec<&str> = destinations(instruction).collect();
                    strides.extend(written);
                }
            }
            if strides.len() == before {
                break;
            }
        }
        self.instructions().any(|instruction| {
            let names: Vec<&str> = sources(instruction).collect();
            let adds = matches!(instruction.opcode.as_str(), "add" | "mad");
            adds && names.len() >= 2 && names.iter().any(|name| strides.contains(name))
        })
    }
}

pub fn instructions(body: &Body) -> impl Iterator<Item = &Instruction> {
    body.statements
        .iter()
        .filter_map(|statement| match statement {
            Statement::Instruction(instruction) => Some(instruction),
            Statement::Label { .. } | Statement::Targets { .. } => None,
        })
}

pub fn register_type(body: &Body, name: &str) -> Option<Type> {
    let declared = body.registers.iter().rev().find(|declared| {
        let number = name.strip_prefix(declared.name.as_str());
        match declared.count {
            None => declared.name == name,
            Some(count) => number
                .and_then(|n| n.parse::<u32>().ok())
                .is_some_and(|n| n < count),
        }
    });
    declared.map(|declared| declared.ty)
}

/// Whether the first operand is written.
fn writes_first(instruction: &Instruction) -> bool {
    match instruction.opcode.as_str() {
        "st" | "red" | "bra" | "brx" | "membar" | "fence" | "prefetch" | "prefetchu" | "ret"
        | "exit" | "trap" | "nanosleep" | "discard" | "applypriority" => false,
        "bar" | "barrier" => instruction.modifiers.iter().any(|m| m == "red"),
        "call" => matches!(instruction.operands.first(), Some(Operand::List(_))),
        _ => true,
    }
}

/// The registers that an instruction writes.
pub fn destinations(instruction: &Instruction) -> impl Iterator<Item = &str> {
    let first = instruction
        .operands
        .first()
        .filter(|_| writes_first(instruction));
    first.into_iter().flat_map(names)
}

/// The registers (and other names) that an instruction reads, its guard's among them.
pub fn sources(instruction: &Instruction) -> impl Iterator<Item = &str> {
    let guard = instruction.guard.iter().map(|guard| guard.name.as_str());
    let from = usize::from(writes_first(instruction));
    let operands = instruction.operands.iter().skip(from);
    guard.chain(operands.flat_map(names))
}

/// The registers (and other names) in an operand.
pub fn names(operand: &Operand) -> Vec<&str> {
    match operand {
        Operand::Name(name) | Operand::Not(name) => vec![name],
        Operand::Offset { symbol, .. } => vec![symbol],
        Operand::Address {
            base: AddressBase::Name(name),
            ..
        } => vec![name],
        Operand::Vector(all) | Operand::List(all) => all.iter().flat_map(names).collect(),
        Operand::Pair(p, q) => vec![p, q],
        Operand::Address { .. } | Operand::Immediate(_) | Operand::Sink => Vec::new(),
    }
}

/// What only makes a value: its result is all it does. A load may fault, a shuffle is others' business too.
pub fn is_pure(opcode: &str) -> bool {
    const EFFECTS: [&str; 19] = [
        "ld", "ldu", "st", "atom", "red", "bra", "brx", "call", "bar", "barrier", "membar",
        "fence", "shfl", "vote", "match", "redux", "trap", "ret", "exit",
    ];
    !EFFECTS.contains(&opcode) && opcode != "nanosleep"
}
