//! Floating point: IEEE arithmetic rounded to nearest even. Approximate instructions are left unknown, because no
//! formula gives a GPU's bits.

use super::super::lanes::{Operation, lanewise};

/// A GPU's single-precision results carry no NaN payload.
trait Canonical {
    fn canonical(self) -> Self;
}

impl Canonical for f32 {
    #[inline(always)]
    fn canonical(self) -> Self {
        if self.is_nan() {
            f32::from_bits(0x7fff_ffff)
        } else {
            self
        }
    }
}

impl Canonical for f64 {
    #[inline(always)]
    fn canonical(self) -> Self {
        self
    }
}

macro_rules! floats {
    ($ty:expr, |$($a:ident),+| $e:expr) => {
        match $ty {
            "f32" => lanewise!(f32 = |$($a: f32),+| $e),
            "f64" => lanewise!(f64 = |$($a: f64),+| $e),
            _ => return None,
        }
    };
}

/// A NaN gives way to a number, and −0 is less than +0.
macro_rules! extreme {
    ($ty:expr, $first:ident, $negative_wins:expr) => {
        floats!($ty, |a, b| {
            let chosen = if a.is_nan() {
                b
            } else if b.is_nan() || a.$first(&b) {
                a
            } else if a == b && a.is_sign_negative() == $negative_wins {
                a
            } else {
                b
            };
            chosen.canonical()
        })
    };
}

pub(super) fn select(opcode: &str, modifiers: &str) -> Option<Operation> {
    // Rounding to nearest even is the default of add, sub and mul; fma, div, rcp and sqrt must say it.
    let rounded = modifiers.strip_prefix("rn.");
    let any = rounded.unwrap_or(modifiers);
    Some(match opcode {
        "add" => floats!(any, |a, b| (a + b).canonical()),
        "sub" => floats!(any, |a, b| (a - b).canonical()),
        "mul" => floats!(any, |a, b| (a * b).canonical()),
        "fma" | "mad" => floats!(rounded?, |a, b, c| a.mul_add(b, c).canonical()),
        "div" => floats!(rounded?, |a, b| (a / b).canonical()),
        "rcp" => floats!(rounded?, |a| (1.0 / a).canonical()),
        "sqrt" => floats!(rounded?, |a| a.sqrt().canonical()),
        "neg" => floats!(modifiers, |a| -a),
        "abs" => floats!(modifiers, |a| a.abs()),
        "min" => extreme!(modifiers, lt, true),
        "max" => extreme!(modifiers, gt, false),
        "copysign" => floats!(modifiers, |a, b| b.copysign(a)),
        "testp" => return None,
        _ => return None,
    })
}
