//! Runs the blocks of a launch.
//!
//! A warp runs until it waits, leaves, or its turn is over, then the next one. A kernel that never looks at what other
//! blocks write runs block after block, with long turns: always the same order, so a missing barrier fails every time,
//! and in the same way. Once all warps of a block only spin, or it has run for very long, and from the start for a
//! kernel that polls global memory, all blocks that the simulated card holds at once are resident and take turns. What
//! only spins is for `looks` to say. That is the fair order; where the schedule has another policy, `turns` picks who
//! of a few resident blocks goes on.

use super::block::{Block, Shape};
use super::findings::Recorder;
use super::lanes::LANES;
use super::looks::{Next, Watch};
use super::memory::{GlobalMemory, Region, Spaces};
use super::order::{Order, Who};
use super::program::Kernel;
use super::reporter::Reporter;
use super::residency::Queue;
use super::schedule::Schedule;
use super::step::{Pause, Running};
use super::turns::{Candidate, Turns};
use super::warp::{State, Wait};
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
    pub schedule: Schedule,
    pub turns: Turns,
    /// Who can go on, kept from decision to decision.
    pub candidates: Vec<Candidate>,
    pub watch: Watch,
    pub recorder: Recorder,
    pub order: &'a mut Order,
    /// Thread instructions run so far.
    pub executed: u64,
    /// Warp instructions left before the launch counts as hanging.
    pub fuel: u64,
}

/// How a block's turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    Ended,
    /// What is left of it waits at barriers that can never complete.
    Stuck,
    Yielded,
}

/// What one turn of a warp was.
pub(super) struct Turn {
    pub(super) pause: Pause,
    /// Lanes that had it.
    lanes: u32,
    /// Whether it only slept or looked again, and changed nothing.
    spun: bool,
}

