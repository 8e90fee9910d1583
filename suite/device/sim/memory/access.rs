//! Loads and stores of a whole warp.
//!
//! Three paths: all lanes read consecutive elements of one region (a copy); all lanes stay within one region (a check
//! of the lowest and highest address, then an index a lane); anything else, lane by lane, noting what is wrong. The
//! first two touch nothing they have not checked, so the third sees every violation.

use super::super::lanes::{BITS, FULL, Frame, LANES, Lane, blend, lanes};
use super::super::program::{Access, Address, Space};
use super::region::Region;
use super::spaces::{Place, Spaces};

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

    /// The lanes, and the address of the first of them.
    pub fn of(&self, violation: Violation) -> (u32, u64) {
        (
            self.masks[violation as usize],
            self.first[violation as usize],
        )
    }
}

/// An access whose active lanes all lie in one region, in bounds and aligned.
pub(super) struct Reach {
    pub place: Place,
    /// In the region; 0 for inactive lanes, which is in bounds as well.
    pub offsets: [u64; LANES],
    /// All lanes are active, and each accesses what follows the lane before it.
    consecutive: bool,
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

/// Whether every lane's address is `step` past the lane before it.
#[inline(always)]
fn is_consecutive(all: &[u64; LANES], step: u64) -> bool {
    let mut wrong = 0;
    for lane in 0..LANES {
        wrong |= all[0].wrapping_add(lane as u64 * step) ^ all[lane];
    }
    wrong == 0
}

impl Spaces<'_> {
    /// The one region that all lanes' accesses lie in, unless one lies outside or is misaligned.
    #[inline(always)]
    pub(super) fn reach(
        &self,
        space: Space,
        all: &[u64; LANES],
        mask: u32,
        bytes: u64,
    ) -> Option<Reach> {
        let first = mask.trailing_zeros() as usize % LANES;
        let (place, offset) = self.locate(space, first, all[first])?;
        let room = self.region(place).len() as u64;
        if place == Place::Local || room < bytes {
            return None;
        }
        let (base, limit) = (all[first].wrapping_sub(offset), room - bytes);
        let mut offsets = [0; LANES];
        // The sign bit of `over` says that some offset exceeds the limit, as no region is that large.
        let (mut any, mut over) = (0, 0);
        if mask == FULL {
            for lane in 0..LANES {
                let offset = all[lane].wrapping_sub(base);
                any |= offset;
                over |= limit.wrapping_sub(offset);
                offsets[lane] = offset;
            }
        } else {
            for lane in 0..LANES {
                let active = if mask & BITS[lane] != 0 { u64::MAX } else { 0 };
                let offset = all[lane].wrapping_sub(base) & active;
                any |= offset;
                over |= limit.wrapping_sub(offset);
                offsets[lane] = offset;
            }
        }
        let fits = (any | over) >> 63 == 0 && any & (bytes - 1) == 0;
        fits.then(|| Reach {
            place,
            consecutive: mask == FULL && is_consecutive(&offsets, bytes),
            offsets,
        })
    }

    #[inline(always)]
    pub fn load(&mut self, frame: &mut Frame<'_>, access: &Access, mask: u32) -> Violations {
        let all = addresses(frame, &access.address);
        let bytes = u64::from(access.bytes) * u64::from(access.count);
        if let Some(reach) = self.reach(access.address.space, &all, mask, bytes) {
            let region = self.region(reach.place);
            if region.is_complete() || all_written(region, &reach, mask, bytes as usize) {
                load_together(region, &reach, frame, access, mask);
                return Violations::default();
            }
        }
        self.load_apart(frame, access, &all, mask)
    }

