//! Loads and stores of a whole warp.
//!
//! Three paths: all lanes access consecutive elements of one region (a copy); all lanes stay within one region (a check
//! of the lowest and highest address, then an index a lane); anything else, lane by lane, noting what is wrong. The
//! first two touch nothing they have not checked, so the third sees every violation.

use super::super::lanes::{BITS, FULL, Frame, LANES, Lane, lanes};
use super::super::program::{Access, Address, Pc, Space};
use super::elements::{Lanes, all_written, get_lane, load_together, put_lane, store_together};
use super::spaces::{Place, Spaces};
use super::watch::{At, is_same};

/// What a lane's access can do wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Violation {
    OutOfBounds,
    Misaligned,
    Uninitialised,
    ReadOnly,
}

impl Violation {
    pub const ALL: [Self; 4] = [
        Self::OutOfBounds,
        Self::Misaligned,
        Self::Uninitialised,
        Self::ReadOnly,
    ];
}

/// The lanes of an access that did something wrong. What an out-of-bounds or misaligned lane loads is 0; what it
/// stores is dropped, as is a store to read-only memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Violations {
    masks: [u32; 4],
    first: [u64; 4],
}

impl Violations {
    pub(super) fn note(&mut self, violation: Violation, lane: usize, address: u64) {
        let index = violation as usize;
        if self.masks[index] == 0 {
            self.first[index] = address;
        }
        self.masks[index] |= BITS[lane];
    }

    #[inline(always)]
    pub fn any(&self) -> bool {
        self.masks != [0; 4]
    }

    /// Leaves one kind out.
    pub fn without(mut self, violation: Violation) -> Self {
        self.masks[violation as usize] = 0;
        self
    }

    /// The lanes, and the address of the first of them.
    pub fn of(&self, violation: Violation) -> (u32, u64) {
        (
            self.masks[violation as usize],
            self.first[violation as usize],
        )
    }
}

/// What a store changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Nothing,
    /// Only memory of the threads that store.
    Private,
    Shared,
}

/// The addresses of all lanes, of active and inactive ones.
#[inline(always)]
pub fn addresses(frame: &Frame<'_>, address: &Address) -> [u64; LANES] {
    let mut all = [0; LANES];
    if address.wide {
        let row = u64::row(frame, address.base);
        for lane in 0..LANES {
            all[lane] = row[lane].wrapping_add(address.offset.cast_unsigned());
        }
    } else {
        let row = u32::row(frame, address.base);
        let offset = address.offset as u32;
        for lane in 0..LANES {
            all[lane] = u64::from(row[lane].wrapping_add(offset));
        }
    }
    all
}

/// The address of lane 0, if every lane's is `step` past that of the lane before it.
#[inline(always)]
fn consecutive(frame: &Frame<'_>, address: &Address, step: u64) -> Option<u64> {
    if address.wide {
        let row = u64::row(frame, address.base);
        let mut wrong = 0;
        for lane in 0..LANES {
            wrong |= row[0].wrapping_add(lane as u64 * step) ^ row[lane];
        }
        return (wrong == 0).then_some(row[0].wrapping_add(address.offset.cast_unsigned()));
    }
    let row = u32::row(frame, address.base);
    let mut wrong = 0;
    for lane in 0..LANES {
        wrong |= row[0].wrapping_add(lane as u32 * step as u32) ^ row[lane];
    }
    let first = u64::from(row[0].wrapping_add(address.offset as u32));
    let wraps = first + LANES as u64 * step > 1 << 32;
    (wrong == 0 && !wraps).then_some(first)
}

