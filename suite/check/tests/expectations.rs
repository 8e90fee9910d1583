//! What an expectation makes of what was found.

use super::super::{Judged, Stage, expectation};
use crate::outcome::{Finding, Reason};
use crate::spec::model::Expect;
use crate::terms::{DeviceKind, FindingKind, Outcome, ReasonKind};

fn judge(
    expect: &Expect,
    outcome: Outcome,
    found: &[FindingKind],
    reason: Option<ReasonKind>,
) -> Judged {
    let findings = found
        .iter()
        .map(|kind| Finding::new(*kind, "found"))
        .collect();
    let reason = reason.map(|kind| Reason::new(kind, "why"));
    // Where such errors come from.
    let planned = reason
        .as_ref()
        .is_some_and(|reason| reason.kind == ReasonKind::Setup);
    let stage = if planned {
        Stage::Planning
    } else {
        Stage::Running
    };
    expectation(expect, DeviceKind::Cuda, outcome, findings, reason, stage)
}

#[test]
fn an_expected_error_must_come_from_where_the_gate_can_cause_it() {
    use ReasonKind::{Environment, Hang, KernelFault, Setup};
    let table = [
        (Setup, [Outcome::Pass, Outcome::Error, Outcome::Error]),
        (KernelFault, [Outcome::Error, Outcome::Error, Outcome::Pass]),
        (Hang, [Outcome::Error, Outcome::Error, Outcome::Pass]),
        (Environment, [Outcome::Error; 3]),
    ];
    let stages = [Stage::Planning, Stage::Loading, Stage::Running];
    let all = table.into_iter().flat_map(|(kind, judged)| {
        let both = stages.into_iter().zip(judged);
        both.map(move |(stage, judged)| (kind, stage, judged))
    });
    for (kind, stage, judged) in all {
        let (expect, reason) = (Expect::Error { kind }, Some(Reason::new(kind, "why")));
        let error = Outcome::Error;
        let (outcome, reason, _) =
            expectation(&expect, DeviceKind::Cuda, error, Vec::new(), reason, stage);
        assert_eq!(outcome, judged, "{kind} {stage:?}");
        assert_eq!(reason.unwrap().to_string(), format!("{kind}: why"));
    }
}

#[test]
fn a_card_that_suffers_is_no_part_of_an_expected_error() {
    let expect = Expect::Error {
        kind: ReasonKind::Hang,
    };
    let found = [FindingKind::Health];
    let (outcome, _, findings) = judge(&expect, Outcome::Error, &found, Some(ReasonKind::Hang));
    assert_eq!(outcome, Outcome::Fail);
    assert_eq!(
        findings[0].message,
        "expected error hang alone, found health"
    );
    assert_eq!(findings[1].kind, FindingKind::Health);
}

