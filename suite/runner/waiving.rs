//! Known failures are waived, case by case.

use std::collections::HashMap;

use crate::outcome::Reason;
use crate::report::record::{CaseRecord, CaseWaiver, DeviceRecord, HealthRecord};
use crate::spec::waivers::{FailureKind, OnDevice, Waiver, Waivers};
use crate::terms::{Outcome, ReasonKind};

/// The device of a run, as waivers are asked about it.
pub(super) fn on(device: &DeviceRecord) -> OnDevice<'_> {
    let info = device.info.as_ref();
    OnDevice {
        card: info.map(|info| info.name.as_str()),
        driver: device
            .driver_version
            .as_deref()
            .filter(|_| !device.is_simulated()),
    }
}

/// `2026-11-30` of an RFC 3339 time.
pub fn day(time: &str) -> &str {
    time.get(..10).unwrap_or(time)
}

/// Whether an error for this reason came before anything was judged: of a machine that is in the way, or a case that
/// cannot be set up.
pub(super) fn unjudged_for(reason: &Reason) -> bool {
    matches!(reason.kind, ReasonKind::Environment | ReasonKind::Setup)
}

/// How a case failed that ended in this outcome, or did before it was waived: each kind of finding, or the error's.
/// None where nothing was judged, and where the card suffered meanwhile: a broken card is no known failure of a case.
fn failure(record: &CaseRecord, outcome: Outcome) -> Option<Vec<FailureKind>> {
    let suffered = |health: &HealthRecord| !health.broken().is_empty();
    if record.health.as_ref().is_some_and(suffered) {
        return None;
    }
    let found = record.findings.iter().map(|finding| finding.kind);
    let found = found.filter(|kind| !kind.is_note()).map(FailureKind::Found);
    match (outcome, &record.reason) {
        (Outcome::Fail, _) => Some(found.collect()),
        (Outcome::Error, Some(reason)) if !unjudged_for(reason) => {
            Some(vec![FailureKind::Ended(reason.kind)])
        }
        _ => None,
    }
}

/// Waives a failure or an error by the first waiver that names the case and all that it did, and holds here. Where
/// nothing was judged, nothing is waived. Findings and reason stay.
pub(super) fn waive(waivers: &Waivers, device: OnDevice<'_>, today: &str, record: &mut CaseRecord) {
    let Some(kinds) = failure(record, record.outcome) else {
        return;
    };
    let mut entries = waivers.entries.iter();
    let found = entries.find(|waiver| {
        waiver.names(&record.id) && waiver.holds(device, today) && waiver.covers(&kinds)
    });
    if let Some(waiver) = found {
        record.waiver = Some(CaseWaiver {
            waives: record.outcome,
            cases: waiver.cases.clone(),
            reason: waiver.reason.clone(),
            link: waiver.link.clone(),
            expires: waiver.expires.clone(),
        });
        record.outcome = Outcome::Waived;
    }
}

