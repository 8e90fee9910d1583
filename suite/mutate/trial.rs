//! One mutant against a suite: who notices it first, and whether anyone does.
//!
//! Imports `device` (schedules), `outcome` and `terms`.

use std::sync::Arc;

use super::baseline::Known;
use super::bench::{Bench, Ran, Setting};
use super::mutant::Mutant;
use crate::device::sim::Schedule;
use crate::outcome::Finding;
use crate::terms::{Outcome, ReasonKind};

/// Who noticed, in which case, under which schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    /// The case's id.
    pub case: String,
    pub gate: String,
    pub schedule: Schedule,
    /// The finding's or the fault's words.
    pub message: String,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Fate {
    /// A gate fails.
    Gate(Notice),
    /// The launch ends in a fault.
    Fault(Notice),
    /// The launch does not end.
    Hang(Notice),
    /// A detector of the simulated device found something, and every gate passes.
    Detector(Notice),
    Survived {
        /// Every buffer holds the baseline's content after every pipeline, and the detectors note what they noted
        /// there, under every schedule that was tried.
        identical: bool,
    },
    /// The mutant is no kernel that this device runs: nothing can be said of the suite.
    Invalid(String),
}

/// Runs the units that launch the mutant's kernel, the cheapest first, until a gate fails or a launch does not end
/// well. What only a detector finds runs on: a gate may notice it as well. The first of these schedules has the number
/// `first` among all.
pub fn trial(
    bench: &mut Bench,
    known: &[Known],
    schedules: &[Schedule],
    first: usize,
    mutant: &Arc<Mutant>,
) -> Fate {
    let mut trial = Trial {
        bench,
        mutant,
        detector: None,
        identical: true,
    };
    for (number, &schedule) in schedules.iter().enumerate() {
        for known in known {
            if !known.launches(&mutant.module, &mutant.kernel) {
                continue;
            }
            if let Some(fate) = trial.unit(known, first + number, schedule) {
                return fate;
            }
        }
        // Only what survives one schedule is tried under the next.
        if let Some(notice) = trial.detector {
            return Fate::Detector(notice);
        }
    }
    Fate::Survived {
        identical: trial.identical,
    }
}

impl Fate {
    /// With what became of it under further schedules.
    pub fn then(self, later: Self) -> Self {
        match (self, later) {
            (Self::Survived { identical: a }, Self::Survived { identical: b }) => {
                Self::Survived { identical: a && b }
            }
            (Self::Survived { .. }, later) => later,
            (noticed, _) => noticed,
        }
    }
}

struct Trial<'a> {
    bench: &'a mut Bench,
    mutant: &'a Arc<Mutant>,
    detector: Option<Notice>,
    identical: bool,
}

impl Trial<'_> {
    /// A fate, where the unit decides it.
    fn unit(&mut self, known: &Known, number: usize, schedule: Schedule) -> Option<Fate> {
        let baseline = &known.traces[number];
        for case in &known.unit.cases {
            let ran = self.bench.run(
                case,
                &Setting {
                    mutant: Some(self.mutant),
                    schedule,
                    budget: Some(&baseline.launches),
                },
            );
            let notice = |message: String| Notice {
                case: case.id.clone(),
                gate: case.gate.clone(),
                schedule,
                message,
            };
            if let Some(fate) = ended(&ran, &notice) {
                return Some(fate);
            }
            let found = ran.trace.findings.iter().find(|f| !f.kind.is_note());
            if let Some(finding) = found
                && self.detector.is_none()
            {
                self.detector = Some(notice(words(finding)));
            }
            if found.is_none() && ran.trace.is_like(baseline) {
                // The same memory passes the unit's other gates as it did.
                return None;
            }
            self.identical = false;
        }
        None
    }
}

/// A finding's line, with the instruction it is at.
fn words(finding: &Finding) -> String {
    match &finding.site {
        Some(site) => format!("{finding}, at `{}`", site.instruction),
        None => finding.to_string(),
    }
}

/// What a case that did not end well says of the mutant.
fn ended(ran: &Ran, notice: &dyn Fn(String) -> Notice) -> Option<Fate> {
    match ran.outcome {
        Outcome::Pass | Outcome::Skip => None,
        Outcome::Fail | Outcome::Waived => {
            let message = ran
                .findings
                .first()
                .map_or(String::new(), Finding::to_string);
            Some(Fate::Gate(notice(message)))
        }
        Outcome::Error => {
            let reason = ran.reason.as_ref();
            let message = reason.map_or_else(String::new, ToString::to_string);
            Some(match reason.map(|reason| reason.kind) {
                Some(ReasonKind::KernelFault) => Fate::Fault(notice(message)),
                Some(ReasonKind::Hang) => Fate::Hang(notice(message)),
                _ => Fate::Invalid(message),
            })
        }
    }
}
