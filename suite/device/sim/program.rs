//! A kernel as it runs: a flat array of decoded instructions whose operands are row numbers.
//!
//! Immediates, addresses of variables and special registers are rows too, filled before the first instruction, so no
//! instruction asks what kind of operand it has.

use super::alu::Shape;
use super::assertion::Note;
use super::block::Shape as LaunchShape;
use super::lanes::{Comparison, Operands};
use super::lanes::{Row, Run};
use super::taint::Flow;

/// Index into [`Kernel::code`]; the length of the code stands for the end.
pub type Pc = u32;

pub struct Kernel {
    pub name: String,
    pub code: Vec<Instruction>,
    /// One for each instruction.
    pub origin: Vec<Origin>,
    /// What each instruction reads and writes.
    pub flows: Vec<Flow>,
    pub rows: RowCounts,
    pub narrow_constants: Vec<(Row, u32)>,
    pub wide_constants: Vec<(Row, u64)>,
    pub specials: Vec<(Row, Special)>,
    /// Rows that may be read before they are written: zeroed when a block starts.
    pub zeroed: Vec<(super::lanes::Class, Row)>,
    /// Rows that decide where a warp goes.
    pub decisive: Vec<(super::lanes::Class, Row)>,
    pub params: Vec<ParamSlot>,
    pub param_bytes: u64,
    pub static_shared_bytes: u64,
    /// Where dynamic shared memory starts.
    pub dynamic_offset: Option<u64>,
    /// Of one thread.
    pub local_bytes: u64,
    /// Whether it loads from global memory as one who waits for other blocks does: `.volatile`, `.relaxed`,
    /// `.acquire`, or past the first cache.
    pub polls: bool,
    /// `.maxntid` or `.reqntid`.
    pub max_threads: Option<[u32; 3]>,
    pub required_threads: Option<[u32; 3]>,
}

impl Kernel {
    /// An instruction in words, with its line.
    pub fn place(&self, pc: Pc) -> String {
        let Some(origin) = self.origin.get(pc as usize) else {
            return "the end".to_owned();
        };
        format!("PTX line {}: `{}`", origin.ptx_line, origin.text)
    }

    /// Shared memory of one block, static and dynamic.
    pub fn shared_bytes(&self, shape: &LaunchShape) -> u64 {
        self.dynamic_offset
            .map_or(self.static_shared_bytes, |at| at + u64::from(shape.shared))
    }
}

#[derive(Clone, Copy, Debug)]
pub struct ParamSlot {
    pub offset: u64,
    pub bytes: u64,
}

/// Where an instruction comes from, for findings.
pub struct Origin {
    pub text: String,
    pub ptx_line: u32,
    pub source: Option<String>,
    /// Of a trap put in place of something else: what it means.
    pub note: Option<Note>,
}

/// Rows a warp needs, by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowCounts {
    pub narrow: usize,
    pub wide: usize,
    pub predicates: usize,
}

/// Read-only registers that are the same for a whole launch, block or warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Special {
    Tid(usize),
    Ntid(usize),
    Ctaid(usize),
    Nctaid(usize),
    LaneId,
    WarpId,
    NWarpId,
    LaneMaskEq,
    LaneMaskLt,
    LaneMaskLe,
    LaneMaskGt,
    LaneMaskGe,
    SmId,
    NSmId,
    GridId,
    DynamicSharedBytes,
    TotalSharedBytes,
}

impl Special {
    /// From its PTX name, `%tid.x`.
    pub fn from_name(name: &str) -> Option<Self> {
        let axis = |axis: &str| match axis {
            "x" => Some(0),
            "y" => Some(1),
            "z" => Some(2),
            _ => None,
        };
        Some(match name.split_once('.') {
            Some(("%tid", a)) => Special::Tid(axis(a)?),
            Some(("%ntid", a)) => Special::Ntid(axis(a)?),
            Some(("%ctaid", a)) => Special::Ctaid(axis(a)?),
            Some(("%nctaid", a)) => Special::Nctaid(axis(a)?),
            Some(_) => return None,
            None => match name {
                "%laneid" => Special::LaneId,
                "%warpid" => Special::WarpId,
                "%nwarpid" => Special::NWarpId,
                "%lanemask_eq" => Special::LaneMaskEq,
                "%lanemask_lt" => Special::LaneMaskLt,
                "%lanemask_le" => Special::LaneMaskLe,
                "%lanemask_gt" => Special::LaneMaskGt,
                "%lanemask_ge" => Special::LaneMaskGe,
                "%smid" => Special::SmId,
                "%nsmid" => Special::NSmId,
                "%gridid" => Special::GridId,
                "%dynamic_smem_size" => Special::DynamicSharedBytes,
                "%total_smem_size" => Special::TotalSharedBytes,
                _ => return None,
            },
        })
    }
}

