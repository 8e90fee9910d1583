//! The card beside its cases: what is read when, and what a health gate makes of it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::check::{self, Stage};
use crate::identity::{self, CONDITIONS, COUNTS, Field, Identity, Reading, UNAVAILABLE};
use crate::outcome::{Finding, Reason};
use crate::report::record::{BETWEEN_CASES, CaseRecord, ChangeRecord, HealthRecord};
use crate::spec::model::Expect;
use crate::terms::{DeviceKind, FindingKind, Outcome, ReasonKind};
use crate::worker::NvmlProcess;

/// While cases pass a reading serves this long: thousands of short ones must not wait for NVML each.
const SERVES: Duration = Duration::from_millis(250);
/// The kernel driver reports an Xid error a moment after the program that caused it has died.
const XID_WAIT_MS: u32 = 50;
/// Among a health gate's fields: why Xid errors are not known.
const XID: &str = "xid_events";

/// Reads a card before and after its cases.
pub(super) struct Monitor {
    nvml: NvmlProcess,
    last: Option<(Instant, Reading)>,
    /// What happened beside no case.
    between: HealthRecord,
}

impl Monitor {
    pub(super) fn start(mut nvml: NvmlProcess, uuid: Option<&str>) -> Self {
        nvml.watch(uuid);
        Self {
            nvml,
            last: None,
            between: HealthRecord::default(),
        }
    }

    /// The card before a case; `exactly` now, or a moment ago. What happened before it is not the case's.
    pub(super) fn before(&mut self, exactly: bool) -> Reading {
        let xid = match self.nvml.xid_events(0) {
            Ok(numbers) => {
                self.between.xid_events.extend(numbers);
                Field::Value(Value::Array(Vec::new()))
            }
            Err(reason) => Field::Unavailable(reason),
        };
        let last = self.last.as_ref().map(|(_, reading)| reading.clone());
        let mut reading = self.reading(exactly);
        if let Some(last) = last {
            add(&mut self.between, changed(&last, &reading));
        }
        reading.insert(XID.to_owned(), xid);
        reading
    }

    /// The card after a case. `counts`: told in full, for a gate that judges them.
    pub(super) fn after(&mut self, before: &Reading, exactly: bool, counts: bool) -> HealthRecord {
        if let Some(reason) = self.nvml.unavailable() {
            return HealthRecord {
                unavailable: Some(reason.to_owned()),
                ..HealthRecord::default()
            };
        }
        let after = self.reading(exactly);
        let wait_ms = if exactly { XID_WAIT_MS } else { 0 };
        let xid = self.nvml.xid_events(wait_ms);
        record(before, after, xid, counts)
    }

    /// The card after the run, and fields of it beside its own: all Xid errors since the start, and what happened
    /// beside no case.
    pub(super) fn finish(mut self, uuid: Option<&str>) -> (Identity, BTreeMap<String, Field>) {
        // What came after the last case.
        self.before(true);
        let between = told(&self.between).map(|told| (BETWEEN_CASES.to_owned(), told));
        let (identity, xid) = self.nvml.finish(uuid);
        let fields = between.into_iter().chain([(XID.to_owned(), xid)]);
        (identity, fields.collect())
    }

    fn reading(&mut self, exactly: bool) -> Reading {
        match &self.last {
            Some((at, reading)) if !exactly && at.elapsed() < SERVES => reading.clone(),
            _ => {
                let reading = self.nvml.read();
                self.last = Some((Instant::now(), reading.clone()));
                reading
            }
        }
    }
}

fn record(
    before: &Reading,
    after: Reading,
    xid: Result<Vec<serde_json::Value>, String>,
    counts: bool,
) -> HealthRecord {
    let mut changed = changed(before, &after);
    let mut shown: BTreeMap<String, Field> = after;
    // What cannot be read says so once, in the run's own fields.
    shown.retain(|name, field| {
        let known = matches!(field, Field::Value(_));
        counts || (known && CONDITIONS.contains(&name.as_str()))
    });
    let xid_events = xid.unwrap_or_else(|reason| {
        if let Some(Field::Value(none)) = before.get(XID) {
            let lost = ChangeRecord {
                before: none.clone(),
                after: json!({ UNAVAILABLE: reason }),
            };
            changed.insert(XID.to_owned(), lost);
        }
        if counts {
            shown.insert(XID.to_owned(), Field::Unavailable(reason));
        }
        Vec::new()
    });
    HealthRecord {
        after: shown,
        changed,
        xid_events,
        unavailable: None,
    }
}

fn changed(before: &Reading, after: &Reading) -> BTreeMap<String, ChangeRecord> {
    let changes = identity::changes(before, after).into_iter().map(|change| {
        let record = ChangeRecord {
            before: change.before,
            after: change.after,
        };
        (change.field.to_owned(), record)
    });
    changes.collect()
}

