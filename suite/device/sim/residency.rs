//! Which blocks are resident together, and how long their turns are.
//!
//! The simulated card has four multiprocessors of a T4: on each, blocks stay while their threads and shared memory
//! fit. Turns of blocks that wait for each other have uneven lengths, from a fixed seed: blocks overtake each other, so
//! that a look-back meets predecessors in every state, and always the same ones.

use super::block::Shape;
use super::lanes::LANES;
use super::program::Kernel;

/// Multiprocessors.
pub const SMS: usize = 4;
/// What one multiprocessor of compute capability 7.5 holds.
const SM_THREADS: u64 = 1024;
const SM_BLOCKS: u64 = 16;
const SM_SHARED_BYTES: u64 = 64 << 10;
/// Of all resident blocks: this is the host's memory, which a launch must not exhaust.
const LOCAL_BYTES: u64 = 256 << 20;

/// Warp instructions of a turn where nothing waits for another block.
const LONG: u64 = 1 << 16;
/// Least warp instructions of a turn where blocks wait for each other; the most is twice that, less one.
const SHORT: u64 = 64;

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

/// The blocks of a grid, `x` fastest.
pub struct Grid {
    shape: [u32; 3],
    next: [u32; 3],
}

impl Grid {
    pub fn new(shape: [u32; 3]) -> Self {
        Self {
            shape,
            next: [0; 3],
        }
    }
}

impl Iterator for Grid {
    type Item = [u32; 3];

    fn next(&mut self) -> Option<[u32; 3]> {
        let index = self.next;
        if index[2] == self.shape[2] {
            return None;
        }
        self.next[0] += 1;
        for axis in 0..2 {
            if self.next[axis] == self.shape[axis] {
                self.next[axis] = 0;
                self.next[axis + 1] += 1;
            }
        }
        Some(index)
    }
}

/// Lengths of turns.
pub struct Turns {
    state: u64,
}

impl Default for Turns {
    fn default() -> Self {
        Self {
            state: 0x9e37_79b9_7f4a_7c15,
        }
    }
}

impl Turns {
    /// Warp instructions of the next turn. Short ones follow Marsaglia's xorshift ("Xorshift RNGs", 2003).
    pub fn next(&mut self, short: bool) -> u64 {
        if !short {
            return LONG;
        }
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        SHORT + self.state % SHORT
    }
}
