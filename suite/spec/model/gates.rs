//! Gates: what is judged and against what, what is timed, what makes a gate pass, and the tables over gates.

use indexmap::IndexMap;

use super::{Expr, Place, Slice, Template};
use crate::terms::{DeviceKind, FindingKind, Order, ReasonKind, Scale, Tolerance};

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
    /// The card is as well after the run as before it: no Xid error, no new memory error, no slowdown of its own.
    Health {
        run: String,
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
