//! A resident block: its warps, registers, shared and local memory, and barriers.
//!
//! Everything a block's execution has reached is in here, so that more than one block can be resident, and any
//! scheduler can decide who goes on.

use super::lanes::{Class, FALSE, FULL, Frame, LANES, TRUE};
use super::memory::Region;
use super::program::{Address, Kernel, Pc, RowCounts, Special};
use super::residency::SMS;
use super::warp::Warp;

/// Named barriers of a block.
pub const BARRIERS: usize = 16;

/// One of the sixteen barriers.
#[derive(Clone, Copy, Debug, Default)]
pub struct BarrierState {
    /// Threads that have arrived since the barrier last completed; a whole warp counts with the lanes that have left.
    pub arrived: u32,
    /// Threads it takes; none for all of the block.
    pub wanted: Option<u32>,
    /// Threads that wait.
    pub waiting: u32,
    /// Threads whose predicate held, of those whose predicate a reduction has seen.
    pub held: u32,
    pub seen: u32,
}

/// The shape of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: u32,
}

impl Shape {
    pub fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    /// The coordinates of a thread of a block by its number.
    pub fn thread(&self, number: u32) -> [u32; 3] {
        let [x, y, _] = self.block;
        [number % x, number / x % y, number / x / y]
    }
}

#[derive(Default)]
pub struct Block {
    pub index: [u32; 3],
    pub warps: Vec<Warp>,
    counts: RowCounts,
    narrow: Vec<[u32; LANES]>,
    wide: Vec<[u64; LANES]>,
    predicates: Vec<u32>,
    pub shared: Region,
    pub local: Region,
    pub barriers: [BarrierState; BARRIERS],
}

impl Block {
    /// Makes ready for the blocks of one launch that run in this place, of those resident; keeps its storage.
    pub fn prepare(&mut self, kernel: &Kernel, shape: &Shape, place: usize) {
        let warps = shape.threads().div_ceil(LANES as u32) as usize;
        self.counts = kernel.rows;
        self.narrow.clear();
        self.narrow.resize(warps * kernel.rows.narrow, [0; LANES]);
        self.wide.clear();
        self.wide.resize(warps * kernel.rows.wide, [0; LANES]);
        self.predicates.clear();
        self.predicates.resize(warps * kernel.rows.predicates, 0);
        self.warps.resize(warps, Warp::default());
        for number in 0..warps {
            self.preset(number, kernel, shape, place);
        }
        self.local
            .reset(warps * LANES * kernel.local_bytes as usize);
    }

    /// Constants and special registers that hold for the whole launch.
    fn preset(&mut self, number: usize, kernel: &Kernel, shape: &Shape, place: usize) {
        let frame = self.frame(number);
        frame.predicates[usize::from(TRUE)] = FULL;
        frame.predicates[usize::from(FALSE)] = 0;
        for &(row, value) in &kernel.narrow_constants {
            frame.narrow[usize::from(row)] = [value; LANES];
        }
        for &(row, value) in &kernel.wide_constants {
            frame.wide[usize::from(row)] = [value; LANES];
        }
        for &(row, special) in &kernel.specials {
            for lane in 0..LANES {
                frame.narrow[usize::from(row)][lane] =
                    special_value(special, number, lane, kernel, shape);
            }
            if special == Special::SmId {
                frame.narrow[usize::from(row)] = [(place % SMS) as u32; LANES];
            }
        }
    }

    /// Starts one block of the grid; with `apart`, lanes that part meet at `.sync` instructions only.
    pub fn start(&mut self, index: [u32; 3], kernel: &Kernel, shape: &Shape, apart: bool) {
        self.index = index;
        self.barriers = Default::default();
        self.shared.reset(kernel.shared_bytes(shape) as usize);
        self.local.reset(self.local.len());
        let end = kernel.code.len() as Pc;
        let threads = shape.threads();
        for number in 0..self.warps.len() {
            let here = threads - (number * LANES) as u32;
            let active = if here >= 32 { FULL } else { (1 << here) - 1 };
            self.warps[number].start(active, end, apart);
            let frame = self.frame(number);
            for &(class, row) in &kernel.zeroed {
                match class {
                    Class::Narrow => frame.narrow[usize::from(row)] = [0; LANES],
                    Class::Wide => frame.wide[usize::from(row)] = [0; LANES],
                    Class::Predicate => frame.predicates[usize::from(row)] = 0,
                }
            }
            for &(row, special) in &kernel.specials {
                if let Special::Ctaid(axis) = special {
                    frame.narrow[usize::from(row)] = [index[axis]; LANES];
                }
            }
        }
    }

    /// Threads that have not left the kernel.
    pub fn live(&self) -> u32 {
        self.warps.iter().map(|warp| warp.live().count_ones()).sum()
    }

    /// The addresses of all lanes of a warp.
    pub fn addresses(&self, warp: usize, address: &Address) -> [u64; LANES] {
        if address.wide {
            let base = self.wide[warp * self.counts.wide + usize::from(address.base)];
            base.map(|base| base.wrapping_add(address.offset.cast_unsigned()))
        } else {
            let base = self.narrow[warp * self.counts.narrow + usize::from(address.base)];
            base.map(|base| u64::from(base.wrapping_add(address.offset as u32)))
        }
    }

    /// The registers of one warp.
    pub fn frame(&mut self, warp: usize) -> Frame<'_> {
        let RowCounts {
            narrow,
            wide,
            predicates,
        } = self.counts;
        Frame {
            narrow: &mut self.narrow[warp * narrow..(warp + 1) * narrow],
            wide: &mut self.wide[warp * wide..(warp + 1) * wide],
            predicates: &mut self.predicates[warp * predicates..(warp + 1) * predicates],
        }
    }

    /// One warp, its registers, and the block's memory, all at once.
    pub fn parts(&mut self, warp: usize) -> (&mut Warp, Frame<'_>, &mut Region, &mut Region) {
        let RowCounts {
            narrow,
            wide,
            predicates,
        } = self.counts;
        let frame = Frame {
            narrow: &mut self.narrow[warp * narrow..(warp + 1) * narrow],
            wide: &mut self.wide[warp * wide..(warp + 1) * wide],
            predicates: &mut self.predicates[warp * predicates..(warp + 1) * predicates],
        };
        (
            &mut self.warps[warp],
            frame,
            &mut self.shared,
            &mut self.local,
        )
    }
}

fn special_value(
    special: Special,
    warp: usize,
    lane: usize,
    kernel: &Kernel,
    shape: &Shape,
) -> u32 {
    let bit = 1_u32 << lane;
    match special {
        Special::Tid(axis) => shape.thread((warp * LANES + lane) as u32)[axis],
        Special::Ntid(axis) => shape.block[axis],
        // Set when a block starts.
        Special::Ctaid(_) => 0,
        Special::Nctaid(axis) => shape.grid[axis],
        Special::LaneId => lane as u32,
        Special::WarpId => warp as u32,
        Special::NWarpId => shape.threads().div_ceil(32),
        Special::LaneMaskEq => bit,
        Special::LaneMaskLt => bit - 1,
        Special::LaneMaskLe => bit | (bit - 1),
        Special::LaneMaskGt => !(bit | (bit - 1)),
        Special::LaneMaskGe => !(bit - 1),
        // Set where a block gets its place.
        Special::SmId => 0,
        Special::GridId => 0,
        Special::NSmId => SMS as u32,
        Special::DynamicSharedBytes => shape.shared,
        Special::TotalSharedBytes => kernel.shared_bytes(shape) as u32,
    }
}
