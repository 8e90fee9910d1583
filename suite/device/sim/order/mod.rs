//! Data races, found by happens-before: whether two accesses that conflict are ordered, in whatever schedule ran.
//!
//! Owns what threads know of each other (`clock`, `fences`), what releases pass on (`nodes`, `location`), the last
//! accesses of each word (`shadow`, `entry`), and the check of an access against them (`touch`, `words`, `strong`,
//! `conflict`). The order is that of the PTX ISA's memory consistency model: program order, barriers, `bar.warp.sync`,
//! release and acquire patterns whose scopes include each other, `fence.sc`, and what atomics have observed. As in
//! FastTrack (Flanagan and Freund, 2009), a cell mostly holds one access, not a vector of all threads' clocks. Where a
//! bound is reached accesses count as ordered: what is found is always so.

mod clock;
mod conflict;
mod entry;
mod fences;
mod location;
mod nodes;
mod report;
mod shadow;
mod strong;
mod touch;
mod words;

use clock::BlockClock;
use entry::TIMES;
use location::Locations;
use nodes::Nodes;

use super::program::Scope;
pub use conflict::Conflict;
pub use entry::Entry;
pub use shadow::{GRANULE, Shadow};
pub use touch::Touch;
pub use words::Row;

/// Segments of one launch; past them its detection ends.
const MAX_SEGMENTS: usize = 1 << 25;

/// The time of a block in which warps accessed global memory.
#[derive(Clone, Copy, Debug)]
struct Segment {
    block: u32,
    time: u32,
}

/// The order of the accesses of one device.
#[derive(Debug, Default)]
pub struct Order {
    /// Whether detectors are wanted.
    pub asked: bool,
    /// Whether the launch's accesses are followed.
    pub on: bool,
    /// Whether they no longer are, as a bound was reached.
    pub lost: bool,
    /// By the place of a resident block.
    blocks: Vec<BlockClock>,
    /// Of this launch; the first has the number `first`.
    segments: Vec<Segment>,
    first: u32,
    /// From this one on all segments are of one block, the one of this number.
    run: (u32, u32),
    /// The blocks of this launch, by their number.
    indices: Vec<[u32; 3]>,
    nodes: Nodes,
    /// Strong writes to global memory.
    locations: Locations,
    /// What the last access was found to conflict with.
    pub conflicts: Vec<Conflict>,
}

/// The warp that runs.
#[derive(Clone, Copy, Debug)]
pub struct Who {
    /// Place of its block.
    pub slot: usize,
    pub warp: usize,
}

impl Order {
    /// Starts a launch. True if numbers begin anew: then what the shadows hold means nothing.
    pub fn begin_launch(&mut self, on: bool) -> bool {
        self.first += self.segments.len() as u32;
        self.segments.clear();
        let anew = self.first == 0 || self.first >= TIMES / 2;
        if anew {
            self.first = 1;
        }
        (self.asked, self.on, self.lost) = (on, on, false);
        self.run = (self.first, 0);
        self.indices.clear();
        self.nodes.clear();
        self.locations.clear();
        self.conflicts.clear();
        anew
    }

    /// Starts a block of so many warps in a place.
    pub fn start_block(&mut self, slot: usize, index: [u32; 3], warps: usize, shared: &mut Shadow) {
        if !self.on {
            return;
        }
        if self.blocks.len() <= slot {
            self.blocks.resize_with(slot + 1, BlockClock::default);
        }
        let number = self.indices.len() as u32;
        self.indices.push(index);
        self.blocks[slot].start(number, warps, shared);
    }

    fn lose(&mut self) {
        (self.on, self.lost) = (false, true);
    }

    /// Ends detection where a bound is reached.
    fn bound(&mut self, slot: usize) {
        let block = &self.blocks[slot];
        let late = block.time >= TIMES - 2 || self.segments.len() >= MAX_SEGMENTS;
        if late || self.nodes.full || self.locations.full || block.locations.full {
            self.lose();
        }
    }

    /// `bar.warp.sync` of lanes, of the `live` ones.
    pub fn warp_sync(&mut self, who: Who, lanes: u32, live: u32) {
        if self.on {
            let whole = live & !lanes == 0;
            self.blocks[who.slot].warp_sync(who.warp, lanes, whole, &mut self.nodes);
            self.bound(who.slot);
        }
    }

    /// Lanes come to a barrier of their block.
    pub fn arrive(&mut self, who: Who, barrier: usize, lanes: u32) {
        if self.on {
            self.blocks[who.slot].arrive(barrier, who.warp, lanes, &mut self.nodes);
            self.bound(who.slot);
        }
    }

    /// Those who wait, lanes by warp, leave a barrier; `whole` if no thread of the block that is left was elsewhere.
    pub fn complete(&mut self, slot: usize, barrier: usize, waiting: &[(usize, u32)], whole: bool) {
        if self.on {
            let block = &mut self.blocks[slot];
            block.complete(barrier, waiting, whole);
            if whole {
                block.sealed = self.first + self.segments.len() as u32;
            }
        }
    }

    /// `fence` or `membar`; `sc` if it is sequentially consistent.
    pub fn fence(&mut self, who: Who, lanes: u32, scope: Scope, sc: bool) {
        if self.on {
            let block = &mut self.blocks[who.slot];
            let warp = &mut block.warps[who.warp];
            let sc = sc && scope == Scope::Device;
            location::fence(warp, lanes, (scope, sc), block.number, &mut self.nodes);
            block.fence(who.warp, lanes, (scope, sc), &mut self.nodes);
            self.bound(who.slot);
        }
    }
}
