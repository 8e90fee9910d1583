//! Accesses as the detector of races sees them.

use super::super::lanes::{Frame, LANES, lanes};
use super::super::order::{GRANULE, Order, Row, Touch};
use super::super::program::{Access, Atomic, Pc, Scope, Semantics};
use super::elements::{Lanes, get_lane};
use super::region::Region;
use super::spaces::{Place, Spaces};
use crate::device;
use crate::terms::FindingKind;

/// A region beyond this is not followed: what is kept of each word is six times as large.
const MAX_FOLLOWED_BYTES: usize = 256 << 20;

/// Where one lane's access went.
#[derive(Clone, Copy)]
pub(super) struct At {
    pub place: Place,
    pub lane: usize,
    pub offset: usize,
}

impl Spaces<'_> {
    /// What is followed: memory that threads share and may write.
    #[inline(always)]
    fn watched(&mut self, place: Place) -> Option<(&mut Order, &mut Region)> {
        let region = match place {
            Place::Global(index) => {
                let allocation = self.global.get_mut(index);
                if allocation.access != device::Access::ReadWrite {
                    return None;
                }
                &mut allocation.region
            }
            Place::Shared => &mut *self.shared,
            Place::Local | Place::Const | Place::Param => return None,
        };
        Some((self.order, region))
    }

    /// A touch of a watched region, with room in its shadow.
    #[inline(always)]
    fn touch(
        &mut self,
        place: Place,
        pc: Pc,
        semantics: Semantics,
        writes: bool,
    ) -> Option<(&mut Order, &mut Region, Touch)> {
        let who = self.who;
        let (order, region) = self.watched(place)?;
        let allocation = match place {
            Place::Global(index) => Some(index),
            _ => None,
        };
        let touch = order.touch(who, pc, semantics, allocation, writes)?;
        if region.len() > MAX_FOLLOWED_BYTES {
            order.lost = true;
            return None;
        }
        region.accesses.fit(region.len());
        Some((order, region, touch))
    }

    /// A load whose lanes all lie in one region.
    #[inline(always)]
    pub(super) fn watch_load(
        &mut self,
        place: Place,
        at: Lanes<'_>,
        access: &Access,
        pc: Pc,
        mask: u32,
    ) {
        if !self.order.on {
            return;
        }
        let Some((order, region, touch)) = self.touch(place, pc, access.semantics, false) else {
            return;
        };
        match at {
            Lanes::Row(first) if access.bytes >= 4 => {
                order.row(&mut region.accesses, &touch, row(first, access), 0);
            }
            _ => watch_lanes(order, region, &touch, at, access, mask, 0),
        }
        if access.semantics.scope != Scope::Weak {
            synchronise(order, &touch, at, access, mask, false);
        }
    }

    /// A store whose lanes all lie in one region, before it changes it.
    #[inline(always)]
    pub(super) fn watch_store(
        &mut self,
        place: Place,
        at: Lanes<'_>,
        frame: &Frame<'_>,
        access: &Access,
        pc: Pc,
        mask: u32,
    ) {
        if !self.order.on {
            return;
        }
        if access.semantics.release {
            let scope = access.semantics.scope;
            self.order.fence(self.who, mask, scope, false);
        }
        let Some((order, region, touch)) = self.touch(place, pc, access.semantics, true) else {
            return;
        };
        let same = unchanged(region, at, frame, access, mask);
        match at {
            Lanes::Row(first) if access.bytes >= 4 => {
                order.row(&mut region.accesses, &touch, row(first, access), same);
            }
            _ => watch_lanes(order, region, &touch, at, access, mask, same),
        }
        if !order.conflicts.is_empty() {
            let equal = |a: usize, b: usize| {
                let rows = &access.rows[..usize::from(access.count)];
                let same = |row: &u16| {
                    get_lane(frame, access, *row, a) == get_lane(frame, access, *row, b)
                };
                at.of(a, access) == at.of(b, access) && rows.iter().all(same)
            };
            together(order, &touch, mask, equal);
        }
        if access.semantics.scope != Scope::Weak {
            synchronise(order, &touch, at, access, mask, true);
        }
    }

    /// One lane's access among some that are wrong; `same` if it writes what is there.
    pub(super) fn watch_lane(&mut self, at: At, access: &Access, pc: Pc, same: Option<bool>) {
        let semantics = access.semantics;
        let Some((order, region, touch)) = self.touch(at.place, pc, semantics, same.is_some())
        else {
            return;
        };
        let size = usize::from(access.bytes);
        for index in 0..usize::from(access.count) {
            let from = at.offset + index * size;
            let unchanged = same == Some(true);
            order.bytes(&mut region.accesses, &touch, at.lane, from, size, unchanged);
            if same.is_some() {
                order.strong_write(&touch, semantics, at.lane, from as u64, false);
            } else {
                order.strong_read(&touch, semantics, at.lane, from as u64);
            }
        }
    }

    /// An atomic whose lanes all lie in one region, before it changes it.
    pub(super) fn watch_atomics(
        &mut self,
        place: Place,
        offsets: &[u64; LANES],
        atomic: &Atomic,
        pc: Pc,
        mask: u32,
    ) {
        let semantics = atomic.semantics;
        let Some((order, region, touch)) = self.touch(place, pc, semantics, true) else {
            return;
        };
        let touch = touch.of_atomic();
        let bytes = usize::from(atomic.bytes);
        if bytes == 4 && order.releases_nothing() {
            order.words(&mut region.accesses, &touch, offsets, mask, 0);
            return;
        }
        for lane in lanes(mask) {
            let from = offsets[lane] as usize;
            order.bytes(&mut region.accesses, &touch, lane, from, bytes, false);
            order.strong_read(&touch, semantics, lane, offsets[lane]);
            order.strong_write(&touch, semantics, lane, offsets[lane], true);
        }
    }

    /// Before an atomic that releases.
    pub(super) fn watch_release(&mut self, semantics: Semantics, mask: u32) {
        if semantics.release {
            self.order.fence(self.who, mask, semantics.scope, false);
        }
    }
}

