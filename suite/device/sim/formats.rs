//! Float formats that Rust has no type for: half precision, and single precision without subnormals.

use std::cmp::Ordering;

/// Single precision of `.ftz`: subnormals count as zero, read or written.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub struct Flushed(pub f32);

impl Flushed {
    #[inline(always)]
    pub fn from_bits(bits: u32) -> Self {
        Self(flushed(f32::from_bits(bits)))
    }

    #[inline(always)]
    pub fn to_bits(self) -> u32 {
        flushed(self.0).to_bits()
    }

    #[inline(always)]
    pub fn is_nan(self) -> bool {
        self.0.is_nan()
    }
}

#[inline(always)]
fn flushed(value: f32) -> f32 {
    if value.is_subnormal() {
        0.0_f32.copysign(value)
    } else {
        value
    }
}

/// `.f16`, held as the same value in single precision; rounded to nearest even when it is written.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub struct Half(pub f32);

/// The smallest normal number.
const HALF_NORMAL: f32 = 1.0 / 16384.0;
/// 2^24: one over the smallest subnormal number.
const HALF_STEPS: f32 = 16_777_216.0;
/// From here on values round to infinity.
const HALF_OVERFLOW: f32 = 65520.0;

impl Half {
    pub fn from_bits(bits: u32) -> Self {
        let (exponent, fraction) = (bits >> 10 & 31, bits & 0x3ff);
        let value = match exponent {
            0 => fraction as f32 / HALF_STEPS,
            31 => f32::from_bits(0x7f80_0000 | fraction << 13),
            _ => f32::from_bits((exponent + 112) << 23 | fraction << 13),
        };
        Self(if bits & 0x8000 == 0 { value } else { -value })
    }

    pub fn to_bits(self) -> u32 {
        let size = self.0.abs();
        let bits = size.to_bits();
        let sign = self.0.to_bits() >> 16 & 0x8000;
        if size.is_nan() {
            0x7fff
        } else if size >= HALF_OVERFLOW {
            sign | 0x7c00
        } else if size < HALF_NORMAL {
            sign | (size * HALF_STEPS).round_ties_even() as u32
        } else {
            let rounded = (bits + 0xfff + (bits >> 13 & 1)) >> 13;
            sign | (rounded - (112 << 10))
        }
    }

    /// Rounded once.
    pub fn from_f64(value: f64) -> Self {
        Self(narrowed_to_odd(value))
    }

    #[inline(always)]
    pub fn is_nan(self) -> bool {
        self.0.is_nan()
    }
}

/// How a result that is not exact is rounded to one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Zero,
    Down,
    Up,
}

/// The sum rounded to odd: exact, or the neighbour whose last bit is 1. Rounding it again to a format of at most half
/// as many bits gives what rounding the exact sum would (Boldo and Melquiond, "Emulation of a FMA and correctly
/// rounded sums: proved algorithms using rounding to odd", 2008). An exact zero of opposite terms is negative when
/// rounding down.
pub fn sum_to_odd(a: f64, b: f64, side: Option<Side>) -> f64 {
    let sum = a + b;
    if sum == 0.0 && side == Some(Side::Down) && (a.is_sign_negative() || b.is_sign_negative()) {
        return -0.0;
    }
    // Knuth's two-sum: the error of an addition, exactly.
    let part = sum - a;
    let error = (a - (sum - part)) + (b - part);
    if !sum.is_finite() || error == 0.0 || sum.to_bits() & 1 == 1 {
        return sum;
    }
    if error > 0.0 {
        sum.next_up()
    } else {
        sum.next_down()
    }
}

/// A double in single precision, rounded to one side.
pub fn narrowed(value: f64, side: Side) -> f32 {
    let nearest = value as f32;
    let down = side == Side::Down || side == Side::Zero && nearest > 0.0;
    let up = side == Side::Up || side == Side::Zero && nearest < 0.0;
    match f64::from(nearest).partial_cmp(&value) {
        Some(Ordering::Greater) if down => nearest.next_down(),
        Some(Ordering::Less) if up => nearest.next_up(),
        _ => nearest,
    }
}

/// What `.ftz` makes of an exact result and of the single it was rounded to. Subnormal is what lies below the least
/// normal number once rounded as if exponents had no end (IEEE 754, tininess after rounding), so that a result which
/// only the coarse steps of subnormals carried up to that number is zero too.
#[inline(always)]
pub fn flushed_result(rounded: f32, side: Option<Side>, exact: impl FnOnce() -> f64) -> f32 {
    if rounded.abs() == f32::MIN_POSITIVE && is_tiny(exact(), side) {
        0.0_f32.copysign(rounded)
    } else {
        rounded
    }
}

#[cold]
fn is_tiny(exact: f64, side: Option<Side>) -> bool {
    /// Brings the numbers in question up to about 1.
    const SCALE: f64 = f64::from_bits((1023 + 126) << 52);
    let scaled = exact * SCALE;
    let rounded = side.map_or(scaled as f32, |side| narrowed(scaled, side));
    rounded.abs() < 1.0
}

/// A double in single precision, rounded to odd.
pub fn narrowed_to_odd(value: f64) -> f32 {
    let below = narrowed(value, Side::Zero);
    let exact = value.is_nan() || f64::from(below) == value;
    f32::from_bits(below.to_bits() | u32::from(!exact))
}
