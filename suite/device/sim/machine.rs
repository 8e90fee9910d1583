//! Runs the blocks of a launch.
//!
//! A warp runs until it waits, leaves, or its turn is over, then the next one. A kernel that never looks at what other
//! blocks write runs block after block, in grid order, with long turns: always the same order, so a missing barrier
//! fails every time, and in the same way. Once all warps of a block only spin, or it has run for very long, and from
//! the start for a kernel that polls global memory, all blocks that the simulated card holds at once are resident and
//! take turns. What only spins is for `looks` to say.

use super::block::{Block, Shape, State, Warp};
use super::findings::Recorder;
use super::lanes::LANES;
use super::looks::{Next, Watch};
use super::memory::{GlobalMemory, Region, Spaces};
use super::order::{Order, Who};
use super::program::Kernel;
use super::reporter::Reporter;
use super::residency::{Grid, Turns, resident_blocks};
use super::step::{Pause, Running};
use crate::outcome::Fault;

/// Warp instructions after which a block that runs alone lets others start, whatever it does.
const BLOCK_TURN: u64 = 1 << 22;

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
    pub watch: Watch,
    pub recorder: Recorder,
    pub order: &'a mut Order,
    /// Thread instructions run so far.
    pub executed: u64,
    /// Warp instructions left before the launch counts as hanging.
    pub fuel: u64,
}

/// The blocks of a launch, those that run and those that have yet to start.
struct Queue {
    grid: Grid,
    /// Storage of resident blocks, the one that has waited longest first. One that ends gives its storage to the next
    /// of the grid; storage falls idle only when the grid has no more.
    resident: Vec<usize>,
    wanted: usize,
    most: usize,
    /// Whether some block is stuck at its barriers.
    stuck: bool,
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
        let mut queue = Queue {
            grid: Grid::new(self.shape.grid),
            resident: Vec::new(),
            wanted: if self.kernel.polls { most } else { 1 },
            most,
            stuck: false,
        };
        loop {
            self.fill(&mut queue);
            if queue.resident.is_empty() {
                return Ok(());
            }
            self.round(&mut queue)?;
            if self.recorder.is_flooded() {
                return Ok(());
            }
            match self.watch.end_round() {
                Next::GoOn => {}
                Next::Rotate => self.rotate(&queue.resident),
                // A block that is stuck has its finding; those that only wait for it add nothing.
                Next::Hang if queue.stuck => return Ok(()),
                Next::Hang => return Err(self.hang()),
            }
        }
    }

    /// Starts blocks until as many as wanted are resident.
    fn fill(&mut self, queue: &mut Queue) {
        while queue.resident.len() < queue.wanted
            && let Some(index) = queue.grid.next()
        {
            let slot = queue.resident.len();
            self.prepare(slot);
            self.start(slot, index);
            queue.resident.push(slot);
        }
    }

    fn start(&mut self, slot: usize, index: [u32; 3]) {
        let block = &mut self.blocks[slot];
        block.start(index, self.kernel, &self.shape);
        let (warps, shared) = (block.warps.len(), &mut block.shared.accesses);
        self.order.start_block(slot, index, warps, shared);
    }

    /// Gives each resident block its turn.
    fn round(&mut self, queue: &mut Queue) -> Result<(), Fault> {
        let mut turn = 0;
        while let Some(&slot) = queue.resident.get(turn) {
            self.current = slot;
            let left = self.run_block()?;
            if self.recorder.is_flooded() {
                return Ok(());
            }
            queue.stuck |= left == Left::Stuck;
            if left == Left::Yielded {
                queue.wanted = queue.most;
                turn += 1;
            } else if let Some(index) = queue.grid.next() {
                self.start(slot, index);
                turn += 1;
            } else {
                queue.resident.remove(turn);
            }
        }
        Ok(())
    }

    /// In every warp that is ready, lets lanes that have waited go first.
    fn rotate(&mut self, resident: &[usize]) {
        for &slot in resident {
            let warps = self.blocks[slot].warps.iter_mut();
            let ready = warps.filter(|warp| warp.state == State::Ready);
            ready.for_each(Warp::rotate);
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

    /// Gives each warp of the current block its turn: once where blocks take turns, else again and again until the
    /// block has ended, only spins, or has had its own turn.
    fn run_block(&mut self) -> Result<Left, Fault> {
        let before = self.fuel;
        loop {
            let (mut ready, mut waiting, mut spun) = (false, false, true);
            for number in 0..self.blocks[self.current].warps.len() {
                match self.blocks[self.current].warps[number].state {
                    State::Ready => {
                        ready = true;
                        spun &= self.turn(number)?;
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
            if self.kernel.polls || spun || before - self.fuel > BLOCK_TURN {
                return Ok(Left::Yielded);
            }
        }
    }

    /// Runs one warp until it pauses; whether it only slept or looked again, and changed nothing.
    fn turn(&mut self, number: usize) -> Result<bool, Fault> {
        let (pause, wrote) = self.run_warp(number)?;
        match pause {
            Pause::Turn | Pause::Spins if self.fuel == 0 => {
                let name = &self.kernel.name;
                return Err(Fault::hang(format!(
                    "kernel {name} did not end within its instruction budget"
                )));
            }
            Pause::Turn | Pause::Spins => {
                let looks = &self.blocks[self.current].warps[number].looks;
                self.watch.changed |= wrote;
                self.watch.fresh |= !looks.goes_round();
                self.watch.open |= !looks.is_stuck(self.watch.period);
                return Ok(pause == Pause::Spins && !wrote);
            }
            Pause::Barrier => self.arrive(number)?,
            Pause::Exited => self.complete_barriers(),
        }
        self.watch.changed = true;
        Ok(false)
    }

    /// Why it paused, and whether it has changed memory.
    fn run_warp(&mut self, number: usize) -> Result<(Pause, bool), Fault> {
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
            taints: self.order.asked,
            unwritten: [0; 4],
            order: self.order,
            who: Who {
                slot: self.current,
                warp: number,
            },
        };
        let turn = self.fuel.min(self.turns.next(kernel.polls));
        let ran = warp.looks.ran;
        let mut thread = Running {
            at,
            warp,
            frame,
            spaces,
            recorder: &mut self.recorder,
            executed: self.executed,
            left: turn,
            until: ran + turn,
            quiet: self.watch.quiet.then_some(self.watch.period),
            wrote: false,
        };
        let pause = thread.run(&kernel.code);
        let spent = turn - thread.left;
        thread.warp.looks.ran += spent;
        self.executed = thread.executed;
        self.fuel -= spent;
        self.watch.add_turn(spent);
        Ok((pause?, thread.wrote))
    }
}
