//! Atomic read-modify-write, lane after lane.

use super::super::lanes::{BITS, Frame, lanes};
use super::super::program::{Atomic, AtomicOp, Pc};
use super::access::{Violation, Violations, addresses};
use super::spaces::{Place, Spaces};
use super::watch::At;

impl Spaces<'_> {
    /// Lowest lane first. What a faulty lane returns is 0. Also tells whether any lane changed memory.
    pub fn atomic(
        &mut self,
        frame: &mut Frame<'_>,
        atomic: &Atomic,
        pc: Pc,
        mask: u32,
    ) -> (Violations, bool) {
        self.watch_release(atomic.semantics, mask);
        self.unwritten = [0; 4];
        let all = addresses(frame, &atomic.address);
        let bytes = u64::from(atomic.bytes);
        let space = atomic.address.space;
        let mut offsets = all;
        let reach = self.reach(space, &mut offsets, mask, bytes);
        let reach = reach.filter(|reach| self.may_write(reach.place));
        let (mut violations, mut changed) = (Violations::default(), false);
        for lane in lanes(mask) {
            let found = match &reach {
                Some(reach) if reach.consecutive => {
                    Some((reach.place, offsets[0] + lane as u64 * bytes))
                }
                Some(reach) => Some((reach.place, offsets[lane])),
                None => self.check_lane(space, bytes, lane, all[lane], &mut violations),
            };
            let found = found.filter(|&(place, _)| {
                let may = self.may_write(place);
                if !may {
                    violations.note(Violation::ReadOnly, lane, all[lane]);
                }
                may
            });
            let old = match found {
                Some((place, offset)) => {
                    let offset = offset as usize;
                    let at = At {
                        place,
                        lane,
                        offset,
                    };
                    self.watch_atomic(at, atomic, pc);
                    let size = bytes as usize;
                    let fresh = self.taints && !self.region(place).is_written(offset, size);
                    let (old, new) = self.update(frame, atomic, lane, place, offset);
                    if fresh && matches!(place, Place::Global(_)) {
                        violations.note(Violation::Uninitialised, lane, all[lane]);
                    } else if fresh {
                        self.unwritten[0] |= BITS[lane];
                        if atomic.op != AtomicOp::Exchange {
                            self.region_mut(place).mark_unwritten(offset, size);
                        }
                    }
                    changed |= old != new;
                    old
                }
                None => 0,
            };
            if bytes == 8 {
                frame.wide[usize::from(atomic.d)][lane] = old;
            } else {
                frame.narrow[usize::from(atomic.d)][lane] = old as u32;
            }
        }
        (violations, changed)
    }

    /// The old value and the new one.
    fn update(
        &mut self,
        frame: &Frame<'_>,
        atomic: &Atomic,
        lane: usize,
        place: Place,
        at: usize,
    ) -> (u64, u64) {
        let bytes = usize::from(atomic.bytes);
        let operand = |row: u16| {
            if bytes == 8 {
                frame.wide[usize::from(row)][lane]
            } else {
                u64::from(frame.narrow[usize::from(row)][lane])
            }
        };
        let region = self.region_mut(place);
        let old = region.read(at, bytes);
        let new = result(atomic, place, old, operand(atomic.a), operand(atomic.b));
        let new = new & (u64::MAX >> (64 - 8 * bytes));
        region.write(at, bytes, new);
        (old, new)
    }
}

/// The new value; only its low bytes count.
fn result(atomic: &Atomic, place: Place, old: u64, a: u64, b: u64) -> u64 {
    let unused = 64 - 8 * u32::from(atomic.bytes);
    let trim = |v: u64| v << unused >> unused;
    let widen = |v: u64| (v << unused).cast_signed() >> unused;
    let (a, b) = (trim(a), trim(b));
    match atomic.op {
        AtomicOp::Add => old.wrapping_add(a),
        AtomicOp::Min if atomic.signed => widen(old).min(widen(a)).cast_unsigned(),
        AtomicOp::Max if atomic.signed => widen(old).max(widen(a)).cast_unsigned(),
        AtomicOp::Min => old.min(a),
        AtomicOp::Max => old.max(a),
        AtomicOp::And => old & a,
        AtomicOp::Or => old | a,
        AtomicOp::Xor => old ^ a,
        AtomicOp::Exchange => a,
        AtomicOp::CompareSwap => {
            if old == a {
                b
            } else {
                old
            }
        }
        AtomicOp::Increment => {
            if old >= a {
                0
            } else {
                old + 1
            }
        }
        AtomicOp::Decrement => {
            if old == 0 || old > a {
                a
            } else {
                old - 1
            }
        }
        AtomicOp::AddF32 => {
            let flush = matches!(place, Place::Global(_));
            u64::from(add_f32(old as u32, a as u32, flush))
        }
        AtomicOp::AddF64 => add_f64(old, a, matches!(place, Place::Global(_))),
    }
}

/// In global memory hardware hands a NaN on as it is, in shared memory as arithmetic does: quiet.
fn add_f64(old: u64, a: u64, as_is: bool) -> u64 {
    let nan = [old, a]
        .into_iter()
        .find(|&bits| f64::from_bits(bits).is_nan());
    match nan {
        Some(bits) if as_is => bits,
        Some(bits) => bits | 1 << 51,
        None => (f64::from_bits(old) + f64::from_bits(a)).to_bits(),
    }
}

/// In global memory hardware flushes subnormal operands and sums to zero, in shared memory it does not.
fn add_f32(old: u32, a: u32, flush: bool) -> u32 {
    let flushed = |value: f32| {
        if flush && value.is_subnormal() {
            0.0_f32.copysign(value)
        } else {
            value
        }
    };
    let sum = flushed(flushed(f32::from_bits(old)) + flushed(f32::from_bits(a)));
    if sum.is_nan() {
        0x7fff_ffff
    } else {
        sum.to_bits()
    }
}
