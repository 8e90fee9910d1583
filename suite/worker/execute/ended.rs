//! How a case ended under one schedule, and what that says of its gate.

use super::{expected, outcome_of};
use crate::check::{self, Stage};
use crate::device::sim::Schedule;
use crate::outcome::{Fault, Reason};
use crate::report::record::CaseRecord;
use crate::spec::model::Expect;
use crate::terms::{DeviceKind, FindingKind, Outcome, ReasonKind};

/// How a case ended under one schedule, before anyone asks what was expected.
pub(super) struct Ended {
    pub schedule: Schedule,
    /// Outcome, reason and findings are in here.
    pub record: CaseRecord,
    pub stage: Stage,
}

/// What one run says of the gate as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    Nothing,
    /// The gate has its expected failure.
    Expected,
    /// A control found something, and not what it expects: another schedule may show that.
    Otherwise,
    /// The gate does not pass, whatever other schedules show.
    Decided,
}

/// A failure's kind: simpler schedules must keep it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Found(FindingKind),
    Ended(ReasonKind),
}

impl Ended {
    /// Findings make a pass or a skip a failure.
    pub fn of(
        mut record: CaseRecord,
        schedule: Schedule,
        result: Result<Option<Reason>, Fault>,
        stage: Stage,
    ) -> Self {
        let (outcome, reason) = match result {
            Ok(Some(skip)) => (Outcome::Skip, Some(skip)),
            Ok(None) => (Outcome::Pass, None),
            Err(fault) => (outcome_of(&fault.reason), Some(fault.reason)),
        };
        (record.outcome, record.reason) = match outcome {
            Outcome::Pass | Outcome::Skip if record.findings.iter().any(|f| !f.kind.is_note()) => {
                (Outcome::Fail, None)
            }
            outcome => (outcome, reason),
        };
        Self {
            schedule,
            record,
            stage,
        }
    }

    /// What the gate's expectation makes of it.
    pub fn judged(self, expect: &Expect, device: DeviceKind) -> CaseRecord {
        let mut record = self.record;
        record.expected = expected(expect, device);
        (record.outcome, record.reason, record.findings) = check::expectation(
            expect,
            device,
            record.outcome,
            std::mem::take(&mut record.findings),
            record.reason.take(),
            self.stage,
        );
        record
    }

    pub fn says(&self, expect: &Expect, device: DeviceKind) -> Says {
        let expected = match expect {
            Expect::Pass => false,
            Expect::Fail { cuda, .. } if device == DeviceKind::Cuda => {
                self.shows(Kind::Found(*cuda))
            }
            Expect::Fail { sim, .. } => self.shows(Kind::Found(*sim)),
            Expect::Error { kind } => {
                self.shows(Kind::Ended(*kind)) && check::can_be_expected(*kind, self.stage)
            }
        };
        match (expected, expect, self.kind()) {
            (true, ..) => Says::Expected,
            (false, _, None) => Says::Nothing,
            (false, Expect::Fail { .. }, Some(Kind::Found(_))) => Says::Otherwise,
            (false, ..) => Says::Decided,
        }
    }

    /// Of what kind the failure is; none where there is none.
    pub fn kind(&self) -> Option<Kind> {
        match self.record.outcome {
            Outcome::Error => self
                .record
                .reason
                .as_ref()
                .map(|reason| Kind::Ended(reason.kind)),
            Outcome::Fail => self
                .record
                .findings
                .iter()
                .find(|finding| !finding.kind.is_note())
                .map(|finding| Kind::Found(finding.kind)),
            Outcome::Pass | Outcome::Skip | Outcome::Waived => None,
        }
    }

    pub fn shows(&self, failure: Kind) -> bool {
        let Self { record, .. } = self;
        match failure {
            Kind::Found(kind) => {
                // A note is found in a case that passes.
                let judged = matches!(record.outcome, Outcome::Fail | Outcome::Pass);
                judged && record.findings.iter().any(|f| f.kind == kind)
            }
            Kind::Ended(_) => self.kind() == Some(failure),
        }
    }
}
