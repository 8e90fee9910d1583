//! Floating point as IEEE 754 has it, rounded to nearest even or, in single precision, to one side. Approximate
//! instructions are left unknown, because no formula gives a GPU's bits.

use super::super::formats::{Flushed, Half, Side, flushed_result, narrowed, sum_to_odd};
use super::super::lanes::{Comparison, Operation, comparison, lanewise};

/// A GPU's single-precision results carry no NaN payload.
pub(super) trait Canonical {
    fn canonical(self) -> Self;
}

impl Canonical for f32 {
    /// On the bits: of two floats that are both NaN the optimiser may take either.
    #[inline(always)]
    fn canonical(self) -> Self {
        let bits = self.to_bits();
        f32::from_bits(if bits & 0x7fff_ffff > 0x7f80_0000 {
            0x7fff_ffff
        } else {
            bits
        })
    }
}

impl Canonical for f64 {
    #[inline(always)]
    fn canonical(self) -> Self {
        self
    }
}

/// A double as arithmetic hands it on: a NaN becomes quiet, and keeps its sign and payload.
#[inline(always)]
pub(super) fn quiet(value: f64) -> f64 {
    let bits = value.to_bits();
    f64::from_bits(
        if bits & i64::MAX.cast_unsigned() > f64::INFINITY.to_bits() {
            bits | 1 << 51
        } else {
            bits
        },
    )
}

/// Within 0 and 1; a NaN gives +0.
pub(super) fn unit<T: PartialOrd + Default + From<u8>>(value: T) -> T {
    let (zero, one) = (T::default(), T::from(1));
    if value > one {
        one
    } else if value > zero {
        value
    } else {
        zero
    }
}

/// An operation for each way to write single and double precision. Where a result can be subnormal and not exact, a
/// second expression gives it in double precision: exact, or rounded to odd or so that single precision is the same.
macro_rules! floats {
    ($ty:expr, |$($a:ident),+| $e:expr) => {
        floats!($ty, |$($a),+| $e, f64::from($e))
    };
    ($ty:expr, |$($a:ident),+| $e:expr, $exact:expr) => {
        match $ty {
            "f32" => lanewise!(f32 = |$($a: f32),+| ($e).canonical()),
            "f64" => lanewise!(f64 = |$($a: f64),+| $e),
            "sat.f32" => lanewise!(f32 = |$($a: f32),+| unit($e)),
            "ftz.f32" => lanewise!(Flushed = |$($a: Flushed),+| {
                $(let $a = $a.0;)+
                Flushed(flushed_result($e, None, || $exact).canonical())
            }),
            "ftz.sat.f32" => lanewise!(Flushed = |$($a: Flushed),+| {
                $(let $a = $a.0;)+
                Flushed(unit(flushed_result($e, None, || $exact)))
            }),
            _ => return None,
        }
    };
}

/// Half precision, one number or two in a word. Single precision has more than twice as many bits, so rounding its
/// sums and products once more gives what rounding them once would.
macro_rules! halves {
    ($ty:expr, |$($a:ident),+| $e:expr) => {
        match $ty {
            "f16" => lanewise!(Half = |$($a: Half),+| {
                $(let $a = $a.0;)+
                Half($e)
            }),
            "f16x2" => lanewise!(u32 = |$($a: u32),+| {
                let low = {
                    $(let $a = Half::from_bits($a & 0xffff).0;)+
                    Half($e)
                };
                let high = {
                    $(let $a = Half::from_bits($a >> 16).0;)+
                    Half($e)
                };
                high.to_bits() << 16 | low.to_bits()
            }),
            _ => return None,
        }
    };
}

/// A NaN gives way to a number, and −0 is less than +0.
macro_rules! extreme {
    ($ty:expr, $first:ident, $negative_wins:expr) => {
        floats!($ty, |a, b| {
            if a.is_nan() {
                b
            } else if b.is_nan() || a.$first(&b) {
                a
            } else if a == b && a.is_sign_negative() == $negative_wins {
                a
            } else {
                b
            }
        })
    };
}

/// Single precision rounded to one side; the expression gives a double that is exact or rounded to odd.
macro_rules! directed {
    ($ty:expr, $side:expr, |$($a:ident),+| $e:expr) => {
        match $ty {
            "f32" => lanewise!(f32 = |$($a: f32),+| {
                $(let $a = f64::from($a);)+
                narrowed($e, $side).canonical()
            }),
            "ftz.f32" => lanewise!(Flushed = |$($a: Flushed),+| {
                $(let $a = f64::from($a.0);)+
                let exact = $e;
                let rounded = narrowed(exact, $side);
                Flushed(flushed_result(rounded, Some($side), || exact).canonical())
            }),
            _ => return None,
        }
    };
}

