//! Atomic read-modify-write, lane after lane.

use super::super::lanes::{BITS, Frame, LANES, lanes};
use super::super::program::{Atomic, AtomicOp, Pc};
use super::access::{Violation, Violations};
use super::elements::{Lanes, all_written};
use super::spaces::{Place, Spaces};

impl Spaces<'_> {
    /// Lowest lane first, at the addresses of all lanes. What a faulty lane returns is 0. Also tells whether any lane
    /// changed memory.
    pub fn atomic(
        &mut self,
        frame: &mut Frame<'_>,
        atomic: &Atomic,
        pc: Pc,
        mask: u32,
        all: &[u64; LANES],
    ) -> (Violations, bool) {
        self.watch_release(atomic.semantics, mask);
        self.unwritten = [0; 4];
        let mut offsets = *all;
        let bytes = u64::from(atomic.bytes);
        let place = self.reach(atomic.address.space, &mut offsets, mask, bytes);
        if let Some(place) = place
            && self.may_write(place)
        {
            let region = self.region(place);
            let at = Lanes::Apart(&offsets);
            if !self.taints || region.is_complete() || all_written(region, at, mask, bytes as usize)
            {
                self.watch_atomics(place, &offsets, atomic, pc, mask);
                let changed = self.update_together(frame, atomic, place, &offsets, mask);
                return (Violations::default(), changed);
            }
        }
        self.atomic_apart(frame, atomic, pc, mask, all)
    }

    /// All lanes in one region that is theirs to write, at these offsets.
    fn update_together(
        &mut self,
        frame: &mut Frame<'_>,
        atomic: &Atomic,
        place: Place,
        offsets: &[u64; LANES],
        mask: u32,
    ) -> bool {
        let [d, a, b] = [atomic.d, atomic.a, atomic.b].map(usize::from);
        let region = self.region_mut(place);
        let mut changed = 0;
        match atomic.bytes {
            8 => {
                let words = region.elements_mut::<u64>();
                for lane in lanes(mask) {
                    let word = &mut words[offsets[lane] as usize / 8];
                    let old = *word;
                    let (a, b) = (frame.wide[a][lane], frame.wide[b][lane]);
                    *word = result(atomic, place, old, a, b);
                    changed |= old ^ *word;
                    frame.wide[d][lane] = old;
                }
            }
            4 => {
                let words = region.elements_mut::<u32>();
                for lane in lanes(mask) {
                    let word = &mut words[offsets[lane] as usize / 4];
                    let old = *word;
                    let (a, b) = (frame.narrow[a][lane], frame.narrow[b][lane]);
                    *word = result(atomic, place, old.into(), a.into(), b.into()) as u32;
                    changed |= u64::from(old ^ *word);
                    frame.narrow[d][lane] = old;
                }
            }
            _ => {
                for lane in lanes(mask) {
                    let (old, new) =
                        self.update(frame, atomic, lane, place, offsets[lane] as usize);
                    changed |= old ^ new;
                    frame.narrow[d][lane] = old as u32;
                }
                return changed != 0;
            }
        }
        if !region.is_complete() {
            // Only where it is of no interest what was never written.
            for lane in lanes(mask) {
                region.mark_written_aligned(offsets[lane] as usize, usize::from(atomic.bytes));
            }
        }
        changed != 0
    }

    #[cold]
    fn atomic_apart(
        &mut self,
        frame: &mut Frame<'_>,
        atomic: &Atomic,
        pc: Pc,
        mask: u32,
        all: &[u64; LANES],
    ) -> (Violations, bool) {
        let (mut violations, mut changed) = (Violations::default(), false);
        let (bytes, space) = (u64::from(atomic.bytes), atomic.address.space);
        for lane in lanes(mask) {
            let found = self.check_lane(space, bytes, lane, all[lane], &mut violations);
            let found = found.filter(|&(place, _)| {
                let may = self.may_write(place);
                if !may {
                    violations.note(Violation::ReadOnly, lane, all[lane]);
                }
                may
            });
            let old = match found {
                Some((place, offset)) => {
                    let mut offsets = [0; LANES];
                    offsets[lane] = offset;
                    self.watch_atomics(place, &offsets, atomic, pc, BITS[lane]);
                    let (offset, size) = (offset as usize, bytes as usize);
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
#[inline(always)]
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
