//! A warp: its lanes in splits that go on independently.
//!
//! Lanes that part at a branch become splits of their own, which `joins` brings together again. Any split that can run
//! may; lanes that only wait are overtaken by others. With lanes apart there are no joins: lanes that part stay apart
//! until a `.sync` instruction brings them together. Where lanes wait for each other there is for `meet` to see to.

use super::joins::{JoinId, Joins, NONE};
use super::lanes::{FULL, LANES};
use super::looks::{Looks, Seen};
use super::program::Pc;
use super::taint::Taint;

/// Whether a warp has something to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Ready,
    /// All its lanes wait: for each other, or at barriers.
    Waiting,
    Done,
}

/// What a split waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wait {
    /// It can run.
    #[default]
    Nothing,
    /// At the `.sync` instruction `pc`, for the live lanes it names.
    Lanes {
        named: u32,
        /// Those of them that have passed it by: they must come back, and not just leave.
        owed: u32,
    },
    /// At a barrier, not yet counted. `pc` is past it.
    Uncounted,
    /// At the barrier of this number. `pc` is past it.
    Barrier(u8),
}

/// Lanes that go on together from `pc`, until they reach `reconverge`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Split {
    pub pc: Pc,
    pub active: u32,
    pub reconverge: Pc,
    /// The join at `reconverge`.
    pub join: JoinId,
    pub wait: Wait,
}

#[derive(Clone, Debug)]
pub struct Warp {
    pub state: State,
    /// What runs: no lane of it is active where nothing can, and it waits only where the whole warp is at a barrier.
    pub now: Split,
    /// What else there is, the one that runs next last.
    pub parked: Vec<Split>,
    /// Lanes in a parked split that waits for others of its warp.
    pub meeting: u32,
    pub joins: Joins,
    /// Lanes that have left the kernel, or never were.
    pub exited: u32,
    /// Whether lanes that part meet at `.sync` instructions only.
    apart: bool,
    /// Whether lanes that wait for others of their warp go on without them: nobody else gets on.
    pub force: bool,
    /// Lanes that have had a turn in this round of decisions.
    pub turned: u32,
    /// Instructions it has run.
    pub ran: u64,
    /// How often it has changed its threads' own memory while it went round.
    pub changes: u64,
    /// By the lowest lane of a split; as many as there was need for.
    looks: Vec<Looks>,
    /// Priorities of splits, by their lowest lane, where the schedule goes by those.
    pub ranks: Vec<u64>,
    /// Registers that hold what comes from memory never written.
    pub taint: Taint,
}

impl Default for Warp {
    fn default() -> Self {
        Self {
            state: State::Done,
            now: Split {
                pc: 0,
                active: 0,
                reconverge: 0,
                join: NONE,
                wait: Wait::Nothing,
            },
            parked: Vec::with_capacity(LANES),
            meeting: 0,
            joins: Joins::default(),
            exited: FULL,
            apart: false,
            force: false,
            turned: 0,
            ran: 0,
            changes: 0,
            looks: Vec::new(),
            ranks: Vec::new(),
            taint: Taint::default(),
        }
    }
}

impl Warp {
    /// Starts these lanes at the kernel's first instruction; `end` is the number of its instructions.
    pub fn start(&mut self, active: u32, end: Pc, apart: bool) {
        self.state = State::Ready;
        self.now = Split {
            pc: 0,
            active,
            reconverge: end,
            join: NONE,
            wait: Wait::Nothing,
        };
        self.parked.clear();
        self.joins.clear();
        self.looks.clear();
        self.ranks.clear();
        self.taint.clear();
        (self.meeting, self.turned, self.ran, self.changes) = (0, 0, 0, 0);
        self.exited = !active;
        (self.apart, self.force) = (apart, false);
    }

    /// Lanes that are still in the kernel.
    pub fn live(&self) -> u32 {
        !self.exited
    }

    pub fn is_apart(&self) -> bool {
        self.apart
    }

    /// Whether any lane has looked.
    #[inline(always)]
    pub fn has_looked(&self) -> bool {
        !self.looks.is_empty()
    }

    /// Whether the running lanes only repeat looks.
    pub fn goes_round(&self) -> bool {
        self.goes_round_at(self.ran)
    }

    /// The same where it has run so many instructions.
    pub fn goes_round_at(&self, now: u64) -> bool {
        self.of_running().any(|looks| looks.goes_round(now))
    }

    /// Whether they will do so for ever.
    pub fn is_stuck(&self, period: u64) -> bool {
        self.of_running().any(|looks| looks.is_stuck(period))
    }