/// Adds later changes: a field keeps what it was first.
fn add(between: &mut HealthRecord, later: BTreeMap<String, ChangeRecord>) {
    for (name, change) in later {
        let after = change.after.clone();
        between.changed.entry(name).or_insert(change).after = after;
    }
}

/// None where nothing happened.
fn told(between: &HealthRecord) -> Option<Field> {
    let happened = !between.changed.is_empty() || !between.xid_events.is_empty();
    let value = happened.then(|| serde_json::to_value(between).ok());
    value.flatten().map(Field::Value)
}

/// Judges a health gate whose case ran: what is worse is a finding, and so is what could be read before the case and
/// cannot after it. Where nothing could be read at all there is nothing to judge.
pub(super) fn judge(record: &mut CaseRecord, expect: &Expect, stage: Stage) {
    let Some(health) = &record.health else {
        return;
    };
    if let Some(reason) = unreadable(health)
        && record.outcome == Outcome::Pass
    {
        let message = format!("the card's health cannot be read: {reason}");
        record.outcome = Outcome::Skip;
        record.reason = Some(Reason::new(ReasonKind::Unsupported, message));
        return;
    }
    let xid = health.xid_events.iter();
    let xid = xid.map(|xid| format!("Xid {xid} while the case ran"));
    let changed = health.changed.iter().map(|(name, change)| {
        let before = &change.before;
        match change.lost() {
            Some(reason) => {
                format!("{name} was {before} before the case and cannot be read after it: {reason}")
            }
            None => {
                let after = &change.after;
                format!("{name} was {before} before the case and is {after} after it")
            }
        }
    });
    let found = xid.chain(changed);
    let found: Vec<Finding> = found
        .map(|message| Finding::new(FindingKind::Health, message))
        .collect();
    let mut findings = std::mem::take(&mut record.findings);
    findings.extend(found);
    (record.outcome, record.reason, record.findings) = check::expectation(
        expect,
        DeviceKind::Cuda,
        record.outcome,
        findings,
        record.reason.take(),
        stage,
    );
}

