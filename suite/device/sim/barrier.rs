//! Barriers of a block: arrival, completion, deadlock.
//!
//! A barrier without a thread count waits for every warp of the block that has not left the kernel, as hardware does:
//! threads that have exited count as arrived. One with a count waits for that many threads, in whole warps.

use super::block::{BARRIERS, BarrierState, Block, State};
use super::lanes::Lane;
use super::machine::Machine;
use super::order::Who;
use super::program::BarrierEffect;
use super::reporter::Reporter;
use crate::outcome::{Fault, Finding};
use crate::terms::FindingKind;

/// Warps of a block.
const MAX_WARPS: usize = 32;

impl Machine<'_> {
    fn block(&mut self) -> &mut Block {
        &mut self.blocks[self.current]
    }

    fn reporter(&self, warp: usize) -> Reporter<'_> {
        Reporter {
            kernel: self.kernel,
            shape: self.shape,
            block: self.blocks[self.current].index,
            warp,
        }
    }

    /// Counts a warp that has reached a barrier.
    pub(super) fn arrive(&mut self, number: usize) -> Result<(), Fault> {
        let Some(pending) = self.block().warps[number].pending else {
            return Ok(());
        };
        let barrier = pending.barrier;
        let active = self.block().warps[number].now.active;
        let frame = self.block().frame(number);
        let lane = active.trailing_zeros() as usize % 32;
        let id = frame.narrow[usize::from(barrier.id)][lane] as usize;
        let threads = barrier
            .threads
            .map(|row| frame.narrow[usize::from(row)][lane]);
        let held = (frame.predicates[usize::from(barrier.source)] ^ barrier.flip) & active;
        if id >= BARRIERS {
            return Err(self
                .reporter(number)
                .broken(pending.pc, "barriers are numbered 0 to 15"));
        }
        if threads.is_some_and(|t| t == 0 || t % 32 != 0) {
            let what = "a barrier's thread count is a multiple of the warp size";
            return Err(self.reporter(number).broken(pending.pc, what));
        }
        let who = Who {
            slot: self.current,
            warp: number,
        };
        self.order.arrive(who, id, active);
        let block = self.block();
        let (state, warp) = (&mut block.barriers[id], &mut block.warps[number]);
        state.arrived += 1;
        state.wanted = threads.map(|t| t / 32);
        if !matches!(barrier.effect, BarrierEffect::Sync | BarrierEffect::Arrive) {
            state.held += held.count_ones();
            state.seen += active.count_ones();
        }
        if barrier.effect == BarrierEffect::Arrive {
            warp.pending = None;
            warp.settle();
        } else {
            state.waiting |= 1 << number;
            warp.state = State::Waiting(id);
        }
        self.complete_barriers();
        Ok(())
    }

    /// Releases every barrier that has all it waits for.
    pub(super) fn complete_barriers(&mut self) {
        if self.block().barriers.iter().all(|state| state.waiting == 0) {
            return;
        }
        let live = self
            .block()
            .warps
            .iter()
            .filter(|w| w.state != State::Done)
            .count() as u32;
        for id in 0..BARRIERS {
            let state = self.block().barriers[id];
            if state.waiting == 0 || state.arrived < state.wanted.unwrap_or(live) {
                continue;
            }
            self.block().barriers[id] = BarrierState::default();
            self.meet(id, &state, live);
            for number in 0..self.block().warps.len() {
                if state.waiting >> number & 1 == 1 {
                    self.release(number, &state);
                }
            }
        }
    }

    /// Tells what the threads that leave a barrier know from now on.
    fn meet(&mut self, id: usize, state: &BarrierState, live: u32) {
        let mut waiting = [(0, 0); MAX_WARPS];
        let mut count = 0;
        for (number, warp) in self.blocks[self.current].warps.iter().enumerate() {
            if state.waiting >> number & 1 == 1 {
                waiting[count] = (number, warp.now.active);
                count += 1;
            }
        }
        let whole = count as u32 == live;
        let slot = self.current;
        self.order.complete(slot, id, &waiting[..count], whole);
    }

    /// Gives a waiting warp the barrier's result and lets it go on.
    fn release(&mut self, number: usize, state: &BarrierState) {
        let (warp, mut frame, ..) = self.block().parts(number);
        warp.state = State::Ready;
        if let Some(pending) = warp.pending.take() {
            let (d, mask) = (pending.barrier.d, warp.now.active);
            let all = |yes: bool| if yes { u32::MAX } else { 0 };
            match pending.barrier.effect {
                BarrierEffect::Popc => u32::put(&mut frame, d, mask, &[state.held; 32]),
                BarrierEffect::And => frame.put_predicate(d, mask, all(state.held == state.seen)),
                BarrierEffect::Or => frame.put_predicate(d, mask, all(state.held > 0)),
                BarrierEffect::Sync | BarrierEffect::Arrive => {}
            }
        }
        warp.settle();
    }

    /// Every warp that is left waits, and no barrier can complete.
    pub(super) fn deadlock(&mut self) {
        let block = &self.blocks[self.current];
        let mut detail = Vec::new();
        let mut first = None;
        for (number, warp) in block.warps.iter().enumerate() {
            let (State::Waiting(id), Some(pending)) = (warp.state, warp.pending) else {
                continue;
            };
            let state = &block.barriers[id];
            let line = self.kernel.origin[pending.pc as usize].ptx_line;
            let wanted = state.wanted.unwrap_or(block.warps.len() as u32);
            detail.push(format!(
                "warp {number} waits at barrier {id} (PTX line {line}): {} of {wanted} \
                 warps are there",
                state.arrived
            ));
            first.get_or_insert((number, pending.pc, warp.now.active));
        }
        let Some((number, pc, active)) = first else {
            return;
        };
        let site = self
            .reporter(number)
            .site(pc, active.trailing_zeros() % 32, None);
        let message = format!(
            "{} warps wait at barriers that can never complete",
            detail.len()
        );
        detail.truncate(8);
        self.recorder.note(pc, FindingKind::Deadlock, 1, || {
            Finding::new(FindingKind::Deadlock, message)
                .with_detail(detail)
                .at(site)
        });
    }
}
