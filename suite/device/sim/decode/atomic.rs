//! Atomics and reductions.

use super::super::lanes::Class;
use super::super::program::{Atomic, AtomicOp, Kind, Semantics};
use super::access::{modifiers, named_scope};
use super::rows::{class_of, sink};
use super::{Decoder, Wrong, unknown};
use crate::image::ptx::{Operand, TypeClass};

impl Decoder<'_> {
    pub(super) fn atomic(
        &mut self,
        opcode: &str,
        all: &[&str],
        operands: &[Operand],
    ) -> Result<Kind, Wrong> {
        let found = modifiers(all)?;
        let [name] = found.rest[..] else {
            return Err(unknown());
        };
        let op = operation(name, found.ty.class, found.ty.bits).ok_or_else(unknown)?;
        let class = class_of(found.ty)?;
        let (d, operands) = match operands {
            [d, rest @ ..] if opcode == "atom" => (self.rows.destination(d, class)?, rest),
            rest => (sink(class), rest),
        };
        let (address, a, b) = match operands {
            [address, a] if op != AtomicOp::CompareSwap => (address, a, a),
            [address, a, b] if op == AtomicOp::CompareSwap => (address, a, b),
            _ => return Err("has the wrong number of operands".to_owned()),
        };
        debug_assert_ne!(class, Class::Predicate);
        // Without an ordering an atomic is relaxed.
        let semantics = Semantics {
            scope: named_scope(all),
            ..found.semantics
        };
        Ok(Kind::Atomic(Atomic {
            semantics,
            op,
            address: self.address(address, found.space)?,
            bytes: found.ty.bytes() as u8,
            signed: found.ty.class == TypeClass::Signed,
            d,
            a: self.rows.source(a, class)?,
            b: self.rows.source(b, class)?,
        }))
    }
}

/// Which combinations exist, as the PTX ISA lists them for `atom`.
fn operation(name: &str, class: TypeClass, bits: u32) -> Option<AtomicOp> {
    let number = matches!(class, TypeClass::Unsigned | TypeClass::Signed) && bits >= 32;
    let word = class == TypeClass::Bits && bits >= 32;
    Some(match name {
        "add" if number => AtomicOp::Add,
        "add" if class == TypeClass::Float && bits == 32 => AtomicOp::AddF32,
        "add" if class == TypeClass::Float && bits == 64 => AtomicOp::AddF64,
        "min" if number => AtomicOp::Min,
        "max" if number => AtomicOp::Max,
        "and" if word => AtomicOp::And,
        "or" if word => AtomicOp::Or,
        "xor" if word => AtomicOp::Xor,
        "exch" if word => AtomicOp::Exchange,
        "cas" if class == TypeClass::Bits && bits >= 16 => AtomicOp::CompareSwap,
        "inc" if class == TypeClass::Unsigned && bits == 32 => AtomicOp::Increment,
        "dec" if class == TypeClass::Unsigned && bits == 32 => AtomicOp::Decrement,
        _ => return None,
    })
}
