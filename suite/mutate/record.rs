//! What a mutation run gave, as it is written and shown. Imports `device` (schedules) and the operators.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::operators::Operator;
use crate::device::sim::Schedule;
use crate::terms::{Profile, named_enum};

pub const SCHEMA: &str = "cuda-gates.mutation/1.0";

/// A mutation run: `mutation.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MutationReport {
    pub schema: String,
    /// The run's id, as its folder is named.
    pub id: String,
    /// RFC 3339, UTC.
    pub started: String,
    pub finished: String,
    /// Of cuda-gates, whose simulated device this was.
    pub version: String,
    pub profile: Profile,
    /// Schedules that a survivor was tried under, the fair one among them.
    pub schedules: u32,
    pub seed: u64,
    pub operators: Vec<Operator>,
    /// Per cent of the mutants that are not equivalent; a suite below is not good enough.
    pub least_score: f64,
    pub suites: Vec<SuiteRecord>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteRecord {
    pub suite: String,
    /// The spec's path and the hash of its bytes.
    pub spec: String,
    pub spec_sha256: String,
    /// Cases that judge a mutant.
    pub cases: usize,
    /// Mutants that the operators make of the suite's kernels; those that were run are in `mutants`.
    pub made: usize,
    pub totals: Totals,
    /// Per cent of the mutants that are not equivalent; none where there is no such mutant.
    pub score: Option<f64>,
    pub by_operator: IndexMap<Operator, Totals>,
    pub by_kernel: IndexMap<String, Totals>,
    pub mutants: Vec<MutantRecord>,
    /// What is wrong with the list of equivalents.
    pub problems: Vec<String>,
    /// Launches whose grid is not changed, and why.
    pub notes: Vec<String>,
    pub wall_ms: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Totals {
    pub mutants: usize,
    /// Noticed by a gate.
    pub gate: usize,
    /// Noticed by a detector alone.
    pub detector: usize,
    /// Ended in a fault or did not end.
    pub fault: usize,
    pub survived: usize,
    pub equivalent: usize,
    pub invalid: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MutantRecord {
    /// `kernel:line:operator`, and `:n` where the operator changes that line in several ways.
    pub id: String,
    pub operator: Operator,
    pub module: String,
    pub kernel: String,
    /// Line in the PTX text, from 1.
    pub line: u32,
    /// `file:line` of the CUDA source, where the PTX has line information.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub source: Option<String>,
    pub before: String,
    /// Empty where the instruction is gone.
    pub after: String,
    pub outcome: MutantOutcome,
    /// Who noticed first.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub by: Option<NoticeRecord>,
    /// Of a survivor: whether all memory and all findings were the same as without the change.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub identical: Option<bool>,
    /// Why it is held to be equivalent, or why it could not be run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
}

named_enum! {
    /// What became of a mutant.
    MutantOutcome {
        /// A gate fails.
        Gate = "gate",
        /// Every gate passes, and a detector of the simulated device finds something.
        Detector = "detector",
        /// A launch ends in a fault.
        Fault = "fault",
        /// A launch does not end.
        Hang = "hang",
        Survived = "survived",
        /// Listed as equivalent, and nothing in this run speaks against that.
        Equivalent = "equivalent",
        /// No kernel that the simulated device runs.
        Invalid = "invalid",
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NoticeRecord {
    /// The case's id.
    pub case: String,
    pub gate: String,
    pub schedule: Schedule,
    pub message: String,
}

impl MutationReport {
    /// Pretty-printed, with a newline at the end.
    ///
    /// # Errors
    /// Only when a value cannot be written as JSON.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        Ok(text)
    }
}

/// The JSON Schema of `mutation.json`, with a newline at the end: committed as `docs/schema/mutation.schema.json`.
pub fn schema() -> String {
    let schema = schemars::schema_for!(MutationReport);
    format!("{:#}\n", schema.as_value())
}
