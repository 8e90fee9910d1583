//! From the parts of a run to its record.

use std::collections::BTreeMap;

use super::record::{
    CaseRecord, DeviceRecord, Report, RunRecord, SCHEMA, Skips, SuiteRecord, TableRecord, Totals,
};
use super::seal::sealed;
use crate::terms::{DeviceKind, Outcome, ReasonKind};

/// Everything of a record but its cases: what is known when a run starts, completed when it ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    pub run: RunRecord,
    pub suite: SuiteRecord,
    pub host: BTreeMap<String, serde_json::Value>,
    pub toolchain: BTreeMap<String, serde_json::Value>,
    pub device: DeviceRecord,
}

impl Facts {
    /// The record, with its totals and its seal. `cases` stand in the order of selection.
    pub fn into_report(self, cases: Vec<CaseRecord>, tables: Vec<TableRecord>) -> Report {
        sealed(Report {
            schema: SCHEMA.to_owned(),
            run: self.run,
            suite: self.suite,
            host: self.host,
            toolchain: self.toolchain,
            device: self.device,
            totals: Totals::of(&cases),
            cases,
            tables,
            seal: None,
        })
    }

    /// A finished run of nothing, on no device: for examples and tests.
    pub fn sample() -> Self {
        Self {
            run: RunRecord {
                id: "20261129T224100Z-3f2a".to_owned(),
                started: "2026-11-29T22:41:00Z".to_owned(),
                finished: Some("2026-11-29T22:41:02Z".to_owned()),
                profile: "quick".to_owned(),
                complete: true,
                filtered: false,
                joined: false,
                images: Vec::new(),
                problems: Vec::new(),
                waivers: Vec::new(),
                environment: BTreeMap::new(),
                schedules: None,
                choices: None,
                resumed: Vec::new(),
                work_ms: 1500.0,
                wall_ms: 2000.0,
            },
            suite: SuiteRecord {
                version: "0.1.0".to_owned(),
                commit: None,
                dirty: None,
                specs: Vec::new(),
            },
            host: BTreeMap::new(),
            toolchain: BTreeMap::new(),
            device: DeviceRecord {
                info: None,
                unavailable: None,
                driver_version: None,
                identity: BTreeMap::new(),
                before: BTreeMap::new(),
                after: BTreeMap::new(),
            },
        }
    }
}

impl From<Report> for Facts {
    fn from(report: Report) -> Self {
        Self {
            run: report.run,
            suite: report.suite,
            host: report.host,
            toolchain: report.toolchain,
            device: report.device,
        }
    }
}

impl DeviceRecord {
    /// Results of the simulated device are never evidence of hardware.
    pub fn is_simulated(&self) -> bool {
        self.info
            .as_ref()
            .is_some_and(|info| info.kind == DeviceKind::Sim)
    }
}

impl Totals {
    pub fn of<'a>(cases: impl IntoIterator<Item = &'a CaseRecord>) -> Self {
        let mut totals = Self::default();
        for case in cases {
            totals.add(case);
        }
        totals
    }

    pub fn add(&mut self, case: &CaseRecord) {
        if case.outcome == Outcome::Skip
            && let Some(reason) = &case.reason
        {
            self.skips.add(reason.kind);
        }
        *match case.outcome {
            Outcome::Pass => &mut self.pass,
            Outcome::Fail => &mut self.fail,
            Outcome::Skip => &mut self.skip,
            Outcome::Waived => &mut self.waived,
            Outcome::Error => &mut self.error,
        } += 1;
    }

    /// Cases counted.
    pub fn all(&self) -> usize {
        self.pass + self.fail + self.skip + self.waived + self.error
    }

    /// `3 passed, 0 failed, 1 skipped`, then waived and errors where there are any.
    pub fn line(&self) -> String {
        let mut line = format!(
            "{} passed, {} failed, {} skipped",
            self.pass, self.fail, self.skip
        );
        if self.waived > 0 {
            line.push_str(&format!(", {} waived", self.waived));
        }
        match self.error {
            0 => {}
            1 => line.push_str(", 1 error"),
            many => line.push_str(&format!(", {many} errors")),
        }
        line
    }
}

impl Skips {
    fn add(&mut self, kind: ReasonKind) {
        match kind {
            ReasonKind::Unsupported => self.unsupported += 1,
            ReasonKind::Deselected => self.deselected += 1,
            ReasonKind::NeedsHardware => self.needs_hardware += 1,
            ReasonKind::BuiltWithout => self.built_without += 1,
            // No skip has such a reason.
            ReasonKind::Environment
            | ReasonKind::KernelFault
            | ReasonKind::Hang
            | ReasonKind::Setup => {}
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Each kind that there is, by its name, with its count.
    pub fn each(&self) -> impl Iterator<Item = (ReasonKind, usize)> {
        let kinds = [
            (ReasonKind::Unsupported, self.unsupported),
            (ReasonKind::Deselected, self.deselected),
            (ReasonKind::NeedsHardware, self.needs_hardware),
            (ReasonKind::BuiltWithout, self.built_without),
        ];
        kinds.into_iter().filter(|(_, count)| *count > 0)
    }
}
