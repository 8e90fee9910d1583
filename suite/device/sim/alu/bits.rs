//! Logic, shifts and bit fields.

use super::super::lanes::{Class, Frame, Operands, Operation, lanewise};

macro_rules! words {
    ($ty:expr, |$($a:ident),+| $e:expr) => {
        match $ty {
            "b16" => lanewise!(u16 = |$($a: u16),+| $e),
            "b32" => lanewise!(u32 = |$($a: u32),+| $e),
            "b64" => lanewise!(u64 = |$($a: u64),+| $e),
            _ => return None,
        }
    };
}

/// Logic on predicates: whole masks at once.
macro_rules! masks {
    ($count:literal, |$a:ident, $b:ident| $e:expr) => {{
        fn run(frame: &mut Frame<'_>, o: Operands, mask: u32) {
            let ($a, $b) = (frame.predicates[usize::from(o.a)], frame.predicates[usize::from(o.b)]);
            // One-operand forms ignore the second.
            let _ = $b;
            frame.put_predicate(o.d, mask, $e);
        }
        Operation { run, d: Class::Predicate, sources: &[Class::Predicate; $count] }
    }};
}

pub(super) fn select(opcode: &str, modifiers: &str) -> Option<Operation> {
    Some(match (opcode, modifiers) {
        ("and", "pred") => masks!(2, |a, b| a & b),
        ("or", "pred") => masks!(2, |a, b| a | b),
        ("xor", "pred") => masks!(2, |a, b| a ^ b),
        ("not", "pred") => masks!(1, |a, b| !a),
        ("mov", "pred") => masks!(1, |a, b| a),
        ("and", ty) => words!(ty, |a, b| a & b),
        ("or", ty) => words!(ty, |a, b| a | b),
        ("xor", ty) => words!(ty, |a, b| a ^ b),
        ("not", ty) => words!(ty, |a| !a),
        ("cnot", ty) => words!(ty, |a| if a == 0 { 1 } else { 0 }),
        ("shl" | "shr", _) => return shift(opcode, modifiers),
        ("popc", "b32") => lanewise!(u32 = |a: u32| a.count_ones()),
        ("popc", "b64") => lanewise!(u32 = |a: u64| a.count_ones()),
        ("clz", "b32") => lanewise!(u32 = |a: u32| a.leading_zeros()),
        ("clz", "b64") => lanewise!(u32 = |a: u64| a.leading_zeros()),
        ("brev", "b32") => lanewise!(u32 = |a: u32| a.reverse_bits()),
        ("brev", "b64") => lanewise!(u64 = |a: u64| a.reverse_bits()),
        ("bfind", _) => return find(modifiers),
        ("bfe", "u32") => {
            lanewise!(
                u32 = |a: u32, b: u32, c: u32| extract(u64::from(a), b & 255, c & 255, 32, false)
                    as u32
            )
        }
        ("bfe", "s32") => {
            lanewise!(
                u32 = |a: u32, b: u32, c: u32| extract(u64::from(a), b & 255, c & 255, 32, true)
                    as u32
            )
        }
        ("bfe", "u64") => lanewise!(u64 = |a: u64, b: u32, c: u32| extract(a, b, c, 64, false)),
        ("bfe", "s64") => lanewise!(u64 = |a: u64, b: u32, c: u32| extract(a, b, c, 64, true)),
        ("bfi", "b32") => {
            lanewise!(
                u32 = |a: u32, b: u32, c: u32, e: u32| insert(
                    u64::from(a),
                    u64::from(b),
                    c & 255,
                    e & 255,
                    32
                ) as u32
            )
        }
        ("bfi", "b64") => lanewise!(u64 = |a: u64, b: u64, c: u32, e: u32| insert(a, b, c, e, 64)),
        ("bmsk", "clamp.b32") => lanewise!(u32 = |a: u32, b: u32| bit_mask(a, b)),
        ("bmsk", "wrap.b32") => lanewise!(u32 = |a: u32, b: u32| bit_mask(a & 31, b & 31)),
        ("szext", "clamp.u32") => lanewise!(u32 = |a: u32, b: u32| widen(a, b.min(32), false)),
        ("szext", "clamp.s32") => lanewise!(u32 = |a: u32, b: u32| widen(a, b.min(32), true)),
        ("szext", "wrap.u32") => lanewise!(u32 = |a: u32, b: u32| widen(a, b & 31, false)),
        ("szext", "wrap.s32") => lanewise!(u32 = |a: u32, b: u32| widen(a, b & 31, true)),
        ("fns", "b32") => lanewise!(u32 = |a: u32, b: u32, c: i32| nth_set(a, b, c)),
        ("prmt", _) => return permute(modifiers),
        ("lop3", "b32") => lanewise!(u32 = |a: u32, b: u32, c: u32, e: u32| lookup(a, b, c, e)),
        ("shf", "l.wrap.b32") => {
            lanewise!(u32 = |a: u32, b: u32, c: u32| funnel_left(a, b, c & 31))
        }
        ("shf", "l.clamp.b32") => {
            lanewise!(u32 = |a: u32, b: u32, c: u32| funnel_left(a, b, c.min(32)))
        }
        ("shf", "r.wrap.b32") => {
            lanewise!(u32 = |a: u32, b: u32, c: u32| funnel_right(a, b, c & 31))
        }
        ("shf", "r.clamp.b32") => {
            lanewise!(u32 = |a: u32, b: u32, c: u32| funnel_right(a, b, c.min(32)))
        }
        _ => return None,
    })
}