pub struct Instruction {
    /// The lanes that run it are `active & (predicates[guard] ^ flip)`.
    pub guard: Row,
    pub flip: u32,
    pub kind: Kind,
}

#[derive(Clone, Copy)]
pub enum Kind {
    Alu(Run, Operands),
    Compare(Compare),
    /// `set`: where the comparison holds `one`, else 0. Its `p` and `q` are not used.
    Set {
        compare: Compare,
        d: Row,
        one: u32,
    },
    Pack {
        shape: Shape,
        whole: Row,
        parts: [Row; 4],
        split: bool,
    },
    /// `ld.param` at a fixed offset.
    Param {
        access: Access,
        offset: u32,
    },
    Load(Access),
    /// A load of what others may write meanwhile: in a loop it ends the turn.
    Poll(Access),
    Store(Access),
    Atomic(Atomic),
    /// Prefetches.
    Nothing,
    /// `fence` and `membar`: memory is in order here, but who may count on that is for `order` to say.
    Fence {
        scope: Scope,
        /// `fence.sc`, not `fence.acq_rel`.
        sc: bool,
    },
    Branch {
        target: Pc,
        reconverge: Pc,
    },
    Exit,
    Trap,
    Barrier(Barrier),
    /// `bar.warp.sync`.
    WarpSync {
        mask: Row,
    },
    Shuffle(Shuffle),
    Vote {
        op: VoteOp,
        d: Row,
        source: Row,
        flip: u32,
        mask: Row,
    },
    Match {
        all: bool,
        wide: bool,
        d: Row,
        agreed: Row,
        a: Row,
        mask: Row,
    },
    ActiveMask {
        d: Row,
    },
    Clock {
        d: Row,
        wide: bool,
        /// Bits 32 to 63 alone.
        high: bool,
    },
    /// `nanosleep`: lets the other warps run.
    Yield,
}

#[derive(Clone, Copy)]
pub struct Compare {
    pub comparison: Comparison,
    pub p: Row,
    /// Takes the negated result.
    pub q: Row,
    pub a: Row,
    pub b: Row,
    pub combine: Combine,
    pub c: Row,
    pub flip: u32,
}

/// How `setp` joins its result with a third predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combine {
    None,
    And,
    Or,
    Xor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    Global,
    Shared,
    Local,
    Const,
    Param,
    Generic,
}

/// An address operand: a row plus a constant.
#[derive(Clone, Copy, Debug)]
pub struct Address {
    pub space: Space,
    pub base: Row,
    /// Whether `base` is a wide row; a narrow one wraps at 32 bits.
    pub wide: bool,
    pub offset: i64,
}

/// How far a strong access or a fence reaches. There is one device, so the system is no wider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Nowhere: a weak access.
    #[default]
    Weak,
    Block,
    Device,
}

/// What an access promises other threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Semantics {
    pub scope: Scope,
    pub acquire: bool,
    pub release: bool,
    /// Through the read-only cache.
    pub nc: bool,
}

/// A load or store.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    pub semantics: Semantics,
    pub address: Address,
    /// Of one element: 1, 2, 4, 8.
    pub bytes: u8,
    /// 1, 2 or 4 elements.
    pub count: u8,
    /// Sign-extend a loaded element.
    pub signed: bool,
    /// Whether the data rows are wide.
    pub wide: bool,
    pub rows: [Row; 4],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicOp {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
    Exchange,
    CompareSwap,
    Increment,
    Decrement,
    AddF32,
    AddF64,
}

#[derive(Clone, Copy, Debug)]
pub struct Atomic {
    pub semantics: Semantics,
    pub op: AtomicOp,
    pub address: Address,
    /// 2, 4 or 8.
    pub bytes: u8,
    pub signed: bool,
    pub d: Row,
    pub a: Row,
    pub b: Row,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierEffect {
    Sync,
    Arrive,
    Popc,
    And,
    Or,
}

#[derive(Clone, Copy, Debug)]
pub struct Barrier {
    pub effect: BarrierEffect,
    /// All threads of a warp must execute it together.
    pub aligned: bool,
    pub id: Row,
    /// Threads that take part; none for the whole block.
    pub threads: Option<Row>,
    pub d: Row,
    pub source: Row,
    pub flip: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShuffleMode {
    Up,
    Down,
    Butterfly,
    Index,
}

#[derive(Clone, Copy, Debug)]
pub struct Shuffle {
    pub mode: ShuffleMode,
    pub d: Row,
    /// Whether the source lane was in range.
    pub p: Row,
    pub a: Row,
    pub b: Row,
    pub c: Row,
    pub mask: Row,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VoteOp {
    All,
    Any,
    Uniform,
    Ballot,
}
