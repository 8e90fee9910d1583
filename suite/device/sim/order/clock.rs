//! What the threads of a resident block know of each other's accesses.
//!
//! A block has a time that advances whenever some of its threads synchronise. Each warp stamps its accesses with the
//! time of its own last such event, so an access at a time before that of an event is one made before it. Lanes of a
//! warp that know the same form a group, mostly one.

use super::super::lanes::{BITS, FULL, LANES, lanes as lanes_of};
use super::super::program::Scope;
use super::entry::{TIMES, WARP_BITS};
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

/// What meets have passed on of `fence.sc` of the device's scope, which need not be by the thread that writes or reads
/// in between (see `location`).
#[derive(Clone, Copy, Debug, Default)]
pub struct Passed {
    /// What was released by fences made before.
    pub fenced: NodeId,
    /// What the next fence acquires, as strong reads have seen it before.
    pub seen: NodeId,
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

/// A fence of one lane.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fence {
    /// That of all lanes which made it together.
    node: NodeId,
    /// With what the lane itself did before; 0 until it is asked for.
    own: NodeId,
    time: u32,
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
    /// By lane, its last fences of each scope: block, device, and the last `fence.sc` of the device since it met others.
    /// Empty until there is one.
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

    /// What a lane's strong write releases by its earlier fences, those of others that were passed on among them.
    pub fn released(
        &mut self,
        warp: usize,
        lane: usize,
        block: u32,
        nodes: &mut Nodes,
    ) -> [NodeId; 3] {
        let passed = self.group(lane).passed.fenced;
        let Some([near, device, sc]) = self.fences.get_mut(lane) else {
            return [0, 0, passed];
        };
        let mut own = |fence: &mut Fence| {
            if fence.node != 0 && fence.own == 0 {
                let own = Extra {
                    warp,
                    lanes: 1 << lane,
                    before: fence.time,
                };
                fence.own = nodes.release(block, own, fence.node);
            }
            fence.own
        };
        let (of_block, of_device) = (own(near), own(device));
        if sc.node == device.node {
            sc.own = of_device;
        }
        // A fence of its own was made with what had been passed on to it.
        let of_sc = if sc.node == 0 { passed } else { own(sc) };
        [of_block, of_device, of_sc]
    }

    /// What those of a group among `lanes`, which meet others, pass on to them.
    fn passes(
        &self,
        (warp, block): (usize, u32),
        lanes: u32,
        group: &Group,
        nodes: &mut Nodes,
    ) -> Passed {
        let lanes = lanes & group.lanes;
        let mut passed = group.passed;
        for pending in &self.pending {
            if pending.sc && pending.lanes & lanes != 0 {
                passed.seen = nodes.join(passed.seen, pending.release.node);
            }
        }
        let fences = &self.fences;
        let mut rest = lanes & lanes_with(fences);
        if rest != 0 {
            passed.fenced = 0;
        }
        while rest != 0 {
            let first = fences[rest.trailing_zeros() as usize % LANES][2];
            let same = lanes_of(rest).filter(|&lane| fences[lane][2].node == first.node);
            let own = Extra {
                warp,
                lanes: same.fold(0, |sum, lane| sum | BITS[lane]),
                before: first.time,
            };
            rest &= !own.lanes;
            let node = nodes.release(block, own, first.node);
            passed.fenced = nodes.join(passed.fenced, node);
        }
        passed
    }

    /// Lanes have met others: what they pass on is known to their group.
    fn have_passed(&mut self, lanes: u32) {
        self.pending.retain_mut(|pending| {
            pending.lanes &= if pending.sc { !lanes } else { FULL };
            pending.lanes != 0
        });
        if !self.fences.is_empty() {
            lanes_of(lanes).for_each(|lane| self.fences[lane][2] = Fence::default());
        }
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

/// The lanes with a `fence.sc` that they have not passed on.
fn lanes_with(fences: &[[Fence; 3]]) -> u32 {
    let with = fences.iter().zip(BITS).filter(|(of, _)| of[2].node != 0);
    with.fold(0, |sum, (_, bit)| sum | bit)
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

    /// Lanes make a fence: what they strongly write from here on releases what they did and knew.
    pub fn fence(
        &mut self,
        warp: usize,
        lanes: u32,
        (scope, sc): (Scope, bool),
        nodes: &mut Nodes,
    ) {
        let time = self.advance(warp);
        let clock = &mut self.warps[warp];
        clock.fences.resize(LANES, Default::default());
        for group in clock.groups.iter().filter(|g| g.lanes & lanes != 0) {
            let mut known = group.known.clone();
            if group.own > known.all {
                known.add(Extra {
                    warp,
                    lanes: FULL,
                    before: group.own,
                });
            }
            let own = Extra {
                warp,
                lanes: group.lanes & lanes,
                before: time,
            };
            let node = nodes.fence(self.number, known, group.acquired, (own, scope));
            let fence = Fence { node, own: 0, time };
            for lane in lanes_of(own.lanes) {
                // A fence that reaches further is a nearer one too.
                clock.fences[lane] = match (scope, clock.fences[lane]) {
                    (Scope::Device, _) if sc => [Fence::default(), fence, fence],
                    (Scope::Device, [.., sc]) => [Fence::default(), fence, sc],
                    (_, [_, device, sc]) => [fence, device, sc],
                };
            }
        }
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
