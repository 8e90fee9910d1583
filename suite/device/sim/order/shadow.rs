//! The accesses last made to each word of a region: the last write, and the reads since.
//!
//! A cell holds one access, or the number of a list of up to four that are not ordered with each other. Of plain reads
//! of whole words two are kept, of different warps: the first and the newest. Cells are never reset between launches:
//! stamps only grow, so what is old is known by its stamp.

use super::entry::{Entry, LANE, MULTI, SIDE};

/// Bytes of a granule.
pub const GRANULE: usize = 4;
/// Entries of a list.
pub const LISTED: usize = 4;
/// Lists of one region; past them a cell keeps its newest access only.
const MAX_LISTS: usize = 1 << 20;

#[derive(Clone, Debug, Default)]
pub struct Shadow {
    pub writes: Cells,
    /// The first read of the last write, or those that need telling apart.
    pub reads: Cells,
    /// The newest read by another warp.
    pub others: Cells,
    lists: Vec<[Entry; LISTED]>,
    free: Vec<u32>,
}

#[derive(Clone, Debug, Default)]
pub struct Cells {
    pub stamps: Vec<u32>,
    pub infos: Vec<u32>,
}

impl Cells {
    fn resize(&mut self, len: usize) {
        if self.stamps.is_empty() {
            // Zeroed by the system, page by page, when touched.
            self.stamps = vec![0; len];
            self.infos = vec![0; len];
        } else if self.stamps.len() < len {
            self.stamps.resize(len, 0);
            self.infos.resize(len, 0);
        }
    }
}

impl Cells {
    /// Enters a read, in place of an old one, or with that of another lane of its warp. False if neither will do.
    #[inline(always)]
    pub fn read(&mut self, granule: usize, entry: Entry, replace: bool) -> bool {
        let (stamp, info) = (&mut self.stamps[granule], &mut self.infos[granule]);
        let old = Entry {
            stamp: *stamp,
            info: *info,
        };
        if old.alike(entry) {
            if (old.info ^ entry.info) & LANE != 0 {
                *info |= MULTI;
            }
            return true;
        }
        if replace {
            (*stamp, *info) = (entry.stamp, entry.info);
        }
        replace
    }
}

/// The accesses of a cell.
#[derive(Clone, Copy, Debug, Default)]
pub struct List {
    entries: [Entry; LISTED],
    len: usize,
}

impl List {
    pub fn all(&self) -> &[Entry] {
        &self.entries[..self.len]
    }

    /// Keeps the first ones and the newest.
    pub fn push(&mut self, entry: Entry) {
        if self.len == LISTED {
            self.entries[LISTED - 1] = entry;
        } else {
            self.entries[self.len] = entry;
            self.len += 1;
        }
    }

    pub fn extend(&mut self, other: Self) {
        other.all().iter().for_each(|&entry| self.push(entry));
    }

    /// Keeps what `keep` says, in order.
    pub fn retain(&mut self, mut keep: impl FnMut(Entry) -> bool) {
        let mut kept = Self::default();
        for &entry in self.all() {
            if keep(entry) {
                kept.push(entry);
            }
        }
        *self = kept;
    }

    /// Takes a read by another lane of the warp into the entry of the first.
    pub fn merge(&mut self, entry: Entry, flag: u32) -> bool {
        let len = self.len;
        let found = self.entries[..len].iter_mut().find(|old| old.alike(entry));
        let Some(old) = found else { return false };
        if old.lane() != entry.lane() {
            old.info |= flag;
        }
        true
    }
}

/// Which of a granule's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Writes,
    Reads,
    Others,
}

impl Shadow {
    /// Room for a region of `len` bytes.
    #[inline(always)]
    pub fn fit(&mut self, len: usize) {
        let granules = len.div_ceil(GRANULE);
        if self.writes.stamps.len() < granules {
            self.grow(granules);
        }
    }

    #[cold]
    fn grow(&mut self, granules: usize) {
        self.writes.resize(granules);
        self.reads.resize(granules);
        self.others.resize(granules);
    }

    /// Forgets everything, as before stamps begin anew.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    fn cells(&mut self, side: Side) -> &mut Cells {
        match side {
            Side::Writes => &mut self.writes,
            Side::Reads => &mut self.reads,
            Side::Others => &mut self.others,
        }
    }

    /// As it is kept: an access, or the number of a list.
    #[inline(always)]
    pub fn cell(&self, side: Side, granule: usize) -> Entry {
        let cells = match side {
            Side::Writes => &self.writes,
            Side::Reads => &self.reads,
            Side::Others => &self.others,
        };
        let (stamp, info) = (cells.stamps[granule], cells.infos[granule]);
        Entry { stamp, info }
    }

    /// The list that a cell stands for.
    #[inline(always)]
    pub fn list_of(&mut self, cell: Entry) -> Option<&mut [Entry; LISTED]> {
        (cell.stamp & SIDE != 0).then(|| &mut self.lists[cell.info as usize])
    }

    pub fn get(&mut self, side: Side, granule: usize) -> List {
        let cell = self.cell(side, granule);
        let Some(&mut entries) = self.list_of(cell) else {
            let mut list = List::default();
            if cell.stamp != 0 {
                list.push(cell);
            }
            return list;
        };
        let len = entries.iter().take_while(|e| e.stamp != 0).count();
        List { entries, len }
    }

    pub fn set(&mut self, side: Side, granule: usize, list: &List) {
        let cells = self.cells(side);
        let (old, info) = (cells.stamps[granule], cells.infos[granule]);
        let listed = (old & SIDE != 0).then_some(info);
        let (&[first] | &[.., first]) = list.all() else {
            cells.stamps[granule] = 0;
            self.free.extend(listed);
            return;
        };
        let number = if list.len > 1 {
            listed.or_else(|| self.free.pop()).or_else(|| {
                let number = self.lists.len();
                (number < MAX_LISTS).then(|| {
                    self.lists.push([Entry::default(); LISTED]);
                    number as u32
                })
            })
        } else {
            self.free.extend(listed);
            None
        };
        let entry = match number {
            Some(number) => {
                self.lists[number as usize] = list.entries;
                Entry {
                    stamp: SIDE | first.stamp,
                    info: number,
                }
            }
            None => first,
        };
        let cells = self.cells(side);
        (cells.stamps[granule], cells.infos[granule]) = (entry.stamp, entry.info);
    }
}
