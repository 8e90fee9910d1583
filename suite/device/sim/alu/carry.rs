//! Extended-precision addition, subtraction and multiply-add: the carry lives in a predicate row of its own.

use super::super::lanes::{BITS, CARRY, Frame, LANES, Lane, Operands, Operation};
use super::integer::{high_i32, high_i64, high_u32, high_u64};

/// `a + b + carry in` (or `a - b - borrow in`), and the carry or borrow out.
macro_rules! extended {
    ($t:ty, $op:ident, $carry_in:expr, $carry_out:expr) => {{
        fn run(frame: &mut Frame<'_>, o: Operands, mask: u32) {
            let carry = frame.predicates[usize::from(CARRY)];
            let (a, b) = (<$t as Lane>::row(frame, o.a), <$t as Lane>::row(frame, o.b));
            let mut out = [0; LANES];
            let mut over = 0;
            for lane in 0..LANES {
                let (partial, first) = a[lane].$op(b[lane]);
                let more = $carry_in && carry & BITS[lane] != 0;
                let (whole, second) = partial.$op(<$t>::from(more));
                out[lane] = whole;
                over |= if first | second { BITS[lane] } else { 0 };
            }
            <$t as Lane>::put(frame, o.d, mask, &out);
            if $carry_out {
                frame.put_predicate(CARRY, mask, over);
            }
        }
        Operation {
            run,
            d: <$t as Lane>::CLASS,
            sources: &[<$t as Lane>::CLASS; 2],
        }
    }};
}

/// One half of `a · b`, plus `c + carry in`, and the carry out of that addition.
macro_rules! extended_product {
    ($t:ty, $half:expr, $carry_in:expr, $carry_out:expr) => {{
        fn run(frame: &mut Frame<'_>, o: Operands, mask: u32) {
            let carry = frame.predicates[usize::from(CARRY)];
            let (a, b) = (<$t as Lane>::row(frame, o.a), <$t as Lane>::row(frame, o.b));
            let c = <$t as Lane>::row(frame, o.c);
            let mut out = [0; LANES];
            let mut over = 0;
            for lane in 0..LANES {
                let half = $half(<$t as Lane>::of(a[lane]), <$t as Lane>::of(b[lane]));
                let half = <$t as Lane>::bits(half);
                let (partial, first) = half.overflowing_add(c[lane]);
                let more = $carry_in && carry & BITS[lane] != 0;
                let (whole, second) = partial.overflowing_add(u8::from(more).into());
                out[lane] = whole;
                over |= if first | second { BITS[lane] } else { 0 };
            }
            <$t as Lane>::put(frame, o.d, mask, &out);
            if $carry_out {
                frame.put_predicate(CARRY, mask, over);
            }
        }
        Operation {
            run,
            d: <$t as Lane>::CLASS,
            sources: &[<$t as Lane>::CLASS; 3],
        }
    }};
}

macro_rules! product_types {
    ($ty:expr, $carry_in:expr, $carry_out:expr) => {
        match $ty {
            ("lo", "u32" | "s32") => {
                extended_product!(u32, u32::wrapping_mul, $carry_in, $carry_out)
            }
            ("lo", "u64" | "s64") => {
                extended_product!(u64, u64::wrapping_mul, $carry_in, $carry_out)
            }
            ("hi", "u32") => extended_product!(u32, high_u32, $carry_in, $carry_out),
            ("hi", "s32") => extended_product!(i32, high_i32, $carry_in, $carry_out),
            ("hi", "u64") => extended_product!(u64, high_u64, $carry_in, $carry_out),
            ("hi", "s64") => extended_product!(i64, high_i64, $carry_in, $carry_out),
            _ => return None,
        }
    };
}

fn product(opcode: &str, modifiers: &str) -> Option<Operation> {
    let parts: Vec<&str> = modifiers.split('.').collect();
    Some(match (opcode, &parts[..]) {
        ("mad", [half, "cc", ty]) => product_types!((*half, *ty), false, true),
        ("madc", [half, "cc", ty]) => product_types!((*half, *ty), true, true),
        ("madc", [half, ty]) => product_types!((*half, *ty), true, false),
        _ => return None,
    })
}

pub(super) fn select(opcode: &str, modifiers: &str) -> Option<Operation> {
    Some(match (opcode, modifiers) {
        ("add", "cc.u32" | "cc.s32") => extended!(u32, overflowing_add, false, true),
        ("addc", "cc.u32" | "cc.s32") => extended!(u32, overflowing_add, true, true),
        ("addc", "u32" | "s32") => extended!(u32, overflowing_add, true, false),
        ("sub", "cc.u32" | "cc.s32") => extended!(u32, overflowing_sub, false, true),
        ("subc", "cc.u32" | "cc.s32") => extended!(u32, overflowing_sub, true, true),
        ("subc", "u32" | "s32") => extended!(u32, overflowing_sub, true, false),
        ("add", "cc.u64" | "cc.s64") => extended!(u64, overflowing_add, false, true),
        ("addc", "cc.u64" | "cc.s64") => extended!(u64, overflowing_add, true, true),
        ("addc", "u64" | "s64") => extended!(u64, overflowing_add, true, false),
        ("sub", "cc.u64" | "cc.s64") => extended!(u64, overflowing_sub, false, true),
        ("subc", "cc.u64" | "cc.s64") => extended!(u64, overflowing_sub, true, true),
        ("subc", "u64" | "s64") => extended!(u64, overflowing_sub, true, false),
        _ => return product(opcode, modifiers),
    })
}
