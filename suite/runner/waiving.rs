//! Known failures are waived, case by case.

use std::collections::HashMap;

use crate::outcome::Reason;
use crate::report::record::{CaseRecord, CaseWaiver, DeviceRecord};
use crate::spec::waivers::{OnDevice, Waiver, Waivers};
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

/// Waives a failure or an error by the first waiver that names the case and holds here. Where nothing was judged,
/// nothing is waived. Findings and reason stay.
pub(super) fn waive(waivers: &Waivers, device: OnDevice<'_>, today: &str, record: &mut CaseRecord) {
    let judged = match record.outcome {
        Outcome::Fail => true,
        Outcome::Error => !record.reason.as_ref().is_some_and(unjudged_for),
        Outcome::Pass | Outcome::Skip | Outcome::Waived => false,
    };
    if !judged {
        return;
    }
    let mut entries = waivers.entries.iter();
    let found = entries.find(|waiver| waiver.names(&record.id) && waiver.holds(device, today));
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
    let waiver = |told: &CaseWaiver| {
        let entries = by_pattern.get(told.cases.as_str())?.iter();
        let mut same = entries.filter(|waiver| {
            (&waiver.reason, &waiver.link, &waiver.expires)
                == (&told.reason, &told.link, &told.expires)
        });
        // Entries may differ in their cards and drivers alone.
        same.find(|waiver| waiver.holds(device, today)).copied()
    };
    let waived = records.iter().filter_map(|record| {
        let told = record.waiver.as_ref()?;
        Some((record.id.as_str(), waiver(told)?))
    });
    waived.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::blank::blank_record;

    const WAIVERS: &str = "version: 1
waivers:
  - {cases: 's::g::*', cards: T4, reason: old, link: 'https://a.b/0', expires: 2026-11-29}
  - {cases: 's::g::*', cards: T4, driver: {from: 570}, reason: new, link: 'https://a.b/1', expires: 2026-11-30}
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
        for (outcome, kind) in [
            (Outcome::Fail, None),
            (Outcome::Error, Some(ReasonKind::Hang)),
            (Outcome::Error, Some(ReasonKind::KernelFault)),
        ] {
            let record = waived(outcome, kind, "T4", "s::g::jit");
            assert_eq!(record.outcome, Outcome::Waived);
            assert_eq!(record.reason.map(|reason| reason.kind), kind);
            let waiver = record.waiver.expect("a waiver");
            assert_eq!(waiver.waives, outcome);
            assert_eq!(waiver.to_string(), "new (https://a.b/1, until 2026-11-30)");
        }
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
