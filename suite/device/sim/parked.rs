//! The splits of a warp that do not run: how lanes come to wait, go on, and go on as one, and which split is next.

use super::program::Pc;
use super::warp::{Split, Wait, Warp};

impl Warp {
    /// Some running lanes wait; the others go on.
    pub fn park(&mut self, lanes: u32, pc: Pc, wait: Wait) {
        self.now.active &= !lanes;
        if let Wait::Lanes { .. } = wait {
            self.meeting |= lanes;
        }
        self.parked.push(Split {
            pc,
            active: lanes,
            wait,
            ..self.now
        });
    }

    /// Of lanes that come to an access by which threads talk to each other, those that make it now: half of them where
    /// lanes go apart, and the others make it later.
    pub fn part(&mut self, lanes: u32, pc: Pc) -> u32 {
        if !self.is_apart() {
            return lanes;
        }
        let mut later = lanes;
        for _ in 0..lanes.count_ones().div_ceil(2) {
            later &= later.wrapping_sub(1);
        }
        if later != 0 {
            self.park(later, pc, Wait::Nothing);
        }
        lanes & !later
    }

    /// Lanes of parked splits that wait for others of their warp go on from the next instruction, or wait there for
    /// something else.
    pub fn resume(&mut self, lanes: u32, wait: Wait) {
        self.meeting &= !lanes;
        for split in &mut self.parked {
            if let Wait::Lanes { .. } = split.wait
                && split.active & lanes != 0
            {
                (split.pc, split.wait) = (split.pc + 1, wait);
            }
        }
    }

    /// Lanes that have come to a barrier wait there, or go on; the rest of their splits remains uncounted.
    pub fn recount(&mut self, lanes: u32, wait: Wait) {
        for at in 0..self.parked.len() {
            let split = self.parked[at];
            let (counted, rest) = (split.active & lanes, split.active & !lanes);
            if split.wait != Wait::Uncounted || counted == 0 {
                continue;
            }
            self.parked[at].active = counted;
            self.parked[at].wait = wait;
            if rest != 0 {
                self.parked.push(Split {
                    active: rest,
                    ..split
                });
            }
        }
    }

    /// Lanes that have met go on as one where they are at one place, bound for the same join.
    pub fn merge(&mut self, met: u32) {
        if self.parked.len() <= 1 && self.now.active == 0 {
            return;
        }
        let mut at = 0;
        while at < self.parked.len() {
            let split = self.parked[at];
            let twin = |other: &Split| {
                split.wait == Wait::Nothing
                    && split.active & met != 0
                    && other.wait == Wait::Nothing
                    && other.active & met != 0
                    && (other.pc, other.join, other.reconverge)
                        == (split.pc, split.join, split.reconverge)
            };
            let later = self.parked[at + 1..].iter().position(twin);
            if twin(&self.now) {
                self.now.active |= split.active;
                self.parked.remove(at);
            } else if let Some(later) = later {
                self.parked[at + 1 + later].active |= split.active;
                self.parked.remove(at);
            } else {
                at += 1;
            }
        }
    }

    /// The lowest lane of each split that can run.
    pub fn ready(&self) -> u32 {
        let ready = self.splits().filter(|split| split.wait == Wait::Nothing);
        ready.fold(0, |lanes, split| {
            lanes | split.active & split.active.wrapping_neg()
        })
    }

    /// Lets another split run, if one can that has none of these lanes.
    pub fn switch(&mut self, but: u32) -> bool {
        let other = |split: &Split| split.wait == Wait::Nothing && split.active & but == 0;
        let Some(at) = self.parked.iter().rposition(other) else {
            return false;
        };
        self.switch_to(at);
        true
    }

    /// Lets the split of this lowest lane run.
    pub fn switch_to_lane(&mut self, lane: u32) {
        let wanted = |split: &Split| split.active.trailing_zeros() == lane;
        if let Some(at) = self.parked.iter().position(wanted) {
            self.switch_to(at);
        }
    }

    fn switch_to(&mut self, at: usize) {
        let next = self.parked.remove(at);
        if self.now.active != 0 {
            // In front of those that have waited for longer.
            self.parked.insert(0, self.now);
        }
        self.now = next;
    }
}