macro_rules! to_side {
    ($opcode:expr, $ty:expr, $side:expr) => {
        match $opcode {
            "add" => directed!($ty, $side, |a, b| sum_to_odd(a, b, Some($side))),
            "sub" => directed!($ty, $side, |a, b| sum_to_odd(a, -b, Some($side))),
            "mul" => directed!($ty, $side, |a, b| a * b),
            "fma" | "mad" => directed!($ty, $side, |a, b, c| sum_to_odd(a * b, c, Some($side))),
            // A quotient or root of singles that is no single differs from all of them by more than a double rounds.
            "div" => directed!($ty, $side, |a, b| a / b),
            "rcp" => directed!($ty, $side, |a| 1.0 / a),
            "sqrt" => directed!($ty, $side, |a| a.sqrt()),
            _ => return None,
        }
    };
}

pub(super) fn select(opcode: &str, modifiers: &str) -> Option<Operation> {
    match modifiers.split_once('.') {
        Some(("rz", ty)) => return Some(to_side!(opcode, ty, Side::Zero)),
        Some(("rm", ty)) => return Some(to_side!(opcode, ty, Side::Down)),
        Some(("rp", ty)) => return Some(to_side!(opcode, ty, Side::Up)),
        _ => {}
    }
    // Rounding to nearest even is the default of add, sub and mul; fma, div, rcp and sqrt must say it.
    let rounded = modifiers.strip_prefix("rn.");
    let any = rounded.unwrap_or(modifiers);
    if any.ends_with("f16") || any.ends_with("f16x2") {
        return half(opcode, any);
    }
    Some(match opcode {
        "add" => floats!(any, |a, b| a + b),
        "sub" => floats!(any, |a, b| a - b),
        "mul" => floats!(any, |a, b| a * b, f64::from(a) * f64::from(b)),
        "fma" | "mad" => floats!(
            rounded?,
            |a, b, c| a.mul_add(b, c),
            sum_to_odd(f64::from(a) * f64::from(b), f64::from(c), None)
        ),
        "div" => floats!(rounded?, |a, b| a / b, f64::from(a) / f64::from(b)),
        "rcp" => floats!(rounded?, |a| 1.0 / a, 1.0 / f64::from(a)),
        "sqrt" => floats!(rounded?, |a| a.sqrt()),
        "min" => extreme!(modifiers, lt, true),
        "max" => extreme!(modifiers, gt, false),
        _ => return sign(opcode, modifiers),
    })
}

/// What only touches the sign. `neg` and `abs` are arithmetic: a NaN comes out as out of a sum, its sign untouched.
fn sign(opcode: &str, modifiers: &str) -> Option<Operation> {
    Some(match (opcode, modifiers) {
        ("neg", "f32") => lanewise!(f32 = |a: f32| (-a).canonical()),
        ("neg", "f64") => lanewise!(f64 = |a: f64| if a.is_nan() { quiet(a) } else { -a }),
        ("neg", "ftz.f32") => lanewise!(Flushed = |a: Flushed| Flushed((-a.0).canonical())),
        ("abs", "f32") => lanewise!(f32 = |a: f32| a.abs().canonical()),
        ("abs", "f64") => lanewise!(f64 = |a: f64| if a.is_nan() { quiet(a) } else { a.abs() }),
        ("abs", "ftz.f32") => lanewise!(Flushed = |a: Flushed| Flushed(a.0.abs().canonical())),
        ("copysign", "f32") => lanewise!(f32 = |a: f32, b: f32| b.copysign(a)),
        ("copysign", "f64") => lanewise!(f64 = |a: f64, b: f64| b.copysign(a)),
        _ => return None,
    })
}

fn half(opcode: &str, ty: &str) -> Option<Operation> {
    Some(match (opcode, ty) {
        ("add", _) => halves!(ty, |a, b| a + b),
        ("sub", _) => halves!(ty, |a, b| a - b),
        ("mul", _) => halves!(ty, |a, b| a * b),
        ("fma", _) => halves!(ty, |a, b, c| {
            let exact = f64::from(a) * f64::from(b);
            Half::from_f64(sum_to_odd(exact, f64::from(c), None)).0
        }),
        ("neg", _) => halves!(ty, |a| -a),
        ("abs", _) => halves!(ty, |a| a.abs()),
        _ => return None,
    })
}

/// `testp`: what kind of number the first operand is; the second is not used.
pub(super) fn kind(modifiers: &str) -> Option<Comparison> {
    macro_rules! kinds {
        ($t:ty, $name:expr) => {
            match $name {
                "finite" => comparison!($t, |a, _b| a.is_finite()),
                "infinite" => comparison!($t, |a, _b| a.is_infinite()),
                "number" => comparison!($t, |a, _b| !a.is_nan()),
                "notanumber" => comparison!($t, |a, _b| a.is_nan()),
                // A zero counts as normal.
                "normal" => comparison!($t, |a, _b| a.is_normal() || a == 0.0),
                "subnormal" => comparison!($t, |a, _b| a.is_subnormal()),
                _ => return None,
            }
        };
    }
    let (name, ty) = modifiers.split_once('.')?;
    Some(match ty {
        "f32" => kinds!(f32, name),
        "f64" => kinds!(f64, name),
        _ => return None,
    })
}
