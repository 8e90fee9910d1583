//! One access as the shadow keeps it: when, by whom, which bytes, how strongly, and where in the kernel.

use super::super::program::{Pc, Scope};

/// Bits of a stamp that tell the warp.
pub const WARP_BITS: u32 = 5;
/// The bits of a stamp that tell the warp.
pub const WARPS: u32 = (1 << WARP_BITS) - 1;
/// Times are below this, so that a stamp leaves its sign bit free.
pub const TIMES: u32 = 1 << (31 - WARP_BITS);
/// Marks a stamp whose cell is a list.
pub const SIDE: u32 = 1 << 31;

const PC: u32 = (1 << 16) - 1;
/// A write of an atomic, which has read what it overwrites.
pub const ATOMIC: u32 = 1 << 16;
const LANE_SHIFT: u32 = 17;
const MASK_SHIFT: u32 = 22;
const SCOPE_SHIFT: u32 = 26;
/// Part of an element of eight bytes.
pub const WIDE: u32 = 1 << 28;
/// A write that left its bytes as they were.
pub const SAME: u32 = 1 << 29;
/// Through the read-only cache.
pub const NC: u32 = 1 << 30;
/// By two or more lanes of the warp.
pub const MULTI: u32 = 1 << 31;
pub const LANE: u32 = 31 << LANE_SHIFT;
pub const BYTES: u32 = 15 << MASK_SHIFT;
pub const SCOPE: u32 = 3 << SCOPE_SHIFT;

/// An access to bytes of one granule. Its stamp is `time << 5 | warp`: for shared memory the block's time, for global
/// memory the number of a segment, which names block and time. Stamp 0 is no access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    pub stamp: u32,
    pub info: u32,
}

/// The information that all lanes of one instruction share.
pub fn shared_info(pc: Pc, scope: Scope, flags: u32) -> u32 {
    pc.min(PC) | (scope as u32) << SCOPE_SHIFT | flags
}

/// The information of one lane's access to the bytes `mask` of a granule.
#[inline(always)]
pub fn lane_info(info: u32, lane: usize, mask: u32) -> u32 {
    info | (lane as u32) << LANE_SHIFT | mask << MASK_SHIFT
}

impl Entry {
    pub fn time(self) -> u32 {
        self.stamp >> WARP_BITS
    }

    pub fn warp(self) -> usize {
        (self.stamp & WARPS) as usize
    }

    /// The lane, or one of them.
    pub fn lane(self) -> usize {
        (self.info >> LANE_SHIFT & 31) as usize
    }

    /// Bit for each byte of the granule.
    pub fn mask(self) -> u32 {
        self.info >> MASK_SHIFT & 15
    }

    pub fn scope(self) -> Scope {
        match self.info >> SCOPE_SHIFT & 3 {
            0 => Scope::Weak,
            1 => Scope::Block,
            _ => Scope::Device,
        }
    }

    pub fn has(self, flag: u32) -> bool {
        self.info & flag != 0
    }

    /// The instruction, unless the kernel has too many to tell.
    pub fn pc(self) -> Option<Pc> {
        let pc = self.info & PC;
        (pc != PC).then_some(pc)
    }

    /// Whether an information is of the same instruction.
    pub fn has_pc_of(self, info: u32) -> bool {
        (self.info ^ info) & PC == 0
    }

    /// Whether two reads differ in the lane and the instruction alone.
    #[inline(always)]
    pub fn alike(self, other: Self) -> bool {
        self.stamp == other.stamp && (self.info ^ other.info) & !(LANE | MULTI | PC) == 0
    }
}
