//! What the threads of a resident block know of each other's accesses.
//!
//! A block has a time that advances whenever some of its threads synchronise. Each warp stamps its accesses with the
//! time of its own last such event, so an access at a time before that of an event is one made before it. Lanes of a
//! warp that know the same form a group, mostly one.

use super::super::lanes::FULL;
use super::entry::{TIMES, WARP_BITS};
use super::fences::{Fence, Passed};
use super::location::{Locations, Pending};
use super::nodes::{Extra, Known, NodeId, Nodes, Sought};
use super::shadow::Shadow;

/// Lanes of a warp that know the same.
#[derive(Clone, Debug)]
pub struct Group {
    pub lanes: u32,
    /// Of their own block.
    pub known: Known,
    /// All lanes of their own warp, before this time.
    pub own: u32,
    /// What they have acquired.
    pub acquired: NodeId,
    pub passed: Passed,
}

impl Group {
    /// Everything it knows of its own block, and what lanes of `warp` did before `time`.
    pub fn at(&self, warp: usize, lanes: u32, time: u32) -> Known {
        let mut known = self.known.clone();
        for (lanes, before) in [(FULL, self.own), (lanes, time)] {
            if before > known.all {
                known.add(Extra {
                    warp,
                    lanes,
                    before,
                });
            }
        }
        known
    }

    pub fn knows(&self, warp: usize, sought: Sought) -> bool {
        sought.warp == warp && sought.time < self.own || self.known.has(sought)
    }
}

/// A warp's part.
#[derive(Clone, Debug, Default)]
pub struct WarpClock {
    /// Of its block, at its last event.
    pub time: u32,
    /// The stamp of its accesses to global memory; 0 until it makes one.
    pub global: u32,
    pub groups: Vec<Group>,
    pub pending: Vec<Pending>,
    /// By lane, its last fences of each scope: block, device, and the last `fence.sc` of the device since it met
    /// others. Empty until there is one.
    pub fences: Vec<[Fence; 3]>,
}

impl WarpClock {
    fn start(&mut self, time: u32) {
        self.time = time;
        self.global = 0;
        self.pending.clear();
        self.fences.clear();
        self.groups.truncate(1);
        let Some(group) = self.groups.first_mut() else {
            self.groups.push(Group {
                lanes: FULL,
                known: Known {
                    all: time,
                    extras: Vec::new(),
                },
                own: time,
                acquired: 0,
                passed: Passed::default(),
            });
            return;
        };
        (group.lanes, group.own, group.acquired) = (FULL, time, 0);
        group.passed = Passed::default();
        group.known.all = time;
        group.known.extras.clear();
    }

    /// The group of a lane.
    #[inline(always)]
    pub fn group(&self, lane: usize) -> &Group {
        let own = |group: &&Group| group.lanes >> lane & 1 == 1;
        self.groups.iter().find(own).unwrap_or(&self.groups[0])
    }

    /// Makes `lanes` groups of their own and gives them.
    pub fn part(&mut self, lanes: u32) -> impl Iterator<Item = &mut Group> {
        for index in 0..self.groups.len() {
            let group = &mut self.groups[index];
            let rest = group.lanes & !lanes;
            if rest != 0 && rest != group.lanes {
                group.lanes &= lanes;
                let mut other = group.clone();
                other.lanes = rest;
                self.groups.push(other);
            }
        }
        self.groups
            .iter_mut()
            .filter(move |group| group.lanes & lanes != 0)
    }

    /// Replaces what `lanes` know.
    fn set(&mut self, new: Group) {
        self.groups.retain_mut(|group| {
            group.lanes &= !new.lanes;
            group.lanes != 0
        });
        self.groups.push(new);
    }
}

/// One of a block's barriers: what those who have arrived know together.
#[derive(Clone, Debug, Default)]
pub struct Gathering {
    pub known: Known,
    pub acquired: NodeId,
    pub passed: Passed,
}

impl Gathering {
    fn add(&mut self, known: &Known, acquired: NodeId, passed: Passed, nodes: &mut Nodes) {
        self.known.join(known);
        self.acquired = nodes.join(acquired, self.acquired);
        self.passed.fenced = nodes.join(passed.fenced, self.passed.fenced);
        self.passed.seen = nodes.join(passed.seen, self.passed.seen);
    }
}

