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
        ("mad", _) => return product_sum(modifiers),
        ("mul24", "lo.u32") => {
            lanewise!(u32 = |a: u32, b: u32| (a & 0xff_ffff).wrapping_mul(b & 0xff_ffff))
        }
        ("mul24", "lo.s32") => {
            lanewise!(i32 = |a: i32, b: i32| (a << 8 >> 8).wrapping_mul(b << 8 >> 8))
        }
        ("sad", "u32") => lanewise!(u32 = |a: u32, b: u32, c: u32| c.wrapping_add(a.abs_diff(b))),
        ("sad", "s32") => lanewise!(u32 = |a: i32, b: i32, c: u32| c.wrapping_add(a.abs_diff(b))),
        ("sad", "u64") => lanewise!(u64 = |a: u64, b: u64, c: u64| c.wrapping_add(a.abs_diff(b))),
        ("sad", "s64") => lanewise!(u64 = |a: i64, b: i64, c: u64| c.wrapping_add(a.abs_diff(b))),
        ("sad", "u16") => lanewise!(u16 = |a: u16, b: u16, c: u16| c.wrapping_add(a.abs_diff(b))),
        ("sad", "s16") => lanewise!(u16 = |a: i16, b: i16, c: u16| c.wrapping_add(a.abs_diff(b))),
        ("dp4a", "u32.u32") => {
            lanewise!(u32 = |a: u32, b: u32, c: u32| c.wrapping_add(dot_unsigned(a, b)))
        }
        ("dp4a", "s32.s32") => {
            lanewise!(i32 = |a: u32, b: u32, c: i32| c.wrapping_add(dot_signed(a, b)))
        }
        _ => return None,
    })
}

fn dot_unsigned(a: u32, b: u32) -> u32 {
    let pairs = a.to_le_bytes().into_iter().zip(b.to_le_bytes());
    pairs.map(|(a, b)| u32::from(a) * u32::from(b)).sum()
}

fn dot_signed(a: u32, b: u32) -> i32 {
    let pairs = a.to_le_bytes().into_iter().zip(b.to_le_bytes());
    pairs
        .map(|(a, b)| i32::from(a.cast_signed()) * i32::from(b.cast_signed()))
        .sum()
}

fn high_u64(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

fn high_i64(a: i64, b: i64) -> i64 {
    ((i128::from(a) * i128::from(b)) >> 64) as i64
}

fn high_u32(a: u32, b: u32) -> u32 {
    ((u64::from(a) * u64::from(b)) >> 32) as u32
}

fn high_i32(a: i32, b: i32) -> i32 {
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