    /// What lanes that run have seen, together or in parts.
    fn of_running(&self) -> impl Iterator<Item = &Looks> {
        let looks = self.looks.iter().enumerate();
        looks.filter_map(|(lane, looks)| (self.now.active >> lane & 1 == 1).then_some(looks))
    }

    /// What the split that runs has seen.
    pub fn looks(&mut self) -> &mut Looks {
        let lane = self.now.active.trailing_zeros() as usize % LANES;
        if lane >= self.looks.len() {
            self.looks.resize(lane + 1, Looks::default());
        }
        &mut self.looks[lane]
    }

    /// Where lanes of a split have looked last.
    pub fn seen_by(&self, split: &Split) -> Option<&Seen> {
        let looks = self.looks.iter().enumerate();
        let own = looks.filter(|(lane, _)| split.active >> lane & 1 == 1);
        let last = own.max_by_key(|(_, looks)| looks.last_at());
        last.and_then(|(_, looks)| looks.seen.as_ref())
    }

    /// Some active lanes go to `target`, the rest to the next instruction; they meet again at `meet`.
    pub fn diverge(&mut self, taken: u32, target: Pc, meet: Pc) {
        let (meet, join) = self.join_for(meet);
        // A side that starts at the meeting point has nothing to run.
        if target == meet && join != NONE {
            self.joins.hold(join, taken);
        } else {
            self.parked.push(Split {
                pc: target,
                active: taken,
                reconverge: meet,
                join,
                wait: Wait::Nothing,
            });
        }
        self.now.pc += 1;
        self.now.active &= !taken;
        (self.now.reconverge, self.now.join) = (meet, join);
    }

    /// Where the running lanes meet if they part here: at a join of theirs, or a new one.
    fn join_for(&mut self, meet: Pc) -> (Pc, JoinId) {
        if !self.apart
            && meet != self.now.reconverge
            && let Some(id) = self.joins.make(meet, &self.now)
        {
            return (meet, id);
        }
        (self.now.reconverge, self.now.join)
    }

    /// Lanes leave the kernel, and all joins.
    #[inline(always)]
    pub fn exit(&mut self, mask: u32) {
        self.exited |= mask;
        self.now.active &= !mask;
        if !self.joins.is_empty() {
            self.joins.leave(mask, &mut self.parked);
        }
    }

    /// After a step: goes on with another split, once the present one has come to its join, waits or has left. False
    /// when none can run.
    #[inline(always)]
    pub fn settle(&mut self) -> bool {
        if self.now.pc != self.now.reconverge && self.now.active != 0 {
            return true;
        }
        self.settle_slowly()
    }

    fn settle_slowly(&mut self) -> bool {
        loop {
            if self.now.active == 0 && !self.take_ready() {
                return false;
            }
            if self.now.pc != self.now.reconverge {
                return true;
            }
            if self.now.join == NONE {
                self.exit(self.now.active);
                continue;
            }
            self.joins.hold(self.now.join, self.now.active);
            self.now.active = 0;
            self.joins.close(self.now.join, &mut self.now);
        }
    }

    /// Runs the last split that can.
    fn take_ready(&mut self) -> bool {
        let ready = |split: &Split| split.wait == Wait::Nothing;
        let last = self.parked.len().wrapping_sub(1);
        match self.parked.get(last) {
            Some(split) if ready(split) => {
                self.now = *split;
                self.parked.truncate(last);
            }
            _ => match self.parked.iter().rposition(ready) {
                Some(at) => self.now = self.parked.remove(at),
                None => return false,
            },
        }
        true
    }

    /// Finds the state it is in. Lanes that joins hold are let go where nothing else can run.
    pub fn refresh(&mut self) {
        let ready = |warp: &Self| warp.splits().any(|split| split.wait == Wait::Nothing);
        self.state = if self.force || ready(self) {
            State::Ready
        } else if self.live() == 0 {
            State::Done
        } else if self.release() != 0 {
            State::Ready
        } else {
            State::Waiting
        };
    }

    /// All splits but those at joins.
    pub fn splits(&self) -> impl Iterator<Item = &Split> {
        let now = (self.now.active != 0).then_some(&self.now);
        self.parked.iter().chain(now)
    }

    /// Who waits for these lanes knows that they have passed by.
    fn owe(&mut self, lanes: u32) {
        for split in &mut self.parked {
            if let Wait::Lanes { named, owed } = &mut split.wait {
                *owed |= lanes & *named;
            }
        }
    }

    /// Lets go the lanes that the innermost joins hold. As compute capability 7.0 and later promise, every lane gets on
    /// at some time. The lanes.
    pub fn release(&mut self) -> u32 {
        let released = self.joins.release(&mut self.parked);
        if released != 0 {
            self.looks.clear();
            self.owe(released);
        }
        released
    }
}
