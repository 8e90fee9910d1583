//! Fences: what a strong write releases by those made before it, and what `fence.sc` passes on where lanes meet.

use super::super::lanes::{BITS, FULL, LANES, lanes as lanes_of};
use super::super::program::Scope;
use super::clock::{BlockClock, Group, WarpClock};
use super::nodes::{Extra, NodeId, Nodes};

/// What meets have passed on of `fence.sc` of the device's scope, which need not be by the thread that writes or reads
/// in between (see `location`).
#[derive(Clone, Copy, Debug, Default)]
pub struct Passed {
    /// What was released by fences made before.
    pub fenced: NodeId,
    /// What the next fence acquires, as strong reads have seen it before.
    pub seen: NodeId,
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

impl WarpClock {
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
    pub fn passes(
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
    pub fn have_passed(&mut self, lanes: u32) {
        self.pending.retain_mut(|pending| {
            pending.lanes &= if pending.sc { !lanes } else { FULL };
            pending.lanes != 0
        });
        if !self.fences.is_empty() {
            lanes_of(lanes).for_each(|lane| self.fences[lane][2] = Fence::default());
        }
    }
}

impl BlockClock {
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
}

/// The lanes with a `fence.sc` that they have not passed on.
fn lanes_with(fences: &[[Fence; 3]]) -> u32 {
    let with = fences.iter().zip(BITS).filter(|(of, _)| of[2].node != 0);
    with.fold(0, |sum, (_, bit)| sum | bit)
}
