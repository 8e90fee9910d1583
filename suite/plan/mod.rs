//! A case as pure data: buffers, launches and reads with every number known. No GPU, no spec, no reference.
//!
//! Owns: the unrolling of pipelines, loops and swaps, the evaluation of every expression, and the limits
//! (10,000 launches, sizes that fit). May import `call`, `case`, `spec`, `expr`, `host` (its table), `input`
//! (requests), `image` (signatures), `value`, `terms` and `outcome`.
//!
//! ```
//! use cuda_gates::plan::{BufferIndex, Slice, Step};
//! // `{memset: "sums[1]", value: 7}` where `sums` is the first buffer and holds i32.
//! let to = Slice { buffer: BufferIndex(0), from: 1, len: 1 };
//! let step = Step::Fill { to, pattern: 7i32.to_le_bytes().into() };
//! assert_eq!(step, Step::Fill { to, pattern: vec![7, 0, 0, 0] });
//! ```

mod build;
mod bytes;
mod eval;
#[cfg(test)]
pub(crate) mod fixture;
mod judged;
mod launch;
mod template;
#[cfg(test)]
mod tests;
mod unroll;

pub use build::{Prepared, build};
pub use bytes::element_bytes;
pub(crate) use eval::{expression_fault, fault_at, placed};
pub use judged::wanted_key;
pub use launch::Signatures;
pub use template::substitute;

use crate::value::ElementType;

/// What a device does for one case.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Input arrays first (read-only), then buffers, in the spec's order. [`BufferIndex`] counts over both.
    pub buffers: Vec<PlanBuffer>,
    /// Module names (kernel files without ending) this plan launches from.
    pub modules: Vec<String>,
    /// Each is run on freshly poisoned buffers.
    pub work: Work,
    /// Another pipeline whose buffer is the wanted value (`want: {run: …, buffer: …}`): run after, poisoned afresh.
    pub wanted: Vec<WantedRun>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// One checked run; its reads are what the check judges.
    Once { steps: Vec<Step>, reads: Vec<Slice> },
    /// The same run k times, each poisoned afresh; the reads of all runs are compared.
    Repeat {
        runs: u32,
        steps: Vec<Step>,
        reads: Vec<Slice>,
    },
    /// Timing rows.
    Rows {
        warmups: u32,
        runs: u32,
        rows: Vec<Row>,
    },
}

/// A run whose result is another gate's wanted value; `key` names it to the judge.
#[derive(Clone, Debug, PartialEq)]
pub struct WantedRun {
    pub key: String,
    pub steps: Vec<Step>,
    pub read: Slice,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub name: String,
    /// Untimed, once before the warm-ups.
    pub prepare: Vec<Step>,
    /// Untimed, before every run.
    pub prepare_each: Vec<Step>,
    pub steps: Vec<Step>,
    /// Bytes read plus written by one run, for GB/s.
    pub bytes: Option<u64>,
    /// Read after the last run, one set per verification of the row.
    pub reads: Vec<Slice>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanBuffer {
    pub name: String,
    pub element: ElementType,
    /// Elements.
    pub len: u64,
    pub is_input: bool,
}

/// Index into [`Plan::buffers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BufferIndex(pub usize);

/// Elements `from..from + len` of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slice {
    pub buffer: BufferIndex,
    pub from: u64,
    pub len: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    Launch(Launch),
    /// A call of the native library, in the device's order of work.
    Native(Call),
    /// A host rung.
    Host(Call),
    Copy {
        from: Slice,
        to: Slice,
    },
    /// `pattern` holds one element's little-endian bytes.
    Fill {
        to: Slice,
        pattern: Vec<u8>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// Index into [`Plan::modules`].
    pub module: usize,
    pub kernel: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Dynamic shared memory, bytes.
    pub shared: u32,
    pub args: Vec<Argument>,
}

/// A called function, all numbers known.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub name: String,
    pub args: Vec<Argument>,
    /// Of each argument, whether the function writes it.
    pub writes: Vec<bool>,
}

impl Plan {
    /// Whether anything in it calls the native library.
    pub fn is_native(&self) -> bool {
        let work = match &self.work {
            Work::Once { steps, .. } | Work::Repeat { steps, .. } => is_native(steps),
            Work::Rows { rows, .. } => rows.iter().any(Row::is_native),
        };
        work || self.wanted.iter().any(|wanted| is_native(&wanted.steps))
    }

    /// Every list of steps, in order.
    pub fn lists(&self) -> Vec<&[Step]> {
        let mut lists: Vec<&[Step]> = Vec::new();
        match &self.work {
            Work::Once { steps, .. } | Work::Repeat { steps, .. } => lists.push(steps),
            Work::Rows { rows, .. } => {
                for row in rows {
                    lists.extend([&row.prepare[..], &row.prepare_each, &row.steps]);
                }
            }
        }
        lists.extend(self.wanted.iter().map(|wanted| &wanted.steps[..]));
        lists
    }
}

impl Step {
    /// The call, where it is one of a host rung.
    pub fn host(&self) -> Option<&Call> {
        match self {
            Self::Host(call) => Some(call),
            Self::Launch(_) | Self::Native(_) | Self::Copy { .. } | Self::Fill { .. } => None,
        }
    }
}

impl Row {
    /// Whether what is timed runs on the host, and so by the host's clock.
    pub fn is_host(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Host(_)))
    }

    /// Whether it, or what prepares it, calls the native library.
    pub fn is_native(&self) -> bool {
        [&self.prepare, &self.prepare_each, &self.steps]
            .into_iter()
            .any(|steps| is_native(steps))
    }
}

/// Whether a step calls the native library.
pub fn is_native(steps: &[Step]) -> bool {
    steps.iter().any(|step| matches!(step, Step::Native(_)))
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Argument {
    /// The address of an element.
    Pointer { buffer: BufferIndex, element: u64 },
    /// The first `size` of these little-endian bytes.
    Scalar { bytes: [u8; 8], size: u32 },
}
