//! A validated suite: what the rest of the crate sees of a YAML file.
//!
//! Every name in here resolves: pipelines, buffers, inputs, gates, references, kernels. Expressions are kept as
//! source with their place, since their values depend on a case's axes; each has been parsed and each name in it is
//! an axis, a `let`, or what its position allows.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use crate::terms::{DeviceKind, FindingKind, Order, Profile, ReasonKind, Scale, Tolerance};
use crate::value::ElementType;

pub use crate::expr::{Expr, Place};

/// Text with `${axis}` in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    pub text: String,
    pub place: Place,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    pub name: String,
    pub title: String,
    /// What implementation its gates judge, where they do not say: the file's `subject`, else the title.
    pub subject: String,
    /// As given or found: `specs/compaction.yaml`.
    pub path: String,
    /// Of the file's bytes, lower-case hex.
    pub sha256: String,
    /// Kernel files without ending: `compaction`, `faulty/off_by_one_carry`.
    pub kernels: Vec<String>,
    pub blocks: Vec<Block>,
    /// In the file's order; each may use those before it.
    pub lets: IndexMap<String, Expr>,
    pub require: Vec<Requirement>,
    pub buffers: IndexMap<String, Buffer>,
    pub pipelines: IndexMap<String, Vec<Step>>,
    pub gates: IndexMap<String, Gate>,
    pub tables: IndexMap<String, Table>,
}

/// One block of `cases`: its axes' product, over its gates.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    pub axes: IndexMap<String, Axis>,
    pub inputs: IndexMap<String, Input>,
    /// In the order given; every gate of the suite where the file names none.
    pub gates: Vec<String>,
    pub place: Place,
}

/// An axis' values, per profile where the file says so.
#[derive(Clone, Debug, PartialEq)]
pub enum Axis {
    /// Quick and full alike.
    Always(Vec<AxisValue>),
    PerProfile(BTreeMap<Profile, Vec<AxisValue>>),
}