/// Of the cases that were waived, by name, the waiver that did it.
pub(super) fn waived_by<'r, 'w>(
    waivers: &'w Waivers,
    device: OnDevice<'_>,
    today: &str,
    records: &'r [CaseRecord],
) -> HashMap<&'r str, &'w Waiver> {
    let mut by_pattern: HashMap<&str, Vec<&Waiver>> = HashMap::new();
    for waiver in &waivers.entries {
        by_pattern.entry(&waiver.cases).or_default().push(waiver);
    }
    let waiver = |record: &CaseRecord, told: &CaseWaiver| {
        let failure = failure(record, told.waives).unwrap_or_default();
        let entries = by_pattern.get(told.cases.as_str())?.iter();
        let mut same = entries.filter(|waiver| {
            (&waiver.reason, &waiver.link, &waiver.expires)
                == (&told.reason, &told.link, &told.expires)
        });
        // Entries may differ in their cards, drivers and kinds alone.
        same.find(|waiver| waiver.holds(device, today) && waiver.covers(&failure))
            .copied()
    };
    let waived = records.iter().filter_map(|record| {
        let told = record.waiver.as_ref()?;
        Some((record.id.as_str(), waiver(record, told)?))
    });
    waived.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Finding;
    use crate::runner::blank::blank_record;
    use crate::terms::FindingKind;

    const WAIVERS: &str = "version: 1
waivers:
  - {cases: 's::g::*', cards: T4, reason: old, link: 'https://a.b/0', expires: 2026-11-29}
  - {cases: 's::g::*', cards: T4, kinds: hang, reason: stuck, link: 'https://a.b/2', expires: 2027-11-30}
  - {cases: 's::g::*', cards: T4, driver: {from: 570}, reason: new, link: 'https://a.b/1', expires: 2026-11-30}
  - {cases: 's::h::*', cards: T4, kinds: [kernel fault, race], reason: x, link: 'https://a.b/3', expires: 2027-11-30}
";

    fn waived(outcome: Outcome, kind: Option<ReasonKind>, card: &str, id: &str) -> CaseRecord {
        let waivers = Waivers::parse("waivers.yaml", WAIVERS.as_bytes()).unwrap();
        let device = OnDevice {
            card: Some(card),
            driver: Some("580.1"),
        };
        let mut record = blank_record(id);
        record.outcome = outcome;
        record.reason = kind.map(|kind| Reason::new(kind, "why"));
        waive(&waivers, device, day("2026-11-30T10:00:00Z"), &mut record);
        record
    }

    #[test]
    fn a_failure_and_an_error_are_waived_and_keep_what_they_say() {
        for (outcome, kind, words) in [
            (Outcome::Fail, None, "new (https://a.b/1, until 2026-11-30)"),
            (
                Outcome::Error,
                Some(ReasonKind::Hang),
                "stuck (https://a.b/2, until 2027-11-30)",
            ),
        ] {
            let record = waived(outcome, kind, "T4", "s::g::jit");
            assert_eq!(record.outcome, Outcome::Waived);
            assert_eq!(record.reason.map(|reason| reason.kind), kind);
            let waiver = record.waiver.expect("a waiver");
            assert_eq!(waiver.waives, outcome);
            assert_eq!(waiver.to_string(), words);
        }
    }

    #[test]
    fn what_a_waiver_does_not_name_stays() {
        let waivers = Waivers::parse("waivers.yaml", WAIVERS.as_bytes()).unwrap();
        let device = OnDevice {
            card: Some("T4"),
            driver: Some("580.1"),
        };
        let outcome = |id: &str, found: &[FindingKind], ended, xid: Option<u64>| {
            let mut record = blank_record(id);
            record.outcome = match ended {
                Some(_) => Outcome::Error,
                None => Outcome::Fail,
            };
            record.reason = ended.map(|kind| Reason::new(kind, "why"));
            let finding = |kind: &FindingKind| Finding::new(*kind, "found");
            record.findings = found.iter().map(finding).collect();
            record.health = xid.map(|xid| HealthRecord {
                xid_events: vec![xid.into()],
                ..HealthRecord::default()
            });
            waive(&waivers, device, "2026-11-30", &mut record);
            record.outcome
        };
        use FindingKind::{Health, Mismatch, Race, ValueRace};
        use Outcome::{Error, Fail, Waived};
        let fault = Some(ReasonKind::KernelFault);
        // Where no kind is named: any finding of a check, no error.
        assert_eq!(outcome("s::g::jit", &[Mismatch, Race], None, None), Waived);
        assert_eq!(outcome("s::g::jit", &[Mismatch, Health], None, None), Fail);
        assert_eq!(outcome("s::g::jit", &[], fault, None), Error);
        // Where kinds are named: these alone, notes aside.
        assert_eq!(outcome("s::h::jit", &[Race, ValueRace], None, None), Waived);
        assert_eq!(outcome("s::h::jit", &[Race, Mismatch], None, None), Fail);
        assert_eq!(outcome("s::h::jit", &[], fault, None), Waived);
        // A program's fault has its Xid error; a card's is no known failure of a case.
        assert_eq!(outcome("s::h::jit", &[], fault, Some(31)), Waived);
        assert_eq!(outcome("s::h::jit", &[], fault, Some(79)), Error);
        assert_eq!(outcome("s::g::jit", &[Mismatch], None, Some(48)), Fail);
    }

    #[test]
    fn nothing_else_is_waived() {
        let stays = |outcome, kind, card: &str, id: &str| {
            let record = waived(outcome, kind, card, id);
            assert_eq!(
                (record.outcome, record.waiver),
                (outcome, None),
                "{card} {id}"
            );
        };
        stays(Outcome::Pass, None, "T4", "s::g::jit");
        let needs = Some(ReasonKind::NeedsHardware);
        stays(Outcome::Skip, needs, "T4", "s::g::jit");
        for unjudged in [ReasonKind::Environment, ReasonKind::Setup] {
            stays(Outcome::Error, Some(unjudged), "T4", "s::g::jit");
        }
        stays(Outcome::Fail, None, "H200", "s::g::jit");
        stays(Outcome::Fail, None, "T4", "s::other::jit");
    }
}
