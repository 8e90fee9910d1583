//! Synchronisation through memory: what strong writes leave at a location, and what strong reads take from it.
//!
//! The rules are those of the PTX ISA, chapter "Memory Consistency Model", sections "Release and Acquire Patterns",
//! "Observation Order" and "Synchronizes-With": a release pattern is a release operation, or a fence followed by a
//! strong write; an acquire pattern is an acquire operation, or a strong read followed by a fence; an atomic carries on
//! what it overwrites. Two patterns synchronise if each one's scope includes the other's thread.
//!
//! A `fence.sc` need not be in the thread that writes or reads: by "Fence-SC Order" two whose scopes include each other
//! are ordered, and the earlier synchronises with the later. Of one that comes before a write in causality order (over
//! barriers) and one that comes after a read of what that write left, the other way round is impossible: the read would
//! come before what it has observed ("Causality"). Followed for fences of the device's scope.

use std::collections::HashMap;

use super::super::program::{Scope, Semantics};
use super::clock::WarpClock;
use super::nodes::{NodeId, Nodes};
use super::touch::Touch;
use super::{Order, Who};

/// Locations of one space; past them the launch's detection ends.
const MAX_LOCATIONS: usize = 1 << 22;
/// The slot of what `fence.sc` has released.
const SC: usize = 2;
/// Of releases by more than one block.
const MANY: u32 = u32::MAX;

/// What a write has released, and how far the fence and the write both reach.
#[derive(Clone, Copy, Debug)]
pub struct Release {
    pub node: NodeId,
    pub scope: Scope,
    /// Number of the block.
    pub block: u32,
}

impl Release {
    /// As seen by an access of `block` that reaches as far as `scope`; none if one does not include the other.
    fn within(self, scope: Scope, block: u32) -> Option<Self> {
        let scope = self.scope.min(scope);
        let near = self.block == block || self.block == MANY;
        (scope == Scope::Device || near).then_some(Self { scope, ..self })
    }

    fn join(self, older: Self, nodes: &mut Nodes) -> Self {
        Self {
            node: nodes.join(self.node, older.node),
            block: if self.block == older.block {
                self.block
            } else {
                MANY
            },
            scope: self.scope,
        }
    }
}

/// A strong access of one lane.
#[derive(Clone, Copy, Debug)]
pub struct Strong {
    /// Allocation and offset.
    pub place: (usize, u64),
    /// Number of the block.
    pub block: u32,
    pub lane: usize,
    pub scope: Scope,
}

/// What a strong read has seen, until a fence makes it known.
#[derive(Clone, Copy, Debug)]
pub struct Pending {
    pub lanes: u32,
    pub release: Release,
    /// Whether it takes a `fence.sc`, which may be of a thread that it meets before.
    pub sc: bool,
}

/// Locations with a release, by where they are: that of a device's scope, that of a block's, and by `fence.sc` of the
/// device's scope.
#[derive(Clone, Debug, Default)]
pub struct Locations {
    released: HashMap<(usize, u64), [Option<Release>; 3]>,
    /// Whether there were too many.
    pub full: bool,
}

impl Locations {
    pub fn clear(&mut self) {
        self.released.clear();
        self.full = false;
    }

    /// A strong read takes what is there: at once if it acquires, else at the next fence.
    pub fn read(&self, access: Strong, acquires: bool, warp: &mut WarpClock, nodes: &mut Nodes) {
        let Some(released) = self.released.get(&access.place) else {
            return;
        };
        for (slot, release) in released.iter().enumerate() {
            let within = |r: Release| r.within(access.scope, access.block);
            let Some(release) = release.and_then(within) else {
                continue;
            };
            let (lanes, sc) = (1 << access.lane, slot == SC);
            if acquires && !sc {
                acquire(warp, lanes, release.node, nodes);
                continue;
            }
            if acquires && warp.group(access.lane).acquired == release.node {
                continue;
            }
            let same = |p: &&mut Pending| {
                let alike = p.release.node == release.node && p.release.scope == release.scope;
                alike && p.sc == sc
            };
            match warp.pending.iter_mut().find(same) {
                Some(old) => old.lanes |= lanes,
                None => warp.pending.push(Pending { lanes, release, sc }),
            }
        }
    }

