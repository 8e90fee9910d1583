//! What one instruction does to memory and its warp knows, and so which earlier accesses need no closer look.

use super::super::program::{Pc, Scope, Semantics};
use super::entry::{ATOMIC, BYTES, Entry, LANE, MULTI, NC, SIDE, WARP_BITS, WARPS, shared_info};
use super::shadow::Shadow;
use super::{MAX_SEGMENTS, Order, Segment, Who};

/// What an instruction does to memory, and what its warp knows.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    pub(super) who: Who,
    pub(super) writes: bool,
    /// In global memory, whose stamps hold segments; none in shared memory, whose stamps hold times.
    pub(super) allocation: Option<usize>,
    pub(super) stamp: u32,
    pub(super) info: u32,
    /// Stamps up to this are ordered before, whoever made them, and for every thread that may still come.
    pub(super) limit: u32,
    /// Weak, of whole words, so that it may take the place of any access that it follows.
    plain: bool,
    /// Strong, for whoever can access this memory.
    pub(super) strong: bool,
    /// Stamps from the first on, so many, are ordered before.
    from: u32,
    span: u32,
    /// Stamps from here on are of this block.
    pub(super) near: u32,
}

impl Touch {
    /// Whether an access is known to come before, without a closer look.
    #[inline(always)]
    fn follows(&self, entry: Entry, stamp: u32, info: u32) -> bool {
        if stamp <= self.limit {
            return true;
        }
        let own = (stamp ^ entry.stamp) & WARPS == 0 && (info ^ entry.info) & (LANE | MULTI) == 0;
        let own = own && stamp >= self.near && stamp & SIDE == 0;
        let whole = self.plain && entry.info & BYTES == BYTES && info & NC == 0;
        whole && (own || stamp.wrapping_sub(self.from) < self.span)
    }

    /// Enters a write, if all that came before is known to.
    #[inline(always)]
    pub(super) fn write(&self, shadow: &mut Shadow, granule: usize, entry: Entry) -> bool {
        let (writes, reads, others) = (&mut shadow.writes, &shadow.reads, &shadow.others);
        let clear = self.follows(entry, writes.stamps[granule], writes.infos[granule])
            && self.follows(entry, reads.stamps[granule], reads.infos[granule])
            && self.follows(entry, others.stamps[granule], others.infos[granule]);
        if clear {
            writes.stamps[granule] = entry.stamp;
            writes.infos[granule] = entry.info;
        }
        clear
    }

    /// Enters a read, if the last write is known to come before and what else is read needs no telling apart.
    #[inline(always)]
    pub(super) fn read(&self, shadow: &mut Shadow, granule: usize, entry: Entry) -> bool {
        let (stamp, info) = (shadow.writes.stamps[granule], shadow.writes.infos[granule]);
        if !self.follows(entry, stamp, info) {
            return false;
        }
        let reads = &mut shadow.reads;
        if self.plain && entry.info & BYTES == BYTES {
            let old = reads.stamps[granule];
            if old > self.limit && old != entry.stamp && old & SIDE == 0 {
                return shadow.others.read(granule, entry, true);
            }
        }
        let fresh = reads.stamps[granule] <= self.limit;
        reads.read(granule, entry, fresh)
    }

    /// The same of an atomic.
    pub fn of_atomic(self) -> Self {
        Self {
            info: self.info | ATOMIC,
            ..self
        }
    }

    /// A location for strong accesses.
    pub(super) fn place(&self, offset: u64) -> (usize, u64) {
        (self.allocation.unwrap_or(usize::MAX), offset)
    }
}

impl Order {
    /// Prepares the check of an instruction; none while accesses are not followed.
    #[inline(always)]
    pub fn touch(
        &mut self,
        who: Who,
        pc: Pc,
        semantics: Semantics,
        allocation: Option<usize>,
        writes: bool,
    ) -> Option<Touch> {
        if !self.on {
            return None;
        }
        let shared = allocation.is_none();
        let stamp = if shared {
            let time = self.blocks[who.slot].warps[who.warp].time;
            time << WARP_BITS | who.warp as u32
        } else {
            match self.blocks[who.slot].warps[who.warp].global {
                0 => self.segment(who),
                stamp => stamp,
            }
        };
        let block = &self.blocks[who.slot];
        let (limit, from, span, near) = if shared {
            // Nothing that this block's threads do not all know matters to others.
            (block.limit(who.warp), 0, 0, 0)
        } else {
            let (start, owner) = self.run;
            let alone = owner == block.number;
            let from = start << WARP_BITS;
            let limit = (self.first << WARP_BITS) - 1;
            if alone {
                let span = block.sealed.saturating_sub(start) << WARP_BITS;
                (limit, from, span, from)
            } else {
                (limit, 0, 0, u32::MAX)
            }
        };
        let flags = if semantics.nc { NC } else { 0 };
        Some(Touch {
            who,
            writes,
            allocation,
            stamp,
            info: shared_info(pc, semantics.scope, flags),
            limit,
            plain: semantics.scope == Scope::Weak && !semantics.nc,
            strong: match semantics.scope {
                Scope::Weak => false,
                Scope::Block => shared,
                Scope::Device => true,
            },
            from,
            span,
            near,
        })
    }

    /// A stamp for a warp's accesses to global memory from here on.
    #[cold]
    fn segment(&mut self, who: Who) -> u32 {
        let block = &mut self.blocks[who.slot];
        let time = block.warps[who.warp].time;
        if block.segment.0 != time {
            block.segment = (time, self.first + self.segments.len() as u32);
            if self.run.1 != block.number {
                self.run = (block.segment.1, block.number);
            }
            self.segments.push(Segment {
                block: block.number,
                time,
            });
        }
        let stamp = block.segment.1 << WARP_BITS | who.warp as u32;
        block.warps[who.warp].global = stamp;
        if self.segments.len() >= MAX_SEGMENTS {
            self.lose();
        }
        stamp
    }
}
