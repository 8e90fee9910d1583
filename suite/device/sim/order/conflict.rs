//! The close look at an access: whether it comes after those before it, and what to keep of them.

use super::super::lanes::FULL;
use super::super::program::Scope;
use super::entry::{ATOMIC, Entry, MULTI, NC, SAME, WIDE};
use super::nodes::Sought;
use super::shadow::{List, Shadow, Side};
use super::touch::Touch;
use super::{Order, Who};
use crate::terms::FindingKind;

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

impl Order {
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

    #[inline(never)]
    pub(super) fn compare(
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
        let observed = self.observed(touch, lane, &writes, &reads);
        self.against(touch, lane, granule, entry, (&writes, true, observed));
        if touch.writes {
            self.against(touch, lane, granule, entry, (&reads, false, 0));
            self.make_room(touch, lane, entry, (&mut writes, observed));
            writes.push(entry);
            shadow.set(Side::Writes, granule, &writes);
            // Reads of these bytes came before this write, or were found.
            reads.retain(|old| old.stamp > touch.limit && old.mask() & !entry.mask() != 0);
        } else if !reads.merge(entry, MULTI) {
            self.make_room(touch, lane, entry, (&mut reads, 0));
            reads.push(entry);
        }
        shadow.set(Side::Reads, granule, &reads);
        shadow.set(Side::Others, granule, &List::default());
    }

    /// The writes, a bit each, that come before an access as something known to come before it has read them: itself or
    /// through atomics, all morally strong. PTX ISA, "Observation Order" and "Causality Order".
    fn observed(&mut self, touch: &Touch, lane: usize, writes: &List, reads: &List) -> u32 {
        let (all, mut observed) = (writes.all(), 0);
        for (number, &old) in all.iter().enumerate() {
            if old.scope() == Scope::Weak || old.stamp <= touch.limit {
                continue;
            }
            let carries =
                |this: &Self, next: Entry| next.has(ATOMIC) && this.is_strong_of(touch, next, old);
            let later = &all[number + 1..];
            let unbroken = later
                .iter()
                .take_while(|&&next| carries(self, next))
                .count();
            let last = if unbroken == later.len() {
                reads.all()
            } else {
                &[]
            };
            let seen = later[..unbroken].iter().chain(last).any(|&by| {
                let strong = self.is_strong_of(touch, by, old);
                strong && self.came_before(touch, lane, by)
            });
            observed |= u32::from(seen) << number;
        }
        observed
    }

    /// As `knows`, where an access of several lanes counts as that of any of them.
    fn came_before(&mut self, touch: &Touch, lane: usize, by: Entry) -> bool {
        if self.knows(touch, lane, by) {
            return true;
        }
        let sought = self.sought(touch, by);
        let block = self.blocks[touch.who.slot].number;
        by.has(MULTI) && (sought.block, sought.warp) == (block, touch.who.warp)
    }

    /// Drops what a later access need not be compared with: it meets the new one too, and for the same reason.
    fn make_room(
        &mut self,
        touch: &Touch,
        lane: usize,
        entry: Entry,
        (list, observed): (&mut List, u32),
    ) {
        let mut number = 0;
        list.retain(|old| {
            let seen = observed >> number & 1 == 1;
            number += 1;
            let covered = old.mask() & !entry.mask() == 0
                && old.scope() >= entry.scope()
                && (entry.has(NC) || !old.has(NC));
            old.stamp > touch.limit && !(covered && (seen || self.knows(touch, lane, old)))
        });
    }

    /// Finds conflicts with the accesses of a cell.
    fn against(
        &mut self,
        touch: &Touch,
        lane: usize,
        granule: usize,
        entry: Entry,
        (list, other_writes, observed): (&List, bool, u32),
    ) {
        for (number, &old) in list.all().iter().enumerate() {
            if old.mask() & entry.mask() == 0 || old.stamp <= touch.limit {
                continue;
            }
            let kind = if entry.has(NC) || old.has(NC) {
                FindingKind::Stale
            } else if observed >> number & 1 == 1
                || self.is_strong(touch, entry, old)
                || self.knows(touch, lane, old)
            {
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
        Self::agree(new, old, near)
    }

    /// The same of two earlier accesses.
    fn is_strong_of(&self, touch: &Touch, one: Entry, other: Entry) -> bool {
        let [a, b] = [one, other].map(|entry| self.sought_block(touch, entry));
        Self::agree(one, other, a.is_some() && a == b)
    }

    /// The block of an earlier access; none if that is too early to tell.
    fn sought_block(&self, touch: &Touch, entry: Entry) -> Option<u32> {
        let early = entry.stamp <= touch.limit;
        (!early).then(|| self.sought(touch, entry).block)
    }

    fn agree(new: Entry, old: Entry, near: bool) -> bool {
        let reach = match new.scope().min(old.scope()) {
            Scope::Weak => false,
            Scope::Block => near,
            Scope::Device => true,
        };
        reach && new.mask() == old.mask() && new.has(WIDE) == old.has(WIDE)
    }
}
