//! One instruction's accesses against those before: each word's cells are read, compared and brought up to date.

use super::super::lanes::{FULL, LANES};
use super::super::program::{Pc, Scope, Semantics};
use super::entry::{
    BYTES, Entry, LANE, MULTI, NC, SAME, SIDE, WARP_BITS, WIDE, lane_info, shared_info,
};
use super::location::Strong;
use super::nodes::Sought;
use super::shadow::{GRANULE, List, Shadow, Side};
use super::{MAX_SEGMENTS, Order, Segment, Who};
use crate::terms::FindingKind;

/// The bits of a stamp that tell the warp.
const WARPS: u32 = (1 << WARP_BITS) - 1;
/// Conflicts noted of one instruction.
const NOTED: usize = 32;

/// Two accesses that are not ordered.
#[derive(Clone, Copy, Debug)]
pub struct Conflict {
    pub kind: FindingKind,
    pub lane: usize,
    pub granule: usize,
    /// The allocation; none in shared memory.
    pub allocation: Option<usize>,
    pub writes: bool,
    pub scope: Scope,
    /// The earlier one, and whether it wrote.
    pub other: Entry,
    pub other_writes: bool,
    /// Who made the earlier one, and when.
    sought: Sought,
}

/// What an instruction does to memory, and what its warp knows.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    who: Who,
    writes: bool,
    /// In global memory, whose stamps hold segments; none in shared memory, whose stamps hold times.
    allocation: Option<usize>,
    stamp: u32,
    info: u32,
    /// Stamps up to this are ordered before, whoever made them, and for every thread that may still come.
    limit: u32,
    /// Weak, of whole words, so that it may take the place of any access that it follows.
    plain: bool,
    /// Stamps from the first on, so many, are ordered before.
    from: u32,
    span: u32,
    /// Stamps from here on are of this block.
    near: u32,
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
    fn place(&self, offset: u64) -> (usize, u64) {
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

    fn sought(&self, touch: &Touch, entry: Entry) -> Sought {
        let (block, time) = if touch.allocation.is_none() {
            (self.blocks[touch.who.slot].number, entry.time())
        } else {
            let segment = self.segments[(entry.time() - self.first) as usize];
            (segment.block, segment.time)
        };
        Sought {
            block,
            warp: entry.warp(),
            lanes: if entry.has(MULTI) {
                FULL
            } else {
                1 << entry.lane()
            },
            time,
        }
    }

    /// Whether an access of a lane comes after an earlier one.
    fn knows(&mut self, touch: &Touch, lane: usize, entry: Entry) -> bool {
        if entry.stamp <= touch.limit {
            return true;
        }
        let sought = self.sought(touch, entry);
        let Who { slot, warp } = touch.who;
        let block = &self.blocks[slot];
        let group = block.warps[warp].group(lane);
        if block.number == sought.block {
            let own = sought.warp == warp && sought.lanes == 1 << lane;
            if own || group.knows(warp, sought) {
                return true;
            }
        }
        let acquired = group.acquired;
        self.nodes.know(acquired, sought)
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
            touch.write(shadow, granule, entry)
        } else {
            touch.read(shadow, granule, entry)
        };
        if !done {
            self.compare(shadow, touch, lane, granule, entry);
        }
    }

    #[inline(never)]
    fn compare(
        &mut self,
        shadow: &mut Shadow,
        touch: &Touch,
        lane: usize,
        granule: usize,
        entry: Entry,
    ) {
        let mut writes = shadow.get(Side::Writes, granule);
        let mut reads = shadow.get(Side::Reads, granule);
        reads.extend(shadow.get(Side::Others, granule));
        self.against(touch, lane, granule, entry, (&writes, true));
        if touch.writes {
            self.against(touch, lane, granule, entry, (&reads, false));
            self.make_room(touch, lane, entry, &mut writes);
            writes.push(entry);
            shadow.set(Side::Writes, granule, &writes);
            // Reads of these bytes came before this write, or were found.
            reads.retain(|old| old.stamp > touch.limit && old.mask() & !entry.mask() != 0);
        } else if !reads.merge(entry, MULTI) {
            self.make_room(touch, lane, entry, &mut reads);
            reads.push(entry);
        }
        shadow.set(Side::Reads, granule, &reads);
        shadow.set(Side::Others, granule, &List::default());
    }

    /// Drops what a later access need not be compared with: it meets the new one too, and for the same reason.
    fn make_room(&mut self, touch: &Touch, lane: usize, entry: Entry, list: &mut List) {
        list.retain(|old| {
            let covered = old.mask() & !entry.mask() == 0
                && old.scope() >= entry.scope()
                && (entry.has(NC) || !old.has(NC));
            old.stamp > touch.limit && !(covered && self.knows(touch, lane, old))
        });
    }

    /// Finds conflicts with the accesses of a cell.
    fn against(
        &mut self,
        touch: &Touch,
        lane: usize,
        granule: usize,
        entry: Entry,
        (list, other_writes): (&List, bool),
    ) {
        for &old in list.all() {
            if old.mask() & entry.mask() == 0 || old.stamp <= touch.limit {
                continue;
            }
            let kind = if entry.has(NC) || old.has(NC) {
                FindingKind::Stale
            } else if self.knows(touch, lane, old) || self.is_strong(touch, entry, old) {
                continue;
            } else if (if touch.writes { entry } else { old }).has(SAME) {
                FindingKind::ValueRace
            } else {
                FindingKind::Race
            };
            if self.conflicts.len() >= NOTED {
                return;
            }
            self.conflicts.push(Conflict {
                kind,
                lane,
                granule,
                allocation: touch.allocation,
                writes: touch.writes,
                scope: entry.scope(),
                other: old,
                other_writes,
                sought: self.sought(touch, old),
            });
        }
    }

    /// The block that made the earlier access of a conflict; none for the block of the later one.
    pub fn other_block(&self, who: Who, conflict: &Conflict) -> Option<[u32; 3]> {
        let number = conflict.sought.block;
        (number != self.blocks[who.slot].number).then(|| self.indices[number as usize])
    }

    /// The widest scope of a fence that the thread of the earlier access has made since.
    pub fn fenced(&self, conflict: &Conflict) -> Scope {
        self.nodes.fenced(conflict.sought)
    }

    /// Whether the earlier access was made by the same instruction as the later one, another lane's.
    pub fn is_together(touch: &Touch, conflict: &Conflict) -> bool {
        let other = conflict.other;
        conflict.other_writes && other.stamp == touch.stamp && other.has_pc_of(touch.info)
    }

    /// Whether both are strong, reach each other's thread, and access the same bytes: morally strong, in the words of
    /// the PTX ISA.
    fn is_strong(&self, touch: &Touch, new: Entry, old: Entry) -> bool {
        let near = self.sought(touch, old).block == self.blocks[touch.who.slot].number;
        let reach = match new.scope().min(old.scope()) {
            Scope::Weak => false,
            Scope::Block => near,
            Scope::Device => true,
        };
        reach && new.mask() == old.mask() && new.has(WIDE) == old.has(WIDE)
    }

    /// Strong accesses of lanes synchronise.
    pub fn strong_read(&mut self, touch: &Touch, semantics: Semantics, lane: usize, offset: u64) {
        if semantics.scope == Scope::Weak || self.nodes.is_empty() {
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
    }

    pub fn strong_write(
        &mut self,
        touch: &Touch,
        semantics: Semantics,
        lane: usize,
        offset: u64,
        atomic: bool,
    ) {
        if semantics.scope == Scope::Weak || self.nodes.is_empty() {
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