impl Lanes<'_> {
    /// The offset of a lane.
    #[inline(always)]
    fn of(self, lane: usize, access: &Access) -> usize {
        match self {
            Lanes::Row(first) => {
                first + lane * usize::from(access.bytes) * usize::from(access.count)
            }
            Lanes::Apart(offsets) => offsets[lane] as usize,
        }
    }
}

#[inline(always)]
fn row(first: usize, access: &Access) -> Row {
    Row {
        first: first / GRANULE,
        granules: usize::from(access.bytes) * usize::from(access.count) / GRANULE,
        wide: access.bytes == 8,
    }
}

fn watch_lanes(
    order: &mut Order,
    region: &mut Region,
    touch: &Touch,
    at: Lanes<'_>,
    access: &Access,
    mask: u32,
    same: u32,
) {
    let size = usize::from(access.bytes);
    if let (4, 1, Lanes::Apart(offsets)) = (access.bytes, access.count, at) {
        order.words(&mut region.accesses, touch, offsets, mask, same);
        return;
    }
    for lane in lanes(mask) {
        let same = same >> lane & 1 == 1;
        let first = at.of(lane, access);
        for index in 0..usize::from(access.count) {
            let from = first + index * size;
            order.bytes(&mut region.accesses, touch, lane, from, size, same);
        }
    }
}

fn synchronise(
    order: &mut Order,
    touch: &Touch,
    at: Lanes<'_>,
    access: &Access,
    mask: u32,
    writes: bool,
) {
    if order.releases_nothing() {
        return;
    }
    for lane in lanes(mask) {
        for index in 0..u64::from(access.count) {
            let from = at.of(lane, access) as u64 + index * u64::from(access.bytes);
            if writes {
                order.strong_write(touch, access.semantics, lane, from, false);
            } else {
                order.strong_read(touch, access.semantics, lane, from);
            }
        }
    }
}

/// The lanes whose store leaves what is there.
#[inline(always)]
fn unchanged(region: &Region, at: Lanes<'_>, frame: &Frame<'_>, access: &Access, mask: u32) -> u32 {
    let size = usize::from(access.bytes) * usize::from(access.count);
    if access.count == 1 && access.bytes == 4 && !access.wide {
        let new = &frame.narrow[usize::from(access.rows[0])];
        return unchanged_words(region, at, new, mask);
    }
    let mut same = 0;
    for lane in lanes(mask) {
        let from = at.of(lane, access);
        if region.is_written_aligned(from, size) && is_same(region, from, frame, access, lane) {
            same |= 1 << lane;
        }
    }
    same & mask
}

/// The same for words of four bytes.
#[inline(always)]
fn unchanged_words(region: &Region, at: Lanes<'_>, new: &[u32; LANES], mask: u32) -> u32 {
    let old = region.elements::<u32>();
    let mut same = 0;
    match at {
        Lanes::Row(first) => {
            let old = &old[first / 4..first / 4 + LANES];
            for lane in 0..LANES {
                same |= u32::from(old[lane] == new[lane]) << lane;
            }
            let written = same == 0 || region.is_written(first, 4 * LANES);
            if written { same } else { 0 }
        }
        Lanes::Apart(offsets) => {
            for lane in 0..LANES {
                same |= u32::from(old[offsets[lane] as usize / 4] == new[lane]) << lane;
            }
            let written = |lane: usize| region.is_written_aligned(offsets[lane] as usize, 4);
            lanes(same & mask).fold(0, |all, lane| all | u32::from(written(lane)) << lane)
        }
    }
}

/// Whether a lane would store what is there.
pub(super) fn is_same(
    region: &Region,
    from: usize,
    frame: &Frame<'_>,
    access: &Access,
    lane: usize,
) -> bool {
    let size = usize::from(access.bytes);
    let rows = &access.rows[..usize::from(access.count)];
    rows.iter().enumerate().all(|(index, &row)| {
        let new = get_lane(frame, access, row, lane) & (u64::MAX >> (64 - 8 * size));
        region.read(from + index * size, size) == new
    })
}

/// Conflicts of lanes of one instruction that write the same value are of the milder kind.
#[cold]
fn together(order: &mut Order, touch: &Touch, mask: u32, equal: impl Fn(usize, usize) -> bool) {
    for conflict in &mut order.conflicts {
        let other = conflict.other.lane();
        let here = Order::is_together(touch, conflict) && mask >> other & 1 == 1;
        if conflict.kind == FindingKind::Race && here && equal(conflict.lane, other) {
            conflict.kind = FindingKind::ValueRace;
        }
    }
}
