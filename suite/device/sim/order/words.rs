//! The words of one instruction's accesses: each one's cells are read, compared and brought up to date.

use super::super::lanes::{BITS, LANES, lanes};
use super::Order;
use super::entry::{Entry, SAME, WIDE, lane_info};
use super::shadow::{GRANULE, Shadow};
use super::touch::Touch;

/// The granules of a warp's access: `granules` of each lane, lane after lane.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub first: usize,
    pub granules: usize,
    /// Of elements of eight bytes.
    pub wide: bool,
}

impl Order {
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
        let flags = touch.info | if row.wide { WIDE } else { 0 };
        for lane in 0..LANES {
            let entry = entry(touch, flags, lane, same);
            let first = row.first + lane * row.granules;
            for granule in first..first + row.granules {
                self.granule(shadow, touch, lane, granule, entry);
            }
        }
    }

    /// Lanes access one word each, at these offsets.
    #[inline(never)]
    pub fn words(
        &mut self,
        shadow: &mut Shadow,
        touch: &Touch,
        offsets: &[u64; LANES],
        mask: u32,
        same: u32,
    ) {
        for lane in lanes(mask) {
            let entry = entry(touch, touch.info, lane, same);
            let granule = offsets[lane] as usize / GRANULE;
            self.granule(shadow, touch, lane, granule, entry);
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

/// A lane's access to whole words; `same` has a bit for each lane whose write changes nothing.
#[inline(always)]
fn entry(touch: &Touch, flags: u32, lane: usize, same: u32) -> Entry {
    let same = if same & BITS[lane] != 0 { SAME } else { 0 };
    Entry {
        stamp: touch.stamp,
        info: lane_info(flags | same, lane, 15),
    }
}