impl Axis {
    /// Of every profile.
    pub fn values(&self) -> impl Iterator<Item = &AxisValue> {
        let lists: Vec<&[AxisValue]> = match self {
            Axis::Always(values) => vec![values],
            Axis::PerProfile(lists) => lists.values().map(Vec::as_slice).collect(),
        };
        lists.into_iter().flatten()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AxisValue {
    Int(i64),
    Text(String),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    pub element: ElementType,
    pub generator: Template,
    /// The generator's own parameters: `keep`, `min`, `max`, …
    pub params: IndexMap<String, Expr>,
    pub seed: Seed,
    pub len: Expr,
    pub place: Place,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seed {
    Fixed(u64),
    /// A hash of the case's parameters, the same for every gate and image of them.
    CaseId,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Requirement {
    pub that: Expr,
    pub otherwise: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    pub element: ElementType,
    pub len: Expr,
    pub place: Place,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub action: Action,
    pub when: Option<Expr>,
    pub place: Place,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    Kernel {
        kernel: Template,
        grid: Vec<Expr>,
        block: Vec<Expr>,
        shared: Option<Expr>,
        args: Vec<Arg>,
    },
    /// A function of the native library or a host rung.
    Call {
        callee: Callee,
        name: Template,
        args: Vec<Arg>,
    },
    Memset {
        to: Slice,
        value: Expr,
    },
    Copy {
        from: Slice,
        to: Slice,
    },
    Pipeline {
        name: String,
    },
    /// `to` is exclusive; `swap` trades two buffers' names after each iteration, for the rest of the run.
    For {
        variable: String,
        from: Expr,
        to: Expr,
        swap: Option<(String, String)>,
        steps: Vec<Step>,
    },
}

/// Where a called function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callee {
    /// In the native library: it works on the device.
    Native,
    /// In this program: it works on the host.
    Host,
}

impl Callee {
    /// The step's key.
    pub const fn key(self) -> &'static str {
        match self {
            Callee::Native => "native",
            Callee::Host => "host",
        }
    }
}

/// A buffer or input, or a part of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Slice {
    pub buffer: String,
    pub range: Range,
    pub place: Place,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Range {
    All,
    /// `b[i]`
    One(Expr),
    /// `b[i..j]`, `j` exclusive
    Span(Expr, Expr),
}

/// An argument of a kernel or a called function.
#[derive(Clone, Debug, PartialEq)]
pub enum Arg {
    Buffer(Slice),
    Value(Expr),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    /// The implementation it judges, where that is not the suite's.
    pub subject: Option<String>,
    pub check: Check,
    pub expect: Expect,
    /// Empty: every device.
    pub devices: Vec<DeviceKind>,
    /// Shown, never gated: name → measure.
    pub report: IndexMap<String, Measure>,
    pub place: Place,
}

/// What a gate judges. `run` names a pipeline.
#[derive(Clone, Debug, PartialEq)]
pub enum Check {
    ScanTotal {
        run: String,
        got: Slice,
        want: Want,
    },
    Count {
        run: String,
        got: Slice,
        want: Want,
    },
    Exact {
        run: String,
        got: Slice,
        want: Want,
    },
    Multiset {
        run: String,
        got: Slice,
        want: Want,
    },
    /// The whole array, and where given the boundary between its halves.
    Partition {
        run: String,
        got: Slice,
        split: Option<Slice>,
        want: Want,
    },
    Sorted {
        run: String,
        got: Slice,
        order: Order,
    },
    Permutation {
        run: String,
        got: Slice,
        want: Want,
    },
    Near {
        run: String,
        got: Slice,
        want: Want,
        tolerance: Tolerance,
    },
    Repeatable {
        run: String,
        got: Slice,
        runs: u32,
    },
    Assert {
        run: String,
        that: Expr,
    },
    Timings(Timings),
}

/// A wanted value.
#[derive(Clone, Debug, PartialEq)]
pub enum Want {
    /// A host reference: `{compact: nonzero}`, `{exclusive_scan: sum, map: nonzero, of: input}`.
    Reference {
        name: String,
        operand: Template,
        map: Option<Template>,
        of: String,
    },
    /// Another pipeline's buffer.
    Run { pipeline: String, buffer: Slice },
    /// A JSON array of numbers, or one number; the text was read at load time.
    File { path: String, text: String },
    /// A Rhai script; the text was read at load time.
    Script { text: String, place: Place },
}

/// A measure that is reported and never gated.
#[derive(Clone, Debug, PartialEq)]
pub enum Measure {
    /// Number of positions where the output differs from this order.
    Against(Want),
}

/// What outcome makes a gate pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expect {
    Pass,
    /// The check (or the device) must find this kind; per device where it differs.
    Fail {
        cuda: FindingKind,
        sim: FindingKind,
    },
    Error {
        kind: ReasonKind,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct Timings {
    pub warmups: u32,
    pub runs: u32,
    pub baseline: Option<String>,
    pub rows: IndexMap<String, Row>,
    pub assert: Vec<Bound>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The implementation it times, where that is not the gate's.
    pub subject: Option<String>,
    pub prepare: Vec<String>,
    pub prepare_each: Vec<String>,
    pub run: String,
    pub bytes: Option<Expr>,
    pub when: Option<Expr>,
    /// At least one: an unverified time is not reported.
    pub verify: Vec<Verify>,
    pub place: Place,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Verify {
    /// That gate's check, without its `run`.
    Gate(String),
    /// A check of its own; its `run` is the row's.
    Inline(Box<Check>),
}

/// An assertion over rows, gating only on the named cards; elsewhere it is reported. No cards: everywhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    pub that: Expr,
    pub cards: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The axes whose values' combinations are the rows; at least one.
    pub over: Vec<String>,
    pub columns: IndexMap<String, Expr>,
    pub plot: Option<Plot>,
}

/// How a table is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plot {
    /// An axis of `over`, or a column.
    pub x: String,
    /// Columns, a line each. Empty: every column but `x`.
    pub y: Vec<String>,
    pub x_scale: Scale,
    pub y_scale: Scale,
    pub x_label: Option<String>,
    pub y_label: Option<String>,
    /// Of `x`.
    pub place: Place,
}
