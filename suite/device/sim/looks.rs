//! Whether a warp only looks again at what it has seen, and whether a whole launch does.
//!
//! A look is a strong load, or an atomic that changes nothing: its instruction, lanes, addresses, operands and what it
//! read. A warp goes round once its looks repeat: the same one twice, or the same sequence of them twice. A load that
//! walks, or that sees something new, repeats nothing. Sequences are found as Brent finds cycles ("An improved Monte
//! Carlo factorization algorithm", 1980): from an anchor that moves on ever more seldom, so that it comes to lie within
//! any cycle. Looks are compared by 64-bit sums.
//!
//! A warp that goes round may still count, and so end. It is stuck where also the registers that decide what it does
//! are what they were, with no change of memory between: then it does the same for ever.

use super::lanes::{BITS, Class, FULL, Frame, LANES, Row};
use super::program::{Access, Atomic, Pc};
use super::warp::{Wait, Warp};

/// Warp instructions between a look and the same one that still are a cycle.
const LONGEST: u64 = 1 << 20;
/// The same at first.
const SHORTEST: u64 = 64;
/// Visits of the anchor that may be one lap.
const VISITS: u32 = 64;

/// What warps that go round may cost before they are taken to be stuck though their registers differ, as those do of
/// one who reads the clock, or whose count ends the loop. That is little at first, as lanes that wait for others of
/// their warp may hold what those look for, and twice as much after each time that was in vain.
const IDLE_FIRST: u64 = 1 << 12;
const IDLE: u64 = 1 << 22;
/// The same where they change memory, but do nothing new.
const RESTLESS: u64 = 1 << 14;
/// What a turn costs besides its instructions.
const TURN: u64 = 12;
/// How much of that a launch may have without any change of memory: four million looks, some seconds.
const HANG: u64 = 1 << 26;
/// How often without any change lanes that are stuck let others of their warp go first.
const ROTATIONS: u32 = 64;
/// Repeated looks whose registers are compared with those at one of them.
const COMPARED: u64 = 64;

/// Where a look was.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    pub pc: Pc,
    /// The lanes that looked, the first of them, and where that did.
    pub mask: u32,
    pub lane: usize,
    pub address: u64,
    look: u64,
}

/// What one split of a warp has seen. Times are the warp's instructions.
#[derive(Clone, Debug, Default)]
pub struct Looks {
    /// The last look, if there was one.
    pub seen: Option<Seen>,
    last: u64,
    last_at: u64,
    anchor: u64,
    anchor_at: u64,
    /// Instructions without the anchor after which it moves on.
    span: u64,
    /// The looks since the lap began, and those of the lap before.
    lap: u64,
    lap_before: Option<u64>,
    lap_at: u64,
    /// Visits of the anchor, those in this lap and those that make one.
    visits: u32,
    visits_wanted: u32,
    /// Until when it goes round, unless it is seen to do so again.
    until: u64,
    /// Registers at a repeated look of a quiet period.
    state: u64,
    period: u64,
    /// Repeated looks in that period.
    repeated: u64,
    /// The period in which it is stuck.
    stuck: Option<u64>,
}

impl Looks {
    /// When it looked last.
    pub fn last_at(&self) -> u64 {
        self.last_at
    }

    /// Notes a look; whether it repeats what was seen before.
    pub fn saw(&mut self, look: u64, now: u64) -> bool {
        let mut round = (look == self.last).then_some(now - self.last_at);
        (self.last, self.last_at) = (look, now);
        self.lap = mix(self.lap, look);
        if look == self.anchor {
            self.anchor_at = now;
            round = self.visit(now).max(round);
        } else if now - self.anchor_at >= self.span {
            self.anchor = look;
            self.anchor_at = now;
            self.span = (2 * self.span).clamp(SHORTEST, LONGEST);
            self.begin_laps(1, now);
        }
        if let Some(length) = round {
            self.until = self.until.max(now + 2 * length);
        }
        round.is_some()
    }

