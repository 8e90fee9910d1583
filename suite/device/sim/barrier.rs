//! Barriers of a block: arrival, completion, deadlock.
//!
//! A barrier without a thread count waits for every thread of the block that has not left the kernel, as hardware
//! does. One with a count waits for that many threads; a warp that comes whole to an aligned one counts with the lanes
//! it lacks. What an aligned barrier asks of its warp is for `meet` to see to.

use super::block::{BARRIERS, BarrierState, Block};
use super::lanes::{BITS, Frame, LANES, Lane, Row, lanes};
use super::machine::Machine;
use super::order::Who;
use super::program::{Barrier, BarrierEffect, Kind, Pc};
use super::reporter::Reporter;
use super::warp::{Split, State, Wait};
use crate::outcome::{Fault, Finding};
use crate::terms::FindingKind;

/// Lines of a finding that say who waits.
const SHOWN: usize = 8;
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

    /// Counts the lanes of a warp that have come to barriers.
    pub(super) fn arrive(&mut self, number: usize) -> Result<(), Fault> {
        let warp = &self.block().warps[number];
        if warp.now.wait == Wait::Uncounted {
            let (pc, all) = (warp.now.pc - 1, warp.now.active);
            let (id, wait) = self.count(number, pc, all)?;
            let warp = &mut self.block().warps[number];
            warp.now.wait = wait;
            warp.refresh();
            self.complete_if_all(id);
            return Ok(());
        }
        let uncounted = |split: &Split| split.wait == Wait::Uncounted;
        while let Some(&split) = self.block().warps[number]
            .parked
            .iter()
            .find(|s| uncounted(s))
        {
            let all = self.come_together(number, &split);
            let (id, wait) = self.count(number, split.pc - 1, all)?;
            let warp = &mut self.block().warps[number];
            warp.recount(all, wait);
            warp.merge(all);
            warp.refresh();
            self.complete_if_all(id);
        }
        Ok(())
    }

    /// The uncounted lanes at an instruction that name the barrier which the lowest of a split does.
    fn come_together(&mut self, number: usize, split: &Split) -> u32 {
        let kernel = self.kernel;
        let (warp, frame, ..) = self.block().parts(number);
        let there = warp.parked.iter();
        let there = there.filter(|s| s.wait == Wait::Uncounted && s.pc == split.pc);
        let there = there.fold(0, |lanes, split| lanes | split.active);
        let Kind::Barrier(barrier) = &kernel.code[split.pc as usize - 1].kind else {
            return there;
        };
        let word = |row: Row, lane: usize| frame.narrow[usize::from(row)][lane];
        let names = |lane| {
            let threads = barrier.threads.map(|row| word(row, lane));
            (word(barrier.id, lane), threads)
        };
        let first = names(split.active.trailing_zeros() as usize % LANES);
        let same = lanes(there).filter(|&lane| names(lane) == first);
        same.fold(0, |all, lane| all | BITS[lane])
    }

    /// Counts lanes that come to one barrier together: the only place where threads arrive. Its number, and what they
    /// wait for then.
    fn count(&mut self, number: usize, pc: Pc, all: u32) -> Result<(usize, Wait), Fault> {
        let Kind::Barrier(barrier) = &self.kernel.code[pc as usize].kind else {
            return Err(self.reporter(number).broken(pc, "is no barrier"));
        };
        let (warp, frame, ..) = self.block().parts(number);
        let lane = all.trailing_zeros() as usize % LANES;
        let word = |row: Row| frame.narrow[usize::from(row)][lane];
        let (id, threads) = (word(barrier.id), barrier.threads.map(word));
        let held = (frame.predicates[usize::from(barrier.source)] ^ barrier.flip) & all;
        let live = warp.live();
        let id = self.check_barrier(number, pc, id, threads)?;
        let who = Who {
            slot: self.current,
            warp: number,
        };
        self.order.arrive(who, usize::from(id), all);
        let before = match all == live {
            true => 0,
            false => self.waiting_at(number, id),
        };
        // The last part of a warp brings the lanes it lacks: those it never had, and where an aligned barrier counts
        // warps also those that have left.
        let first = (number * LANES) as u32;
        let lacking = match barrier.aligned {
            true => LANES as u32 - live.count_ones(),
            false => LANES as u32 - (self.shape.threads() - first).min(LANES as u32),
        };
        let brought = if all | before == live { lacking } else { 0 };
        let state = &mut self.block().barriers[usize::from(id)];
        state.arrived += all.count_ones() + brought;
        state.wanted = threads;
        if !matches!(barrier.effect, BarrierEffect::Sync | BarrierEffect::Arrive) {
            state.held += held.count_ones();
            state.seen += all.count_ones();
        }
        if barrier.effect == BarrierEffect::Arrive {
            return Ok((usize::from(id), Wait::Nothing));
        }
        state.waiting += all.count_ones();
        Ok((usize::from(id), Wait::Barrier(id)))
    }

    /// Lanes of a warp that wait at a barrier.
    fn waiting_at(&self, number: usize, id: u8) -> u32 {
        let splits = self.blocks[self.current].warps[number].splits();
        let there = splits.filter(|split| split.wait == Wait::Barrier(id));
        there.fold(0, |lanes, split| lanes | split.active)
    }

    fn check_barrier(
        &self,
        number: usize,
        pc: Pc,
        id: u32,
        threads: Option<u32>,
    ) -> Result<u8, Fault> {
        let broken = |what| Err(self.reporter(number).broken(pc, what));
        if id as usize >= BARRIERS {
            return broken("barriers are numbered 0 to 15");
        }
        if threads.is_some_and(|t| t == 0 || t % 32 != 0) {
            return broken("a barrier's thread count is a multiple of the warp size");
        }
        Ok(id as u8)
    }

    /// Releases every barrier that has all it waits for.
    pub(super) fn complete_barriers(&mut self) {
        for id in 0..BARRIERS {
            self.complete_if_all(id);
        }
    }

    fn complete_if_all(&mut self, id: usize) {
        let block = self.block();
        let state = block.barriers[id];
        let complete = match state.wanted {
            _ if state.waiting == 0 => false,
            Some(wanted) => state.arrived >= wanted,
            // Seldom: the last warp comes last.
            None if block
                .warps
                .iter()
                .rev()
                .any(|warp| warp.state == State::Ready) =>
            {
                false
            }
            None => state.waiting >= block.live(),
        };
        if complete {
            self.complete_barrier(id as u8, &state);
        }
    }

    /// A barrier takes effect: the only place where one does. Those that took part and wait are the splits that wait
    /// at its number.
    fn complete_barrier(&mut self, id: u8, state: &BarrierState) {
        self.block().barriers[usize::from(id)] = BarrierState::default();
        self.meet(id);
        for number in 0..self.block().warps.len() {
            self.release(number, id, state);
        }
    }

    /// Tells what the threads that leave a barrier know from now on.
    fn meet(&mut self, id: u8) {
        let block = &self.blocks[self.current];
        let mut waiting = [(0, 0); MAX_WARPS];
        let (mut warps, mut threads) = (0, 0);
        for (number, warp) in block.warps.iter().enumerate() {
            let there = warp
                .splits()
                .filter(|split| split.wait == Wait::Barrier(id));
            let there = there.fold(0, |lanes, split| lanes | split.active);
            if there != 0 {
                waiting[warps] = (number, there);
                warps += 1;
                threads += there.count_ones();
            }
        }
        let whole = threads == block.live();
        self.order
            .complete(self.current, usize::from(id), &waiting[..warps], whole);
    }

    /// Gives waiting lanes of a warp the barrier's result and lets them go on.
    fn release(&mut self, number: usize, id: u8, state: &BarrierState) {
        let kernel = self.kernel;
        let (warp, mut frame, ..) = self.block().parts(number);
        let mut all = 0;
        for split in warp.parked.iter_mut().chain([&mut warp.now]) {
            if split.wait != Wait::Barrier(id) {
                continue;
            }
            all |= split.active;
            split.wait = Wait::Nothing;
            if state.seen != 0
                && let Kind::Barrier(barrier) = &kernel.code[split.pc as usize - 1].kind
            {
                put_result(&mut frame, barrier, split.active, state);
            }
        }
        if all != 0 {
            warp.merge(all);
            warp.state = State::Ready;
        }
    }

    /// Every warp that is left waits, and no barrier can complete.
    pub(super) fn deadlock(&mut self) {
        let block = &self.blocks[self.current];
        let live = block.live();
        let mut detail = Vec::new();
        let mut first = None;
        let mut warps = 0;
        for (number, warp) in block.warps.iter().enumerate() {
            warps += u32::from(warp.state == State::Waiting);
            for split in warp.splits() {
                let Wait::Barrier(id) = split.wait else {
                    continue;
                };
                let state = &block.barriers[usize::from(id)];
                let line = self.kernel.origin[split.pc as usize - 1].ptx_line;
                let (arrived, wanted) = match state.wanted {
                    Some(wanted) => (state.arrived, wanted),
                    None => (state.waiting, live),
                };
                let lanes = match split.active == warp.live() {
                    true => String::new(),
                    false => format!(", lanes {:#010x},", split.active),
                };
                detail.push(format!(
                    "warp {number}{lanes} waits at barrier {id} (PTX line {line}): {arrived} of {wanted} threads \
                     are there"
                ));
                first.get_or_insert((number, split.pc - 1, split.active));
            }
        }
        let Some((number, pc, active)) = first else {
            return;
        };
        let site = self
            .reporter(number)
            .site(pc, active.trailing_zeros() % 32, None);
        let message = format!("{warps} warps wait at barriers that can never complete");
        detail.truncate(SHOWN);
        self.recorder.note(pc, FindingKind::Deadlock, 1, || {
            Finding::new(FindingKind::Deadlock, message)
                .with_detail(detail)
                .at(site)
        });
    }
}

/// The result of a barrier that reduces.
fn put_result(frame: &mut Frame<'_>, barrier: &Barrier, mask: u32, state: &BarrierState) {
    let all = |yes: bool| if yes { u32::MAX } else { 0 };
    match barrier.effect {
        BarrierEffect::Popc => u32::put(frame, barrier.d, mask, &[state.held; LANES]),
        BarrierEffect::And => frame.put_predicate(barrier.d, mask, all(state.held == state.seen)),
        BarrierEffect::Or => frame.put_predicate(barrier.d, mask, all(state.held > 0)),
        BarrierEffect::Sync | BarrierEffect::Arrive => {}
    }
}
