//! A warp while it runs: one instruction after another, until something makes it pause.

use super::collective;
use super::findings::Recorder;
use super::lanes::{FULL, Frame, LANES};
use super::looks::{self, Seen};
use super::memory::{Change, Spaces, Violation, Violations, addresses};
use super::program::{Access, Atomic, Instruction, Kind, Pc, Space};
use super::reporter::Reporter;
use super::warp::Warp;
use crate::outcome::Fault;

/// What an access or a `.sync` instruction takes off a turn where decisions are to fall around those.
const EVENT: u64 = 8;

/// Why a warp stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    Exited,
    /// At a barrier, not yet counted.
    Barrier,
    /// All its lanes wait, some of them at barriers.
    Waits,
    /// The instructions of its turn are used up.
    Turn,
    /// The split whose turn it was waits, or has left.
    Switched,
    /// It sleeps, or has looked again at what others have yet to write.
    Spins,
}

/// A warp while it runs, with all that its instructions may touch.
pub struct Running<'a> {
    pub at: Reporter<'a>,
    pub warp: &'a mut Warp,
    pub frame: Frame<'a>,
    pub spaces: Spaces<'a>,
    pub recorder: &'a mut Recorder,
    pub executed: u64,
    /// Instructions left in this turn.
    pub left: u64,
    /// Its own instructions run by the time this turn is used up.
    pub until: u64,
    /// The launch's period, if nothing is new in it so far.
    pub quiet: Option<u64>,
    /// Whether it has changed memory that others see in this turn.
    pub wrote: bool,
}

