//! Where splits of a warp meet again.
//!
//! As hardware since compute capability 7.0 does (its convergence barriers, `BSSY` and `BSYNC`): lanes that part at a
//! branch make a join at the branch's immediate post-dominator. A split that comes there is held until every lane the
//! join expects is there or has left the kernel; then all go on as one. Joins nest, each within its parent. Lanes that
//! joins hold can be let go, for those that would get on only then.

use super::lanes::LANES;
use super::program::Pc;
use super::warp::{Split, Wait};

/// Index of a join.
pub type JoinId = u32;
/// Of lanes that no join expects: they meet by leaving the kernel.
pub const NONE: JoinId = JoinId::MAX;

#[derive(Clone, Copy, Debug)]
struct Join {
    pc: Pc,
    /// Lanes it waits for or holds.
    expected: u32,
    /// Lanes it holds.
    arrived: u32,
    parent: JoinId,
    /// The parent's `pc`.
    reconverge: Pc,
}

impl Join {
    /// Lanes it has held, as a split of its parent.
    #[inline(always)]
    fn put(&self, split: &mut Split) {
        split.pc = self.pc;
        split.active = self.arrived;
        split.reconverge = self.reconverge;
        split.join = self.parent;
        split.wait = Wait::Nothing;
    }
}

/// The joins of one warp.
#[derive(Clone, Debug, Default)]
pub struct Joins {
    all: Vec<Join>,
    /// Bit for each in use.
    used: u32,
}

impl Joins {
    pub fn clear(&mut self) {
        self.all.clear();
        self.used = 0;
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// A join at `pc` for the lanes of a split; none if there are too many, as there never are where lanes of one are
    /// a part of its parent's.
    pub fn make(&mut self, pc: Pc, of: &Split) -> Option<JoinId> {
        let id = self.used.trailing_ones() as usize;
        if id == LANES {
            return None;
        }
        let join = Join {
            pc,
            expected: of.active,
            arrived: 0,
            parent: of.join,
            reconverge: of.reconverge,
        };
        if id == self.all.len() {
            self.all.push(join);
        } else {
            self.all[id] = join;
        }
        self.used |= 1 << id;
        Some(id as JoinId)
    }

    /// Holds lanes that have come.
    pub fn hold(&mut self, id: JoinId, lanes: u32) {
        self.all[id as usize].arrived |= lanes;
    }

    /// Lets the lanes of a join go on as one, as a split of its parent, if all are there. A join without lanes is gone.
    pub fn close(&mut self, id: JoinId, split: &mut Split) -> bool {
        let join = &self.all[id as usize];
        if join.arrived != join.expected {
            return false;
        }
        self.used &= !(1 << id);
        join.put(split);
        join.arrived != 0
    }

    /// Lanes leave the kernel: those that waited for them alone go on.
    pub fn leave(&mut self, mask: u32, parked: &mut Vec<Split>) {
        for id in 0..self.all.len() {
            if self.is_used(id) {
                self.all[id].expected &= !mask;
                self.all[id].arrived &= !mask;
                let mut split = Split::default();
                if self.close(id as JoinId, &mut split) {
                    parked.push(split);
                }
            }
        }
    }

    /// Lets go the lanes that the innermost joins hold: they go on without waiting. The lanes.
    pub fn release(&mut self, parked: &mut Vec<Split>) -> u32 {
        let mut released = 0;
        for id in 0..self.all.len() {
            let join = self.all[id];
            if !self.is_used(id) || join.arrived == 0 || self.holds_within(id) {
                continue;
            }
            released |= join.arrived;
            self.all[id].expected &= !join.arrived;
            self.all[id].arrived = 0;
            let mut split = Split::default();
            join.put(&mut split);
            parked.push(split);
        }
        released
    }

    /// Whether a join nested in this one holds lanes.
    fn holds_within(&self, id: usize) -> bool {
        let inside = |mut at: usize| {
            while self.all[at].parent != NONE {
                at = self.all[at].parent as usize;
                if at == id {
                    return true;
                }
            }
            false
        };
        (0..self.all.len()).any(|at| self.is_used(at) && self.all[at].arrived != 0 && inside(at))
    }

    fn is_used(&self, id: usize) -> bool {
        self.used >> id & 1 == 1
    }

    /// Lanes that joins hold, with the instructions they go on from, for messages.
    pub fn held(&self) -> impl Iterator<Item = (u32, Pc)> {
        let used = self.all.iter().enumerate();
        let used = used.filter(|&(id, join)| self.is_used(id) && join.arrived != 0);
        used.map(|(_, join)| (join.arrived, join.pc))
    }
}