impl Spaces<'_> {
    /// The one region that active lanes' accesses lie in, in bounds and aligned; `offsets` is room for theirs.
    #[inline(always)]
    fn lanes<'o>(
        &self,
        frame: &Frame<'_>,
        address: &Address,
        mask: u32,
        bytes: u64,
        offsets: &'o mut [u64; LANES],
    ) -> Option<(Place, Lanes<'o>)> {
        if mask == FULL
            && let Some((place, first)) = self.reach_row(frame, address, bytes)
        {
            return Some((place, Lanes::Row(first)));
        }
        *offsets = addresses(frame, address);
        let place = self.reach(address.space, offsets, mask, bytes)?;
        Some((place, Lanes::Apart(offsets)))
    }

    /// Where all lanes' accesses lie one behind the other, and the offset of the first.
    #[inline(always)]
    fn reach_row(
        &self,
        frame: &Frame<'_>,
        address: &Address,
        bytes: u64,
    ) -> Option<(Place, usize)> {
        let first = consecutive(frame, address, bytes)?;
        let (place, offset) = self.locate(address.space, 0, first)?;
        let (room, all) = (self.region(place).len() as u64, LANES as u64 * bytes);
        let fits = offset & (bytes - 1) == 0 && room >= all && offset <= room - all;
        (fits && place != Place::Local).then_some((place, offset as usize))
    }

    /// Turns the addresses of active lanes into offsets in the one region that they all lie in, those of others into 0.
    /// None, and the addresses lost, where one lies outside or is misaligned.
    #[inline(always)]
    pub(super) fn reach(
        &self,
        space: Space,
        all: &mut [u64; LANES],
        mask: u32,
        bytes: u64,
    ) -> Option<Place> {
        let first = mask.trailing_zeros() as usize % LANES;
        let (place, offset) = self.locate(space, first, all[first])?;
        let room = self.region(place).len() as u64;
        if place == Place::Local || room < bytes {
            return None;
        }
        let (base, limit) = (all[first].wrapping_sub(offset), room - bytes);
        // The sign bit of `over` says that some offset exceeds the limit, as no region is that large.
        let (mut any, mut over) = (0, 0);
        for (lane, address) in all.iter_mut().enumerate() {
            let active = if mask & BITS[lane] != 0 { u64::MAX } else { 0 };
            *address = address.wrapping_sub(base) & active;
            any |= *address;
            over |= limit.wrapping_sub(*address);
        }
        ((any | over) >> 63 == 0 && any & (bytes - 1) == 0).then_some(place)
    }

    #[inline(always)]
    pub fn load(
        &mut self,
        frame: &mut Frame<'_>,
        access: &Access,
        pc: Pc,
        mask: u32,
    ) -> Violations {
        let mut offsets = [0; LANES];
        let bytes = u64::from(access.bytes) * u64::from(access.count);
        if let Some((place, lanes)) = self.lanes(frame, &access.address, mask, bytes, &mut offsets)
        {
            let region = self.region(place);
            let written = region.is_complete()
                || !self.taints
                || all_written(region, lanes, mask, bytes as usize);
            if written {
                load_together(region, lanes, frame, access, mask);
                self.watch_load(place, lanes, access, pc, mask);
                return Violations::default();
            }
        }
        self.load_apart(frame, access, pc, mask)
    }

    #[cold]
    fn load_apart(
        &mut self,
        frame: &mut Frame<'_>,
        access: &Access,
        pc: Pc,
        mask: u32,
    ) -> Violations {
        let all = addresses(frame, &access.address);
        let mut violations = Violations::default();
        let size = u64::from(access.bytes);
        (self.unwritten, self.bare) = ([0; 4], [0; 4]);
        for lane in lanes(mask) {
            let place = self.check(access, lane, all[lane], &mut violations);
            if let Some((place, offset)) = place {
                let offset = offset as usize;
                let at = At {
                    place,
                    lane,
                    offset,
                };
                self.watch_lane(at, access, pc, None);
            }
            for (index, &row) in access.rows[..usize::from(access.count)].iter().enumerate() {
                let value = match place {
                    Some((place, offset)) => {
                        let at = (offset + index as u64 * size) as usize;
                        let region = self.region(place);
                        let written = region.is_written(at, usize::from(access.bytes));
                        let value = region.read(at, usize::from(access.bytes));
                        if self.taints && !written {
                            violations.note(Violation::Uninitialised, lane, all[lane]);
                            self.unwritten[index] |= BITS[lane];
                            // Compilers copy structs with padding by bytes, too.
                            let all = if access.bytes < 4 {
                                at / 8 * 8..(at / 8 * 8 + 8).min(self.region(place).len())
                            } else {
                                at..at + usize::from(access.bytes)
                            };
                            if !all
                                .into_iter()
                                .any(|byte| self.region(place).is_written(byte, 1))
                            {
                                self.bare[index] |= BITS[lane];
                            }
                        }
                        value
                    }
                    None => 0,
                };
                put_lane(frame, access, row, lane, value);
            }
        }
        violations
    }

    #[inline(always)]
    pub fn store(&mut self, frame: &Frame<'_>, access: &Access, pc: Pc, mask: u32) -> Violations {
        let mut offsets = [0; LANES];
        let bytes = u64::from(access.bytes) * u64::from(access.count);
        if let Some((place, lanes)) = self.lanes(frame, &access.address, mask, bytes, &mut offsets)
            && self.may_write(place)
        {
            self.watch_store(place, lanes, frame, access, pc, mask);
            store_together(self.region_mut(place), lanes, frame, access, mask);
            return Violations::default();
        }
        self.store_apart(frame, access, pc, mask)
    }

    #[cold]
    fn store_apart(&mut self, frame: &Frame<'_>, access: &Access, pc: Pc, mask: u32) -> Violations {
        let all = addresses(frame, &access.address);
        self.watch_release(access.semantics, mask);
        let mut violations = Violations::default();
        for lane in lanes(mask) {
            let Some((place, offset)) = self.check(access, lane, all[lane], &mut violations) else {
                continue;
            };
            if !self.may_write(place) {
                violations.note(Violation::ReadOnly, lane, all[lane]);
                continue;
            }
            let same = is_same(self.region(place), offset as usize, frame, access, lane);
            let at = At {
                place,
                lane,
                offset: offset as usize,
            };
            self.watch_lane(at, access, pc, Some(same));
            for (index, &row) in access.rows[..usize::from(access.count)].iter().enumerate() {
                let at = offset as usize + index * usize::from(access.bytes);
                let value = get_lane(frame, access, row, lane);
                self.region_mut(place)
                    .write(at, usize::from(access.bytes), value);
            }
        }
        violations
    }

    /// What a store that is about to run changes.
    pub fn change(&self, frame: &Frame<'_>, access: &Access, mask: u32) -> Change {
        let all = addresses(frame, &access.address);
        let mut change = Change::Nothing;
        for lane in lanes(mask) {
            let place = self.check(access, lane, all[lane], &mut Violations::default());
            let Some((place, offset)) = place else {
                continue;
            };
            if is_same(self.region(place), offset as usize, frame, access, lane) {
                continue;
            }
            match place {
                Place::Local | Place::Param => change = Change::Private,
                _ => return Change::Shared,
            }
        }
        change
    }

    /// Where one lane's access goes, if it is aligned and in bounds.
    fn check(
        &self,
        access: &Access,
        lane: usize,
        address: u64,
        violations: &mut Violations,
    ) -> Option<(Place, u64)> {
        let bytes = u64::from(access.bytes) * u64::from(access.count);
        self.check_lane(access.address.space, bytes, lane, address, violations)
    }

    pub(super) fn check_lane(
        &self,
        space: Space,
        bytes: u64,
        lane: usize,
        address: u64,
        violations: &mut Violations,
    ) -> Option<(Place, u64)> {
        if address & (bytes - 1) != 0 {
            violations.note(Violation::Misaligned, lane, address);
            return None;
        }
        let found = self.locate(space, lane, address);
        let found = found.filter(|&(place, offset)| self.room(place, offset) >= bytes);
        if found.is_none() {
            violations.note(Violation::OutOfBounds, lane, address);
        }
        found
    }
}
