//! Rounds in which a policy decides who goes on, one split of one resident warp at a time.
//!
//! A few blocks are resident, more once all of them wait or have run for long: those they wait for may not have
//! started.

use super::machine::{Left, Machine};
use super::residency::Queue;
use super::step::Pause;
use super::turns::Candidate;
use super::warp::State;
use crate::outcome::Fault;

/// Steps of a launch after which all blocks that fit are resident.
const CROWDED: u64 = 1 << 22;

impl Machine<'_> {
    /// Lets the policy decide until all that can run has had a turn, or the policy has no more decisions.
    pub(super) fn decided_round(&mut self, queue: &mut Queue) -> Result<(), Fault> {
        for &slot in &queue.resident {
            let warps = &mut self.blocks[slot].warps;
            warps.iter_mut().for_each(|warp| warp.turned = 0);
        }
        while self.turns.decides() && self.find_candidates(queue) {
            let (chosen, steps) = self.turns.pick(&self.candidates);
            self.current = queue.resident[chosen.block];
            let warp = &mut self.blocks[self.current].warps[chosen.warp];
            warp.switch_to_lane(chosen.lane);
            warp.turned |= warp.now.active;
            let before = self.fuel;
            let pause = self.take_turn::<true>(chosen.warp, steps)?.pause;
            if self.recorder.is_flooded() {
                return Ok(());
            }
            let ended = matches!(pause, Pause::Spins | Pause::Turn);
            let warp = &mut self.blocks[self.current].warps[chosen.warp];
            let lane = warp.now.active.trailing_zeros() as usize;
            if self.turns.fall_behind(before - self.fuel, ended)
                && let Some(rank) = warp.ranks.get_mut(lane)
            {
                *rank = self.turns.rank_behind();
            }
            match self.standing() {
                Left::Yielded => {}
                left => {
                    self.replace(queue, chosen.block, left);
                }
            }
            if queue.resident.is_empty() {
                return Ok(());
            }
        }
        let waits = !self.watch.changed && !self.watch.fresh;
        if waits || self.turns.steps() > CROWDED {
            queue.wanted = queue.most;
        }
        Ok(())
    }

    /// Notes who can go on; whether one of them has had no turn yet.
    fn find_candidates(&mut self, queue: &Queue) -> bool {
        self.candidates.clear();
        let mut open = false;
        for (position, &slot) in queue.resident.iter().enumerate() {
            for (number, warp) in self.blocks[slot].warps.iter().enumerate() {
                if warp.state != State::Ready {
                    continue;
                }
                let mut lanes = warp.ready();
                // One that is forced on has none.
                open |= lanes & !warp.turned != 0 || lanes == 0;
                loop {
                    let lane = lanes.trailing_zeros();
                    self.candidates.push(Candidate {
                        block: position,
                        warp: number,
                        lane,
                        rank: warp.ranks.get(lane as usize).copied().unwrap_or(0),
                    });
                    lanes &= lanes.wrapping_sub(1);
                    if lanes == 0 {
                        break;
                    }
                }
            }
        }
        open
    }
}
