//! Instructions that only touch registers: from opcode and modifiers to a row operation.
//!
//! Semantics follow the PTX ISA; what it leaves open is as GPUs do: an integer division or remainder by zero gives
//! all ones, single- and half-precision results that are NaN are the canonical 0x7fffffff and 0x7fff, and those in
//! double precision or narrowed from it keep sign and payload. An H200 gave `tests/data/vectors`.

mod bits;
mod carry;
mod compare;
mod convert;
mod float;
mod integer;
mod moves;
mod video;

use super::lanes::{Comparison, Operation};

/// None for what is not known: that is an error of the launch, never a guess.
pub(super) fn select(opcode: &str, modifiers: &str) -> Option<Operation> {
    integer::select(opcode, modifiers)
        .or_else(|| bits::select(opcode, modifiers))
        .or_else(|| float::select(opcode, modifiers))
        .or_else(|| moves::select(opcode, modifiers))
        .or_else(|| carry::select(opcode, modifiers))
        .or_else(|| video::select(opcode, modifiers))
        .or_else(|| {
            if opcode == "cvt" {
                convert::select(modifiers)
            } else {
                None
            }
        })
}

/// `cvt` whose source is a 64-bit register of which it reads the low part.
pub(super) fn select_low_part(opcode: &str, modifiers: &str) -> Option<Operation> {
    if opcode == "cvt" {
        convert::select_low_part(modifiers)
    } else {
        None
    }
}

/// `lt` and `s32` of `setp.lt.s32`.
pub(super) fn comparison(name: &str, ty: &str) -> Option<Comparison> {
    compare::select(name, ty)
}

/// `finite.f32` of `testp.finite.f32`: holds of its first operand or not.
pub(super) fn kind_of_number(modifiers: &str) -> Option<Comparison> {
    float::kind(modifiers)
}

pub(super) use moves::{Shape, pack};
