//! `cvt`: between integer widths, between floats, and across.

use std::cmp::Ordering;

use super::super::formats::{Flushed, Half, Side, flushed_result, narrowed};
use super::super::lanes::{Operation, lanewise};
use super::float::{Canonical, quiet, unit};

/// Dispatches a source type name.
macro_rules! from_integer {
    ($d:ty, $from:expr) => {
        match $from {
            "u8" => lanewise!($d = |a: u8| a as $d),
            "s8" => lanewise!($d = |a: i8| a as $d),
            "u16" => lanewise!($d = |a: u16| a as $d),
            "s16" => lanewise!($d = |a: i16| a as $d),
            "u32" => lanewise!($d = |a: u32| a as $d),
            "s32" => lanewise!($d = |a: i32| a as $d),
            "u64" => lanewise!($d = |a: u64| a as $d),
            "s64" => lanewise!($d = |a: i64| a as $d),
            _ => return None,
        }
    };
}

/// As `from_integer`, of the low part of a 64-bit register: `cvt` takes sources wider than their type.
macro_rules! from_low_part {
    ($d:ty, $from:expr) => {
        match $from {
            "u8" => lanewise!($d = |a: u64| a as u8 as $d),
            "s8" => lanewise!($d = |a: u64| a as i8 as $d),
            "u16" => lanewise!($d = |a: u64| a as u16 as $d),
            "s16" => lanewise!($d = |a: u64| a as i16 as $d),
            "u32" => lanewise!($d = |a: u64| a as u32 as $d),
            "s32" => lanewise!($d = |a: u64| a as i32 as $d),
            _ => return None,
        }
    };
}

/// Float to integer: a cast saturates as the hardware does. A NaN gives 0 only from single precision to at most 32
/// bits, else the top bit alone.
macro_rules! from_float {
    ($d:ty, $rounding:expr, $from:expr) => {
        match ($rounding, $from) {
            ("rzi", "f32") => lanewise!($d = |a: f32| whole!($d, f32, a)),
            ("rzi", "f64") => lanewise!($d = |a: f64| whole!($d, f64, a)),
            ("rni", "f32") => lanewise!($d = |a: f32| whole!($d, f32, a.round_ties_even())),
            ("rni", "f64") => lanewise!($d = |a: f64| whole!($d, f64, a.round_ties_even())),
            ("rmi", "f32") => lanewise!($d = |a: f32| whole!($d, f32, a.floor())),
            ("rmi", "f64") => lanewise!($d = |a: f64| whole!($d, f64, a.floor())),
            ("rpi", "f32") => lanewise!($d = |a: f32| whole!($d, f32, a.ceil())),
            ("rzi", "ftz.f32") => lanewise!($d = |a: Flushed| whole!($d, f32, a.0)),
            ("rni", "ftz.f32") => {
                lanewise!($d = |a: Flushed| whole!($d, f32, a.0.round_ties_even()))
            }
            ("rmi", "ftz.f32") => lanewise!($d = |a: Flushed| whole!($d, f32, a.0.floor())),
            ("rpi", "ftz.f32") => lanewise!($d = |a: Flushed| whole!($d, f32, a.0.ceil())),
            ("rzi", "f16") => lanewise!($d = |a: Half| whole!($d, f32, a.0)),
            ("rni", "f16") => lanewise!($d = |a: Half| whole!($d, f32, a.0.round_ties_even())),
            ("rmi", "f16") => lanewise!($d = |a: Half| whole!($d, f32, a.0.floor())),
            ("rpi", "f16") => lanewise!($d = |a: Half| whole!($d, f32, a.0.ceil())),
            ("rpi", "f64") => lanewise!($d = |a: f64| whole!($d, f64, a.ceil())),
            _ => return None,
        }
    };
}

macro_rules! whole {
    ($d:ty, $from:ty, $value:expr) => {{
        let value: $from = $value;
        let top_bit = size_of::<$from>() == 8 || size_of::<$d>() == 8;
        if value.is_nan() && top_bit {
            1 << (<$d>::BITS - 1)
        } else {
            value as $d
        }
    }};
}

macro_rules! saturated {
    ($d:ty, $from:expr) => {
        match $from {
            "u8" => lanewise!(
                $d = |a: u8| clamp(i128::from(a), <$d>::MIN.into(), <$d>::MAX.into()) as $d
            ),
            "s8" => lanewise!(
                $d = |a: i8| clamp(i128::from(a), <$d>::MIN.into(), <$d>::MAX.into()) as $d
            ),
            "u16" => lanewise!(
                $d = |a: u16| clamp(i128::from(a), <$d>::MIN.into(), <$d>::MAX.into()) as $d
            ),
            "s16" => lanewise!(
                $d = |a: i16| clamp(i128::from(a), <$d>::MIN.into(), <$d>::MAX.into()) as $d
            ),
            "u32" => lanewise!(
                $d = |a: u32| clamp(i128::from(a), <$d>::MIN.into(), <$d>::MAX.into()) as $d
            ),
            "s32" => lanewise!(
                $d = |a: i32| clamp(i128::from(a), <$d>::MIN.into(), <$d>::MAX.into()) as $d
            ),
            "u64" => lanewise!(
                $d = |a: u64| clamp(i128::from(a), <$d>::MIN.into(), <$d>::MAX.into()) as $d
            ),
            "s64" => lanewise!(
                $d = |a: i64| clamp(i128::from(a), <$d>::MIN.into(), <$d>::MAX.into()) as $d
            ),
            _ => return None,
        }
    };
}

