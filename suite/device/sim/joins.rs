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
pub type JoinId = u8;
/// Of lanes that no join expects: they meet by leaving the kernel.
pub const NONE: JoinId = u8::MAX;

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
    fn split(&self) -> Split {
        Split {
            pc: self.pc,
            active: self.arrived,
            reconverge: self.reconverge,
            join: self.parent,
            wait: Wait::Nothing,
        }
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
        self.all[usize::from(id)].arrived |= lanes;
    }

    /// The lanes of a join that are all there, as a split of its parent; a join without lanes is gone.
    pub fn take_complete(&mut self, id: JoinId) -> Option<Split> {
        let join = self.all[usize::from(id)];
        if join.arrived != join.expected {
            return None;
        }
        self.used &= !(1 << id);
        (join.arrived != 0).then(|| join.split())
    }

    /// Lanes leave the kernel: those that waited for them alone go on.
    pub fn leave(&mut self, mask: u32, parked: &mut Vec<Split>) {
        for id in 0..self.all.len() {
            if self.is_used(id) {
                self.all[id].expected &= !mask;
                self.all[id].arrived &= !mask;
                parked.extend(self.take_complete(id as JoinId));
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
            parked.push(join.split());
        }
        released
    }

    /// Whether a join nested in this one holds lanes.
    fn holds_within(&self, id: usize) -> bool {
        let inside = |mut at: usize| {
            while self.all[at].parent != NONE {
                at = usize::from(self.all[at].parent);
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