    /// At the anchor: the length of the lap, if it has ended and was the same as the one before.
    fn visit(&mut self, now: u64) -> Option<u64> {
        self.visits += 1;
        if self.visits < self.visits_wanted {
            return None;
        }
        let (lap, length) = (self.lap, now - self.lap_at);
        let repeated = self.lap_before.map(|before| before == lap);
        if repeated == Some(false) {
            self.begin_laps(self.visits_wanted % VISITS + 1, now);
            return None;
        }
        self.lap_before = Some(lap);
        (self.visits, self.lap, self.lap_at) = (0, 0, now);
        repeated.map(|_| length)
    }

    fn begin_laps(&mut self, visits_wanted: u32, now: u64) {
        (self.visits, self.visits_wanted) = (0, visits_wanted);
        (self.lap, self.lap_before, self.lap_at) = (0, None, now);
    }

    /// At a repeated look of a quiet period: whether its registers are to be compared. Ever more seldom, as where a
    /// count decides they differ every time.
    pub fn wants_state(&mut self, period: u64) -> bool {
        if self.period != period {
            (self.period, self.repeated) = (period, 0);
        }
        self.repeated += 1;
        let power = 1 << self.repeated.ilog2();
        self.repeated - power < COMPARED
    }

    /// Compares its registers with those kept, which are ever older, as with the anchor.
    pub fn compare(&mut self, state: u64) {
        if self.repeated > 1 && state == self.state {
            self.stuck = Some(self.period);
        }
        if self.repeated.is_power_of_two() {
            self.state = state;
        }
    }

    /// After a turn: whether it does what it has done before.
    pub fn goes_round(&self, now: u64) -> bool {
        now <= self.until
    }

    pub fn is_stuck(&self, period: u64) -> bool {
        self.stuck == Some(period)
    }
}

/// What is left to do for warps that wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    GoOn,
    /// No other warp will write what any waits for: lanes of their own have to.
    Rotate,
    Hang,
}

/// What all warps of a launch did in one round.
#[derive(Debug, Default)]
pub struct Watch {
    /// Memory has changed, or a warp came to a barrier or its end.
    pub changed: bool,
    /// Some warp did what it had not done before.
    pub fresh: bool,
    /// Some warp goes round and is not known to be stuck.
    pub open: bool,
    /// Rounds between which nothing has changed or is new have the same number.
    pub period: u64,
    /// Whether this period had a whole round.
    pub quiet: bool,
    /// What it has cost so far, in warp instructions.
    cost: u64,
    rotations: u32,
    /// What was spent since anything was new, with changes of memory or without.
    restless: u64,
    /// What was spent in vain since memory last changed.
    idle: u64,
}

impl Watch {
    /// Notes a turn of so many instructions.
    pub fn add_turn(&mut self, instructions: u64) {
        self.cost += TURN + instructions;
        self.restless += TURN + instructions;
    }

    /// Notes that a warp did what it had not done before.
    pub fn add_new(&mut self) {
        self.fresh = true;
        self.restless = 0;
    }

    /// Ends a round.
    pub fn end_round(&mut self) -> Next {
        let changed = std::mem::take(&mut self.changed);
        let fresh = std::mem::take(&mut self.fresh);
        let open = std::mem::take(&mut self.open);
        if changed {
            (self.rotations, self.idle) = (0, 0);
        }
        if changed || fresh {
            self.begin_period(false);
            return if self.stirs() {
                Next::Rotate
            } else {
                Next::GoOn
            };
        }
        let patience = IDLE.min(IDLE_FIRST << self.rotations.min(ROTATIONS / 2));
        if !self.quiet || open && self.cost < patience {
            self.quiet = true;
            return Next::GoOn;
        }
        self.idle += if open { self.cost } else { 0 };
        self.begin_period(true);
        self.rotations += 1;
        if self.rotations > ROTATIONS || self.idle >= HANG {
            Next::Hang
        } else {
            Next::Rotate
        }
    }

    /// Where memory changes: whether others go first, as those who change it have long done nothing else.
    pub fn stirs(&mut self) -> bool {
        let stirs = self.restless >= RESTLESS;
        if stirs {
            self.restless = 0;
        }
        stirs
    }

