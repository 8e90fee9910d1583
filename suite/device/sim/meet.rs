//! How lanes of a warp wait for each other at `.sync` instructions.
//!
//! Lanes at one wait until all live lanes that it names are there, and run it together (`bar.warp.sync`: at any one
//! with the same mask). An aligned barrier names the whole warp. As in the PTX ISA, lanes that have left the kernel are
//! not waited for. Lanes that passed an instruction by, which their own warp then had to let go on as others wait there
//! for them, must come back: if they leave, or wait elsewhere for ever, that is a finding, and those present go on.

use super::collective;
use super::lanes::FULL;
use super::program::{Kernel, Kind, Pc};
use super::step::{Pause, Running};
use super::warp::{Wait, Warp};

/// Lanes that wait at one instruction.
#[derive(Clone, Copy)]
struct Meeting {
    pc: Pc,
    named: u32,
    there: u32,
    /// Whether it waits for lanes that wait at a barrier of the block.
    blocked: bool,
}

impl Running<'_> {
    /// Before a turn: lanes that nobody can come to are let go.
    pub fn begin(&mut self) -> Option<Pause> {
        if std::mem::take(&mut self.warp.force) {
            let first = self.meetings().next();
            let pause = first.and_then(|meeting| self.complete_waiting(&meeting));
            if pause.is_some() {
                return pause;
            }
        }
        if self.warp.settle() {
            return None;
        }
        self.stalled()
    }

    /// What the lanes named by one membermask do together.
    pub fn together(&mut self, kind: &Kind, pc: Pc, mask: u32) {
        let mut rest = mask;
        while rest != 0 {
            let (group, named) = collective::group(&self.frame, kind, rest);
            rest &= !group;
            let there = group | self.waiting_at(kind, pc, named);
            if self.warp.live() & named & !there == 0 {
                self.warp.now.pc = pc + 1;
                self.complete(kind, pc, there, named);
            } else {
                let owed = self.warp.now.active & !mask & named;
                self.warp.park(group, pc, Wait::Lanes { named, owed });
            }
        }
    }

    /// Comes to a barrier of the block: one that is aligned with the whole warp.
    pub fn barrier(&mut self, kind: &Kind, aligned: bool, pc: Pc, mask: u32) -> Option<Pause> {
        self.warp.now.pc = pc + 1;
        if aligned && mask == self.warp.live() && self.warp.parked.is_empty() {
            self.warp.now.wait = Wait::Uncounted;
            return Some(Pause::Barrier);
        }
        if aligned && mask != self.warp.live() {
            let there = mask | self.waiting_at(kind, pc, FULL);
            if there != self.warp.live() {
                let owed = self.warp.now.active & !mask;
                self.warp.park(mask, pc, Wait::Lanes { named: FULL, owed });
                return None;
            }
            self.come_to_barrier(pc, there);
        }
        self.warp.park(mask, pc + 1, Wait::Uncounted);
        Some(Pause::Barrier)
    }

    /// Lanes leave while others of their warp wait, perhaps for no one else.
    pub fn exit(&mut self, pc: Pc, mask: u32) -> Option<Pause> {
        self.warp.exit(mask);
        self.warp.now.pc = pc + 1;
        self.complete_met()
    }

    /// Where no split of the warp can run: lets one go on that can, if any.
    #[cold]
    pub fn stalled(&mut self) -> Option<Pause> {
        loop {
            if self.warp.live() == 0 {
                return Some(Pause::Exited);
            }
            if let Some(pause) = self.complete_met() {
                return Some(pause);
            }
            if self.warp.settle() {
                return None;
            }
            if self.warp.release() != 0 {
                continue;
            }
            let free = self.meetings().find(|meeting| !meeting.blocked);
            let Some(meeting) = free else {
                return Some(Pause::Waits);
            };
            if let Some(pause) = self.complete_waiting(&meeting) {
                return Some(pause);
            }
        }
    }

    /// Completes what waits for no lane that is still in the kernel.
    fn complete_met(&mut self) -> Option<Pause> {
        loop {
            let live = self.warp.live();
            let met = self.meetings().find(|m| live & m.named & !m.there == 0)?;
            if let Some(pause) = self.complete_waiting(&met) {
                return Some(pause);
            }
        }
    }

    /// Those of parked splits, in the order in which they began.
    fn meetings(&self) -> impl Iterator<Item = Meeting> {
        let outside = self.waits_outside();
        self.warp.parked.iter().filter_map(move |split| {
            let Wait::Lanes { named, .. } = split.wait else {
                return None;
            };
            let kind = &self.at.kernel.code[split.pc as usize].kind;
            Some(Meeting {
                pc: split.pc,
                named,
                there: self.waiting_at(kind, split.pc, named),
                blocked: named & outside != 0,
            })
        })
    }

    /// Lanes that wait at barriers of the block, or for lanes that do.
    fn waits_outside(&self) -> u32 {
        let mut all = 0;
        loop {
            let parked = self.warp.parked.iter();
            let outside = parked.filter(|split| match split.wait {
                Wait::Nothing => false,
                Wait::Lanes { named, .. } => named & all != 0,
                Wait::Uncounted | Wait::Barrier(_) => true,
            });
            let now = outside.fold(0, |lanes, split| lanes | split.active);
            if now == all {
                return all;
            }
            all = now;
        }
    }

    /// Lanes that wait where those go on that come to this instruction.
    fn waiting_at(&self, kind: &Kind, pc: Pc, named: u32) -> u32 {
        if self.warp.meeting == 0 {
            return 0;
        }
        let any = matches!(kind, Kind::WarpSync { .. });
        let same = |at: Pc| {
            at == pc
                || any && matches!(self.at.kernel.code[at as usize].kind, Kind::WarpSync { .. })
        };
        let parked = self.warp.parked.iter();
        let there = parked.filter(|split| match split.wait {
            Wait::Lanes { named: wanted, .. } => wanted == named && same(split.pc),
            _ => false,
        });
        there.fold(0, |lanes, split| lanes | split.active)
    }

    /// Completes a meeting of lanes that all wait, with those that are there.
    fn complete_waiting(&mut self, meeting: &Meeting) -> Option<Pause> {
        let kernel = self.at.kernel;
        let Meeting {
            pc, there, named, ..
        } = *meeting;
        let kind = &kernel.code[pc as usize].kind;
        if !matches!(kind, Kind::Barrier(_)) {
            self.complete(kind, pc, there, named);
            return None;
        }
        self.come_to_barrier(pc, there);
        Some(Pause::Barrier)
    }

    /// Lanes that have waited at an aligned barrier for the rest of their warp wait at the barrier itself.
    fn come_to_barrier(&mut self, pc: Pc, there: u32) {
        let absent = self.absent(there, FULL);
        if absent != 0 {
            let detail = whereabouts(self.warp, self.at.kernel, absent);
            self.at.divergent(self.recorder, pc, there, absent, detail);
        }
        self.warp.resume(there, Wait::Uncounted);
    }

    /// Runs a `.sync` instruction for all lanes that have met there: the only place where one takes effect.
    fn complete(&mut self, kind: &Kind, pc: Pc, there: u32, named: u32) {
        let absent = self.absent(there, named);
        if absent | there & !named != 0 {
            let detail = whereabouts(self.warp, self.at.kernel, absent);
            let lanes = (there, named, absent);
            self.at.membermask(self.recorder, pc, lanes, detail);
        }
        if self.warp.taint.any() {
            self.follow(&self.at.kernel.code[pc as usize], pc, there);
        }
        // Before it runs, as it may overwrite what names its sources.
        let stray = match kind {
            Kind::Shuffle(shuffle) if self.spaces.taints => {
                collective::stray(&self.frame, shuffle, there, named)
            }
            _ => 0,
        };
        collective::run(&mut self.frame, kind, there, named);
        if let (Kind::Shuffle(shuffle), 1..) = (kind, stray) {
            self.taint_shuffle(shuffle, pc, stray);
        }
        if matches!(kind, Kind::WarpSync { .. }) {
            let live = self.warp.live();
            self.spaces.order.warp_sync(self.spaces.who, there, live);
        }
        if self.warp.meeting & there != 0 {
            self.warp.resume(there, Wait::Nothing);
            self.warp.merge(there);
        }
    }

    /// Lanes that should be there: those named that are in the kernel, or have left it though they were waited for.
    fn absent(&self, there: u32, named: u32) -> u32 {
        let waiting = self
            .warp
            .parked
            .iter()
            .filter_map(|split| match split.wait {
                Wait::Lanes { owed, .. } if split.active & there != 0 => Some(owed),
                _ => None,
            });
        let owed = waiting.fold(0, |all, owed| all | owed);
        named & !there & (self.warp.live() | owed)
    }
}

/// Where lanes are, in words.
fn whereabouts(warp: &Warp, kernel: &Kernel, lanes: u32) -> Vec<String> {
    let mut words = Vec::new();
    let mut say = |mask: u32, what: String| {
        if mask != 0 {
            words.push(format!("lanes {mask:#010x} {what}"));
        }
    };
    say(lanes & warp.exited, "have left the kernel".to_owned());
    for split in warp.splits() {
        let place = kernel.place(split.pc);
        let what = match split.wait {
            Wait::Nothing => format!("are at {place}"),
            Wait::Lanes { named, .. } => format!("wait for lanes {named:#010x} at {place}"),
            Wait::Uncounted | Wait::Barrier(_) => {
                format!("wait at a barrier, {}", kernel.place(split.pc - 1))
            }
        };
        say(lanes & split.active, what);
    }
    for (held, pc) in warp.joins.held() {
        say(
            lanes & held,
            format!("wait to meet others at {}", kernel.place(pc)),
        );
    }
    words
}
