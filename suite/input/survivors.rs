//! Compaction's random input: a 32-bit LCG, two draws an element, the first deciding whether it survives.

use super::Request;
use super::number::Number;
use super::patterns::held;
use crate::outcome::Fault;

/// The multiplier and increment of `s ← a·s + c` (mod 2³²), from Numerical Recipes' `ranqd1`.
const STEP: Affine = Affine {
    a: 1_664_525,
    c: 1_013_904_223,
};

/// `s ← a·s + c`, wrapping.
#[derive(Clone, Copy)]
struct Affine {
    a: u32,
    c: u32,
}

impl Affine {
    const fn apply(self, s: u32) -> u32 {
        s.wrapping_mul(self.a).wrapping_add(self.c)
    }

    /// `self`, then `next`.
    const fn then(self, next: Self) -> Self {
        Self {
            a: self.a.wrapping_mul(next.a),
            c: next.apply(self.c),
        }
    }
}

/// Elements made side by side: each lane jumps over the draws of the others, which breaks the chain of
/// multiplications that would otherwise bound the speed.
const LANES: usize = 8;

/// An element from the state before its two draws: the first draw's top byte is compared with `keep`, the second's
/// gives the value.
const fn element(state: u32, keep: u32) -> u8 {
    let first = STEP.apply(state);
    let second = STEP.apply(first);
    let value = 1 + (second >> 24) % 255;
    if first >> 24 < keep { value as u8 } else { 0 }
}

pub(super) fn fill<T: Number>(out: &mut [T], request: &Request) -> Result<(), Fault> {
    let keep = match request.param("keep") {
        Some(keep @ 0..=256) => keep as u32,
        keep => {
            let keep = keep.unwrap_or_default();
            return Err(request.fault(format!("keep {keep} lies outside 0 to 256")));
        }
    };
    held::<T>(request, "the largest value,", 255)?;
    let two = STEP.then(STEP);
    let mut jump = two;
    let mut lanes = [request.seed as u32; LANES];
    for lane in 1..LANES {
        lanes[lane] = two.apply(lanes[lane - 1]);
        jump = jump.then(two);
    }
    let (groups, rest) = out.as_chunks_mut::<LANES>();
    for group in groups {
        *group = lanes.map(|state| T::from_word(element(state, keep).into()));
        lanes = lanes.map(|state| jump.apply(state));
    }
    for (slot, state) in rest.iter_mut().zip(lanes) {
        *slot = T::from_word(element(state, keep).into());
    }
    Ok(())
}
