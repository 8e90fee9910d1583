//! `report.json` and the lines of `results.jsonl`: the versioned record of a run.
//!
//! Every field is part of the published schema (`cuda-gates.report/1.0`): names and meanings do not change within a
//! major version; readers refuse newer majors.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::device::DeviceInfo;
use crate::device::sim::Schedule;
use crate::identity::Field;
use crate::outcome::{Finding, Reason};
use crate::terms::{ImageKind, Outcome, Scale};

pub use super::health::{BETWEEN_CASES, ChangeRecord, HealthRecord};
pub use super::ruled::{CaseWaiver, RunProblem, RunRule, WaiverRecord, WaiverState};

pub const SCHEMA: &str = "cuda-gates.report/1.0";

/// Names under which a case's `reported` holds what its kernels and libraries printed.
pub const PRINTED: [&str; 2] = ["stdout", "stderr"];

/// The result of one case: one line of `results.jsonl`, one entry of `report.json`'s `cases`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CaseRecord {
    /// The case's address, and the test's name.
    pub id: String,
    pub suite: String,
    pub gate: String,
    /// The implementation that the gate judges: its own `subject`, else the suite's, else the suite's title. Empty in
    /// records from before there were any.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub subject: String,
    pub check: String,
    pub image: ImageKind,
    /// Axis → value, in the spec's order.
    pub params: IndexMap<String, serde_json::Value>,
    pub outcome: Outcome,
    /// What the gate must end in on this device to pass, where that is not a pass: `fail: mismatch`, `error: setup`.
    /// Such a case is a control: it shows that a check can fail.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expected: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<Reason>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub findings: Vec<Finding>,
    /// Of a waived case: why, and until when.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub waiver: Option<CaseWaiver>,
    /// Of a case that ran on a card.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub health: Option<HealthRecord>,
    /// Shown, never gated.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub reported: BTreeMap<String, serde_json::Value>,
    /// Numbers that assertions and tables use: `want_len`, `got_len`, `got`, `want`, `launches`,
    /// `dropped_launches`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub values: BTreeMap<String, serde_json::Value>,
    #[serde(skip_serializing_if = "IndexMap::is_empty", default)]
    pub timings: IndexMap<String, Timing>,
    /// Timing rows that did not run here, each with its reason.
    #[serde(skip_serializing_if = "IndexMap::is_empty", default)]
    pub skipped_rows: IndexMap<String, Reason>,
    /// Assertions of a timing gate that name such a row, each with the row's reason.
    #[serde(skip_serializing_if = "IndexMap::is_empty", default)]
    pub not_judged: IndexMap<String, Reason>,
    pub duration_ms: f64,
    /// Under which schedules of the simulated device the case ran, where more than the fair one was asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub scheduled: Option<ScheduledRecord>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub kernels: Vec<KernelRecord>,
    /// A command that runs this case again.
    pub repro: String,
}

/// One timing row. Times are absent on the simulated device, which has no clock, and where the row's output is wrong.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timing {
    /// The implementation it times, where that is not the gate's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub subject: Option<String>,
    pub warmups: u32,
    /// Timed single runs, and runs in the batch.
    pub runs: u32,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub min_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub median_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_ms: Option<f64>,
    /// `runs` back to back between two events, divided by `runs`; of a host row, the mean of its runs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub batch_mean_ms: Option<f64>,
    /// Median over the baseline row's median.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub times_baseline: Option<f64>,
    /// Bytes read plus written over the median.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gb_per_s: Option<f64>,
    /// `device`: events on the device's own clock; `host`: a host rung, by the host's clock (on the simulated device it
    /// runs once and has no time); `simulated`: none.
    pub clock: String,
    /// `resident` when the row's buffers fit in the card's L2, else `streaming`.
    pub cache: String,
    pub launches: u64,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub simulated_instructions: Option<u64>,
}

/// The schedules of one case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScheduledRecord {
    /// The one that outcome and findings are of: the first under which the case failed, or a control gate did what it
    /// must; else the first of all.
    pub schedule: Schedule,
    /// Schedules that ran. One that fails is the last.
    pub ran: u32,
    /// Schedules asked for.
    pub of: u32,
    /// What they were drawn from; none where the schedule itself was given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub seed: Option<u64>,
    /// A simpler schedule under which the case fails in the same way.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub shrunk: Option<ShrunkRecord>,
}

/// A failing schedule made simpler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShrunkRecord {
    pub schedule: Schedule,
    /// Runs that it took to find it.
    pub runs: u32,
}

/// The schedules that every case of a run was to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SchedulesRecord {
    pub count: u32,
    /// What they were drawn from, and the number of the first: 0 is the fair one whatever the seed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub first: Option<u32>,
    /// The one that was given instead.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub only: Option<Schedule>,
}

/// The code a case ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KernelRecord {
    pub module: String,
    pub image_sha256: String,
    pub compiler: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub jit_log: Option<String>,
}

/// A run, whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: String,
    pub run: RunRecord,
    pub suite: SuiteRecord,
    pub host: BTreeMap<String, serde_json::Value>,
    pub toolchain: BTreeMap<String, serde_json::Value>,
    pub device: DeviceRecord,
    pub totals: Totals,
    /// In the order of selection.
    pub cases: Vec<CaseRecord>,
    /// The suites' tables, evaluated.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub tables: Vec<TableRecord>,
    /// What tells a report that was changed after it was written; none in records from before there was one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub seal: Option<SealRecord>,
}