    fn begin_period(&mut self, quiet: bool) {
        self.period += 1;
        self.quiet = quiet;
        self.cost = 0;
    }
}

/// Of an atomic or a load of all these addresses.
pub fn place(all: &[u64; LANES], pc: Pc, mask: u32) -> Seen {
    let lane = mask.trailing_zeros() as usize % LANES;
    let place = mix(u64::from(pc), u64::from(mask));
    Seen {
        pc,
        mask,
        lane,
        address: all[lane],
        look: mix(place, sum(all, mask)),
    }
}

/// The look of a load that has run.
pub fn loaded(place: &Seen, frame: &Frame<'_>, access: &Access, mask: u32) -> u64 {
    let rows = &access.rows[..usize::from(access.count)];
    rows.iter().fold(place.look, |look, &row| {
        mix(look, sum_of(frame, row, access.wide, mask))
    })
}

/// The look of an atomic that has run.
pub fn unchanged(place: &Seen, frame: &Frame<'_>, atomic: &Atomic, mask: u32) -> u64 {
    let wide = atomic.bytes == 8;
    let rows = [atomic.d, atomic.a, atomic.b];
    rows.iter().fold(place.look, |look, &row| {
        mix(look, sum_of(frame, row, wide, mask))
    })
}

/// All that decides what a warp does next, but memory that others see: its decisive rows, where its lanes are, and the
/// changes of its threads' own memory. `at` stands for where the running ones are.
pub fn state(warp: &Warp, frame: &Frame<'_>, decisive: &[(Class, Row)], at: Pc) -> u64 {
    let place = |pc: Pc, lanes: u32, wait: u64| mix(mix(u64::from(pc), u64::from(lanes)), wait);
    // In whatever order they are kept.
    let parked = warp.parked.iter().map(|split| {
        let wait = match split.wait {
            Wait::Nothing => 0,
            Wait::Lanes { named, .. } => 1 << 32 | u64::from(named),
            Wait::Uncounted => 2 << 32,
            Wait::Barrier(id) => 3 << 32 | u64::from(id),
        };
        place(split.pc, split.active, wait)
    });
    let held = warp
        .joins
        .held()
        .map(|(lanes, pc)| place(pc, lanes, 4 << 32));
    let places = parked.chain(held).fold(0, u64::wrapping_add);
    let running = mix(place(at, warp.now.active, 5 << 32), warp.changes);
    decisive
        .iter()
        .fold(mix(places, running), |state, &(class, row)| {
            let row = match class {
                Class::Narrow => sum_of(frame, row, false, FULL),
                Class::Wide => sum_of(frame, row, true, FULL),
                Class::Predicate => u64::from(frame.predicates[usize::from(row)]),
            };
            mix(state, row)
        })
}

fn sum_of(frame: &Frame<'_>, row: Row, wide: bool, mask: u32) -> u64 {
    if wide {
        sum(&frame.wide[usize::from(row)], mask)
    } else {
        sum(&frame.narrow[usize::from(row)], mask)
    }
}

/// Of the values of some lanes, each with a weight of its own.
fn sum<T: Copy + Into<u64>>(row: &[T; LANES], mask: u32) -> u64 {
    let mut sum = 0_u64;
    for lane in 0..LANES {
        let value = if mask & BITS[lane] != 0 {
            row[lane].into()
        } else {
            0
        };
        sum = sum.wrapping_add(value.wrapping_mul(WEIGHTS[lane]));
    }
    sum
}

/// Odd numbers without a pattern: splitmix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators",
/// 2014).
const WEIGHTS: [u64; LANES] = {
    let mut weights = [0; LANES];
    let mut lane = 0;
    while lane < LANES {
        let z = GOLDEN.wrapping_mul(lane as u64 + 1);
        let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        weights[lane] = (z ^ z >> 31) | 1;
        lane += 1;
    }
    weights
};
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

fn mix(sum: u64, value: u64) -> u64 {
    let mixed = (sum.rotate_left(23) ^ value).wrapping_mul(GOLDEN);
    mixed ^ mixed >> 32
}