impl Machine<'_> {
    /// # Errors
    /// A trap, an instruction budget spent, a launch that only waits, or what this device cannot run.
    pub fn run(&mut self) -> Result<(), Fault> {
        let decides = self.turns.decides();
        let mut queue = Queue::new(self.kernel, &self.shape, &self.schedule, decides);
        loop {
            self.fill(&mut queue);
            if queue.resident.is_empty() {
                return Ok(());
            }
            if self.turns.decides() {
                self.decided_round(&mut queue)?;
            } else {
                self.fair_round(&mut queue)?;
            }
            if self.recorder.is_flooded() {
                return Ok(());
            }
            match self.watch.end_round() {
                Next::GoOn => {}
                Next::Rotate => self.rotate(&queue.resident),
                // A block that is stuck has its finding; those that only wait for it add nothing.
                Next::Hang if queue.stuck => return Ok(()),
                Next::Hang => {
                    return Err(self.hang(&queue.resident, queue.unstarted(), queue.most));
                }
            }
        }
    }

    /// Starts blocks until as many as wanted are resident.
    fn fill(&mut self, queue: &mut Queue) {
        while queue.resident.len() < queue.wanted
            && let Some(index) = queue.next()
        {
            let slot = queue.resident.len();
            self.prepare(slot);
            self.start(slot, index);
            queue.resident.push(slot);
        }
    }

    /// Starts a block where one has ended.
    fn start(&mut self, slot: usize, index: [u32; 3]) {
        let block = &mut self.blocks[slot];
        block.start(index, self.kernel, &self.shape, self.schedule.apart);
        if self.turns.has_ranks() {
            for warp in &mut block.warps {
                warp.ranks.extend((0..LANES).map(|_| self.turns.rank()));
            }
        }
        let (warps, shared) = (block.warps.len(), &mut block.shared.accesses);
        self.order.start_block(slot, index, warps, shared);
    }

    /// Gives each resident block its turn.
    fn fair_round(&mut self, queue: &mut Queue) -> Result<(), Fault> {
        let mut turn = 0;
        while let Some(&slot) = queue.resident.get(turn) {
            self.current = slot;
            let left = self.run_block()?;
            if self.recorder.is_flooded() {
                return Ok(());
            }
            if left == Left::Yielded {
                queue.wanted = queue.most;
                turn += 1;
            } else if self.replace(queue, turn, left) {
                turn += 1;
            }
        }
        Ok(())
    }

    /// Starts another block in place of the resident one of this position, if there is any.
    pub(super) fn replace(&mut self, queue: &mut Queue, position: usize, left: Left) -> bool {
        queue.stuck |= left == Left::Stuck;
        let Some(index) = queue.next() else {
            queue.resident.remove(position);
            return false;
        };
        self.start(queue.resident[position], index);
        true
    }

    /// In every warp that is ready, lets go the lanes that joins hold.
    fn rotate(&mut self, resident: &[usize]) {
        for &slot in resident {
            let warps = self.blocks[slot].warps.iter_mut();
            let ready = warps.filter(|warp| warp.state == State::Ready);
            ready.for_each(|warp| {
                warp.release();
            });
        }
    }

    /// Lets lanes go on without those they wait for; whether there are any.
    fn force(&mut self, slot: usize) -> bool {
        let mut any = false;
        for warp in &mut self.blocks[slot].warps {
            if warp.meeting != 0 {
                warp.force = true;
                warp.refresh();
                any = true;
            }
        }
        any
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
            let mut spun = true;
            for number in 0..self.blocks[self.current].warps.len() {
                if self.blocks[self.current].warps[number].state == State::Ready {
                    spun &= self.fair_turn(number)?;
                    if self.recorder.is_flooded() {
                        return Ok(Left::Ended);
                    }
                }
            }
            let left = self.standing();
            if left != Left::Yielded {
                return Ok(left);
            }
            if self.kernel.polls || spun || before - self.fuel > BLOCK_TURN {
                return Ok(Left::Yielded);
            }
            if self.watch.stirs() {
                self.rotate(&[self.current]);
            }
        }
    }

    /// Whether anything of the current block can run.
    pub(super) fn standing(&mut self) -> Left {
        let (mut ready, mut waiting) = (false, false);
        for warp in &self.blocks[self.current].warps {
            ready |= warp.state == State::Ready;
            waiting |= warp.state == State::Waiting;
        }
        if ready || waiting && self.force(self.current) {
            return Left::Yielded;
        }
        if waiting {
            self.deadlock();
            return Left::Stuck;
        }
        Left::Ended
    }

    /// Gives each split of a warp its turn; whether all only slept or looked again, and changed nothing.
    fn fair_turn(&mut self, number: usize) -> Result<bool, Fault> {
        let (mut spun, mut turned) = (true, 0);
        loop {
            let steps = self.turns.next(self.kernel.polls);
            let ran = self.take_turn::<false>(number, steps)?;
            turned |= ran.lanes;
            spun &= ran.spun;
            let warp = &mut self.blocks[self.current].warps[number];
            if self.recorder.is_flooded() || warp.state != State::Ready || !warp.switch(turned) {
                return Ok(spun);
            }
        }
    }

    /// Runs one warp until it pauses.
    pub(super) fn take_turn<const EVENTS: bool>(
        &mut self,
        number: usize,
        steps: u64,
    ) -> Result<Turn, Fault> {
        let before = self.blocks[self.current].warps[number].now.active;
        let (pause, wrote) = self.run_warp::<EVENTS>(number, steps)?;
        let warp = &mut self.blocks[self.current].warps[number];
        let came = warp
            .parked
            .iter()
            .filter(|split| split.wait == Wait::Uncounted);
        let lanes = came.fold(before | warp.now.active, |all, split| all | split.active);
        let mut turn = Turn {
            pause,
            lanes,
            spun: false,
        };
        match pause {
            Pause::Turn | Pause::Switched | Pause::Spins if self.fuel == 0 => {
                let name = &self.kernel.name;
                return Err(Fault::hang(format!(
                    "kernel {name} did not end within its instruction budget"
                )));
            }
            Pause::Turn | Pause::Switched | Pause::Spins => {
                self.watch.changed |= wrote;
                if !warp.goes_round() {
                    self.watch.add_new();
                }
                self.watch.open |= !warp.is_stuck(self.watch.period);
                turn.spun = pause == Pause::Spins && !wrote;
                return Ok(turn);
            }
            Pause::Barrier => self.arrive(number)?,
            Pause::Exited | Pause::Waits => {
                warp.refresh();
                self.complete_barriers();
            }
        }
        self.watch.changed = true;
        self.watch.add_new();
        Ok(turn)
    }

    /// Why it paused, and whether it has changed memory.
    fn run_warp<const EVENTS: bool>(
        &mut self,
        number: usize,
        steps: u64,
    ) -> Result<(Pause, bool), Fault> {
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
            bare: [0; 4],
            order: self.order,
            who: Who {
                slot: self.current,
                warp: number,
            },
        };
        let turn = self.fuel.min(steps);
        let ran = warp.ran;
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
        let pause = thread.run::<EVENTS>(&kernel.code);
        let spent = turn - thread.left;
        thread.warp.ran += spent;
        self.executed = thread.executed;
        self.fuel -= spent;
        self.watch.add_turn(spent);
        Ok((pause?, thread.wrote))
    }
}
