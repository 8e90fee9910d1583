//! Instructions over the lanes of one warp that are no plain row operation: comparisons with combined predicates,
//! shuffles, votes, matches, parameters and clocks.

use super::alu::pack;
use super::lanes::{BITS, FULL, Frame, LANES, Lane, Row, lanes};
use super::memory::Region;
use super::program::{Access, Combine, Compare, Kind, Shuffle, ShuffleMode, VoteOp};

/// The lanes where a comparison, combined with its third predicate, holds; and the same of its negation.
#[inline(always)]
fn compared(frame: &Frame<'_>, compare: &Compare) -> (u32, u32) {
    let held = (compare.comparison.run)(frame, compare.a, compare.b);
    let third = frame.predicates[usize::from(compare.c)] ^ compare.flip;
    let join = |value: u32| match compare.combine {
        Combine::None => value,
        Combine::And => value & third,
        Combine::Or => value | third,
        Combine::Xor => value ^ third,
    };
    (join(held), join(!held))
}

#[inline(always)]
pub fn compare(frame: &mut Frame<'_>, compare: &Compare, mask: u32) {
    let (held, negated) = compared(frame, compare);
    frame.put_predicate(compare.p, mask, held);
    frame.put_predicate(compare.q, mask, negated);
}

/// `ld.param` of a fixed parameter: the same value for every lane.
pub fn param(frame: &mut Frame<'_>, params: &Region, access: &Access, offset: u32, mask: u32) {
    let bytes = usize::from(access.bytes);
    for (index, &row) in access.rows[..usize::from(access.count)].iter().enumerate() {
        let at = offset as usize + index * bytes;
        // The decoder has checked the offset.
        let value = if at + bytes <= params.len() {
            params.read(at, bytes)
        } else {
            0
        };
        let unused = 64 - 8 * bytes as u32;
        let value = if access.signed {
            ((value << unused).cast_signed() >> unused).cast_unsigned()
        } else {
            value
        };
        if access.wide {
            u64::put(frame, row, mask, &[value; LANES]);
        } else {
            u32::put(frame, row, mask, &[value as u32; LANES]);
        }
    }
}

/// The simulated clock counts thread instructions of the launch.
pub fn clock(frame: &mut Frame<'_>, d: Row, wide: bool, now: u64, mask: u32) {
    if wide {
        u64::put(frame, d, mask, &[now; LANES]);
    } else {
        u32::put(frame, d, mask, &[now as u32; LANES]);
    }
}

/// The lanes of `mask` that run an instruction together with its lowest, and the membermask they give: all that give
/// the same one. Lanes may form several groups at one instruction, such as those `match.any` finds. An instruction
/// without a membermask names nobody.
pub fn group(frame: &Frame<'_>, kind: &Kind, mask: u32) -> (u32, u32) {
    let row = match kind {
        Kind::WarpSync { mask } | Kind::Vote { mask, .. } | Kind::Match { mask, .. } => *mask,
        Kind::Shuffle(shuffle) => shuffle.mask,
        _ => return (mask, mask),
    };
    let named = &frame.narrow[usize::from(row)];
    let first = named[mask.trailing_zeros() as usize % LANES];
    let mut same = 0;
    for lane in 0..LANES {
        same |= if named[lane] == first { BITS[lane] } else { 0 };
    }
    (same & mask, first)
}

