//! Integer arithmetic.

use super::super::lanes::{Operation, lanewise};

/// An operation for every integer type.
macro_rules! integers {
    ($ty:expr, |$($a:ident),+| $e:expr) => {
        match $ty {
            "u16" => lanewise!(u16 = |$($a: u16),+| $e),
            "s16" => lanewise!(i16 = |$($a: i16),+| $e),
            "u32" => lanewise!(u32 = |$($a: u32),+| $e),
            "s32" => lanewise!(i32 = |$($a: i32),+| $e),
            "u64" => lanewise!(u64 = |$($a: u64),+| $e),
            "s64" => lanewise!(i64 = |$($a: i64),+| $e),
            _ => return None,
        }
    };
}

macro_rules! signed {
    ($ty:expr, |$($a:ident),+| $e:expr) => {
        match $ty {
            "s16" => lanewise!(i16 = |$($a: i16),+| $e),
            "s32" => lanewise!(i32 = |$($a: i32),+| $e),
            "s64" => lanewise!(i64 = |$($a: i64),+| $e),
            _ => return None,
        }
    };
}

pub(super) fn select(opcode: &str, modifiers: &str) -> Option<Operation> {
    Some(match (opcode, modifiers) {
        ("add", "sat.s32") => lanewise!(i32 = |a: i32, b: i32| a.saturating_add(b)),
        ("sub", "sat.s32") => lanewise!(i32 = |a: i32, b: i32| a.saturating_sub(b)),
        ("add", ty) => integers!(ty, |a, b| a.wrapping_add(b)),
        ("sub", ty) => integers!(ty, |a, b| a.wrapping_sub(b)),
        ("div", ty) => integers!(ty, |a, b| if b == 0 { !0 } else { a.wrapping_div(b) }),
        ("rem", ty) => integers!(ty, |a, b| if b == 0 { !0 } else { a.wrapping_rem(b) }),
        ("min", ty) => integers!(ty, |a, b| a.min(b)),
        ("max", ty) => integers!(ty, |a, b| a.max(b)),
        ("abs", ty) => signed!(ty, |a| a.wrapping_abs()),
        ("neg", ty) => signed!(ty, |a| a.wrapping_neg()),
        ("mul", _) => return product(modifiers),
        ("mad", _) if !modifiers.contains("cc") => return product_sum(modifiers),
        ("mul24" | "mad24", _) => return product_24(opcode, modifiers),
        ("sad", "u32") => lanewise!(u32 = |a: u32, b: u32, c: u32| c.wrapping_add(a.abs_diff(b))),
        ("sad", "s32") => lanewise!(u32 = |a: i32, b: i32, c: u32| c.wrapping_add(a.abs_diff(b))),
        ("sad", "u64") => lanewise!(u64 = |a: u64, b: u64, c: u64| c.wrapping_add(a.abs_diff(b))),
        ("sad", "s64") => lanewise!(u64 = |a: i64, b: i64, c: u64| c.wrapping_add(a.abs_diff(b))),
        ("sad", "u16") => lanewise!(u16 = |a: u16, b: u16, c: u16| c.wrapping_add(a.abs_diff(b))),
        ("sad", "s16") => lanewise!(u16 = |a: i16, b: i16, c: u16| c.wrapping_add(a.abs_diff(b))),
        ("dp4a" | "dp2a", _) => return dot_product(opcode, modifiers),
        _ => return None,
    })
}

/// Products of 24-bit operands, 48 bits wide: `lo` is bits 0 to 31, `hi` bits 16 to 47.
fn product_24(opcode: &str, modifiers: &str) -> Option<Operation> {
    fn unsigned(a: u32, b: u32) -> u64 {
        u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff)
    }
    fn signed(a: i32, b: i32) -> i64 {
        i64::from(a << 8 >> 8) * i64::from(b << 8 >> 8)
    }
    Some(match (opcode, modifiers) {
        ("mul24", "lo.u32") => lanewise!(u32 = |a: u32, b: u32| unsigned(a, b) as u32),
        ("mul24", "lo.s32") => lanewise!(i32 = |a: i32, b: i32| signed(a, b) as i32),
        ("mul24", "hi.u32") => lanewise!(u32 = |a: u32, b: u32| (unsigned(a, b) >> 16) as u32),
        ("mul24", "hi.s32") => lanewise!(i32 = |a: i32, b: i32| (signed(a, b) >> 16) as i32),
        ("mad24", "lo.u32") => {
            lanewise!(u32 = |a: u32, b: u32, c: u32| (unsigned(a, b) as u32).wrapping_add(c))
        }
        ("mad24", "lo.s32") => {
            lanewise!(i32 = |a: i32, b: i32, c: i32| (signed(a, b) as i32).wrapping_add(c))
        }
        ("mad24", "hi.u32") => {
            lanewise!(
                u32 = |a: u32, b: u32, c: u32| ((unsigned(a, b) >> 16) as u32).wrapping_add(c)
            )
        }
        ("mad24", "hi.s32") => {
            lanewise!(i32 = |a: i32, b: i32, c: i32| ((signed(a, b) >> 16) as i32).wrapping_add(c))
        }
        ("mad24", "hi.sat.s32") => {
            lanewise!(
                i32 = |a: i32, b: i32, c: i32| ((signed(a, b) >> 16) as i32).saturating_add(c)
            )
        }
        _ => return None,
    })
}

