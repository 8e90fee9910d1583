//! Video instructions: the same on each byte or half of a word. Of these compilers write absolute differences.

use super::super::lanes::{Operation, lanewise};

/// Field number `at`, of `bits` bits.
fn field(word: u32, at: u32, bits: u32, signed: bool) -> i32 {
    let top = word << (32 - bits * (at + 1));
    if signed {
        top.cast_signed() >> (32 - bits)
    } else {
        (top >> (32 - bits)).cast_signed()
    }
}

/// Each difference in its field, or with `c` the sum of all and of it.
fn differences(a: u32, b: u32, bits: u32, signed: bool, c: Option<u32>) -> u32 {
    let each = (0..32 / bits).map(|at| {
        let (a, b) = (field(a, at, bits, signed), field(b, at, bits, signed));
        (at, a.abs_diff(b))
    });
    match c {
        Some(c) => each.fold(c, |sum, (_, difference)| sum.wrapping_add(difference)),
        None => each.fold(0, |all, (at, difference)| all | difference << (at * bits)),
    }
}

pub(super) fn select(opcode: &str, modifiers: &str) -> Option<Operation> {
    macro_rules! all {
        ($bits:literal) => {
            match modifiers {
                "u32.u32.u32" => {
                    lanewise!(u32 = |a: u32, b: u32, _c: u32| differences(a, b, $bits, false, None))
                }
                "u32.s32.s32" => {
                    lanewise!(u32 = |a: u32, b: u32, _c: u32| differences(a, b, $bits, true, None))
                }
                "u32.u32.u32.add" => {
                    lanewise!(
                        u32 = |a: u32, b: u32, c: u32| differences(a, b, $bits, false, Some(c))
                    )
                }
                "u32.s32.s32.add" => {
                    lanewise!(
                        u32 = |a: u32, b: u32, c: u32| differences(a, b, $bits, true, Some(c))
                    )
                }
                _ => return None,
            }
        };
    }
    Some(match opcode {
        "vabsdiff2" => all!(16),
        "vabsdiff4" => all!(8),
        _ => return None,
    })
}