/// A resident block's part.
#[derive(Clone, Debug, Default)]
pub struct BlockClock {
    /// Number of the block in its launch.
    pub number: u32,
    pub time: u32,
    pub warps: Vec<WarpClock>,
    /// Strong writes to shared memory.
    pub locations: Locations,
    gatherings: Vec<Gathering>,
    /// The time that a segment was last made for, and its number.
    pub segment: (u32, u32),
    /// Every segment of this block before this one is known to all its threads.
    pub sealed: u32,
}

impl BlockClock {
    pub fn start(&mut self, number: u32, warps: usize, shared: &mut Shadow) {
        // So far from the end that no block comes there.
        if self.time >= TIMES / 2 {
            shared.forget();
            self.time = 0;
        }
        self.number = number;
        self.time += 1;
        self.warps.resize_with(warps, WarpClock::default);
        self.warps.iter_mut().for_each(|warp| warp.start(self.time));
        self.locations.clear();
        self.gatherings.clear();
        self.segment = (0, 0);
        self.sealed = 0;
    }

    /// Begins a new time for a warp.
    pub fn advance(&mut self, warp: usize) -> u32 {
        self.time += 1;
        let clock = &mut self.warps[warp];
        (clock.time, clock.global) = (self.time, 0);
        self.time
    }

    /// The limit up to which stamps of shared memory are known to every lane of a warp.
    #[inline(always)]
    pub fn limit(&self, warp: usize) -> u32 {
        let groups = &self.warps[warp].groups;
        let least = match &groups[..] {
            [one] => one.known.all,
            _ => groups.iter().map(|g| g.known.all).min().unwrap_or(0),
        };
        (least << WARP_BITS).saturating_sub(1)
    }

    /// Lanes of one warp meet; `whole` if they are all that are left of it.
    pub fn warp_sync(&mut self, warp: usize, lanes: u32, whole: bool, nodes: &mut Nodes) {
        let time = self.advance(warp);
        let (number, clock) = (self.number, &mut self.warps[warp]);
        if let ([one], true) = (&clock.groups[..], whole) {
            let passed = clock.passes((warp, number), FULL, one, nodes);
            (clock.groups[0].own, clock.groups[0].passed) = (time, passed);
            clock.have_passed(FULL);
            return;
        }
        let mut met = Gathering::default();
        let mut own = 0;
        for group in clock.groups.iter().filter(|g| g.lanes & lanes != 0) {
            let passed = clock.passes((warp, number), lanes, group, nodes);
            met.add(&group.known, group.acquired, passed, nodes);
            own = own.max(group.own);
        }
        if !whole {
            met.known.add(Extra {
                warp,
                lanes,
                before: time,
            });
        }
        clock.set(Group {
            lanes: if whole { FULL } else { lanes },
            known: met.known,
            own: if whole { time } else { own },
            acquired: met.acquired,
            passed: met.passed,
        });
        clock.have_passed(lanes);
    }

    /// Lanes of a warp come to a barrier: what they did so far, and what they know, is known to those who leave it.
    pub fn arrive(&mut self, barrier: usize, warp: usize, lanes: u32, nodes: &mut Nodes) {
        let time = self.advance(warp);
        if self.gatherings.len() <= barrier {
            self.gatherings.resize_with(barrier + 1, Gathering::default);
        }
        let gathering = &mut self.gatherings[barrier];
        let clock = &self.warps[warp];
        for group in clock.groups.iter().filter(|g| g.lanes & lanes != 0) {
            let known = group.at(warp, lanes, time);
            let passed = clock.passes((warp, self.number), lanes, group, nodes);
            gathering.add(&known, group.acquired, passed, nodes);
        }
    }

    /// Lanes leave a barrier that is complete; `whole` if no thread of the block that is left was elsewhere.
    pub fn complete(&mut self, barrier: usize, waiting: &[(usize, u32)], whole: bool) {
        let Some(gathering) = self.gatherings.get_mut(barrier) else {
            return;
        };
        let mut met = std::mem::take(gathering);
        if whole {
            self.time += 1;
            met.known.all = self.time;
            met.known.extras.clear();
        }
        for &(warp, lanes) in waiting {
            let clock = &mut self.warps[warp];
            if whole {
                (clock.time, clock.global) = (self.time, 0);
            }
            let groups = clock.groups.iter().filter(|g| g.lanes & lanes != 0);
            let own = groups.map(|g| g.own).max().unwrap_or(0);
            clock.set(Group {
                lanes: if whole { FULL } else { lanes },
                known: met.known.clone(),
                own: own.max(met.known.all),
                acquired: met.acquired,
                passed: met.passed,
            });
            clock.have_passed(lanes);
        }
    }
}
