//! Runs the blocks of a launch.
//!
//! A warp runs until it waits, leaves, or its turn is over, then the next one. A kernel that never looks at what other
//! blocks write runs block after block, in grid order, with long turns: always the same order, so a missing barrier
//! fails every time, and in the same way. As soon as a block of it only spins, and from the start for a kernel that
//! polls global memory, all blocks that the simulated card holds at once are resident and take turns.

use super::block::{Block, Shape, State};
use super::findings::Recorder;
use super::lanes::LANES;
use super::memory::{GlobalMemory, Region, Spaces};
use super::program::Kernel;
use super::reporter::Reporter;
use super::residency::{Grid, Turns, resident_blocks};
use super::step::{Pause, Running};
use crate::outcome::Fault;

/// Warp instructions after which a block that runs alone lets others start, whatever it does.
const BLOCK_TURN: u64 = 1 << 22;

/// Idle rounds after which lanes that wait let other lanes of their warp go first. Not at once: lanes that wait for
/// another block should find those of their warp where they left them.
const PATIENCE: u32 = 64;

/// Idle rounds after which the launch counts as hanging, before its budget is spent.
const HANG: u32 = 1 << 14;

/// One launch on one device.
pub struct Machine<'a> {
    pub kernel: &'a Kernel,
    pub shape: Shape,
    pub global: &'a mut GlobalMemory,
    pub constants: &'a mut Region,
    pub params: &'a mut Region,
    /// Storage for resident blocks, kept from launch to launch; grows to what a launch needs.
    pub blocks: &'a mut Vec<Block>,
    /// Index of the block that runs.
    pub current: usize,
    pub turns: Turns,
    /// Rounds over all resident blocks in which every warp only span, one after another.
    pub idle_rounds: u32,
    /// Whether in this round some warp did anything else.
    pub busy: bool,
    pub recorder: Recorder,
    /// Thread instructions run so far.
    pub executed: u64,
    /// Warp instructions left before the launch counts as hanging.
    pub fuel: u64,
}

/// How a block's turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    Ended,
    /// What is left of it waits at barriers that can never complete.
    Stuck,
    Yielded,
}

impl Machine<'_> {
    /// # Errors
    /// A trap, an instruction budget spent, or what this device cannot run.
    pub fn run(&mut self) -> Result<(), Fault> {
        let most = resident_blocks(self.kernel, &self.shape);
        let mut wanted = if self.kernel.polls { most } else { 1 };
        let mut grid = Grid::new(self.shape.grid);
        // Resident blocks, the one that has waited longest first. One that ends gives its storage to the next of the
        // grid; storage falls idle only when the grid has no more.
        let mut resident = Vec::new();
        let mut stuck = false;
        loop {
            while resident.len() < wanted
                && let Some(index) = grid.next()
            {
                self.prepare(resident.len());
                self.blocks[resident.len()].start(index, self.kernel, &self.shape);
                resident.push(resident.len());
            }
            if resident.is_empty() {
                return Ok(());
            }
            self.busy = false;
            let mut turn = 0;
            while let Some(&slot) = resident.get(turn) {
                self.current = slot;
                let left = self.run_block()?;
                stuck |= left == Left::Stuck;
                if self.recorder.is_flooded() {
                    return Ok(());
                }
                match left {
                    Left::Yielded => {
                        wanted = most;
                        turn += 1;
                    }
                    Left::Ended | Left::Stuck => match grid.next() {
                        Some(index) => {
                            self.blocks[slot].start(index, self.kernel, &self.shape);
                            turn += 1;
                        }
                        None => drop(resident.remove(turn)),
                    },
                }
            }
            // A block that is stuck has its finding; those that only wait for it add nothing.
            if self.idle_rounds >= HANG && !resident.is_empty() {
                return if stuck { Ok(()) } else { Err(self.hang()) };
            }
            self.idle_rounds = if self.busy {
                0
            } else {
                self.idle_rounds.saturating_add(1)
            };
        }
    }

    fn hang(&self) -> Fault {
        let name = &self.kernel.name;
        Fault::hang(format!(
            "kernel {name} does not end: every warp that is left waits for memory that none of them changes"
        ))
    }

    /// Storage for one more resident block of this launch.
    fn prepare(&mut self, slot: usize) {
        if slot == self.blocks.len() {
            self.blocks.push(Block::default());
        }
        self.blocks[slot].prepare(self.kernel, &self.shape, slot);
    }

    /// Gives each warp of the current block its turn: once where blocks take turns, else for as long as one gets on.
    fn run_block(&mut self) -> Result<Left, Fault> {
        let before = self.fuel;
        loop {
            let (mut ready, mut waiting, mut advanced) = (false, false, false);
            for number in 0..self.blocks[self.current].warps.len() {
                match self.blocks[self.current].warps[number].state {
                    State::Ready => {
                        ready = true;
                        advanced |= self.turn(number)?;
                        if self.recorder.is_flooded() {
                            return Ok(Left::Ended);
                        }
                    }
                    State::Waiting(_) => waiting = true,
                    State::Done => {}
                }
            }
            if !ready && waiting {
                self.deadlock();
                return Ok(Left::Stuck);
            }
            if !ready {
                return Ok(Left::Ended);
            }
            if self.kernel.polls || !advanced || before - self.fuel > BLOCK_TURN {
                return Ok(Left::Yielded);
            }
        }
    }

    /// Runs one warp until it pauses; whether it came to a barrier or its end.
    fn turn(&mut self, number: usize) -> Result<bool, Fault> {
        match self.run_warp(number)? {
            Pause::Turn | Pause::Spins if self.fuel == 0 => {
                let name = &self.kernel.name;
                return Err(Fault::hang(format!(
                    "kernel {name} did not end within its instruction budget"
                )));
            }
            Pause::Turn => {
                self.busy = true;
                return Ok(false);
            }
            Pause::Spins => {
                // Nobody else will write what it waits for: other lanes of its own have to.
                if self.idle_rounds >= PATIENCE {
                    self.blocks[self.current].warps[number].rotate();
                }
                return Ok(false);
            }
            Pause::Barrier => self.arrive(number)?,
            Pause::Exited => self.complete_barriers(),
        }
        self.busy = true;
        Ok(true)
    }

    fn run_warp(&mut self, number: usize) -> Result<Pause, Fault> {
        let kernel = self.kernel;
        let block = &mut self.blocks[self.current];
        let at = Reporter {
            kernel,
            shape: self.shape,
            block: block.index,
            warp: number,
        };
        let (warp, frame, shared, local) = block.parts(number);
        let spaces = Spaces {
            global: self.global,
            shared,
            local,
            local_bytes: kernel.local_bytes,
            constants: self.constants,
            params: self.params,
            first_thread: (LANES * number) as u64,
        };
        let turn = self.fuel.min(self.turns.next(kernel.polls));
        let mut thread = Running {
            at,
            warp,
            frame,
            spaces,
            recorder: &mut self.recorder,
            executed: self.executed,
            left: turn,
            polled: None,
            wrote: false,
        };
        let pause = thread.run(&kernel.code);
        self.busy |= thread.wrote;
        self.executed = thread.executed;
        self.fuel -= turn - thread.left;
        pause
    }
}
