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

/// Where an access that passed the quick checks goes.
struct Together {
    place: Place,
    /// Subtract from an address to get the offset in the region.
    base: u64,
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
    /// The one region that all lanes' accesses lie in, whole and aligned.
    #[inline(always)]
    pub(super) fn together(
        &self,
        space: Space,
        all: &[u64; LANES],
        mask: u32,
        bytes: u64,
    ) -> Option<(Place, u64)> {
        let first = mask.trailing_zeros() as usize % LANES;
        let (place, offset) = self.locate(space, first, all[first])?;
        if place == Place::Local {
            return None;
        }
        let base = all[first].wrapping_sub(offset);
        let (mut highest, mut low_bits) = (0, 0);
        for lane in 0..LANES {
            let active = if mask & BITS[lane] != 0 { u64::MAX } else { 0 };
            let offset = all[lane].wrapping_sub(base) & active;
            // An address below the base wraps to a huge offset; keep 63 bits apart from the comparison's sign.
            highest = if offset > highest { offset } else { highest };
            low_bits |= offset;
        }
        let room = self.region(place).len() as u64;
        let fits = room >= bytes && highest <= room - bytes && low_bits & (bytes - 1) == 0;
        fits.then_some((place, base))
    }

    pub fn load(&mut self, frame: &mut Frame<'_>, access: &Access, mask: u32) -> Violations {
        let all = addresses(frame, &access.address);
        let bytes = u64::from(access.bytes) * u64::from(access.count);
        if let Some((place, base)) = self.together(access.address.space, &all, mask, bytes) {
            let region = self.region(place);
            let at = Together { place, base };
            if region.is_complete() || all_written(region, &at, &all, mask, bytes) {
                load_together(region, &at, frame, access, &all, mask);
                return Violations::default();
            }
        }
        self.load_apart(frame, access, &all, mask)
    }

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

    pub fn store(&mut self, frame: &Frame<'_>, access: &Access, mask: u32) -> Violations {
        let all = addresses(frame, &access.address);
        let bytes = u64::from(access.bytes) * u64::from(access.count);
        if let Some((place, base)) = self.together(access.address.space, &all, mask, bytes)
            && self.may_write(place)
        {
            let at = Together { place, base };
            store_together(self.region_mut(place), &at, frame, access, &all, mask);
            return Violations::default();
        }
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

fn all_written(region: &Region, at: &Together, all: &[u64; LANES], mask: u32, bytes: u64) -> bool {
    if mask == FULL && is_consecutive(all, bytes) {
        return region.is_written((all[0] - at.base) as usize, 32 * bytes as usize);
    }
    lanes(mask)
        .all(|lane| region.is_written((all[lane].wrapping_sub(at.base)) as usize, bytes as usize))
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
    at: &Together,
    frame: &mut Frame<'_>,
    access: &Access,
    all: &[u64; LANES],
    mask: u32,
) {
    if access.count == 1 && access.bytes == 4 && !access.wide {
        let elements = region.elements::<u32>();
        let mut out = [0; LANES];
        gather(elements, at, all, mask, 4, &mut out);
        blend(&mut frame.narrow[usize::from(access.rows[0])], &out, mask);
        return;
    }
    for (index, &row) in access.rows[..usize::from(access.count)].iter().enumerate() {
        let shift = index as u64 * u64::from(access.bytes);
        let at = Together {
            place: at.place,
            base: at.base.wrapping_sub(shift),
        };
        let mut out = [0; LANES];
        match access.bytes {
            1 => gather_as::<u8>(region, &at, all, mask, &mut out),
            2 => gather_as::<u16>(region, &at, all, mask, &mut out),
            4 => gather_as::<u32>(region, &at, all, mask, &mut out),
            _ => gather(region.elements::<u64>(), &at, all, mask, 8, &mut out),
        }
        let out = out.map(|value| extend(value, access));
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

/// One element a lane; a copy where they are consecutive.
#[inline(always)]
fn gather<T: Copy>(
    elements: &[T],
    at: &Together,
    all: &[u64; LANES],
    mask: u32,
    size: u64,
    out: &mut [T; LANES],
) {
    if mask == FULL && is_consecutive(all, size) {
        let first = (all[0].wrapping_sub(at.base) / size) as usize;
        out.copy_from_slice(&elements[first..first + LANES]);
        return;
    }
    for lane in 0..LANES {
        if mask & BITS[lane] != 0 {
            out[lane] = elements[(all[lane].wrapping_sub(at.base) / size) as usize];
        }
    }
}

fn gather_as<T>(
    region: &Region,
    at: &Together,
    all: &[u64; LANES],
    mask: u32,
    out: &mut [u64; LANES],
) where
    T: bytemuck::AnyBitPattern + Default + Into<u64>,
{
    let mut narrow = [T::default(); LANES];
    gather(
        region.elements::<T>(),
        at,
        all,
        mask,
        size_of::<T>() as u64,
        &mut narrow,
    );
    *out = narrow.map(Into::into);
}

#[inline(always)]
fn store_together(
    region: &mut Region,
    at: &Together,
    frame: &Frame<'_>,
    access: &Access,
    all: &[u64; LANES],
    mask: u32,
) {
    let bytes = usize::from(access.bytes) * usize::from(access.count);
    let consecutive = mask == FULL && is_consecutive(all, bytes as u64);
    if access.count == 1 && access.bytes == 4 && !access.wide {
        let row = &frame.narrow[usize::from(access.rows[0])];
        scatter(
            region.elements_mut::<u32>(),
            at,
            all,
            mask,
            consecutive,
            row,
        );
    } else {
        for (index, &row) in access.rows[..usize::from(access.count)].iter().enumerate() {
            let shift = index as u64 * u64::from(access.bytes);
            let at = Together {
                place: at.place,
                base: at.base.wrapping_sub(shift),
            };
            let single = consecutive && access.count == 1;
            let values = if access.wide {
                frame.wide[usize::from(row)]
            } else {
                frame.narrow[usize::from(row)].map(u64::from)
            };
            match access.bytes {
                1 => scatter(
                    region.elements_mut(),
                    &at,
                    all,
                    mask,
                    single,
                    &values.map(|v| v as u8),
                ),
                2 => scatter(
                    region.elements_mut(),
                    &at,
                    all,
                    mask,
                    single,
                    &values.map(|v| v as u16),
                ),
                4 => scatter(
                    region.elements_mut(),
                    &at,
                    all,
                    mask,
                    single,
                    &values.map(|v| v as u32),
                ),
                _ => scatter(region.elements_mut(), &at, all, mask, single, &values),
            }
        }
    }
    if region.is_complete() {
        return;
    }
    if consecutive {
        region.mark_written(all[0].wrapping_sub(at.base) as usize, LANES * bytes);
    } else {
        for lane in lanes(mask) {
            region.mark_written(all[lane].wrapping_sub(at.base) as usize, bytes);
        }
    }
}

/// Lanes that write the same place: the highest lane wins.
#[inline(always)]
fn scatter<T: Copy>(
    elements: &mut [T],
    at: &Together,
    all: &[u64; LANES],
    mask: u32,
    consecutive: bool,
    values: &[T; LANES],
) {
    let size = size_of::<T>() as u64;
    if consecutive {
        let first = (all[0].wrapping_sub(at.base) / size) as usize;
        elements[first..first + LANES].copy_from_slice(values);
        return;
    }
    for lane in 0..LANES {
        if mask & BITS[lane] != 0 {
            elements[(all[lane].wrapping_sub(at.base) / size) as usize] = values[lane];
        }
    }
}
