//! Runs the blocks of a launch.
//!
//! One block is resident at a time, in grid order. A warp runs until it waits or leaves, then the next one: always the
//! same order, so a missing barrier fails every time, and in the same way.

use super::block::{Block, Pending, Shape, State, Warp};
use super::collective;
use super::findings::Recorder;
use super::lanes::{FULL, Frame};
use super::memory::{GlobalMemory, Region, Spaces};
use super::program::{Access, Instruction, Kernel, Kind, Pc};
use super::reporter::Reporter;
use crate::outcome::Fault;

/// Warp instructions after which another warp of the block gets its turn, so that a warp that spins on a flag does
/// not starve the one that sets it.
const TURN: u64 = 1 << 20;

/// One launch on one device.
pub struct Machine<'a> {
    pub kernel: &'a Kernel,
    pub shape: Shape,
    pub global: &'a mut GlobalMemory,
    pub constants: &'a mut Region,
    pub params: &'a mut Region,
    pub block: &'a mut Block,
    pub recorder: Recorder,
    /// Thread instructions run so far.
    pub executed: u64,
    /// Warp instructions left before the launch counts as hanging.
    pub fuel: u64,
}

/// Why a warp stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pause {
    Exited,
    /// At a barrier, not yet counted.
    Barrier,
    /// Its turn is over.
    Turn,
}

