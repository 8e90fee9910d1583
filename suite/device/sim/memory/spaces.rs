//! The state spaces that one warp sees, and where an address of each leads.

use super::super::order::{Order, Who};
use super::super::program::Space;
use super::global::GlobalMemory;
use super::region::Region;
use super::{CONST_WINDOW, LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, WINDOW_BYTES};
use crate::device;

/// All memory an instruction of one warp can reach.
pub struct Spaces<'a> {
    pub global: &'a mut GlobalMemory,
    pub shared: &'a mut Region,
    /// Of the whole block, thread after thread.
    pub local: &'a mut Region,
    pub local_bytes: u64,
    pub constants: &'a mut Region,
    pub params: &'a mut Region,
    /// Number of the warp's first thread in its block.
    pub first_thread: u64,
    pub order: &'a mut Order,
    pub who: Who,
    /// Whether it is of interest what was never written.
    pub taints: bool,
    /// Of the last load that met bytes never written, by element: the lanes.
    pub unwritten: [u32; 4],
    /// Those of them that met none that was written, in the eight bytes around where elements are of one or two.
    pub bare: [u32; 4],
}

/// A region as seen by one warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Global(usize),
    Shared,
    Local,
    Const,
    Param,
}

impl Spaces<'_> {
    #[inline(always)]
    pub fn region(&self, place: Place) -> &Region {
        match place {
            Place::Global(index) => &self.global.get(index).region,
            Place::Shared => self.shared,
            Place::Local => self.local,
            Place::Const => self.constants,
            Place::Param => self.params,
        }
    }

    #[inline(always)]
    pub fn region_mut(&mut self, place: Place) -> &mut Region {
        match place {
            Place::Global(index) => &mut self.global.get_mut(index).region,
            Place::Shared => self.shared,
            Place::Local => self.local,
            Place::Const => self.constants,
            Place::Param => self.params,
        }
    }

    pub fn may_write(&self, place: Place) -> bool {
        match place {
            Place::Global(index) => self.global.get(index).access == device::Access::ReadWrite,
            Place::Shared | Place::Local => true,
            Place::Const | Place::Param => false,
        }
    }

    /// The region an address belongs to and the offset in it, which may be out of bounds; none where there is
    /// nothing at all.
    #[inline(always)]
    pub fn locate(&self, space: Space, lane: usize, address: u64) -> Option<(Place, u64)> {
        match space {
            Space::Global => self
                .global
                .find(address)
                .map(|(index, offset)| (Place::Global(index), offset)),
            Space::Shared => Some((Place::Shared, address)),
            Space::Local => self.local(lane, address),
            Space::Const => Some((Place::Const, address)),
            Space::Param => Some((Place::Param, address)),
            Space::Generic => self.locate_generic(lane, address),
        }
    }

    fn locate_generic(&self, lane: usize, address: u64) -> Option<(Place, u64)> {
        let within = address & (WINDOW_BYTES - 1);
        match address & !(WINDOW_BYTES - 1) {
            SHARED_WINDOW => Some((Place::Shared, within)),
            LOCAL_WINDOW => self.local(lane, within),
            CONST_WINDOW => Some((Place::Const, within)),
            PARAM_WINDOW => Some((Place::Param, within)),
            _ => self
                .global
                .find(address)
                .map(|(index, offset)| (Place::Global(index), offset)),
        }
    }

    /// A thread's own piece; past it is nothing, not the next thread's.
    fn local(&self, lane: usize, address: u64) -> Option<(Place, u64)> {
        let thread = self.first_thread + lane as u64;
        (address < self.local_bytes).then(|| (Place::Local, thread * self.local_bytes + address))
    }

    /// Bytes from an offset to the end of what the thread may touch there.
    #[inline(always)]
    pub fn room(&self, place: Place, offset: u64) -> u64 {
        match place {
            Place::Local => self.local_bytes - offset % self.local_bytes.max(1),
            _ => (self.region(place).len() as u64).saturating_sub(offset),
        }
    }

    /// Takes bytes for never written again, as what was stored there is no better; except in global memory. Gives where
    /// they are.
    pub fn forget(&mut self, space: Space, lane: usize, address: u64, bytes: u64) -> Option<Place> {
        let (place, offset) = self.locate(space, lane, address)?;
        let fits = address & (bytes - 1) == 0 && self.room(place, offset) >= bytes;
        if fits && matches!(place, Place::Shared | Place::Local) {
            self.region_mut(place)
                .mark_unwritten(offset as usize, bytes as usize);
        }
        fits.then_some(place)
    }

    /// For a finding's message.
    pub fn describe(&self, space: Space, lane: usize, address: u64, bytes: u64) -> String {
        let (name, size, offset) = match self.locate(space, lane, address) {
            Some((Place::Shared, offset)) => ("shared memory", self.shared.len() as u64, offset),
            Some((Place::Const, offset)) => {
                ("constant memory", self.constants.len() as u64, offset)
            }
            Some((Place::Param, offset)) => ("the parameters", self.params.len() as u64, offset),
            Some((Place::Local, offset)) => (
                "local memory",
                self.local_bytes,
                offset % self.local_bytes.max(1),
            ),
            None if space == Space::Local => ("local memory", self.local_bytes, address),
            _ => return self.global.describe(address, bytes),
        };
        if offset.saturating_add(bytes) <= size {
            format!("at byte {offset} of {name} ({size} bytes)")
        } else if offset > u64::from(u32::MAX / 2) {
            format!(
                "before {name} (offset {})",
                i64::from((offset as u32).cast_signed())
            )
        } else {
            format!("at byte {offset} of {name}, which has {size} bytes")
        }
    }
}