#[test]
fn expectations_against_a_literal_table() {
    use FindingKind::{Guard, Mismatch, OutOfBounds, Unwritten};
    use Outcome::{Error, Fail, Pass, Skip};
    use ReasonKind::{KernelFault, NeedsHardware, Setup};
    let pass = Expect::Pass;
    let fail = Expect::Fail {
        cuda: Mismatch,
        sim: OutOfBounds,
    };
    let error = Expect::Error { kind: Setup };
    type Row<'a> = (
        &'a Expect,
        Outcome,
        &'a [FindingKind],
        Option<ReasonKind>,
        Outcome,
        &'a str,
    );
    let table: &[Row<'_>] = &[
        (&pass, Pass, &[], None, Pass, ""),
        (&pass, Fail, &[Mismatch], None, Fail, ""),
        (&pass, Pass, &[Guard], None, Fail, ""),
        (&pass, Skip, &[], Some(NeedsHardware), Skip, ""),
        (&pass, Skip, &[Guard], Some(NeedsHardware), Fail, ""),
        (&pass, Error, &[], Some(Setup), Error, ""),
        (&fail, Fail, &[Mismatch], None, Pass, ""),
        (&fail, Fail, &[Unwritten, Mismatch], None, Pass, ""),
        (
            &fail,
            Fail,
            &[OutOfBounds],
            None,
            Fail,
            "expected mismatch, found out_of_bounds",
        ),
        (
            &fail,
            Fail,
            &[Unwritten, Guard, Unwritten],
            None,
            Fail,
            "expected mismatch, found guard, unwritten",
        ),
        (
            &fail,
            Pass,
            &[],
            None,
            Fail,
            "expected mismatch, found nothing",
        ),
        (&fail, Error, &[], Some(KernelFault), Error, ""),
        (&fail, Error, &[Mismatch], Some(KernelFault), Error, ""),
        (&fail, Skip, &[], Some(NeedsHardware), Skip, ""),
        (&error, Error, &[], Some(Setup), Pass, ""),
        (&error, Error, &[], Some(KernelFault), Error, ""),
        (&error, Error, &[], None, Error, ""),
        (
            &error,
            Pass,
            &[],
            None,
            Fail,
            "expected error setup, found nothing",
        ),
        (
            &error,
            Fail,
            &[Mismatch],
            None,
            Fail,
            "expected error setup, found mismatch",
        ),
        (&error, Skip, &[], Some(NeedsHardware), Skip, ""),
    ];
    for (expect, outcome, found, reason, judged, words) in table {
        let (outcome, _, findings) = judge(expect, *outcome, found, *reason);
        assert_eq!(outcome, *judged, "{expect:?} {found:?} {reason:?}");
        let kept = findings.len() - usize::from(!words.is_empty());
        assert_eq!(kept, found.len(), "findings are kept");
        if !words.is_empty() {
            assert_eq!(findings[0].to_string(), format!("assert: {words}"));
        }
    }
}

#[test]
fn expectation_depends_on_the_device() {
    let expect = Expect::Fail {
        cuda: FindingKind::Guard,
        sim: FindingKind::OutOfBounds,
    };
    for (kind, cuda, sim) in [
        (FindingKind::Guard, Outcome::Pass, Outcome::Fail),
        (FindingKind::OutOfBounds, Outcome::Fail, Outcome::Pass),
    ] {
        for (device, known) in [(DeviceKind::Cuda, cuda), (DeviceKind::Sim, sim)] {
            let found = vec![Finding::new(kind, "found")];
            let (outcome, ..) =
                expectation(&expect, device, Outcome::Fail, found, None, Stage::Running);
            assert_eq!(outcome, known, "{device} {kind}");
        }
    }
}

#[test]
fn a_met_error_keeps_its_reason_and_a_found_fault_drops_the_skips() {
    let error = Expect::Error {
        kind: ReasonKind::Setup,
    };
    let (_, reason, _) = judge(&error, Outcome::Error, &[], Some(ReasonKind::Setup));
    assert_eq!(reason.unwrap().to_string(), "setup: why");
    let skip = Some(ReasonKind::NeedsHardware);
    let (_, reason, _) = judge(&Expect::Pass, Outcome::Skip, &[FindingKind::Guard], skip);
    assert_eq!(reason, None);
}

/// A race that leaves every value as it is stands in the report, and is a failure only beside another finding.
#[test]
fn a_note_fails_no_gate_but_can_be_expected() {
    let note = FindingKind::ValueRace;
    let (outcome, _, findings) = judge(&Expect::Pass, Outcome::Pass, &[note], None);
    assert_eq!((outcome, findings.len()), (Outcome::Pass, 1));
    let skip = Some(ReasonKind::NeedsHardware);
    assert_eq!(
        judge(&Expect::Pass, Outcome::Skip, &[note], skip).0,
        Outcome::Skip
    );
    let race = [note, FindingKind::Race];
    assert_eq!(
        judge(&Expect::Pass, Outcome::Pass, &race, None).0,
        Outcome::Fail
    );
    let wanted = |kind| Expect::Fail {
        cuda: kind,
        sim: kind,
    };
    assert_eq!(
        judge(&wanted(note), Outcome::Pass, &[note], None).0,
        Outcome::Pass
    );
    assert_eq!(
        judge(&wanted(FindingKind::Race), Outcome::Pass, &[note], None).0,
        Outcome::Fail
    );
}