/// Sums of products of small fields: of four bytes each, or of two halves of `a` and two bytes of `b`.
fn dot_product(opcode: &str, modifiers: &str) -> Option<Operation> {
    fn byte(word: u32, index: u32, signed: bool) -> i32 {
        let byte = (word >> (8 * index)) as u8;
        if signed {
            i32::from(byte.cast_signed())
        } else {
            i32::from(byte)
        }
    }
    fn half(word: u32, index: u32, signed: bool) -> i32 {
        let half = (word >> (16 * index)) as u16;
        if signed {
            i32::from(half.cast_signed())
        } else {
            i32::from(half)
        }
    }
    fn of_four(a: u32, b: u32, c: u32, signed: (bool, bool)) -> u32 {
        let product = |k| byte(a, k, signed.0).wrapping_mul(byte(b, k, signed.1));
        let sum = (0..4).map(product).fold(0, i32::wrapping_add);
        c.wrapping_add(sum.cast_unsigned())
    }
    fn of_two(a: u32, b: u32, c: u32, signed: (bool, bool), first: u32) -> u32 {
        let product = |k| half(a, k, signed.0).wrapping_mul(byte(b, first + k, signed.1));
        let sum = (0..2).map(product).fold(0, i32::wrapping_add);
        c.wrapping_add(sum.cast_unsigned())
    }
    macro_rules! types {
        ($ty:expr, |$a:ident, $b:ident, $c:ident, $signed:ident| $e:expr) => {
            match $ty {
                "u32.u32" => types!(@ false, false, $a, $b, $c, $signed, $e),
                "u32.s32" => types!(@ false, true, $a, $b, $c, $signed, $e),
                "s32.u32" => types!(@ true, false, $a, $b, $c, $signed, $e),
                "s32.s32" => types!(@ true, true, $a, $b, $c, $signed, $e),
                _ => return None,
            }
        };
        (@ $x:literal, $y:literal, $a:ident, $b:ident, $c:ident, $signed:ident, $e:expr) => {
            lanewise!(u32 = |$a: u32, $b: u32, $c: u32| {
                let $signed = ($x, $y);
                $e
            })
        };
    }
    Some(match (opcode, modifiers.split_once('.')?) {
        ("dp4a", _) => types!(modifiers, |a, b, c, signed| of_four(a, b, c, signed)),
        ("dp2a", ("lo", ty)) => types!(ty, |a, b, c, signed| of_two(a, b, c, signed, 0)),
        ("dp2a", ("hi", ty)) => types!(ty, |a, b, c, signed| of_two(a, b, c, signed, 2)),
        _ => return None,
    })
}

pub(super) fn high_u64(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

pub(super) fn high_i64(a: i64, b: i64) -> i64 {
    ((i128::from(a) * i128::from(b)) >> 64) as i64
}

pub(super) fn high_u32(a: u32, b: u32) -> u32 {
    ((u64::from(a) * u64::from(b)) >> 32) as u32
}

pub(super) fn high_i32(a: i32, b: i32) -> i32 {
    ((i64::from(a) * i64::from(b)) >> 32) as i32
}

fn product(modifiers: &str) -> Option<Operation> {
    Some(match modifiers {
        "wide.u16" => lanewise!(u32 = |a: u16, b: u16| u32::from(a) * u32::from(b)),
        "wide.s16" => lanewise!(i32 = |a: i16, b: i16| i32::from(a) * i32::from(b)),
        "wide.u32" => lanewise!(u64 = |a: u32, b: u32| u64::from(a) * u64::from(b)),
        "wide.s32" => lanewise!(i64 = |a: i32, b: i32| i64::from(a) * i64::from(b)),
        "hi.u16" => lanewise!(u16 = |a: u16, b: u16| ((u32::from(a) * u32::from(b)) >> 16) as u16),
        "hi.s16" => lanewise!(i16 = |a: i16, b: i16| ((i32::from(a) * i32::from(b)) >> 16) as i16),
        "hi.u32" => lanewise!(u32 = |a: u32, b: u32| high_u32(a, b)),
        "hi.s32" => lanewise!(i32 = |a: i32, b: i32| high_i32(a, b)),
        "hi.u64" => lanewise!(u64 = |a: u64, b: u64| high_u64(a, b)),
        "hi.s64" => lanewise!(i64 = |a: i64, b: i64| high_i64(a, b)),
        _ => integers!(modifiers.strip_prefix("lo.")?, |a, b| a.wrapping_mul(b)),
    })
}

fn product_sum(modifiers: &str) -> Option<Operation> {
    Some(match modifiers {
        "wide.u16" => {
            lanewise!(u32 = |a: u16, b: u16, c: u32| (u32::from(a) * u32::from(b)).wrapping_add(c))
        }
        "wide.s16" => {
            lanewise!(i32 = |a: i16, b: i16, c: i32| (i32::from(a) * i32::from(b)).wrapping_add(c))
        }
        "wide.u32" => {
            lanewise!(u64 = |a: u32, b: u32, c: u64| (u64::from(a) * u64::from(b)).wrapping_add(c))
        }
        "wide.s32" => {
            lanewise!(i64 = |a: i32, b: i32, c: i64| (i64::from(a) * i64::from(b)).wrapping_add(c))
        }
        "hi.u32" => lanewise!(u32 = |a: u32, b: u32, c: u32| high_u32(a, b).wrapping_add(c)),
        "hi.s32" => lanewise!(i32 = |a: i32, b: i32, c: i32| high_i32(a, b).wrapping_add(c)),
        "hi.sat.s32" => lanewise!(i32 = |a: i32, b: i32, c: i32| high_i32(a, b).saturating_add(c)),
        "hi.u64" => lanewise!(u64 = |a: u64, b: u64, c: u64| high_u64(a, b).wrapping_add(c)),
        "hi.s64" => lanewise!(i64 = |a: i64, b: i64, c: i64| high_i64(a, b).wrapping_add(c)),
        _ => integers!(modifiers.strip_prefix("lo.")?, |a, b, c| a
            .wrapping_mul(b)
            .wrapping_add(c)),
    })
}
