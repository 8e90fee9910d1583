//! Which blocks are resident together, and how long their turns are.
//!
//! The simulated card has four multiprocessors of a T4: on each, blocks stay while their threads and shared memory
//! fit.
//!
//! CUDA promises no order in which blocks start. They start in grid order, but where the kernel polls global memory the
//! last comes first: blocks that wait for those before them, without having made sure that these have started, then
//! hang as soon as not all are resident, each time, and not once in a year on a card that is busy. Kernels that take
//! tickets do not care.

use super::block::Shape;
use super::lanes::LANES;
use super::program::Kernel;
use super::schedule::{BlockOrder, Schedule};

/// Multiprocessors.
pub const SMS: usize = 4;
/// What one multiprocessor of compute capability 7.5 holds.
const SM_THREADS: u64 = 1024;
const SM_BLOCKS: u64 = 16;
const SM_SHARED_BYTES: u64 = 64 << 10;
/// Of all resident blocks: this is the host's memory, which a launch must not exhaust.
const LOCAL_BYTES: u64 = 256 << 20;

/// Blocks that are resident at first where a policy decides.
const FEW: usize = 6;

/// Blocks of this launch that are resident at once, at least one.
pub fn resident_blocks(kernel: &Kernel, shape: &Shape) -> usize {
    let threads = u64::from(shape.threads()).next_multiple_of(LANES as u64);
    let shared = kernel.shared_bytes(shape).max(1);
    let of_one = SM_BLOCKS
        .min(SM_THREADS / threads)
        .min(SM_SHARED_BYTES / shared);
    let local = LOCAL_BYTES / (threads * kernel.local_bytes).max(1);
    (of_one * SMS as u64).min(local).max(1) as usize
}

/// The blocks of a launch, those that run and those that have yet to start.
pub struct Queue {
    grid: Grid,
    /// Storage of resident blocks, the one that has waited longest first. One that ends gives its storage to the next
    /// of the grid; storage falls idle only when the grid has no more.
    pub resident: Vec<usize>,
    pub wanted: usize,
    pub most: usize,
    /// Whether some block is stuck at its barriers.
    pub stuck: bool,
}

impl Queue {
    pub fn new(kernel: &Kernel, shape: &Shape, schedule: &Schedule, decides: bool) -> Self {
        let limit = schedule.resident.map_or(usize::MAX, |most| most as usize);
        let most = resident_blocks(kernel, shape).min(limit);
        let order = schedule.order.unwrap_or(if kernel.polls {
            BlockOrder::Reversed
        } else {
            BlockOrder::Forward
        });
        Self {
            grid: Grid::new(shape.grid, order),
            resident: Vec::new(),
            wanted: match (decides, kernel.polls) {
                (true, _) => FEW.min(most),
                (false, true) => most,
                (false, false) => 1,
            },
            most,
            stuck: false,
        }
    }

    /// The next block to start.
    pub fn next(&mut self) -> Option<[u32; 3]> {
        self.grid.next()
    }

    /// Blocks that have not started.
    pub fn unstarted(&self) -> u64 {
        self.grid.left
    }
}

/// The blocks of a grid, `x` fastest, from its first or from its last.
pub struct Grid {
    shape: [u32; 3],
    order: BlockOrder,
    left: u64,
    all: u64,
}

impl Grid {
    pub fn new(shape: [u32; 3], order: BlockOrder) -> Self {
        // At most 2^63: sizes are checked before a launch.
        let all = shape.iter().map(|&size| u64::from(size)).product();
        Self {
            shape,
            order,
            left: all,
            all,
        }
    }
}

impl Iterator for Grid {
    type Item = [u32; 3];

    fn next(&mut self) -> Option<[u32; 3]> {
        self.left = self.left.checked_sub(1)?;
        let number = match self.order {
            BlockOrder::Forward => self.all - 1 - self.left,
            BlockOrder::Reversed => self.left,
        };
        let [x, y, _] = self.shape.map(u64::from);
        Some([number % x, number / x % y, number / x / y].map(|at| at as u32))
    }
}
