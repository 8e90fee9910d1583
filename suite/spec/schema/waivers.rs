//! The schema of `waivers.yaml`.

use schemars::JsonSchema;

use super::{OneOrMany, Version};

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct WaiversFile {
    version: Version,
    waivers: Vec<Waiver>,
}

/// A known failure: its cases may fail until its last day, and must not pass.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Waiver {
    /// A case's name, in which * stands for any text; the suite is written out: compaction::exact::*::jit.
    cases: String,
    /// Names of cards as a run records them; * stands for any text.
    cards: OneOrMany<String>,
    /// What its cases are found to do, as a failure's report names it: mismatch, hang. Any finding and no error where
    /// it is left out.
    kinds: Option<OneOrMany<String>>,
    /// Any driver where it is left out.
    driver: Option<Drivers>,
    reason: String,
    /// Where the failure is followed up.
    link: String,
    /// The last day it holds: 2027-01-31.
    #[schemars(regex(pattern = r"^\d{4}-\d{2}-\d{2}$"))]
    expires: String,
    /// Its cases may pass as well.
    intermittent: Option<bool>,
}

#[derive(JsonSchema)]
#[schemars(untagged)]
enum Drivers {
    Exactly(DriverVersion),
    Range(DriverRange),
}

/// From the first on, and before the second.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct DriverRange {
    from: Option<DriverVersion>,
    below: Option<DriverVersion>,
}

/// A driver's version: 580.159.04. YAML reads one with a single point as a number.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum DriverVersion {
    Text(String),
    Number(f64),
}
