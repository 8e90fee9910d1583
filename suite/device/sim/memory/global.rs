//! The global address space: allocations by slot.

use super::region::Region;
use super::{SLOT_SHIFT, SLOT_START};
use crate::device::Access;

#[derive(Clone, Debug)]
pub struct Allocation {
    pub region: Region,
    pub access: Access,
    /// For messages: `buffer 2`, `variable table`.
    pub name: String,
}

/// Where modules' variables are numbered from: apart from buffers, so that neither moves the other's addresses.
const FIRST_VARIABLE: usize = 1 << 20;

/// Allocations by number: buffers, which come and go, and modules' variables, which stay. Slot 0 is kept for the
/// windows.
#[derive(Debug, Default)]
pub struct GlobalMemory {
    buffers: Vec<Allocation>,
    variables: Vec<Allocation>,
}

impl GlobalMemory {
    /// Adds a buffer and gives its index; none when all slots are taken.
    pub fn add_buffer(&mut self, region: Region, access: Access) -> Option<usize> {
        let index = self.buffers.len();
        if index >= FIRST_VARIABLE {
            return None;
        }
        let name = format!("buffer {index}");
        self.buffers.push(Allocation {
            region,
            access,
            name,
        });
        Some(index)
    }

    /// What messages call a buffer.
    pub fn name_buffer(&mut self, index: usize, name: &str) {
        self.buffers[index].name = format!("buffer {name}");
    }

    /// Adds a module's variable and gives its index.
    pub fn add_variable(&mut self, region: Region, name: &str) -> usize {
        self.variables.push(Allocation {
            region,
            access: Access::ReadWrite,
            name: format!("variable {name}"),
        });
        FIRST_VARIABLE + self.variables.len() - 1
    }

    /// Forgets who accessed what.
    pub fn forget_accesses(&mut self) {
        let all = self.buffers.iter_mut().chain(&mut self.variables);
        all.for_each(|allocation| allocation.region.accesses.forget());
    }

    pub fn free_buffers(&mut self) {
        self.buffers.clear();
    }

    /// Panics for an index that `find` or an `add` did not give.
    #[inline(always)]
    pub fn get(&self, index: usize) -> &Allocation {
        if index < FIRST_VARIABLE {
            &self.buffers[index]
        } else {
            &self.variables[index - FIRST_VARIABLE]
        }
    }

    #[inline(always)]
    pub fn get_mut(&mut self, index: usize) -> &mut Allocation {
        if index < FIRST_VARIABLE {
            &mut self.buffers[index]
        } else {
            &mut self.variables[index - FIRST_VARIABLE]
        }
    }

    /// Two buffers at once; the same one gives none.
    pub fn pair_mut(&mut self, from: usize, to: usize) -> Option<(&Region, &mut Region)> {
        let [from, to] = self.buffers.get_disjoint_mut([from, to]).ok()?;
        Some((&from.region, &mut to.region))
    }

    /// The address of an allocation's first byte.
    pub fn base(index: usize) -> u64 {
        ((index as u64 + 1) << SLOT_SHIFT) + SLOT_START
    }

    /// The allocation whose slot an address lies in, and the distance from its first byte (may be out of bounds).
    #[inline(always)]
    pub fn find(&self, address: u64) -> Option<(usize, u64)> {
        let index = (address >> SLOT_SHIFT).wrapping_sub(1) as usize;
        let variable = index.wrapping_sub(FIRST_VARIABLE) < self.variables.len();
        (index < self.buffers.len() || variable)
            .then(|| (index, address.wrapping_sub(Self::base(index))))
    }

    /// Where an address is, in words.
    pub fn describe(&self, address: u64, bytes: u64) -> String {
        let Some((index, offset)) = self.find(address) else {
            return "in no buffer".to_owned();
        };
        let allocation = self.get(index);
        let (name, len) = (&allocation.name, allocation.region.len() as u64);
        let offset = offset.cast_signed();
        if offset < 0 {
            format!("{} bytes before {name}", -offset)
        } else if offset.cast_unsigned() == len {
            format!("just past the end of {name} ({len} bytes)")
        } else if offset.cast_unsigned() > len {
            format!(
                "{} bytes past the end of {name} ({len} bytes)",
                offset.cast_unsigned() - len
            )
        } else if offset.cast_unsigned() + bytes > len {
            format!("across the end of {name} ({len} bytes)")
        } else {
            format!("at byte {offset} of {name} ({len} bytes)")
        }
    }
}
