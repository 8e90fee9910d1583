//! Values between registers and a region, once an access has been checked: a copy where lanes are consecutive, else an
//! index a lane.

use super::super::lanes::{Frame, LANES, blend, lanes};
use super::super::program::Access;
use super::region::Region;

/// Where the lanes of an access lie in one region: offsets in bytes.
#[derive(Clone, Copy)]
pub(super) enum Lanes<'a> {
    /// All lanes are active, and each accesses what follows the lane before it. Of the first.
    Row(usize),
    /// Of every lane, 0 for inactive ones.
    Apart(&'a [u64; LANES]),
}

#[inline(always)]
pub(super) fn all_written(region: &Region, at: Lanes<'_>, mask: u32, bytes: usize) -> bool {
    match at {
        Lanes::Row(first) => region.is_written(first, LANES * bytes),
        Lanes::Apart(offsets) => {
            lanes(mask).all(|lane| region.is_written_aligned(offsets[lane] as usize, bytes))
        }
    }
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

pub(super) fn put_lane(frame: &mut Frame<'_>, access: &Access, row: u16, lane: usize, value: u64) {
    let value = extend(value, access);
    if access.wide {
        frame.wide[usize::from(row)][lane] = value;
    } else {
        frame.narrow[usize::from(row)][lane] = value as u32;
    }
}

pub(super) fn get_lane(frame: &Frame<'_>, access: &Access, row: u16, lane: usize) -> u64 {
    if access.wide {
        frame.wide[usize::from(row)][lane]
    } else {
        u64::from(frame.narrow[usize::from(row)][lane])
    }
}

#[inline(always)]
pub(super) fn load_together(
    region: &Region,
    at: Lanes<'_>,
    frame: &mut Frame<'_>,
    access: &Access,
    mask: u32,
) {
    if access.count == 1 && access.bytes == 4 && !access.wide {
        let mut out = [0; LANES];
        gather(region.elements::<u32>(), at, 0, 1, &mut out);
        blend(&mut frame.narrow[usize::from(access.rows[0])], &out, mask);
    } else {
        load_elements(region, at, frame, access, mask);
    }
}

fn load_elements(
    region: &Region,
    at: Lanes<'_>,
    frame: &mut Frame<'_>,
    access: &Access,
    mask: u32,
) {
    let count = usize::from(access.count);
    for (index, &row) in access.rows[..count].iter().enumerate() {
        let mut out = [0; LANES];
        match access.bytes {
            1 => gather_as::<u8>(region, at, index, count, &mut out),
            2 => gather_as::<u16>(region, at, index, count, &mut out),
            4 => gather_as::<u32>(region, at, index, count, &mut out),
            _ => gather(region.elements::<u64>(), at, index, count, &mut out),
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
    at: Lanes<'_>,
    index: usize,
    count: usize,
    out: &mut [T; LANES],
) {
    match at {
        Lanes::Row(first) if count == 1 => {
            let first = first / size_of::<T>();
            out.copy_from_slice(&elements[first..first + LANES]);
        }
        Lanes::Row(first) => {
            let first = first / size_of::<T>();
            let lanes = elements[first..first + LANES * count].chunks_exact(count);
            out.iter_mut()
                .zip(lanes)
                .for_each(|(out, lane)| *out = lane[index]);
        }
        // Inactive lanes read the region's first element, which costs less than asking.
        Lanes::Apart(offsets) => {
            for lane in 0..LANES {
                out[lane] = elements[offsets[lane] as usize / size_of::<T>() + index];
            }
        }
    }
}

#[inline(always)]
fn gather_as<T>(region: &Region, at: Lanes<'_>, index: usize, count: usize, out: &mut [u64; LANES])
where
    T: bytemuck::AnyBitPattern + Default + Into<u64>,
{
    let mut narrow = [T::default(); LANES];
    gather(region.elements::<T>(), at, index, count, &mut narrow);
    *out = narrow.map(Into::into);
}

#[inline(always)]
pub(super) fn store_together(
    region: &mut Region,
    at: Lanes<'_>,
    frame: &Frame<'_>,
    access: &Access,
    mask: u32,
) {
    if access.count == 1 && access.bytes == 4 && !access.wide {
        let row = &frame.narrow[usize::from(access.rows[0])];
        scatter(region.elements_mut::<u32>(), at, 0, 1, mask, row);
    } else {
        store_elements(region, at, frame, access, mask);
    }
    if region.is_complete() {
        return;
    }
    let bytes = usize::from(access.bytes) * usize::from(access.count);
    match at {
        Lanes::Row(first) => region.mark_written(first, LANES * bytes),
        Lanes::Apart(offsets) => {
            for lane in lanes(mask) {
                region.mark_written_aligned(offsets[lane] as usize, bytes);
            }
        }
    }
}

fn store_elements(
    region: &mut Region,
    at: Lanes<'_>,
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
                at,
                index,
                count,
                mask,
                &values.map(|v| v as u8),
            ),
            2 => scatter(
                region.elements_mut(),
                at,
                index,
                count,
                mask,
                &values.map(|v| v as u16),
            ),
            4 => scatter(
                region.elements_mut(),
                at,
                index,
                count,
                mask,
                &values.map(|v| v as u32),
            ),
            _ => scatter(region.elements_mut(), at, index, count, mask, &values),
        }
    }
}

/// Lanes that write the same place: the highest lane wins.
#[inline(always)]
fn scatter<T: Copy>(
    elements: &mut [T],
    at: Lanes<'_>,
    index: usize,
    count: usize,
    mask: u32,
    values: &[T; LANES],
) {
    match at {
        Lanes::Row(first) if count == 1 => {
            let first = first / size_of::<T>();
            elements[first..first + LANES].copy_from_slice(values);
        }
        Lanes::Row(first) => {
            let first = first / size_of::<T>();
            let lanes = elements[first..first + LANES * count].chunks_exact_mut(count);
            lanes
                .zip(values)
                .for_each(|(lane, value)| lane[index] = *value);
        }
        Lanes::Apart(offsets) => {
            for lane in lanes(mask) {
                elements[offsets[lane] as usize / size_of::<T>() + index] = values[lane];
            }
        }
    }
}