/// Shifts past the width give zero, or the sign.
fn shift(opcode: &str, modifiers: &str) -> Option<Operation> {
    Some(match (opcode, modifiers) {
        ("shl", "b16") => lanewise!(u16 = |a: u16, b: u32| if b < 16 { a << b } else { 0 }),
        ("shl", "b32") => lanewise!(u32 = |a: u32, b: u32| if b < 32 { a << (b & 31) } else { 0 }),
        ("shl", "b64") => lanewise!(u64 = |a: u64, b: u32| if b < 64 { a << (b & 63) } else { 0 }),
        ("shr", "b16" | "u16") => lanewise!(u16 = |a: u16, b: u32| if b < 16 { a >> b } else { 0 }),
        ("shr", "b32" | "u32") => {
            lanewise!(u32 = |a: u32, b: u32| if b < 32 { a >> (b & 31) } else { 0 })
        }
        ("shr", "b64" | "u64") => {
            lanewise!(u64 = |a: u64, b: u32| if b < 64 { a >> (b & 63) } else { 0 })
        }
        ("shr", "s16") => lanewise!(i16 = |a: i16, b: u32| a >> b.min(15)),
        ("shr", "s32") => lanewise!(i32 = |a: i32, b: u32| a >> b.min(31)),
        ("shr", "s64") => lanewise!(i64 = |a: i64, b: u32| a >> b.min(63)),
        _ => return None,
    })
}

/// Position of the most significant bit that differs from the sign, or with `shiftamt` the shift that brings it to
/// the top; all ones where there is none.
fn find(modifiers: &str) -> Option<Operation> {
    fn position(significant: u64, width: u32, shift: bool) -> u32 {
        if significant == 0 {
            return u32::MAX;
        }
        let position = 63 - significant.leading_zeros();
        if shift {
            width - 1 - position
        } else {
            position
        }
    }
    fn magnitude(value: i64) -> u64 {
        (value ^ value >> 63).cast_unsigned()
    }
    Some(match modifiers {
        "u32" | "b32" => lanewise!(u32 = |a: u32| position(u64::from(a), 32, false)),
        "shiftamt.u32" => lanewise!(u32 = |a: u32| position(u64::from(a), 32, true)),
        "s32" => lanewise!(u32 = |a: i32| position(magnitude(i64::from(a)), 32, false)),
        "shiftamt.s32" => lanewise!(u32 = |a: i32| position(magnitude(i64::from(a)), 32, true)),
        "u64" => lanewise!(u32 = |a: u64| position(a, 64, false)),
        "shiftamt.u64" => lanewise!(u32 = |a: u64| position(a, 64, true)),
        "s64" => lanewise!(u32 = |a: i64| position(magnitude(a), 64, false)),
        "shiftamt.s64" => lanewise!(u32 = |a: i64| position(magnitude(a), 64, true)),
        _ => return None,
    })
}

/// Bits `0..count` of a word set, for any count.
fn low_bits(count: u32) -> u64 {
    if count >= 64 {
        u64::MAX
    } else {
        (1 << count) - 1
    }
}

fn shifted(value: u64, by: u32) -> u64 {
    if by >= 64 { 0 } else { value >> by }
}

