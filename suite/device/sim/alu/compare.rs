//! Comparisons of `setp`.

use super::super::formats::{Flushed, Half};
use super::super::lanes::{Comparison, comparison};

macro_rules! by_name {
    ($t:ty, $name:expr) => {
        match $name {
            "eq" => comparison!($t, |a, b| a == b),
            "ne" => comparison!($t, |a, b| a != b),
            "lt" => comparison!($t, |a, b| a < b),
            "le" => comparison!($t, |a, b| a <= b),
            "gt" => comparison!($t, |a, b| a > b),
            "ge" => comparison!($t, |a, b| a >= b),
            _ => return None,
        }
    };
}

/// Floats: ordered comparisons are false with a NaN, `…u` ones true.
macro_rules! floats {
    ($t:ty, $name:expr) => {
        match $name {
            "ne" => comparison!($t, |a, b| a != b && !a.is_nan() && !b.is_nan()),
            "equ" => comparison!($t, |a, b| a == b || a.is_nan() || b.is_nan()),
            "neu" => comparison!($t, |a, b| a != b),
            "ltu" => comparison!($t, |a, b| a < b || a.is_nan() || b.is_nan()),
            "leu" => comparison!($t, |a, b| a <= b || a.is_nan() || b.is_nan()),
            "gtu" => comparison!($t, |a, b| a > b || a.is_nan() || b.is_nan()),
            "geu" => comparison!($t, |a, b| a >= b || a.is_nan() || b.is_nan()),
            "num" => comparison!($t, |a, b| !a.is_nan() && !b.is_nan()),
            "nan" => comparison!($t, |a, b| a.is_nan() || b.is_nan()),
            name => by_name!($t, name),
        }
    };
}

pub(super) fn select(name: &str, ty: &str) -> Option<Comparison> {
    // `lo ls hi hs` are the unsigned names of `lt le gt ge`.
    let unsigned = match name {
        "lo" => "lt",
        "ls" => "le",
        "hi" => "gt",
        "hs" => "ge",
        other => other,
    };
    Some(match ty {
        "u16" => by_name!(u16, unsigned),
        "u32" => by_name!(u32, unsigned),
        "u64" => by_name!(u64, unsigned),
        "s16" => by_name!(i16, name),
        "s32" => by_name!(i32, name),
        "s64" => by_name!(i64, name),
        "b16" if matches!(name, "eq" | "ne") => by_name!(u16, name),
        "b32" if matches!(name, "eq" | "ne") => by_name!(u32, name),
        "b64" if matches!(name, "eq" | "ne") => by_name!(u64, name),
        "f32" => floats!(f32, name),
        "f64" => floats!(f64, name),
        "ftz.f32" => floats!(Flushed, name),
        "f16" => floats!(Half, name),
        _ => return None,
    })
}