/// Runs the rest, for lanes that give the membermask `named`.
pub fn run(frame: &mut Frame<'_>, kind: &Kind, mask: u32, named: u32) {
    match kind {
        Kind::Pack {
            shape,
            whole,
            parts,
            split,
        } => pack(frame, *shape, *whole, parts, *split, mask),
        Kind::Set { compare, d, one } => {
            let (held, _) = compared(frame, compare);
            let out = BITS.map(|bit| if held & bit != 0 { *one } else { 0 });
            u32::put(frame, *d, mask, &out);
        }
        Kind::ActiveMask { d } => u32::put(frame, *d, mask, &[mask; LANES]),
        Kind::Shuffle(shuffle) => run_shuffle(frame, shuffle, mask),
        Kind::Vote {
            op,
            d,
            source,
            flip,
            ..
        } => {
            let held = (frame.predicates[usize::from(*source)] ^ flip) & mask & named;
            let voters = mask & named;
            let yes = match op {
                VoteOp::All => held == voters,
                VoteOp::Any => held != 0,
                VoteOp::Uniform => held == voters || held == 0,
                VoteOp::Ballot => {
                    u32::put(frame, *d, mask, &[held; LANES]);
                    return;
                }
            };
            frame.put_predicate(*d, mask, if yes { FULL } else { 0 });
        }
        Kind::Match {
            all,
            wide,
            d,
            agreed,
            a,
            ..
        } => {
            let values = if *wide {
                frame.wide[usize::from(*a)]
            } else {
                frame.narrow[usize::from(*a)].map(u64::from)
            };
            let equal = |lane: usize| {
                let same = lanes(mask & named).filter(|&other| values[other] == values[lane]);
                same.fold(0, |sum, other| sum | BITS[other])
            };
            let mut out = [0; LANES];
            lanes(mask).for_each(|lane| out[lane] = equal(lane));
            if *all {
                let together = lanes(mask).all(|lane| out[lane] == mask & named);
                out = [if together { mask & named } else { 0 }; LANES];
                frame.put_predicate(*agreed, mask, if together { FULL } else { 0 });
            }
            u32::put(frame, *d, mask, &out);
        }
        _ => {}
    }
}

/// As the PTX ISA defines `shfl.sync`: `c` holds the clamp in bits 0–4 and the segment mask in bits 8–12.
fn run_shuffle(frame: &mut Frame<'_>, shuffle: &Shuffle, mask: u32) {
    let a = *u32::row(frame, shuffle.a);
    let (from, valid) = sources(frame, shuffle, mask);
    let mut out = [0; LANES];
    lanes(mask).for_each(|lane| out[lane] = a[from[lane] % LANES]);
    u32::put(frame, shuffle.d, mask, &out);
    frame.put_predicate(shuffle.p, mask, valid);
}

/// The lane that each lane of `mask` takes its value from, its own where the one named is out of range; and where it is
/// not.
pub fn sources(frame: &Frame<'_>, shuffle: &Shuffle, mask: u32) -> ([usize; LANES], u32) {
    let b = *u32::row(frame, shuffle.b);
    let c = *u32::row(frame, shuffle.c);
    let mut from = [0; LANES];
    let mut valid = 0;
    for lane in lanes(mask) {
        let number = lane as u32;
        let delta = b[lane] & 31;
        let (clamp, segment) = (c[lane] & 31, c[lane] >> 8 & 31);
        let highest = (number & segment) | (clamp & !segment);
        let lowest = number & segment;
        let (source, ok) = match shuffle.mode {
            ShuffleMode::Up => (
                number.wrapping_sub(delta),
                number.cast_signed() - delta.cast_signed() >= highest.cast_signed(),
            ),
            ShuffleMode::Down => (number + delta, number + delta <= highest),
            ShuffleMode::Butterfly => (number ^ delta, (number ^ delta) <= highest),
            ShuffleMode::Index => {
                let source = lowest | (delta & !segment);
                (source, source <= highest)
            }
        };
        from[lane] = if ok { source as usize % LANES } else { lane };
        valid |= if ok { BITS[lane] } else { 0 };
    }
    (from, valid)
}

/// The lanes of `mask` that take their value from one which the membermask does not name or which is not there: what
/// they get is undefined (PTX ISA, `shfl.sync`).
pub fn stray(frame: &Frame<'_>, shuffle: &Shuffle, mask: u32, named: u32) -> u32 {
    if mask & named == FULL {
        return 0;
    }
    let (from, _) = sources(frame, shuffle, mask);
    let apart = |&lane: &usize| from[lane] != lane && BITS[from[lane] % LANES] & mask & named == 0;
    let stray = lanes(mask).filter(apart);
    stray.fold(0, |sum, lane| sum | BITS[lane])
}
