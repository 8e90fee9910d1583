//! The schema of gates: checks, wanted values, expectations and timing rows.

use std::collections::BTreeMap;

use schemars::JsonSchema;

use super::{ErrorKind, Expr, OneOrMany, Pass, Reference, Slice};
use crate::terms::{DeviceKind, FindingKind, Order};

/// Gates by check: the keys of every gate, and each check's own.
macro_rules! gates {
    ($($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident: $type:ty),* $(,)? })*) => {
        /// What a gate judges, and how.
        #[derive(JsonSchema)]
        #[schemars(tag = "check", rename_all = "snake_case", deny_unknown_fields)]
        pub(super) enum Gate {
            $($(#[$meta])* $name {
                /// The pipeline that is run.
                run: String,
                /// The implementation it judges; the suite's where it is left out.
                subject: Option<String>,
                expect: Option<Expect>,
                /// Only on these devices.
                devices: Option<OneOrMany<DeviceKind>>,
                /// Shown, never gated.
                report: Option<BTreeMap<String, Measure>>,
                $($(#[$field_meta])* $field: $type),*
            },)*
            /// Rows of times, each verified.
            Timings {
                subject: Option<String>,
                expect: Option<Expect>,
                devices: Option<OneOrMany<DeviceKind>>,
                report: Option<BTreeMap<String, Measure>>,
                /// Untimed runs before the timed ones; 3 where it is left out.
                warmups: Option<u32>,
                /// Timed runs; 10 where it is left out.
                runs: Option<u32>,
                /// The row that others are compared with.
                baseline: Option<String>,
                rows: BTreeMap<String, Row>,
                assert: Option<Vec<Bound>>,
            },
        }

        /// A check of a row's result.
        #[derive(JsonSchema)]
        #[schemars(tag = "check", rename_all = "snake_case", deny_unknown_fields)]
        pub(super) enum RowCheck {
            $($(#[$meta])* $name { $($(#[$field_meta])* $field: $type),* },)*
        }
    };
}

gates! {
    /// A total on the device equals the wanted number.
    ScanTotal { got: Slice, want: Want }
    /// A count on the device equals the wanted number.
    Count { got: Slice, want: Want }
    /// Every element equals the wanted one bit for bit.
    Exact { got: Slice, want: Want }
    /// The wanted elements in any order.
    Multiset { got: Slice, want: Want }
    /// Both halves in order, and the boundary between them.
    Partition { got: Slice, want: Want, split: Option<Slice> }
    /// In order.
    Sorted { got: Slice, order: Option<Order> }
    /// A permutation of the wanted elements.
    Permutation { got: Slice, want: Want }
    /// Floats within a tolerance.
    Near { got: Slice, want: Want, tolerance: Tolerance }
    /// Several runs agree bit for bit.
    Repeatable { got: Slice, runs: u32 }
    /// A condition over axes, lets and launches.
    Assert { that: Expr }
    /// The card's error counts are the same after the run, and nothing slows it down.
    Health {}
}

/// {ulps: 4} or {relative: 1.0e-6}.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Tolerance {
    ulps: Option<u64>,
    relative: Option<f64>,
}

#[derive(JsonSchema)]
#[schemars(untagged)]
pub(super) enum Want {
    Run(WantRun),
    File(WantFile),
    Script(WantScript),
    Reference(Reference),
}

/// Another pipeline's buffer.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct WantRun {
    run: String,
    buffer: Slice,
}

/// A JSON number or array of numbers, beside the spec.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct WantFile {
    file: String,
}

/// A Rhai script, or the path of one that ends in .rhai: inputs are arrays, axes and lets numbers; its value is wanted.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct WantScript {
    script: String,
}

#[derive(JsonSchema)]
#[schemars(untagged)]
pub(super) enum Expect {
    Pass(Pass),
    Other(ExpectOther),
}

/// The gate passes only if the check fails with this kind, or the case ends in this error.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct ExpectOther {
    fail: Option<Fail>,
    error: Option<ErrorKind>,
}

#[derive(JsonSchema)]
#[schemars(untagged)]
pub(super) enum Fail {
    Everywhere(FindingKind),
    PerDevice(FailPerDevice),
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct FailPerDevice {
    cuda: Option<FindingKind>,
    sim: Option<FindingKind>,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Measure {
    /// How many elements are out of this order.
    against: Want,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Row {
    /// The implementation it times; the gate's where it is left out.
    subject: Option<String>,
    /// Pipelines run once, untimed, before the warm-ups.
    prepare: Option<OneOrMany<String>>,
    /// Pipelines run untimed before every run.
    prepare_each: Option<OneOrMany<String>>,
    run: String,
    /// Bytes read plus written by one run.
    bytes: Option<Expr>,
    when: Option<Expr>,
    /// Gates or checks that the row's result must pass.
    verify: OneOrMany<Verify>,
}

#[derive(JsonSchema)]
#[schemars(untagged)]
pub(super) enum Verify {
    Gate(String),
    Check(RowCheck),
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Bound {
    that: Expr,
    /// Gates only on these cards, and is reported elsewhere.
    cards: Option<OneOrMany<String>>,
}
