//! Strong writes that meet none but strong accesses: how atomics enter, mostly.
//!
//! Strong accesses of the same bytes whose scopes include each other are no race, ordered or not ("morally strong" in
//! the PTX ISA). So where a word has met nothing else nobody asks who knows of whom.

use super::entry::{BYTES, Entry, LANE, MULTI, NC, SCOPE, SIDE, WARPS, WIDE};
use super::shadow::{LISTED, Shadow, Side};
use super::touch::Touch;

impl Touch {
    /// Whether an earlier access is of no concern: ordered before, or strong as the new one and of the same bytes.
    #[inline(always)]
    fn agrees(&self, entry: Entry, old: Entry) -> bool {
        old.stamp <= self.limit || (old.info ^ entry.info) & (BYTES | WIDE | NC | SCOPE) == 0
    }

    /// Whether a later access that meets the new one need not meet the old one.
    #[inline(always)]
    fn replaces(&self, entry: Entry, old: Entry) -> bool {
        let own = (old.stamp ^ entry.stamp) & WARPS == 0
            && (old.info ^ entry.info) & (LANE | MULTI) == 0
            && (old.stamp == entry.stamp || old.stamp >= self.near);
        own || old.stamp <= self.limit
    }

    /// Enters a strong write, if all that came before is strong alike.
    #[inline(always)]
    pub(super) fn write_strong(&self, shadow: &mut Shadow, granule: usize, entry: Entry) -> bool {
        let passed = |side| {
            let old = shadow.cell(side, granule);
            old.stamp <= self.limit || old.stamp & SIDE == 0 && self.agrees(entry, old)
        };
        if !self.strong || !passed(Side::Reads) || !passed(Side::Others) {
            return false;
        }
        let entered = self.enter(shadow, granule, entry);
        if entered {
            // What is read from here on is what was written now.
            shadow.reads.stamps[granule] = 0;
            shadow.others.stamps[granule] = 0;
        }
        entered
    }

    /// Behind the other writes: the thread's own before is dropped, or the last if there are too many.
    #[inline(always)]
    fn enter(&self, shadow: &mut Shadow, granule: usize, entry: Entry) -> bool {
        let cell = shadow.cell(Side::Writes, granule);
        if let Some(list) = shadow.list_of(cell) {
            if !list.iter().all(|&old| self.agrees(entry, old)) {
                return false;
            }
            // In the order in which they were made, which tells what an atomic has read.
            let len = list.iter().take_while(|old| old.stamp != 0).count();
            let slot = list[..len]
                .iter()
                .position(|&old| self.replaces(entry, old));
            match slot {
                Some(slot) => {
                    list[slot..len].rotate_left(1);
                    list[len - 1] = entry;
                }
                None => list[len.min(LISTED - 1)] = entry,
            }
            return true;
        }
        if !self.agrees(entry, cell) {
            return false;
        }
        if self.replaces(entry, cell) {
            shadow.writes.stamps[granule] = entry.stamp;
            shadow.writes.infos[granule] = entry.info;
        } else {
            let mut both = shadow.get(Side::Writes, granule);
            both.push(entry);
            shadow.set(Side::Writes, granule, &both);
        }
        true
    }
}