/// Why not one of the fields that a health gate judges is known, or was before the case; none if one is.
fn unreadable(health: &HealthRecord) -> Option<String> {
    if !health.changed.is_empty() {
        return None;
    }
    if health.unavailable.is_some() {
        return health.unavailable.clone();
    }
    let xid = match health.after.get(XID) {
        None => return None,
        Some(Field::Unavailable(reason)) => reason.clone(),
        Some(Field::Value(_)) => return None,
    };
    let judged = COUNTS.iter().copied().chain(["throttle_reasons"]);
    let known = |name: &str| matches!(health.after.get(name), Some(Field::Value(_)));
    judged.map(known).all(|known| !known).then_some(xid)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::blank::blank_record;
    use crate::worker::NvmlLaunch;

    fn reading(ecc: Value, throttle: Value) -> Reading {
        let fields = [
            ("ecc_uncorrected_volatile", ecc),
            ("throttle_reasons", throttle),
            ("temperature_c", json!(41)),
        ];
        let field = |(name, value): (&str, Value)| match value {
            Value::Null => (name.to_owned(), Field::Unavailable("not supported".into())),
            value => (name.to_owned(), Field::Value(value)),
        };
        fields.map(field).into_iter().collect()
    }

    fn judged(expect: &Expect, health: HealthRecord) -> CaseRecord {
        let mut record = blank_record("s::well::jit");
        record.health = Some(health);
        judge(&mut record, expect, Stage::Running);
        record
    }

    #[test]
    fn a_health_gate_passes_on_a_card_that_stays_well_and_fails_on_each_thing_worse() {
        let before = reading(json!(0), json!([]));
        let told = |after: Reading, xid: Vec<Value>| record(&before, after, Ok(xid), true);
        let control = Expect::Fail {
            cuda: FindingKind::Health,
            sim: FindingKind::Health,
        };
        let well = told(before.clone(), vec![]);
        assert_eq!(judged(&Expect::Pass, well.clone()).outcome, Outcome::Pass);
        let missed = judged(&control, well);
        assert_eq!(
            missed.outcome,
            Outcome::Fail,
            "a control that finds nothing"
        );
        for (health, words) in [
            (
                told(before.clone(), vec![json!(79)]),
                "Xid 79 while the case ran",
            ),
            (
                told(reading(json!(1), json!([])), vec![]),
                "ecc_uncorrected_volatile was 0 before the case and is 1 after it",
            ),
            (
                told(reading(json!(0), json!(["hw_slowdown"])), vec![]),
                r#"throttle_reasons was [] before the case and is ["hw_slowdown"] after it"#,
            ),
        ] {
            let failed = judged(&Expect::Pass, health.clone());
            assert_eq!(failed.outcome, Outcome::Fail);
            let kinds: Vec<_> = failed
                .findings
                .iter()
                .map(|f| (f.kind, f.message.as_str()))
                .collect();
            assert_eq!(kinds, [(FindingKind::Health, words)]);
            assert_eq!(judged(&control, health).outcome, Outcome::Pass, "a control");
        }
    }

    #[test]
    fn what_cannot_be_read_is_skipped_with_its_reason_and_a_part_is_enough() {
        let none = reading(Value::Null, Value::Null);
        let unknown = || Err("the driver gives no events".to_owned());
        let nothing = record(&none, none.clone(), unknown(), true);
        let skipped = judged(&Expect::Pass, nothing);
        assert_eq!(skipped.outcome, Outcome::Skip);
        assert_eq!(
            skipped.reason.unwrap().to_string(),
            "unsupported by this device: the card's health cannot be read: the driver gives no events"
        );
        let part = reading(json!(0), Value::Null);
        let health = record(&part, part.clone(), unknown(), true);
        assert_eq!(
            health.after["xid_events"],
            Field::Unavailable("the driver gives no events".into())
        );
        assert_eq!(judged(&Expect::Pass, health).outcome, Outcome::Pass);
        // Beside other cases only what is known stands.
        let beside = record(&part, part.clone(), unknown(), false);
        let names: Vec<&str> = beside.after.keys().map(String::as_str).collect();
        assert_eq!(names, ["temperature_c"]);
    }

    #[test]
    fn a_card_that_is_lost_during_a_health_gate_fails_it() {
        let gone = || "GPU is lost: reboot".to_owned();
        let mut before = reading(json!(0), json!([]));
        let none = reading(Value::Null, Value::Null);
        let told = |before: &Reading| record(before, none.clone(), Err(gone()), true);
        let failed = judged(&Expect::Pass, told(&before));
        assert_eq!(failed.outcome, Outcome::Fail);
        let messages: Vec<&str> = failed.findings.iter().map(|f| f.message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "ecc_uncorrected_volatile was 0 before the case and cannot be read after it: not supported",
                "throttle_reasons was [] before the case and cannot be read after it: not supported"
            ]
        );
        // Xid errors alone are enough.
        before.clear();
        assert_eq!(judged(&Expect::Pass, told(&before)).outcome, Outcome::Skip);
        before.insert(XID.to_owned(), Field::Value(json!([])));
        let failed = judged(&Expect::Pass, told(&before));
        assert_eq!(failed.outcome, Outcome::Fail);
        let words =
            "xid_events was [] before the case and cannot be read after it: GPU is lost: reboot";
        assert_eq!(failed.findings[0].message, words);
        // And beside a case that judges something else it is told.
        let beside = record(&before, none.clone(), Err(gone()), false);
        assert_eq!(beside.changed.len(), 1);
    }

    #[test]
    fn what_happens_beside_no_case_is_kept_for_the_run() {
        let well = reading(json!(0), json!([]));
        let mut between = HealthRecord::default();
        add(&mut between, changed(&well, &well));
        assert_eq!(told(&between), None);
        let (one, three) = (reading(json!(1), json!([])), reading(json!(3), json!([])));
        add(&mut between, changed(&well, &one));
        add(&mut between, changed(&one, &three));
        between.xid_events.push(json!(31));
        assert_eq!(
            between.to_string(),
            "Xid 31; ecc_uncorrected_volatile 0 → 3"
        );
        let Some(Field::Value(value)) = told(&between) else {
            panic!("something happened")
        };
        assert_eq!(
            serde_json::from_value::<HealthRecord>(value).unwrap(),
            between
        );
    }

    #[test]
    fn a_health_gate_may_expect_the_death_of_its_run() {
        let hang = || {
            let mut record = blank_record("s::well::jit");
            record.outcome = Outcome::Error;
            record.reason = Some(Reason::new(ReasonKind::Hang, "no answer"));
            record
        };
        let expect = Expect::Error {
            kind: ReasonKind::Hang,
        };
        let none = reading(Value::Null, Value::Null);
        let well = reading(json!(0), json!([]));
        let unknown = || Err("the driver gives no events".to_owned());
        for readings in [&none, &well] {
            let mut died = hang();
            died.health = Some(record(readings, readings.clone(), unknown(), true));
            judge(&mut died, &expect, Stage::Running);
            assert_eq!(died.outcome, Outcome::Pass);
            assert_eq!(died.findings, []);
        }
    }

    #[test]
    fn without_nvml_a_health_gate_says_so() {
        let nvml = NvmlProcess::start(NvmlLaunch {
            program: "/bin/sh".into(),
            arguments: vec!["-c".into(), "exit 3".into()],
            limit: Duration::from_secs(60),
        });
        let mut monitor = Monitor::start(nvml, None);
        let before = monitor.before(true);
        let health = monitor.after(&before, true, true);
        let reason = "environment: NVML ended its process: exit code 3";
        assert_eq!(health.unavailable.as_deref(), Some(reason));
        let skipped = judged(&Expect::Pass, health);
        assert_eq!(skipped.outcome, Outcome::Skip);
        assert!(skipped.reason.unwrap().message.contains(reason));
    }
}
