//! A resident block: its warps, registers, shared and local memory, and barriers.
//!
//! Everything a block's execution has reached is in here, so that more than one block can be resident, and any
//! scheduler can decide who goes on.

use super::lanes::{Class, FALSE, FULL, Frame, LANES, TRUE};
use super::looks::Looks;
use super::memory::Region;
use super::program::{self, Kernel, Pc, RowCounts, Special};
use super::residency::SMS;
use super::taint::Taint;

/// Named barriers of a block.
pub const BARRIERS: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Ready,
    /// At the barrier of this number.
    Waiting(usize),
    Done,
}

/// Lanes that go on together from `pc`, until they reach `reconverge`.
#[derive(Clone, Copy, Debug)]
pub struct Split {
    pub pc: Pc,
    pub active: u32,
    pub reconverge: Pc,
}

#[derive(Clone, Debug)]
pub struct Warp {
    pub state: State,
    /// What runs.
    pub now: Split,
    /// What runs after it, last first.
    pub stack: Vec<Split>,
    /// Lanes that have left the kernel, or never were.
    pub exited: u32,
    /// What the barrier it waits at does when it completes.
    pub pending: Option<Pending>,
    pub looks: Looks,
    pub taint: Taint,
}

/// A barrier that a warp has reached.
#[derive(Clone, Copy, Debug)]
pub struct Pending {
    pub barrier: program::Barrier,
    pub pc: Pc,
}

/// One of the sixteen barriers.
#[derive(Clone, Copy, Debug, Default)]
pub struct BarrierState {
    /// Warps that have arrived since the barrier last completed.
    pub arrived: u32,
    /// Warps it takes; none for all of the block.
    pub wanted: Option<u32>,
    /// Bit for each warp that waits.
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
        let warp = Warp {
            state: State::Done,
            now: Split {
                pc: 0,
                active: 0,
                reconverge: 0,
            },
            stack: Vec::with_capacity(2 * LANES),
            exited: FULL,
            pending: None,
            looks: Looks::default(),
            taint: Taint::default(),
        };
        self.warps.resize(warps, warp);
        for number in 0..warps {
            self.preset(number, kernel, shape, place);
        }
        self.local
            .reset_initialised(warps * LANES * kernel.local_bytes as usize);
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

    /// Starts one block of the grid.
    pub fn start(&mut self, index: [u32; 3], kernel: &Kernel, shape: &Shape) {
        self.index = index;
        self.barriers = Default::default();
        self.shared.reset(kernel.shared_bytes(shape) as usize);
        if self.local.is_complete() {
            self.local.bytes_mut().fill(0);
        } else {
            self.local.reset_initialised(self.local.len());
        }
        let end = kernel.code.len() as Pc;
        let threads = shape.threads();
        for number in 0..self.warps.len() {
            let here = threads - (number * LANES) as u32;
            let active = if here >= 32 { FULL } else { (1 << here) - 1 };
            let warp = &mut self.warps[number];
            warp.state = State::Ready;
            warp.now = Split {
                pc: 0,
                active,
                reconverge: end,
            };
            warp.stack.clear();
            warp.exited = !active;
            warp.pending = None;
            warp.looks = Looks::default();
            warp.taint.clear();
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

impl Warp {
    /// Lanes that are still in the kernel.
    pub fn live(&self) -> u32 {
        !self.exited
    }

    /// Some active lanes go to `target`, the rest to the next instruction; they meet again at `meet`.
    pub fn diverge(&mut self, taken: u32, target: Pc, meet: Pc) {
        let now = self.now;
        if meet != now.reconverge {
            self.stack.push(Split { pc: meet, ..now });
        }
        // A side that starts at the meeting point has nothing to run: it is in the split that waits there.
        if target != meet {
            self.stack.push(Split {
                pc: target,
                active: taken,
                reconverge: meet,
            });
        }
        self.now = Split {
            pc: now.pc + 1,
            active: now.active & !taken,
            reconverge: meet,
        };
    }

    /// Lanes leave the kernel.
    pub fn exit(&mut self, mask: u32) {
        self.exited |= mask;
        self.now.active &= !mask;
    }

    /// Lets other lanes go first, in a warp whose running lanes only wait: those on another side of the branch, else
    /// those that wait at the meeting point, who then go on without waiting there. As compute capability 7.0 and later
    /// promise, every lane gets on at some time. What it has seen is forgotten if others go first.
    pub fn rotate(&mut self) {
        let meet = self.now.reconverge;
        let siblings = self.stack.iter().rev();
        let siblings = siblings.take_while(|split| split.reconverge == meet && split.pc != meet);
        let first = self.stack.len() - siblings.count();
        if first < self.stack.len() {
            self.stack.push(self.now);
            self.now = self.stack.remove(first);
            self.looks.forget();
        } else if let Some(join) = self.stack.last_mut() {
            let arrived = join.active & !self.now.active & !self.exited;
            if arrived != 0 {
                let waiting = Split {
                    reconverge: join.reconverge,
                    ..self.now
                };
                self.now = Split {
                    active: arrived,
                    ..*join
                };
                *join = waiting;
                self.looks.forget();
            }
        }
    }

    /// After a step: goes on with what waits, once all lanes of the present split have met or left.
    /// True when none are left.
    #[inline(always)]
    pub fn settle(&mut self) -> bool {
        while self.now.pc == self.now.reconverge || self.now.active == 0 {
            let Some(next) = self.stack.pop() else {
                self.state = State::Done;
                return true;
            };
            self.now = Split {
                active: next.active & !self.exited,
                ..next
            };
        }
        false
    }
}
