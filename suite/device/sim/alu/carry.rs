//! Extended-precision addition and subtraction: the carry lives in a predicate row of its own.

use super::super::lanes::{BITS, CARRY, Frame, LANES, Lane, Operands, Operation};

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
        _ => return None,
    })
}