    /// A strong write leaves what its thread has released; an atomic adds that to what is there.
    pub fn write(
        &mut self,
        access: Strong,
        released: [NodeId; 3],
        atomic: bool,
        nodes: &mut Nodes,
    ) {
        let [of_block, of_device, sc] = released;
        let new = |node: NodeId, scope: Scope| {
            (node != 0).then_some(Release {
                node,
                scope,
                block: access.block,
            })
        };
        let mut left = if access.scope == Scope::Device {
            let all = [(of_device, Scope::Device), (of_block, Scope::Block)];
            let [device, block] = all.map(|(node, scope)| new(node, scope));
            [device, block, new(sc, Scope::Device)]
        } else {
            let of_block = new(of_block.max(of_device), Scope::Block);
            [None, of_block, new(sc, Scope::Block)]
        };
        if atomic && let Some(old) = self.released.get(&access.place) {
            for (slot, older) in old.iter().enumerate() {
                let within = |r: Release| r.within(access.scope, access.block);
                let Some(older) = older.and_then(within) else {
                    continue;
                };
                let slot = if slot == SC {
                    SC
                } else {
                    usize::from(older.scope != Scope::Device)
                };
                let slot = &mut left[slot];
                *slot = match *slot {
                    // Of several blocks' own scopes only one can be the reader's: the newest.
                    Some(new) if new.scope == Scope::Block && new.block != older.block => Some(new),
                    Some(new) => Some(new.join(older, nodes)),
                    None => Some(older),
                };
            }
        }
        if left.iter().all(Option::is_none) {
            self.released.remove(&access.place);
        } else if self.released.len() < MAX_LOCATIONS {
            self.released.insert(access.place, left);
        } else {
            self.full = true;
        }
    }
}

fn acquire(warp: &mut WarpClock, lanes: u32, node: NodeId, nodes: &mut Nodes) {
    for group in warp.part(lanes) {
        group.acquired = nodes.join(group.acquired, node);
    }
}

/// A fence of `lanes` makes known what their strong reads have seen, as far as both reach; `fence.sc` also what others
/// have seen whom they have met since.
pub fn fence(
    warp: &mut WarpClock,
    lanes: u32,
    (scope, sc): (Scope, bool),
    block: u32,
    nodes: &mut Nodes,
) {
    if sc && warp.groups.iter().any(|group| group.passed.seen != 0) {
        for group in warp.part(lanes) {
            let seen = std::mem::take(&mut group.passed.seen);
            group.acquired = nodes.join(group.acquired, seen);
        }
    }
    let mut pending = std::mem::take(&mut warp.pending);
    pending.retain_mut(|seen| {
        let here = seen.lanes & lanes;
        let fits = sc || !seen.sc;
        if here != 0 && fits && seen.release.within(scope, block).is_some() {
            acquire(warp, here, seen.release.node, nodes);
            seen.lanes &= !here;
        }
        seen.lanes != 0
    });
    warp.pending = pending;
}

impl Order {
    /// Whether the launch has made no fence so far: then strong accesses pass nothing on.
    #[inline(always)]
    pub fn releases_nothing(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Strong accesses of lanes synchronise.
    pub fn strong_read(&mut self, touch: &Touch, semantics: Semantics, lane: usize, offset: u64) {
        if semantics.scope == Scope::Weak || self.releases_nothing() {
            return;
        }
        let access = self.strong(touch, semantics, lane, offset);
        let block = &mut self.blocks[touch.who.slot];
        let warp = &mut block.warps[touch.who.warp];
        let locations = if touch.allocation.is_none() {
            &block.locations
        } else {
            &self.locations
        };
        locations.read(access, semantics.acquire, warp, &mut self.nodes);
        self.bound(touch.who.slot);
    }

    pub fn strong_write(
        &mut self,
        touch: &Touch,
        semantics: Semantics,
        lane: usize,
        offset: u64,
        atomic: bool,
    ) {
        if semantics.scope == Scope::Weak || self.releases_nothing() {
            return;
        }
        let access = self.strong(touch, semantics, lane, offset);
        let Who { slot, warp } = touch.who;
        let block = &mut self.blocks[slot];
        let number = block.number;
        let released = block.warps[warp].released(warp, lane, number, &mut self.nodes);
        let locations = if touch.allocation.is_none() {
            &mut block.locations
        } else {
            &mut self.locations
        };
        locations.write(access, released, atomic, &mut self.nodes);
        self.bound(slot);
    }

    fn strong(&self, touch: &Touch, semantics: Semantics, lane: usize, offset: u64) -> Strong {
        Strong {
            place: touch.place(offset),
            block: self.blocks[touch.who.slot].number,
            lane,
            scope: semantics.scope,
        }
    }
}
