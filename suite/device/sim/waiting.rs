//! Who waits for what, in words, where a launch does not end.

use super::block::Block;
use super::lanes::{BITS, lanes};
use super::machine::Machine;
use super::memory::{GlobalMemory, Region, SHARED_WINDOW, WINDOW_BYTES};
use super::program::{Kind, Pc, Space};
use super::warp::{Split, Wait, Warp};
use crate::outcome::Fault;

/// Instructions that a hang names, each with the first and the last that waits there.
const SHOWN: usize = 3;
/// Lanes whose reads it shows, each with another value.
const VALUES: usize = 3;

/// Splits that wait at one instruction.
struct Place<'a> {
    pc: Pc,
    first: Waiter<'a>,
    last: Waiter<'a>,
    count: usize,
}

#[derive(Clone, Copy)]
struct Waiter<'a> {
    block: &'a Block,
    warp: usize,
    split: &'a Split,
}

impl Machine<'_> {
    /// Every warp that is left waits for memory that nobody changes. `unstarted` blocks have no place, as no more than
    /// `most` are resident.
    pub(super) fn hang(&self, resident: &[usize], unstarted: u64, most: usize) -> Fault {
        let mut places: Vec<Place<'_>> = Vec::new();
        for block in resident.iter().map(|&slot| &self.blocks[slot]) {
            for (warp, of_warp) in block.warps.iter().enumerate() {
                for split in of_warp.splits() {
                    let pc = waits_at(of_warp, split);
                    let waiter = Waiter { block, warp, split };
                    if let Some(place) = places.iter_mut().find(|place| place.pc == pc) {
                        place.last = waiter;
                        place.count += 1;
                    } else {
                        places.push(Place {
                            pc,
                            first: waiter,
                            last: waiter,
                            count: 1,
                        });
                    }
                }
            }
        }
        let more = places.len().saturating_sub(SHOWN);
        let mut words: Vec<String> = places
            .iter()
            .take(SHOWN)
            .map(|p| self.describe(p))
            .collect();
        if more > 0 {
            words.push(format!("others wait at {more} more instructions"));
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

    fn describe(&self, place: &Place<'_>) -> String {
        let origin = self.kernel.origin.get(place.pc as usize);
        let source = origin.and_then(|origin| origin.source.as_deref());
        let source = source.map_or(String::new(), |source| format!(" ({source})"));
        let mut words = format!(
            "at {}{source} waits {}",
            self.kernel.place(place.pc),
            self.waiter(&place.first)
        );
        if place.count > 2 {
            words += &format!(", and {} more", place.count - 2);
        }
        if place.count > 1 {
            words += &format!(", and {}", self.waiter(&place.last));
        }
        words
    }

    /// Who waits, and for what.
    fn waiter(&self, waiter: &Waiter<'_>) -> String {
        let Waiter { block, warp, split } = *waiter;
        let [x, y, z] = block.index;
        let what = match split.wait {
            Wait::Nothing => self.reads(block, warp, split),
            Wait::Lanes { named, .. } => format!(" for lanes {named:#010x}"),
            Wait::Uncounted | Wait::Barrier(_) => " for the rest of its block".to_owned(),
        };
        format!(
            "block ({x}, {y}, {z}), warp {warp}, lanes {:#010x}{what}",
            split.active
        )
    }

    /// What lanes read again and again.
    fn reads(&self, block: &Block, warp: usize, split: &Split) -> String {
        let Some(seen) = block.warps[warp].seen_by(split) else {
            return String::new();
        };
        let (address, bytes, count) = match &self.kernel.code[seen.pc as usize].kind {
            Kind::Poll(access) => (access.address, access.bytes, access.count),
            Kind::Atomic(atomic) => (atomic.address, atomic.bytes, 1),
            _ => return String::new(),
        };
        let (bytes, count) = (usize::from(bytes), usize::from(count));
        // Those of all lanes, if the registers still are what they were.
        let mut all = block.addresses(warp, &address);
        let mut looked = split.active & seen.mask;
        if all[seen.lane] != seen.address {
            all[seen.lane] = seen.address;
            looked = BITS[seen.lane];
        }
        let mut shown: Vec<(String, String)> = Vec::new();
        for lane in lanes(looked) {
            let value = self.value(block, address.space, all[lane], bytes, count);
            if shown.len() < VALUES && shown.iter().all(|(other, _)| *other != value) {
                let size = (bytes * count) as u64;
                let place = match address.space {
                    Space::Shared => format!("at byte {} of shared memory", all[lane]),
                    _ => self.global.describe(all[lane], size),
                };
                let words = format!("lane {lane} reads {value}, {size} bytes {place}");
                shown.push((value, words));
            }
        }
        let words: Vec<String> = shown.into_iter().map(|(_, words)| words).collect();
        format!(": {}", words.join(", "))
    }

    fn value(
        &self,
        block: &Block,
        space: Space,
        address: u64,
        bytes: usize,
        count: usize,
    ) -> String {
        let Some((region, offset)) = find(self.global, &block.shared, space, address) else {
            return "nothing".to_owned();
        };
        // An offset before the region is past every end.
        let all = (0..count).map(|index| offset.saturating_add(index * bytes));
        let inside = all.filter(|&at| region.len().saturating_sub(at) >= bytes);
        let values: Vec<String> = inside
            .map(|at| format!("{:#x}", region.read(at, bytes)))
            .collect();
        if values.is_empty() {
            return "nothing".to_owned();
        }
        values.join(" ")
    }
}

/// The instruction that a split waits at.
fn waits_at(warp: &Warp, split: &Split) -> Pc {
    match split.wait {
        Wait::Nothing => warp.seen_by(split).map_or(split.pc, |seen| seen.pc),
        Wait::Lanes { .. } => split.pc,
        Wait::Uncounted | Wait::Barrier(_) => split.pc - 1,
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