    #[cold]
    fn load_apart(
        &self,
        frame: &mut Frame<'_>,
        access: &Access,
        all: &[u64; LANES],
        mask: u32,
    ) -> Violations {
        let mut violations = Violations::default();
        let size = u64::from(access.bytes);
        for lane in lanes(mask) {
            let place = self.check(access, lane, all[lane], &mut violations);
            for (index, &row) in access.rows[..usize::from(access.count)].iter().enumerate() {
                let value = match place {
                    Some((place, offset)) => {
                        let at = (offset + index as u64 * size) as usize;
                        let region = self.region(place);
                        if place != Place::Local
                            && !region.is_written(at, usize::from(access.bytes))
                        {
                            violations.note(Violation::Uninitialised, lane, all[lane]);
                        }
                        region.read(at, usize::from(access.bytes))
                    }
                    None => 0,
                };
                put_lane(frame, access, row, lane, value);
            }
        }
        violations
    }

    #[inline(always)]
    pub fn store(&mut self, frame: &Frame<'_>, access: &Access, mask: u32) -> Violations {
        let all = addresses(frame, &access.address);
        let bytes = u64::from(access.bytes) * u64::from(access.count);
        if let Some(reach) = self.reach(access.address.space, &all, mask, bytes)
            && self.may_write(reach.place)
        {
            store_together(self.region_mut(reach.place), &reach, frame, access, mask);
            return Violations::default();
        }
        self.store_apart(frame, access, &all, mask)
    }