impl Running<'_> {
    /// Runs a turn. With `EVENTS` it is that of one split, and accesses and `.sync` instructions use up most of it, so
    /// that it ends at one.
    pub fn run<const EVENTS: bool>(&mut self, code: &[Instruction]) -> Result<Pause, Fault> {
        if let Some(pause) = self.begin() {
            return Ok(pause);
        }
        let first = self.warp.now.active & self.warp.now.active.wrapping_neg();
        while self.left > 0 {
            self.left -= 1;
            let pc = self.warp.now.pc;
            let instruction = &code[pc as usize];
            let guard = self.frame.predicates[usize::from(instruction.guard)] ^ instruction.flip;
            let mask = self.warp.now.active & guard;
            self.executed += if mask == FULL {
                32
            } else {
                u64::from(mask.count_ones())
            };
            if self.warp.taint.any() && !meets(&instruction.kind) {
                self.follow(instruction, pc, mask);
            }
            let mut next = pc + 1;
            if mask != 0 {
                match &instruction.kind {
                    Kind::Alu(run, operands) => run(&mut self.frame, *operands, mask),
                    Kind::Compare(compare) => collective::compare(&mut self.frame, compare, mask),
                    Kind::Load(access) => self.load(access, pc, mask),
                    Kind::Store(access) => self.store(access, pc, mask),
                    Kind::Branch { target, .. } if mask == self.warp.now.active => next = *target,
                    Kind::Branch { target, reconverge } => {
                        self.warp.diverge(mask, *target, *reconverge)
                    }
                    Kind::Exit if self.warp.meeting == 0 => self.warp.exit(mask),
                    other => {
                        if let Some(pause) = self.rare(other, pc, mask)? {
                            return Ok(pause);
                        }
                    }
                }
                if EVENTS && is_event(&instruction.kind) {
                    self.left = self.left.saturating_sub(EVENT);
                }
            }
            self.warp.now.pc = next;
            if !self.warp.settle()
                && let Some(pause) = self.stalled()
            {
                return Ok(pause);
            }
            if EVENTS && self.warp.now.active & first == 0 {
                return Ok(Pause::Switched);
            }
        }
        Ok(Pause::Turn)
    }

    #[cold]
    fn report(&mut self, access: &Access, pc: Pc, violations: &Violations) {
        let bytes = u64::from(access.bytes) * u64::from(access.count);
        let space = access.address.space;
        self.at
            .memory(self.recorder, &self.spaces, pc, space, bytes, violations);
    }

    #[inline(always)]
    fn load(&mut self, access: &Access, pc: Pc, mask: u32) {
        let violations = self.spaces.load(&mut self.frame, access, pc, mask);
        if violations.any() {
            let (unwritten, address) = violations.of(Violation::Uninitialised);
            if unwritten != 0 {
                self.taint_load(access, pc, address);
            }
            let violations = violations.without(Violation::Uninitialised);
            self.report(access, pc, &violations);
        }
        self.conflicts(pc);
    }

    #[inline(always)]
    fn store(&mut self, access: &Access, pc: Pc, mask: u32) {
        self.wrote = self.wrote || self.changes(access, mask);
        let violations = self.spaces.store(&self.frame, access, pc, mask);
        if violations.any() {
            self.report(access, pc, &violations);
        }
        if self.warp.taint.any() {
            self.taint_store(access, pc, mask);
        }
        self.conflicts(pc);
    }

    /// Whether a store changes what others can see. Only who goes round is asked: everyone else does something new.
    #[inline(always)]
    fn changes(&mut self, access: &Access, mask: u32) -> bool {
        !self.warp.has_looked() || self.changes_shared(access, mask)
    }

    #[cold]
    fn changes_shared(&mut self, access: &Access, mask: u32) -> bool {
        if !self.warp.goes_round_at(self.until - self.left) {
            return true;
        }
        let change = self.spaces.change(&self.frame, access, mask);
        self.warp.changes += u64::from(change == Change::Private);
        change == Change::Shared
    }

    /// Reports what the last access was found to conflict with.
    #[inline(always)]
    fn conflicts(&mut self, pc: Pc) {
        if !self.spaces.order.conflicts.is_empty() {
            self.at.conflicts(self.recorder, &mut self.spaces, pc);
        }
    }

    /// Whether memory has changed.
    fn atomic(&mut self, atomic: &Atomic, pc: Pc, mask: u32, all: &[u64; LANES]) -> bool {
        let (violations, changed) = self.spaces.atomic(&mut self.frame, atomic, pc, mask, all);
        if self.warp.taint.any() || self.spaces.unwritten[0] != 0 {
            self.taint_atomic(atomic, pc, mask, all);
        }
        self.conflicts(pc);
        if violations.any() {
            let (space, bytes) = (atomic.address.space, u64::from(atomic.bytes));
            self.at
                .memory(self.recorder, &self.spaces, pc, space, bytes, &violations);
        }
        self.wrote |= changed;
        changed
    }

    /// Notes what the running lanes have seen; ends the turn if they have seen that before.
    fn look(&mut self, look: u64, seen: Seen) -> Option<Pause> {
        let now = self.until - self.left;
        let looks = self.warp.looks();
        looks.seen = Some(seen);
        if !looks.saw(look, now) {
            return None;
        }
        if let Some(period) = self.quiet
            && looks.wants_state(period)
        {
            let decisive = &self.at.kernel.decisive;
            let state = looks::state(self.warp, &self.frame, decisive, seen.pc);
            self.warp.looks().compare(state);
        }
        Some(self.pass(seen.pc))
    }

    /// Ends the turn after an instruction.
    fn pass(&mut self, pc: Pc) -> Pause {
        self.warp.now.pc = pc + 1;
        Pause::Spins
    }

    /// Everything but arithmetic, loads, stores and branches. What pauses has moved on to the next instruction.
    fn rare(&mut self, kind: &Kind, pc: Pc, mask: u32) -> Result<Option<Pause>, Fault> {
        match kind {
            Kind::Poll(access) => {
                let mask = match access.address.space {
                    Space::Shared => self.warp.part(mask, pc),
                    _ => mask,
                };
                // Before it runs, as it may overwrite its own address.
                let all = addresses(&self.frame, &access.address);
                let place = looks::place(&all, pc, mask);
                self.load(access, pc, mask);
                let look = looks::loaded(&place, &self.frame, access, mask);
                return Ok(self.look(look, place));
            }
            Kind::Atomic(atomic) => {
                let all = addresses(&self.frame, &atomic.address);
                if !self.atomic(atomic, pc, mask, &all) {
                    let place = looks::place(&all, pc, mask);
                    let look = looks::unchanged(&place, &self.frame, atomic, mask);
                    return Ok(self.look(look, place));
                }
            }
            Kind::Barrier(barrier) => return Ok(self.barrier(kind, barrier.aligned, pc, mask)),
            Kind::Exit => return Ok(self.exit(pc, mask)),
            Kind::Trap => return Err(self.at.trapped(self.recorder, pc, mask)),
            Kind::Fence { scope, sc } => {
                let who = self.spaces.who;
                self.spaces.order.fence(who, mask, *scope, *sc);
            }
            Kind::Yield => return Ok(Some(self.pass(pc))),
            Kind::Param { access, offset } => {
                collective::param(&mut self.frame, self.spaces.params, access, *offset, mask);
            }
            Kind::Clock { d, wide, high } => {
                let now = if *high {
                    self.executed >> 32
                } else {
                    self.executed
                };
                collective::clock(&mut self.frame, *d, *wide, now, mask);
            }
            other => self.together(other, pc, mask),
        }
        Ok(None)
    }
}

/// Whether lanes wait for each other there, and what it gives is known once they have met.
fn meets(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::Shuffle(_) | Kind::Vote { .. } | Kind::Match { .. }
    )
}

/// Whether an instruction shows others something, or is shown it.
fn is_event(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::Load(_)
            | Kind::Poll(_)
            | Kind::Store(_)
            | Kind::Atomic(_)
            | Kind::WarpSync { .. }
            | Kind::Shuffle(_)
            | Kind::Vote { .. }
            | Kind::Match { .. }
    )
}
