//! Who waits for what, in words, where a launch does not end.

use super::block::Block;
use super::machine::Machine;
use super::memory::{GlobalMemory, Region, SHARED_WINDOW, WINDOW_BYTES};
use super::program::{Kind, Pc, Space};
use super::warp::{Split, State, Wait, Warp};
use crate::outcome::Fault;

/// Warps that a hang names, each at another instruction.
const SHOWN: usize = 4;

impl Machine<'_> {
    /// Every warp that is left waits for memory that nobody changes. `unstarted` blocks have no place, as no more than
    /// `most` are resident.
    pub(super) fn hang(&self, resident: &[usize], unstarted: u64, most: usize) -> Fault {
        let mut places: Vec<Pc> = Vec::new();
        let mut words = Vec::new();
        let mut warps = 0;
        for block in resident.iter().map(|&slot| &self.blocks[slot]) {
            for (number, warp) in block.warps.iter().enumerate() {
                if warp.state == State::Done {
                    continue;
                }
                warps += 1;
                for split in warp.splits() {
                    let (pc, what) = self.waits_for(block, warp, split);
                    if words.len() < SHOWN && !places.contains(&pc) {
                        let ([x, y, z], lanes) = (block.index, split.active);
                        places.push(pc);
                        words.push(format!(
                            "lanes {lanes:#010x} of warp {number} of block ({x}, {y}, {z}) {what}"
                        ));
                    }
                }
            }
        }
        if warps > 1 {
            words.push(format!("{warps} warps wait in all"));
        }
        if unstarted > 0 {
            words.push(format!(
                "{unstarted} blocks have not started, as {most} are resident at most"
            ));
        }
        Fault::hang(format!(
            "kernel {} does not end: every warp that is left waits for memory that none of them changes: {}",
            self.kernel.name,
            words.join("; ")
        ))
    }

    /// Where a split waits, and for what.
    fn waits_for(&self, block: &Block, warp: &Warp, split: &Split) -> (Pc, String) {
        let place = |pc: Pc| {
            let source = self.kernel.origin.get(pc as usize);
            let source = source.and_then(|origin| origin.source.as_deref());
            let source = source.map_or(String::new(), |source| format!(" ({source})"));
            format!("{}{source}", self.kernel.place(pc))
        };
        match split.wait {
            Wait::Nothing => {}
            Wait::Lanes { named, .. } => {
                return (split.pc, format!("wait for lanes {named:#010x} at {}", place(split.pc)));
            }
            Wait::Uncounted | Wait::Barrier(_) => {
                return (split.pc - 1, format!("wait at the barrier of {}", place(split.pc - 1)));
            }
        }
        let Some(seen) = warp.seen_by(split) else {
            return (split.pc, format!("are at {}", place(split.pc)));
        };
        let (address, bytes, count) = match &self.kernel.code[seen.pc as usize].kind {
            Kind::Poll(access) => (access.address, access.bytes, access.count),
            Kind::Atomic(atomic) => (atomic.address, atomic.bytes, 1),
            _ => return (seen.pc, format!("are at {}", place(seen.pc))),
        };
        let (bytes, count) = (usize::from(bytes), usize::from(count));
        let found = find(self.global, &block.shared, address.space, seen.address);
        let values = found.map_or_else(Vec::new, |(region, offset)| {
            let all = (0..count).map(|index| offset + index * bytes);
            let inside = all.filter(|at| at + bytes <= region.len());
            inside.map(|at| format!("{:#x}", region.read(at, bytes))).collect()
        });
        let size = (bytes * count) as u64;
        let whose = match address.space {
            Space::Shared => format!("at byte {} of shared memory", seen.address),
            _ => self.global.describe(seen.address, size),
        };
        let what = format!(
            "wait at {}, where lane {} reads {size} bytes {whose}: {}",
            place(seen.pc),
            seen.lane,
            values.join(", ")
        );
        (seen.pc, what)
    }
}

/// The memory that an address of all threads leads to.
fn find<'a>(
    global: &'a GlobalMemory,
    shared: &'a Region,
    space: Space,
    address: u64,
) -> Option<(&'a Region, usize)> {
    match space {
        Space::Shared => Some((shared, address as usize)),
        Space::Generic if address & !(WINDOW_BYTES - 1) == SHARED_WINDOW => {
            Some((shared, (address & (WINDOW_BYTES - 1)) as usize))
        }
        Space::Global | Space::Generic => {
            let (index, offset) = global.find(address)?;
            Some((&global.get(index).region, usize::try_from(offset).ok()?))
        }
        Space::Local | Space::Const | Space::Param => None,
    }
}