/// SHA-256, in hexadecimal, of a report's parts as compact JSON with the keys of every object sorted. It tells
/// accidents and careless edits; whoever changes a report on purpose can compute it again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SealRecord {
    /// Of the `cases`, sorted by id: those of `results.jsonl` give the same.
    pub results_sha256: String,
    /// Of the whole report without its `seal`.
    pub report_sha256: String,
}

/// One of a suite's `tables`, evaluated over the cases of one image.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TableRecord {
    pub suite: String,
    pub name: String,
    /// The axis whose values are the rows; the first, where there are several.
    pub over: String,
    /// The axes that the first columns hold: those of the table's `over`, then the others that vary. Empty in records
    /// from before there were any: then `over` alone is known.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub axes: Vec<String>,
    pub image: ImageKind,
    /// Axes that have one value in every row.
    #[serde(skip_serializing_if = "IndexMap::is_empty", default)]
    pub fixed: IndexMap<String, serde_json::Value>,
    /// The axes, then the table's own columns.
    pub columns: Vec<String>,
    /// Cells in the order of `columns`; `null` where a value does not exist (a row left out, no hardware).
    pub rows: Vec<Vec<serde_json::Value>>,
    /// Cells that exist but could not be computed, with the reason; columns by the host's clock; timing rows that were
    /// skipped.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub notes: Vec<String>,
    /// Columns computed from times by the host's clock, not the device's.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub host_clock: Vec<String>,
    /// Columns computed from times of rows: the simulated device has none.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub timed: Vec<String>,
    /// How the table is drawn. A table with a plot is recorded even where it has no row.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub plot: Option<PlotRecord>,
}

/// A table's `plot`, its defaults filled in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlotRecord {
    /// The column that is the horizontal axis.
    pub x: String,
    /// The axis whose values are the points of a line; the others that vary give a picture each.
    pub along: String,
    /// The columns that are lines.
    pub y: Vec<String>,
    pub x_scale: Scale,
    pub y_scale: Scale,
    pub x_label: String,
    /// Empty where the lines share no unit.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub y_label: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunRecord {
    /// Sorts by time: `20261129T224100Z-3f2a`.
    pub id: String,
    /// RFC 3339, UTC.
    pub started: String,
    pub finished: Option<String>,
    pub profile: String,
    /// Empty in records from before they were told.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub images: Vec<ImageKind>,
    /// Every selected case has its result.
    pub complete: bool,
    /// A filter or exact name chose among the cases.
    pub filtered: bool,
    /// Many processes wrote the run (`cargo nextest`), each its own cases; none of them knows whether all are there.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub joined: bool,
    /// Environment variables that change how drivers compile or launch, as found (and cleared for the workers).
    pub environment: BTreeMap<String, String>,
    /// Schedules of the simulated device, where more than the fair one was asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub schedules: Option<SchedulesRecord>,
    /// Rules for whole runs that this one broke. A filtered run is held to those of its results alone.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub problems: Vec<RunProblem>,
    /// What became of each waiver; of a filtered run, those that waived.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub waivers: Vec<WaiverRecord>,
    /// What was chosen and selected, so that the run can be resumed; none where other processes take part.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub choices: Option<ChoicesRecord>,
    /// Each time that the run was taken up again after it died.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub resumed: Vec<ResumedRecord>,
    /// From the first allocation to the last verdict, without process start and context creation; of a run that was
    /// resumed, since then.
    pub work_ms: f64,
    /// The whole run; of one that was resumed, since then.
    pub wall_ms: f64,
}

/// What a run was asked for, and what that selected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChoicesRecord {
    /// `auto`, `sim`, `cuda:0` or a UUID.
    pub device: String,
    /// None: the device's default.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub profile: Option<String>,
    /// None: the device's default.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub images: Option<Vec<ImageKind>>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub filters: Vec<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub exact: bool,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub skip: Vec<String>,
    /// The folders that were named; none: those where the run was started, else the embedded copies.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub specs: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub kernels: Option<String>,
    /// A case's deadline.
    pub timeout_s: f64,
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub redact: bool,
    /// Cases selected, also those that are skipped before any device is opened.
    pub cases: usize,
    /// SHA-256 of their ids, in order, each with a newline.
    pub cases_sha256: String,
    /// SHA-256 of the sources and the PTX of the kernels that the suites name.
    pub kernels_sha256: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResumedRecord {
    /// RFC 3339, UTC.
    pub at: String,
    /// Results that were there then.
    pub results: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteRecord {
    pub version: String,
    pub commit: Option<String>,
    pub dirty: Option<bool>,
    pub specs: Vec<SpecRecord>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpecRecord {
    pub path: String,
    pub sha256: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceRecord {
    /// What the device said of itself; none where no device could be opened.
    pub info: Option<DeviceInfo>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub unavailable: Option<Reason>,
    /// The kernel driver's version (`580.159.04`), where there is one.
    pub driver_version: Option<String>,
    /// NVML fields that do not change: field → `{value}` or `{unavailable}`.
    pub identity: BTreeMap<String, Field>,
    /// NVML fields that change, read before the run and after.
    pub before: BTreeMap<String, Field>,
    pub after: BTreeMap<String, Field>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Totals {
    pub pass: usize,
    pub fail: usize,
    pub skip: usize,
    pub waived: usize,
    pub error: usize,
    /// `skip`, by kind.
    #[serde(skip_serializing_if = "Skips::is_empty", default)]
    pub skips: Skips,
}

/// Skipped cases by the kind of their reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Skips {
    /// Unsupported by the device.
    pub unsupported: usize,
    pub deselected: usize,
    pub needs_hardware: usize,
    pub built_without: usize,
}