fn clamp(value: i128, low: i128, high: i128) -> i128 {
    value.clamp(low, high)
}

macro_rules! to_integer {
    ($to:expr, $with:ident $(, $more:expr)*) => {
        match $to {
            "u8" => $with!(u8 $(, $more)*),
            "s8" => $with!(i8 $(, $more)*),
            "u16" => $with!(u16 $(, $more)*),
            "s16" => $with!(i16 $(, $more)*),
            "u32" => $with!(u32 $(, $more)*),
            "s32" => $with!(i32 $(, $more)*),
            "u64" => $with!(u64 $(, $more)*),
            "s64" => $with!(i64 $(, $more)*),
            _ => return None,
        }
    };
}

/// The value that was rounded to nearest, on the side a rounding mode wants: `above` says how the nearest lies to the
/// exact one.
macro_rules! settle {
    ($mode:expr, $nearest:expr, $above:expr) => {{
        let (nearest, above) = ($nearest, $above);
        let toward_zero = $mode == "rz";
        let down = $mode == "rm" || toward_zero && nearest > 0.0;
        let up = $mode == "rp" || toward_zero && nearest < 0.0;
        match above {
            Some(Ordering::Greater) if down => nearest.next_down(),
            Some(Ordering::Less) if up => nearest.next_up(),
            _ => nearest,
        }
    }};
}

/// Integers to floats, rounded to one side. Both values are whole, and the float fits `i128`.
macro_rules! directed {
    ($mode:expr, $d:ty, $from:expr) => {
        match $mode {
            "rz" => directed!(@ "rz", $d, $from),
            "rm" => directed!(@ "rm", $d, $from),
            _ => directed!(@ "rp", $d, $from),
        }
    };
    (@ $mode:literal, $d:ty, $from:expr) => {
        match $from {
            "u8" => directed!(@ $mode, $d => u8),
            "s8" => directed!(@ $mode, $d => i8),
            "u16" => directed!(@ $mode, $d => u16),
            "s16" => directed!(@ $mode, $d => i16),
            "u32" => directed!(@ $mode, $d => u32),
            "s32" => directed!(@ $mode, $d => i32),
            "u64" => directed!(@ $mode, $d => u64),
            "s64" => directed!(@ $mode, $d => i64),
            _ => return None,
        }
    };
    (@ $mode:literal, $d:ty => $lane:ty) => {
        lanewise!(
            $d = |a: $lane| {
                let nearest = a as $d;
                settle!($mode, nearest, Some((nearest as i128).cmp(&i128::from(a))))
            }
        )
    };
}

/// Of a NaN the sign and what fits of the payload stay.
fn single(value: f64, side: Option<Side>) -> f32 {
    if value.is_nan() {
        let bits = value.to_bits();
        let (sign, payload) = (
            (bits >> 32) as u32 & 0x8000_0000,
            (bits >> 29) as u32 & 0x3f_ffff,
        );
        return f32::from_bits(sign | 0x7fc0_0000 | payload);
    }
    match side {
        Some(side) => narrowed(value, side),
        None => value as f32,
    }
}

/// The bits of a double in half precision; of a NaN the sign and what fits of the payload stay.
fn half(value: f64) -> u16 {
    if value.is_nan() {
        let bits = value.to_bits();
        let (sign, payload) = ((bits >> 48) as u16 & 0x8000, (bits >> 42) as u16 & 0x1ff);
        return sign | 0x7e00 | payload;
    }
    Half::from_f64(value).to_bits() as u16
}

/// Doubles to single precision, rounded to one side.
fn to_side(rounding: &str) -> Option<Operation> {
    Some(match rounding {
        "rz" => lanewise!(f32 = |a: f64| single(a, Some(Side::Zero))),
        "rm" => lanewise!(f32 = |a: f64| single(a, Some(Side::Down))),
        _ => lanewise!(f32 = |a: f64| single(a, Some(Side::Up))),
    })
}

/// The same, to nearest too, and subnormals as zero.
fn to_flushed(rounding: &str) -> Option<Operation> {
    macro_rules! to {
        ($side:expr) => {
            lanewise!(Flushed = |a: f64| Flushed(flushed_result(single(a, $side), $side, || a)))
        };
    }
    Some(match rounding {
        "rn" => to!(None),
        "rz" => to!(Some(Side::Zero)),
        "rm" => to!(Some(Side::Down)),
        "rp" => to!(Some(Side::Up)),
        _ => return None,
    })
}

