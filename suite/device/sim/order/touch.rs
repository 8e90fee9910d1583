//! One instruction's accesses against those before: each word's cells are read, compared and brought up to date.

use super::super::lanes::LANES;
use super::super::program::{Pc, Scope, Semantics};
use super::entry::{
    BYTES, Entry, LANE, MULTI, NC, SAME, SIDE, WARP_BITS, WARPS, WIDE, lane_info, shared_info,
};
use super::shadow::{GRANULE, Shadow};
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
    fn write(&self, shadow: &mut Shadow, granule: usize, entry: Entry) -> bool {
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
    fn read(&self, shadow: &mut Shadow, granule: usize, entry: Entry) -> bool {
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

    /// A location for strong accesses.
    pub(super) fn place(&self, offset: u64) -> (usize, u64) {
        (self.allocation.unwrap_or(usize::MAX), offset)
    }
}

/// The granules of a warp's access: `granules` of each lane, lane after lane.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub first: usize,
    pub granules: usize,
    /// Of elements of eight bytes.
    pub wide: bool,
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

    /// All lanes access words that follow each other. `same` has a bit for each lane whose write changes nothing.
    #[inline(always)]
    pub fn row(&mut self, shadow: &mut Shadow, touch: &Touch, row: Row, same: u32) {
        let end = row.first + LANES * row.granules;
        let writes = &shadow.writes.stamps[row.first..end];
        let reads = &shadow.reads.stamps[row.first..end];
        let others = &shadow.others.stamps[row.first..end];
        let limit = touch.limit;
        let mut late = 0;
        if touch.writes {
            for ((write, read), other) in writes.iter().zip(reads).zip(others) {
                late |= u32::from(*write > limit)
                    | u32::from(*read > limit)
                    | u32::from(*other > limit);
            }
        } else {
            for (write, read) in writes.iter().zip(reads) {
                late |= u32::from(*write > limit) | u32::from(*read > limit);
            }
        }
        if late != 0 {
            self.row_apart(shadow, touch, row, same);
            return;
        }
        let cells = if touch.writes {
            &mut shadow.writes
        } else {
            &mut shadow.reads
        };
        cells.stamps[row.first..end].fill(touch.stamp);
        let infos = &mut cells.infos[row.first..end];
        if let (0, Ok(infos)) = (same, <&mut [u32; LANES]>::try_from(&mut *infos)) {
            for (lane, info) in infos.iter_mut().enumerate() {
                *info = lane_info(touch.info, lane, 15);
            }
            return;
        }
        let flags = touch.info | if row.wide { WIDE } else { 0 };
        for (lane, infos) in infos.chunks_exact_mut(row.granules).enumerate() {
            let same = if same >> lane & 1 == 1 { SAME } else { 0 };
            infos.fill(lane_info(flags | same, lane, 15));
        }
    }

    #[inline(never)]
    fn row_apart(&mut self, shadow: &mut Shadow, touch: &Touch, row: Row, same: u32) {
        for lane in 0..LANES {
            let at = (row.first + lane * row.granules) * GRANULE;
            let same = same >> lane & 1 == 1;
            let bytes = if row.wide { 2 * GRANULE } else { GRANULE };
            for at in (at..at + row.granules * GRANULE).step_by(bytes) {
                self.bytes(shadow, touch, lane, at, bytes, same);
            }
        }
    }

    /// One lane's access to some bytes, aligned to their number; `same` if it writes what is there.
    pub fn bytes(
        &mut self,
        shadow: &mut Shadow,
        touch: &Touch,
        lane: usize,
        at: usize,
        bytes: usize,
        same: bool,
    ) {
        let mut info = touch.info | if bytes > GRANULE { WIDE } else { 0 };
        info |= if same { SAME } else { 0 };
        let mask = if bytes < GRANULE {
            ((1 << bytes) - 1) << (at % GRANULE)
        } else {
            15
        };
        let entry = Entry {
            stamp: touch.stamp,
            info: lane_info(info, lane, mask),
        };
        for granule in at / GRANULE..(at + bytes).div_ceil(GRANULE) {
            self.granule(shadow, touch, lane, granule, entry);
        }
    }

    #[inline(always)]
    fn granule(
        &mut self,
        shadow: &mut Shadow,
        touch: &Touch,
        lane: usize,
        granule: usize,
        entry: Entry,
    ) {
        let done = if touch.writes {
            touch.write(shadow, granule, entry) || touch.write_strong(shadow, granule, entry)
        } else {
            touch.read(shadow, granule, entry)
        };
        if !done {
            self.compare(shadow, touch, lane, granule, entry);
        }
    }
}