    #[cold]
    fn store_apart(
        &mut self,
        frame: &Frame<'_>,
        access: &Access,
        all: &[u64; LANES],
        mask: u32,
    ) -> Violations {
        let mut violations = Violations::default();
        for lane in lanes(mask) {
            let Some((place, offset)) = self.check(access, lane, all[lane], &mut violations) else {
                continue;
            };
            if !self.may_write(place) {
                violations.note(Violation::ReadOnly, lane, all[lane]);
                continue;
            }
            for (index, &row) in access.rows[..usize::from(access.count)].iter().enumerate() {
                let at = offset as usize + index * usize::from(access.bytes);
                let value = get_lane(frame, access, row, lane);
                self.region_mut(place)
                    .write(at, usize::from(access.bytes), value);
            }
        }
        violations
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

#[inline(always)]
fn all_written(region: &Region, reach: &Reach, mask: u32, bytes: usize) -> bool {
    if reach.consecutive {
        return region.is_written(reach.offsets[0] as usize, LANES * bytes);
    }
    lanes(mask).all(|lane| region.is_written_aligned(reach.offsets[lane] as usize, bytes))
}

/// The value a load leaves in a narrow or wide row.
#[inline(always)]
fn extend(value: u64, access: &Access) -> u64 {
    if !access.signed {
        return value;
    }
    let unused = 64 - 8 * u32::from(access.bytes);
    ((value << unused).cast_signed() >> unused).cast_unsigned()
}

fn put_lane(frame: &mut Frame<'_>, access: &Access, row: u16, lane: usize, value: u64) {
    let value = extend(value, access);
    if access.wide {
        frame.wide[usize::from(row)][lane] = value;
    } else {
        frame.narrow[usize::from(row)][lane] = value as u32;
    }
}

fn get_lane(frame: &Frame<'_>, access: &Access, row: u16, lane: usize) -> u64 {
    if access.wide {
        frame.wide[usize::from(row)][lane]
    } else {
        u64::from(frame.narrow[usize::from(row)][lane])
    }
}

#[inline(always)]
fn load_together(
    region: &Region,
    reach: &Reach,
    frame: &mut Frame<'_>,
    access: &Access,
    mask: u32,
) {
    if access.count == 1 && access.bytes == 4 && !access.wide {
        let mut out = [0; LANES];
        gather(region.elements::<u32>(), reach, 0, 1, &mut out);
        blend(&mut frame.narrow[usize::from(access.rows[0])], &out, mask);
    } else {
        load_elements(region, reach, frame, access, mask);
    }
}

fn load_elements(
    region: &Region,
    reach: &Reach,
    frame: &mut Frame<'_>,
    access: &Access,
    mask: u32,
) {
    let count = usize::from(access.count);
    for (index, &row) in access.rows[..count].iter().enumerate() {
        let mut out = [0; LANES];
        match access.bytes {
            1 => gather_as::<u8>(region, reach, index, count, &mut out),
            2 => gather_as::<u16>(region, reach, index, count, &mut out),
            4 => gather_as::<u32>(region, reach, index, count, &mut out),
            _ => gather(region.elements::<u64>(), reach, index, count, &mut out),
        }
        if access.signed {
            out = out.map(|value| extend(value, access));
        }
        if access.wide {
            blend(&mut frame.wide[usize::from(row)], &out, mask);
        } else {
            blend(
                &mut frame.narrow[usize::from(row)],
                &out.map(|v| v as u32),
                mask,
            );
        }
    }
}

/// Element `index` of `count` of each lane.
#[inline(always)]
fn gather<T: Copy>(
    elements: &[T],
    reach: &Reach,
    index: usize,
    count: usize,
    out: &mut [T; LANES],
) {
    let size = size_of::<T>();
    if reach.consecutive && count == 1 {
        let first = reach.offsets[0] as usize / size;
        out.copy_from_slice(&elements[first..first + LANES]);
        return;
    }
    // Inactive lanes read the region's first element, which costs less than asking.
    for lane in 0..LANES {
        out[lane] = elements[reach.offsets[lane] as usize / size + index];
    }
}

#[inline(always)]
fn gather_as<T>(region: &Region, reach: &Reach, index: usize, count: usize, out: &mut [u64; LANES])
where
    T: bytemuck::AnyBitPattern + Default + Into<u64>,
{
    let mut narrow = [T::default(); LANES];
    gather(region.elements::<T>(), reach, index, count, &mut narrow);
    *out = narrow.map(Into::into);
}

#[inline(always)]
fn store_together(
    region: &mut Region,
    reach: &Reach,
    frame: &Frame<'_>,
    access: &Access,
    mask: u32,
) {
    if access.count == 1 && access.bytes == 4 && !access.wide {
        let row = &frame.narrow[usize::from(access.rows[0])];
        scatter(region.elements_mut::<u32>(), reach, 0, 1, mask, row);
    } else {
        store_elements(region, reach, frame, access, mask);
    }
    if region.is_complete() {
        return;
    }
    let bytes = usize::from(access.bytes) * usize::from(access.count);
    if reach.consecutive {
        region.mark_written(reach.offsets[0] as usize, LANES * bytes);
    } else {
        for lane in lanes(mask) {
            region.mark_written_aligned(reach.offsets[lane] as usize, bytes);
        }
    }
}

fn store_elements(
    region: &mut Region,
    reach: &Reach,
    frame: &Frame<'_>,
    access: &Access,
    mask: u32,
) {
    let count = usize::from(access.count);
    for (index, &row) in access.rows[..count].iter().enumerate() {
        let values = if access.wide {
            frame.wide[usize::from(row)]
        } else {
            frame.narrow[usize::from(row)].map(u64::from)
        };
        match access.bytes {
            1 => scatter(
                region.elements_mut(),
                reach,
                index,
                count,
                mask,
                &values.map(|v| v as u8),
            ),
            2 => scatter(
                region.elements_mut(),
                reach,
                index,
                count,
                mask,
                &values.map(|v| v as u16),
            ),
            4 => scatter(
                region.elements_mut(),
                reach,
                index,
                count,
                mask,
                &values.map(|v| v as u32),
            ),
            _ => scatter(region.elements_mut(), reach, index, count, mask, &values),
        }
    }
}

/// Lanes that write the same place: the highest lane wins.
#[inline(always)]
fn scatter<T: Copy>(
    elements: &mut [T],
    reach: &Reach,
    index: usize,
    count: usize,
    mask: u32,
    values: &[T; LANES],
) {
    let size = size_of::<T>();
    if reach.consecutive && count == 1 {
        let first = reach.offsets[0] as usize / size;
        elements[first..first + LANES].copy_from_slice(values);
        return;
    }
    for lane in lanes(mask) {
        elements[reach.offsets[lane] as usize / size + index] = values[lane];
    }
}
