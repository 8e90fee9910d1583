//! Barriers of a block: arrival, completion, deadlock.
//!
//! A barrier without a thread count waits for every thread of the block that has not left the kernel, as hardware
//! does. One with a count waits for that many threads; a warp that comes whole counts with the lanes it lacks. What
//! an aligned barrier asks of its warp is for `meet` to see to.

use super::block::{BARRIERS, BarrierState, Block};
use super::lanes::{LANES, Lane, lanes};
use super::machine::Machine;
use super::program::{Barrier, BarrierEffect, Kind, Pc};
use super::reporter::Reporter;
use super::warp::{State, Wait};
use crate::outcome::{Fault, Finding};
use crate::terms::FindingKind;

/// Lines of a finding that say who waits.
const SHOWN: usize = 8;

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
        let uncounted = |wait: Wait| wait == Wait::Uncounted;
        while let Some(at) = self.block().warps[number]
            .parked
            .iter()
            .position(|split| uncounted(split.wait))
        {
            self.arrive_at(number, at)?;
        }
        self.complete_barriers();
        Ok(())
    }

    /// Counts those lanes of an uncounted split that name the barrier its lowest lane names, and all others of the
    /// warp at that instruction that do.
    fn arrive_at(&mut self, number: usize, at: usize) -> Result<(), Fault> {
        let kernel = self.kernel;
        let split = self.block().warps[number].parked[at];
        let pc = split.pc - 1;
        let Kind::Barrier(barrier) = &kernel.code[pc as usize].kind else {
            return Err(self.reporter(number).broken(pc, "is no barrier"));
        };
        let (warp, frame, ..) = self.block().parts(number);
        let word = |row: u16, lane: usize| frame.narrow[usize::from(row)][lane];
        let wants = |lane: usize| (word(barrier.id, lane), barrier.threads.map(|row| word(row, lane)));
        let (id, threads) = wants(split.active.trailing_zeros() as usize % LANES);
        let mut all = 0;
        for split in &warp.parked {
            if split.wait == Wait::Uncounted && split.pc == pc + 1 {
                let same = lanes(split.active).filter(|&lane| wants(lane) == (id, threads));
                all |= same.fold(0, |all, lane| all | 1_u32 << lane);
            }
        }
        let held = (frame.predicates[usize::from(barrier.source)] ^ barrier.flip) & all;
        let whole = all == warp.live();
        let id = self.check_barrier(number, pc, id, threads)?;
        let waits = barrier.effect != BarrierEffect::Arrive;
        let state = &mut self.block().barriers[usize::from(id)];
        state.arrived += if whole { LANES as u32 } else { all.count_ones() };
        state.wanted = threads;
        state.waiting += if waits { all.count_ones() } else { 0 };
        if !matches!(barrier.effect, BarrierEffect::Sync | BarrierEffect::Arrive) {
            state.held += held.count_ones();
            state.seen += all.count_ones();
        }
        let wait = if waits { Wait::Barrier(id) } else { Wait::Nothing };
        let warp = &mut self.block().warps[number];
        warp.recount(all, wait);
        if !waits {
            warp.merge(all);
        }
        warp.refresh();
        Ok(())
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
        if self.block().barriers.iter().all(|state| state.waiting == 0) {
            return;
        }
        let warps = self.block().warps.iter();
        let live: u32 = warps.map(|warp| warp.live().count_ones()).sum();
        for id in 0..BARRIERS {
            let state = self.block().barriers[id];
            let complete = match state.wanted {
                Some(wanted) => state.arrived >= wanted,
                None => state.waiting >= live,
            };
            if state.waiting != 0 && complete {
                self.complete_barrier(id as u8, &state);
            }
        }
    }

    /// A barrier takes effect: the only place where one does. Those that took part and wait are the splits that wait
    /// at its number.
    fn complete_barrier(&mut self, id: u8, state: &BarrierState) {
        self.block().barriers[usize::from(id)] = BarrierState::default();
        for number in 0..self.block().warps.len() {
            let waits = |wait: Wait| wait == Wait::Barrier(id);
            let warp = &self.block().warps[number];
            if warp.parked.iter().any(|split| waits(split.wait)) {
                self.release(number, id, state);
            }
        }
    }

    /// Gives waiting lanes of a warp the barrier's result and lets them go on.
    fn release(&mut self, number: usize, id: u8, state: &BarrierState) {
        let kernel = self.kernel;
        let (warp, mut frame, ..) = self.block().parts(number);
        let mut all = 0;
        for split in &mut warp.parked {
            if split.wait != Wait::Barrier(id) {
                continue;
            }
            all |= split.active;
            split.wait = Wait::Nothing;
            if let Kind::Barrier(barrier) = &kernel.code[split.pc as usize - 1].kind {
                put_result(&mut frame, barrier, split.active, state);
            }
        }
        warp.merge(all);
        warp.refresh();
    }

    /// Every warp that is left waits, and no barrier can complete.
    pub(super) fn deadlock(&mut self) {
        let block = &self.blocks[self.current];
        let live: u32 = block.warps.iter().map(|warp| warp.live().count_ones()).sum();
        let mut detail = Vec::new();
        let mut first = None;
        let mut warps = 0;
        for (number, warp) in block.warps.iter().enumerate() {
            warps += u32::from(warp.state == State::Waiting);
            for split in &warp.parked {
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
fn put_result(
    frame: &mut super::lanes::Frame<'_>,
    barrier: &Barrier,
    mask: u32,
    state: &BarrierState,
) {
    let all = |yes: bool| if yes { u32::MAX } else { 0 };
    match barrier.effect {
        BarrierEffect::Popc => u32::put(frame, barrier.d, mask, &[state.held; LANES]),
        BarrierEffect::And => frame.put_predicate(barrier.d, mask, all(state.held == state.seen)),
        BarrierEffect::Or => frame.put_predicate(barrier.d, mask, all(state.held > 0)),
        BarrierEffect::Sync | BarrierEffect::Arrive => {}
    }
}
