//! `expect`: what a gate's outcome is worth, given what was expected of it.

use crate::outcome::{Finding, Reason};
use crate::spec::model::Expect;
use crate::terms::{DeviceKind, FindingKind, Outcome, ReasonKind};

/// A case's outcome, its reason and its findings.
pub type Judged = (Outcome, Option<Reason>, Vec<Finding>);

/// Judges what happened against what was expected.
///
/// - `Pass`: what happened stands.
/// - `Fail`: passes if the kind expected on this device is among the findings. Others may stand beside it, since one
///   fault often shows in several ways. Other findings alone, or none, fail.
/// - `Error`: passes if the case ended in an error of that kind. Anything else it ran into is no pass.
///
/// Findings make a `pass` or a `skip` a `fail` first, unless all are notes: what has shown itself to be wrong is not
/// skipped. A skip without findings is a skip whatever was expected. An error satisfies only `Error`. Findings and
/// reason are kept when the expectation is met, so that a report shows what was found.
pub fn expectation(
    expect: &Expect,
    device: DeviceKind,
    outcome: Outcome,
    findings: Vec<Finding>,
    reason: Option<Reason>,
    stage: Stage,
) -> Judged {
    let (outcome, reason) = match outcome {
        Outcome::Pass | Outcome::Skip if findings.iter().any(|f| !f.kind.is_note()) => {
            (Outcome::Fail, None)
        }
        outcome => (outcome, reason),
    };
    match (expect, outcome) {
        (Expect::Pass, _) | (_, Outcome::Skip | Outcome::Waived) => (outcome, reason, findings),
        (Expect::Fail { cuda, sim }, Outcome::Pass | Outcome::Fail) => {
            let kind = match device {
                DeviceKind::Cuda => *cuda,
                DeviceKind::Sim => *sim,
            };
            if findings.iter().any(|finding| finding.kind == kind) {
                return (Outcome::Pass, reason, findings);
            }
            let message = format!("expected {kind}, found {}", kinds(&findings));
            unmet(message, reason, findings)
        }
        (Expect::Fail { .. }, Outcome::Error) => (outcome, reason, findings),
        (Expect::Error { kind }, Outcome::Error) => match reason {
            Some(reason) if reason.kind == *kind && can_be_expected(*kind, stage) => {
                // What the card suffered meanwhile is nothing that a gate can expect.
                match findings.iter().any(|f| f.kind == FindingKind::Health) {
                    true => {
                        let message =
                            format!("expected error {kind} alone, found {}", kinds(&findings));
                        unmet(message, Some(reason), findings)
                    }
                    false => (Outcome::Pass, Some(reason), findings),
                }
            }
            reason => (outcome, reason, findings),
        },
        (Expect::Error { kind }, Outcome::Pass | Outcome::Fail) => {
            let message = format!("expected error {kind}, found {}", kinds(&findings));
            unmet(message, reason, findings)
        }
    }
}

/// How far a case came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Nothing was asked of the device.
    Planning,
    /// Code, buffers and inputs go to the device.
    Loading,
    /// The first step was to follow, or did.
    Running,
}

/// Whether an error of this kind may be what a gate expects. A shape is refused by the plan, and kernels fault and hang
/// while they run: the same error elsewhere is another fault, as a full card or a driver that hangs while it loads. An
/// environment error is never what a gate is about.
pub fn can_be_expected(kind: ReasonKind, stage: Stage) -> bool {
    match kind {
        ReasonKind::Setup => stage == Stage::Planning,
        ReasonKind::KernelFault | ReasonKind::Hang => stage == Stage::Running,
        _ => false,
    }
}

/// The unmet expectation comes first, then what was found instead.
fn unmet(message: String, reason: Option<Reason>, mut findings: Vec<Finding>) -> Judged {
    findings.insert(0, Finding::new(FindingKind::Assert, message));
    (Outcome::Fail, reason, findings)
}

fn kinds(findings: &[Finding]) -> String {
    let mut names: Vec<&str> = findings.iter().map(|finding| finding.kind.name()).collect();
    names.sort_unstable();
    names.dedup();
    match names.as_slice() {
        [] => "nothing".to_owned(),
        names => names.join(", "),
    }
}