impl Machine<'_> {
    /// # Errors
    /// A trap, an instruction budget spent, or what this device cannot run.
    pub fn run(&mut self) -> Result<(), Fault> {
        self.block.prepare(self.kernel, &self.shape);
        let [x, y, z] = self.shape.grid;
        for k in 0..z {
            for j in 0..y {
                for i in 0..x {
                    self.block.start([i, j, k], self.kernel, &self.shape);
                    self.run_block()?;
                    if self.recorder.is_flooded() {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    fn run_block(&mut self) -> Result<(), Fault> {
        loop {
            let mut progress = false;
            let mut waiting = false;
            for number in 0..self.block.warps.len() {
                match self.block.warps[number].state {
                    State::Ready => {
                        progress = true;
                        self.turn(number)?;
                        if self.recorder.is_flooded() {
                            return Ok(());
                        }
                    }
                    State::Waiting(_) => waiting = true,
                    State::Done => {}
                }
            }
            if !progress {
                if waiting {
                    self.deadlock();
                }
                return Ok(());
            }
        }
    }

    /// Runs one warp until it pauses.
    fn turn(&mut self, number: usize) -> Result<(), Fault> {
        match self.run_warp(number)? {
            Pause::Turn if self.fuel == 0 => {
                let name = &self.kernel.name;
                return Err(Fault::hang(format!(
                    "kernel {name} did not end within its instruction budget"
                )));
            }
            Pause::Turn => {}
            Pause::Barrier => self.arrive(number)?,
            Pause::Exited => self.complete_barriers(),
        }
        Ok(())
    }

    fn run_warp(&mut self, number: usize) -> Result<Pause, Fault> {
        let kernel = self.kernel;
        let at = Reporter {
            kernel,
            shape: self.shape,
            block: self.block.index,
            warp: number,
        };
        let (warp, frame, shared, local) = self.block.parts(number);
        let spaces = Spaces {
            global: self.global,
            shared,
            local,
            local_bytes: kernel.local_bytes,
            constants: self.constants,
            params: self.params,
            first_thread: 32 * number as u64,
        };
        let turn = self.fuel.min(TURN);
        let mut thread = Running {
            at,
            warp,
            frame,
            spaces,
            recorder: &mut self.recorder,
            executed: self.executed,
            left: turn,
        };
        let pause = thread.run(&kernel.code);
        self.executed = thread.executed;
        self.fuel -= turn - thread.left;
        pause
    }
}

/// A warp while it runs, with all that its instructions may touch.
struct Running<'a> {
    at: Reporter<'a>,
    warp: &'a mut Warp,
    frame: Frame<'a>,
    spaces: Spaces<'a>,
    recorder: &'a mut Recorder,
    executed: u64,
    /// Instructions left in this turn.
    left: u64,
}

impl Running<'_> {
    fn run(&mut self, code: &[Instruction]) -> Result<Pause, Fault> {
        while self.left > 0 {
            self.left -= 1;
            let pc = self.warp.now.pc;
            let instruction = &code[pc as usize];
            let guard = self.frame.predicates[usize::from(instruction.guard)] ^ instruction.flip;
            let mask = self.warp.now.active & guard;
            self.executed += if mask == FULL {
                32
            } else {
                u64::from(mask.count_ones())
            };
            let mut next = pc + 1;
            if mask != 0 {
                match &instruction.kind {
                    Kind::Alu(run, operands) => run(&mut self.frame, *operands, mask),
                    Kind::Compare(compare) => collective::compare(&mut self.frame, compare, mask),
                    Kind::Load(access) => self.load(access, pc, mask),
                    Kind::Store(access) => self.store(access, pc, mask),
                    Kind::Branch { target, .. } if mask == self.warp.now.active => next = *target,
                    Kind::Branch { target, reconverge } => {
                        self.warp.diverge(mask, *target, *reconverge)
                    }
                    Kind::Exit => self.warp.exit(mask),
                    other => {
                        if let Some(pause) = self.rare(other, pc, mask)? {
                            return Ok(pause);
                        }
                    }
                }
            }
            self.warp.now.pc = next;
            if self.warp.settle() {
                return Ok(Pause::Exited);
            }
        }
        Ok(Pause::Turn)
    }

    #[inline(always)]
    fn load(&mut self, access: &Access, pc: Pc, mask: u32) {
        let violations = self.spaces.load(&mut self.frame, access, mask);
        if violations.any() {
            let bytes = u64::from(access.bytes) * u64::from(access.count);
            self.at.memory(
                self.recorder,
                &self.spaces,
                pc,
                access.address.space,
                bytes,
                &violations,
            );
        }
    }

    #[inline(always)]
    fn store(&mut self, access: &Access, pc: Pc, mask: u32) {
        let violations = self.spaces.store(&self.frame, access, mask);
        if violations.any() {
            let bytes = u64::from(access.bytes) * u64::from(access.count);
            self.at.memory(
                self.recorder,
                &self.spaces,
                pc,
                access.address.space,
                bytes,
                &violations,
            );
        }
    }

    /// Everything but arithmetic, loads, stores and branches. What pauses has moved on to the next instruction.
    fn rare(&mut self, kind: &Kind, pc: Pc, mask: u32) -> Result<Option<Pause>, Fault> {
        match kind {
            Kind::Atomic(atomic) => {
                let violations = self.spaces.atomic(&mut self.frame, atomic, mask);
                if violations.any() {
                    let bytes = u64::from(atomic.bytes);
                    self.at.memory(
                        self.recorder,
                        &self.spaces,
                        pc,
                        atomic.address.space,
                        bytes,
                        &violations,
                    );
                }
            }
            Kind::Param { access, offset } => {
                collective::param(&mut self.frame, self.spaces.params, access, *offset, mask);
            }
            Kind::Barrier(barrier) => {
                if mask != self.warp.live() {
                    if !barrier.aligned {
                        return Err(self.at.unsupported(
                            pc,
                            "part of a warp waits at a barrier that is not aligned",
                        ));
                    }
                    self.at.divergent(self.recorder, pc, mask, self.warp.live());
                }
                self.warp.pending = Some(Pending {
                    barrier: *barrier,
                    pc,
                });
                self.warp.now.pc = pc + 1;
                return Ok(Some(Pause::Barrier));
            }
            Kind::Trap => return Err(self.at.trapped(pc)),
            Kind::Yield => {
                self.warp.now.pc = pc + 1;
                return Ok(Some(if self.warp.settle() {
                    Pause::Exited
                } else {
                    Pause::Turn
                }));
            }
            Kind::Clock { d, wide } => {
                collective::clock(&mut self.frame, *d, *wide, self.executed, mask)
            }
            other => {
                let live = self.warp.live();
                let mut rest = mask;
                while rest != 0 {
                    let group = collective::group(&self.frame, other, rest);
                    if let Some(named) = collective::run(&mut self.frame, other, group) {
                        self.at.membermask(self.recorder, pc, group, named, live);
                    }
                    rest &= !group;
                }
            }
        }
        Ok(None)
    }
}