/// Position and length count whole; the 32-bit instructions take 8 bits of them, the 64-bit ones all 32, which the PTX
/// ISA does not tell apart. Bits past the top of `a` repeat the sign of the field, which is taken from within `a`.
fn extract(a: u64, position: u32, length: u32, width: u32, signed: bool) -> u64 {
    let present = length.min(width.saturating_sub(position));
    let field = shifted(a, position) & low_bits(present);
    let sign_at = position
        .saturating_add(length)
        .saturating_sub(1)
        .min(width - 1);
    let negative = signed && length > 0 && a >> sign_at & 1 == 1;
    let all = low_bits(width);
    if negative {
        (field | !low_bits(present)) & all
    } else {
        field
    }
}

fn insert(a: u64, into: u64, position: u32, length: u32, width: u32) -> u64 {
    let present = length.min(width.saturating_sub(position));
    if present == 0 {
        return into;
    }
    let field = low_bits(present) << position;
    into & !field | a << position & field
}

fn bit_mask(start: u32, width: u32) -> u32 {
    if start >= 32 {
        0
    } else {
        (low_bits(width.min(32)) << start) as u32
    }
}

/// The low `width` bits, up to 32, with zeros or the highest of them before.
fn widen(value: u32, width: u32, signed: bool) -> u32 {
    let low = low_bits(width) as u32;
    let negative = signed && width > 0 && value >> (width - 1) & 1 == 1;
    if negative { value | !low } else { value & low }
}

/// Position of the set bit number `offset`, counted from `base` on: up from 1, or down from -1. With 0 the bit at
/// `base` itself; all ones where there is none.
fn nth_set(mask: u32, base: u32, offset: i32) -> u32 {
    let is_set = |&at: &u32| at < 32 && mask >> at & 1 == 1;
    let nth = offset.unsigned_abs().saturating_sub(1) as usize;
    let found = match offset {
        0 => Some(base).filter(is_set),
        1.. => (base.min(32)..32).filter(is_set).nth(nth),
        _ => (0..=base.min(31)).rev().filter(is_set).nth(nth),
    };
    found.unwrap_or(u32::MAX)
}

/// `lut` bit `4a + 2b + c` is the result for those input bits.
fn lookup(a: u32, b: u32, c: u32, lut: u32) -> u32 {
    let mut out = 0;
    for row in 0..8 {
        let chosen = if lut >> row & 1 == 1 { u32::MAX } else { 0 };
        let a = if row & 4 != 0 { a } else { !a };
        let b = if row & 2 != 0 { b } else { !b };
        let c = if row & 1 != 0 { c } else { !c };
        out |= a & b & c & chosen;
    }
    out
}

/// `a` is the low word, `b` the high one.
fn funnel_left(a: u32, b: u32, by: u32) -> u32 {
    let pair = u64::from(b) << 32 | u64::from(a);
    (pair << by >> 32) as u32
}

fn funnel_right(a: u32, b: u32, by: u32) -> u32 {
    let pair = u64::from(b) << 32 | u64::from(a);
    (pair >> by) as u32
}

fn permute(modifiers: &str) -> Option<Operation> {
    /// Four selectors, lowest byte first; bit 3 of each repeats the byte's sign.
    fn pick(a: u32, b: u32, selectors: u32) -> u32 {
        let bytes = (u64::from(b) << 32 | u64::from(a)).to_le_bytes();
        let one = |index: u32| {
            let selector = selectors >> (4 * index) & 15;
            let byte = bytes[(selector & 7) as usize];
            if selector & 8 == 0 {
                byte
            } else {
                (byte.cast_signed() >> 7).cast_unsigned()
            }
        };
        u32::from_le_bytes([one(0), one(1), one(2), one(3)])
    }
    macro_rules! mode {
        ($table:expr) => {
            lanewise!(u32 = |a: u32, b: u32, c: u32| pick(a, b, $table[(c & 3) as usize]))
        };
    }
    Some(match modifiers {
        "b32" => lanewise!(u32 = |a: u32, b: u32, c: u32| pick(a, b, c)),
        "b32.f4e" => mode!([0x3210, 0x4321, 0x5432, 0x6543]),
        "b32.b4e" => mode!([0x5670, 0x6701, 0x7012, 0x0123]),
        "b32.rc8" => mode!([0x0000, 0x1111, 0x2222, 0x3333]),
        "b32.ecl" => mode!([0x3210, 0x3211, 0x3222, 0x3333]),
        "b32.ecr" => mode!([0x0000, 0x1110, 0x2210, 0x3210]),
        "b32.rc16" => mode!([0x1010, 0x3232, 0x1010, 0x3232]),
        _ => return None,
    })
}
