//! Compaction's random input: a 32-bit LCG, two draws an element, the first deciding whether it survives.

use super::Request;
use super::number::Number;
use super::patterns::held;
use crate::outcome::Fault;
use crate::parallel;

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

    /// `self`, so many times over: by repeated squaring.
    const fn times(self, mut count: u64) -> Self {
        let (mut all, mut power) = (Self { a: 1, c: 0 }, self);
        while count > 0 {
            if count & 1 == 1 {
                all = all.then(power);
            }
            power = power.then(power);
            count >>= 1;
        }
        all
    }
}

/// Elements made side by side. Each lane jumps over the draws of the others, which breaks the chain of
/// multiplications that would otherwise bound the speed.
const LANES: usize = 8;

/// An element from its two draws: the first one's top byte is compared with `keep`, the second's gives the value.
const fn element(first: u32, second: u32, keep: u32) -> u8 {
    let top = second >> 24;
    let value = 1 + if top == 255 { 0 } else { top }; // 1 + top % 255, without the division
    if first >> 24 < keep { value as u8 } else { 0 }
}

pub(super) fn fill<T: Number>(out: &mut [T], request: &Request) -> Result<(), Fault> {
    let keep = keep::<T>(request)?;
    parallel::fill(out, |start, piece| {
        // Two draws for each element before this piece.
        let state = STEP.times(2 * start as u64).apply(request.seed as u32);
        fill_from(piece, state, keep);
    });
    Ok(())
}

/// What of 256 is kept.
pub(super) fn keep<T: Number>(request: &Request) -> Result<u32, Fault> {
    let keep = match request.param("keep") {
        Some(keep @ 0..=256) => keep as u32,
        keep => {
            let keep = keep.unwrap_or_default();
            return Err(request.fault(format!("keep {keep} lies outside 0 to 256")));
        }
    };
    held::<T>(request, "the largest value,", 255)?;
    Ok(keep)
}

/// Elements from the draws that follow `state`.
fn fill_from<T: Number>(out: &mut [T], mut state: u32, keep: u32) {
    let (mut firsts, mut seconds) = ([0; LANES], [0; LANES]);
    let mut jump = Affine { a: 1, c: 0 };
    for lane in 0..LANES {
        firsts[lane] = STEP.apply(state);
        seconds[lane] = STEP.apply(firsts[lane]);
        state = seconds[lane];
        jump = jump.then(STEP).then(STEP);
    }
    let value = |lane: usize, firsts: &[u32; LANES], seconds: &[u32; LANES]| {
        T::from_word(element(firsts[lane], seconds[lane], keep).into())
    };
    let (groups, rest) = out.as_chunks_mut::<LANES>();
    for group in groups {
        *group = std::array::from_fn(|lane| value(lane, &firsts, &seconds));
        firsts = firsts.map(|draw| jump.apply(draw));
        seconds = seconds.map(|draw| jump.apply(draw));
    }
    for (lane, slot) in rest.iter_mut().enumerate() {
        *slot = value(lane, &firsts, &seconds);
    }
}