pub(super) fn select(modifiers: &str) -> Option<Operation> {
    let parts: Vec<&str> = modifiers.split('.').collect();
    Some(match parts[..] {
        ["rn", "f32", "f64"] => lanewise!(f32 = |a: f64| single(a, None)),
        ["f64", "f32"] => lanewise!(f64 = |a: f32| f64::from(a)),
        ["rn", "f32", from] => from_integer!(f32, from),
        ["rn", "f64", from] => from_integer!(f64, from),
        // Every 32-bit integer is a double, so compilers leave the rounding out there in older versions.
        ["sat", "f32", "f32"] => lanewise!(f32 = |a: f32| unit(a)),
        ["sat", "f64", "f64"] => lanewise!(f64 = |a: f64| unit(a)),
        ["rn", "sat", "f32", "f64"] => lanewise!(f32 = |a: f64| unit(a as f32)),
        [rounding @ ("rz" | "rm" | "rp"), "f32", "f64"] => return to_side(rounding),
        [rounding @ ("rz" | "rm" | "rp"), "f32", from] => directed!(rounding, f32, from),
        [rounding @ ("rz" | "rm" | "rp"), "f64", from] => directed!(rounding, f64, from),
        [rounding, "f32", "f32"] => return round_f32(rounding),
        [rounding, "f64", "f64"] => return round_f64(rounding),
        ["f32", "f16"] => lanewise!(f32 = |a: Half| a.0.canonical()),
        ["f64", "f16"] => lanewise!(f64 = |a: Half| f64::from(a.0)),
        ["rn", "f16", "f32"] => lanewise!(Half = |a: f32| Half(a)),
        ["rn", "f16", "f64"] => lanewise!(u16 = |a: f64| half(a)),
        ["rn", "f16", from] => return half_from_integer(from),
        ["ftz", "f64", "f32"] => lanewise!(f64 = |a: Flushed| f64::from(a.0.canonical())),
        [rounding, "ftz", "f32", "f64"] => return to_flushed(rounding),
        ["ftz", "sat", "f32", "f32"] => lanewise!(Flushed = |a: Flushed| Flushed(unit(a.0))),
        [rounding, "ftz", "f32", "f32"] => return round_flushed(rounding),
        [rounding, "ftz", to, "f32"] | [rounding, "ftz", "sat", to, "f32"] => {
            to_integer!(to, from_float, rounding, "ftz.f32")
        }
        ["sat", to, from] => to_integer!(to, saturated, from),
        // Out of a float every integer saturates anyway.
        [rounding, "sat", to, from @ ("f32" | "f64" | "f16")] => {
            to_integer!(to, from_float, rounding, from)
        }
        [rounding, to, from @ ("f32" | "f64" | "f16")] => {
            to_integer!(to, from_float, rounding, from)
        }
        [to, from] => to_integer!(to, from_integer, from),
        _ => return None,
    })
}

/// `cvt` between integers whose source register has 64 bits where its type has fewer.
pub(super) fn select_low_part(modifiers: &str) -> Option<Operation> {
    let (to, from) = modifiers.split_once('.')?;
    Some(to_integer!(to, from_low_part, from))
}

fn round_f32(rounding: &str) -> Option<Operation> {
    Some(match rounding {
        "rni" => lanewise!(f32 = |a: f32| a.round_ties_even().canonical()),
        "rzi" => lanewise!(f32 = |a: f32| a.trunc().canonical()),
        "rmi" => lanewise!(f32 = |a: f32| a.floor().canonical()),
        "rpi" => lanewise!(f32 = |a: f32| a.ceil().canonical()),
        _ => return None,
    })
}

fn round_f64(rounding: &str) -> Option<Operation> {
    Some(match rounding {
        "rni" => lanewise!(f64 = |a: f64| quiet(a.round_ties_even())),
        "rzi" => lanewise!(f64 = |a: f64| quiet(a.trunc())),
        "rmi" => lanewise!(f64 = |a: f64| quiet(a.floor())),
        "rpi" => lanewise!(f64 = |a: f64| quiet(a.ceil())),
        _ => return None,
    })
}

fn round_flushed(rounding: &str) -> Option<Operation> {
    Some(match rounding {
        "rni" => {
            lanewise!(Flushed = |a: Flushed| Flushed(a.0.round_ties_even().canonical()))
        }
        "rzi" => lanewise!(Flushed = |a: Flushed| Flushed(a.0.trunc().canonical())),
        "rmi" => lanewise!(Flushed = |a: Flushed| Flushed(a.0.floor().canonical())),
        "rpi" => lanewise!(Flushed = |a: Flushed| Flushed(a.0.ceil().canonical())),
        _ => return None,
    })
}

/// Integers too large for a double are far beyond half precision.
fn half_from_integer(from: &str) -> Option<Operation> {
    macro_rules! half {
        ($t:ty) => {
            lanewise!(Half = |a: $t| Half::from_f64(a as f64))
        };
    }
    Some(match from {
        "u8" => half!(u8),
        "s8" => half!(i8),
        "u16" => half!(u16),
        "s16" => half!(i16),
        "u32" => half!(u32),
        "s32" => half!(i32),
        "u64" => half!(u64),
        "s64" => half!(i64),
        _ => return None,
    })
}
