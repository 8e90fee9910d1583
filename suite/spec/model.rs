//! A validated suite: what the rest of the crate sees of a YAML file.
//!
//! Every name in here resolves: pipelines, buffers, inputs, gates, references, kernels. Expressions are kept as
//! source with their place, since their values depend on a case's axes; each has been parsed and each name in it is
//! an axis, a `let`, or what its position allows.

mod gates;

use std::collections::BTreeMap;

use indexmap::IndexMap;

use crate::terms::{DeviceKind, Profile};
use crate::value::ElementType;

pub use crate::expr::{Expr, Place};
pub use gates::*;

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
    /// Of the file's bytes, lower-case hex; where it names files (`{file: …}`, scripts), of theirs too.
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
    /// Gates of which a case must run in every complete run that takes cases of the suite, by device.
    pub must_run: MustRun,
    pub tables: IndexMap<String, Table>,
}

/// Gates of which at least one case must have run, neither skipped nor without a device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MustRun {
    pub cuda: Vec<String>,
    pub sim: Vec<String>,
}

impl MustRun {
    pub fn on(&self, device: DeviceKind) -> &[String] {
        match device {
            DeviceKind::Cuda => &self.cuda,
            DeviceKind::Sim => &self.sim,
        }
    }
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
