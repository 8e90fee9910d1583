//! Rules for whole runs: what no single case can break.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::PlannedCase;
use super::choice::{default_images, default_profile};
use super::waiving::{self, unjudged_for};
use crate::archive::Differing;
use crate::case;
use crate::identity::Field;
use crate::outcome::Reason;
use crate::report::record::{
    BETWEEN_CASES, CaseRecord, HealthRecord, RunProblem, RunRule, WaiverRecord, WaiverState,
};
use crate::spec::model::Suite;
use crate::spec::waivers::{ByCase, OnDevice, Waiver, Waivers};
use crate::terms::{DeviceKind, FindingKind, Outcome, ReasonKind};

/// Fields of a card that stay what they are while it runs.
const SAME: &[&str] = &["driver_version", "inforom_image", "uuid", "vbios"];

/// Cases of a broken card that are told one by one.
const CASES_TOLD_MAX: usize = 8;

/// A run that is over, as its rules see it.
pub(super) struct Whole<'a> {
    pub suites: &'a [Suite],
    pub waivers: &'a Waivers,
    /// The cases of the run.
    pub cases: &'a [PlannedCase],
    /// Their results, in any order.
    pub records: &'a [CaseRecord],
    pub kind: DeviceKind,
    pub device: OnDevice<'a>,
    /// `2026-11-30`
    pub today: &'a str,
}

/// How the cases that a waiver names ended.
#[derive(Default)]
struct Counts {
    /// Waived by it.
    waived: usize,
    /// Waived by an entry before it.
    others: usize,
    passed: usize,
    /// Failed, and not as it says.
    otherwise: usize,
}

/// Names of cases, by which waivers are judged.
struct Names<'n> {
    /// Of all profiles and images.
    every: ByCase<'n, ()>,
    /// Of the device's default profile and images.
    usual: ByCase<'n, &'n str>,
}

/// The results of a run, as waivers are held against them.
struct Results<'r> {
    all: ByCase<'r, &'r CaseRecord>,
    waived_by: HashMap<&'r str, &'r Waiver>,
    /// Cases that would have shown their failure.
    judged: HashSet<&'r str>,
}

impl Whole<'_> {
    /// What became of each waiver, in the file's order.
    pub(super) fn waivers(&self) -> Vec<WaiverRecord> {
        if self.waivers.entries.is_empty() {
            return Vec::new();
        }
        // Suites that cannot be expanded have no run, and no names.
        let every = case::every(self.suites).unwrap_or_default();
        let (profile, images) = (default_profile(self.kind), default_images(self.kind));
        let usual = case::expand(self.suites, profile, &images).unwrap_or_default();
        let names = Names {
            every: ByCase::new(every.iter().map(|id| (id.as_str(), ()))),
            usual: ByCase::new(
                usual
                    .iter()
                    .map(|case| (case.id.as_str(), case.id.as_str())),
            ),
        };
        let results = self.results();
        let entries = self.waivers.entries.iter();
        entries
            .map(|waiver| self.waiver(waiver, &names, &results))
            .collect()
    }

    fn results(&self) -> Results<'_> {
        let records = self.records.iter();
        let judged = records.clone().filter(|record| could_fail(record));
        Results {
            all: ByCase::new(records.map(|record| (record.id.as_str(), record))),
            waived_by: waiving::waived_by(self.waivers, self.device, self.today, self.records),
            judged: judged.map(|record| record.id.as_str()).collect(),
        }
    }

    fn waiver(&self, waiver: &Waiver, names: &Names<'_>, results: &Results<'_>) -> WaiverRecord {
        let Counts {
            waived,
            others,
            passed,
            otherwise,
        } = results.counts(waiver);
        let state = if names.every.named_by(waiver).next().is_none() {
            WaiverState::Unmatched
        } else if waiver.is_expired(self.today) {
            WaiverState::Expired
        } else if !waiver.holds(self.device, self.today) {
            WaiverState::Elsewhere
        } else if waived > 0 {
            WaiverState::Waived
        } else if otherwise > 0 {
            WaiverState::NotSeen
        } else if passed + others == 0 {
            WaiverState::NotRun
        } else if waiver.intermittent {
            WaiverState::Quiet
        } else if results.has_all(waiver, names) {
            WaiverState::Unneeded
        } else {
            WaiverState::NotSeen
        };
        WaiverRecord {
            cases: waiver.cases.clone(),
            cards: waiver.cards.clone(),
            kinds: owned(waiver.kind_names()),
            drivers: waiver.drivers.to_string(),
            reason: waiver.reason.clone(),
            link: waiver.link.clone(),
            expires: waiver.expires.clone(),
            intermittent: waiver.intermittent,
            state,
            waived,
            passed,
        }
    }

    /// Every rule that the run broke. `told`: what became of its waivers.
    pub(super) fn problems(&self, told: &[WaiverRecord]) -> Vec<RunProblem> {
        let mut problems = self.must_run();
        if told.is_empty() {
            return problems;
        }
        let results = self.results();
        let both = self.waivers.entries.iter().zip(told);
        problems.extend(both.filter_map(|(waiver, told)| self.outlived(waiver, told, &results)));
        problems
    }

    /// A waiver that is to be taken out or mended.
    fn outlived(
        &self,
        waiver: &Waiver,
        told: &WaiverRecord,
        results: &Results<'_>,
    ) -> Option<RunProblem> {
        let stale = |expired| crate::spec::waivers::Stale { waiver, expired };
        let problem = match told.state {
            WaiverState::Expired => stale(true).problem(self.waivers),
            WaiverState::Unmatched => stale(false).problem(self.waivers),
            WaiverState::Unneeded => {
                let (cases, passed) = (&waiver.cases, told.passed);
                let each = match (results.counts(waiver).others, passed) {
                    (0, 1) => "its case passed".to_owned(),
                    (0, _) => "all of its cases passed".to_owned(),
                    (others, _) => format!(
                        "entries before it waive {others} of its cases, and all others passed"
                    ),
                };
                let message = format!(
                    "the waiver of `{cases}` is no longer needed: {each} ({passed} here, in the default profile and \
                     images)"
                );
                let mend =
                    "take it out, or narrow its drivers; `intermittent: true` if it comes and goes";
                self.waivers.problem(waiver, message, mend)
            }
            _ => return None,
        };
        Some(RunProblem {
            rule: RunRule::Waiver,
            message: problem.to_string(),
        })
    }

    /// Of each suite that takes part, the gates that must run and did not.
    fn must_run(&self) -> Vec<RunProblem> {
        let mut problems = Vec::new();
        for suite in self.suites {
            let mut cases = self.cases.iter();
            if !cases.any(|planned| planned.case.suite == suite.name) {
                continue;
            }
            let of_suite = self
                .records
                .iter()
                .filter(|record| record.suite == suite.name);
            let mut by_gate: HashMap<&str, Vec<&CaseRecord>> = HashMap::new();
            for record in of_suite {
                by_gate.entry(&record.gate).or_default().push(record);
            }
            for gate in suite.must_run.on(self.kind) {
                let records = by_gate.get(gate.as_str()).map_or(&[][..], Vec::as_slice);
                if !records.iter().any(|record| ran(record)) {
                    problems.push(never_ran(suite, gate, self.kind, records));
                }
            }
        }
        problems
    }
}

impl Results<'_> {
    fn counts(&self, waiver: &Waiver) -> Counts {
        let by_it = |record: &CaseRecord| {
            let by = self.waived_by.get(record.id.as_str());
            by.is_some_and(|by| std::ptr::eq(*by, waiver))
        };
        let mut counts = Counts::default();
        for record in self.all.named_by(waiver) {
            match record.outcome {
                Outcome::Waived if by_it(record) => counts.waived += 1,
                Outcome::Waived => counts.others += 1,
                Outcome::Pass => counts.passed += 1,
                Outcome::Fail => counts.otherwise += 1,
                Outcome::Error if ran(record) => counts.otherwise += 1,
                Outcome::Error | Outcome::Skip => {}
            }
        }
        counts
    }

    /// Whether the run had every case of the waiver that the device's default profile and images have, and at least
    /// one: what fails with another size or image alone needs its waiver still.
    fn has_all(&self, waiver: &Waiver, names: &Names<'_>) -> bool {
        let mut named = names.usual.named_by(waiver).peekable();
        named.peek().is_some() && named.all(|id| self.judged.contains(id))
    }
}

fn owned(names: Option<Vec<&str>>) -> Option<Vec<String>> {
    names.map(|names| names.into_iter().map(str::to_owned).collect())
}

/// Whether a case was judged at all, or died trying.
fn ran(record: &CaseRecord) -> bool {
    match record.outcome {
        Outcome::Pass | Outcome::Fail | Outcome::Waived => true,
        Outcome::Error => !record.reason.as_ref().is_some_and(unjudged_for),
        Outcome::Skip => false,
    }
}

/// Whether a case would have shown its failure. A device that never runs it never will; another build may.
fn could_fail(record: &CaseRecord) -> bool {
    let built_without = |reason: &Reason| reason.kind == ReasonKind::BuiltWithout;
    match record.outcome {
        Outcome::Skip => !record.reason.as_ref().is_some_and(built_without),
        _ => ran(record),
    }
}

fn never_ran(suite: &Suite, gate: &str, kind: DeviceKind, records: &[&CaseRecord]) -> RunProblem {
    let reason = records.iter().find_map(|record| record.reason.as_ref());
    let why = match reason {
        Some(reason) => format!("{} cases, none of which ran: {reason}", records.len()),
        None => "this profile has no case of it".to_owned(),
    };
    RunProblem {
        rule: RunRule::MustRun,
        message: format!(
            "{}::{gate} must run on {kind} ({}): {why}",
            suite.name, suite.path
        ),
    }
}

/// Cases without a result that are told by name.
const NAMES_MAX: usize = 3;

/// Cases without a result. `mend`: how they came to have none, and what to do.
pub(super) fn without_result(missing: &[&str], mend: &str) -> Option<RunProblem> {
    let named = missing.get(..NAMES_MAX).unwrap_or(missing).join(", ");
    let dots = if missing.len() > NAMES_MAX {
        ", …"
    } else {
        ""
    };
    let count = missing.len();
    (count > 0).then(|| RunProblem {
        rule: RunRule::Incomplete,
        message: format!("{count} cases have no result ({named}{dots}): {mend}"),
    })
}

/// Cases whose results differ: one that failed and then passed is none that passes.
pub(super) fn results(differing: &[Differing]) -> impl Iterator<Item = RunProblem> {
    differing.iter().map(|differing| RunProblem {
        rule: RunRule::Results,
        message: format!("{differing}: the worst counts. Run the case again, in a run of its own"),
    })
}

/// Fields that changed while the run went on: its results are not of one machine.
pub(super) fn identity(
    before: &BTreeMap<String, Field>,
    now: &BTreeMap<String, Field>,
) -> Vec<RunProblem> {
    let differs = |name: &&str| match (before.get(*name), now.get(*name)) {
        (Some(Field::Value(before)), Some(Field::Value(after))) => before != after,
        // What could be read and no longer can: the card is gone, or NVML.
        (Some(Field::Value(_)), Some(Field::Unavailable(_))) => true,
        _ => false,
    };
    let shown = |fields: &BTreeMap<String, Field>, name: &str| match fields.get(name) {
        Some(Field::Value(value)) => value.to_string(),
        Some(Field::Unavailable(reason)) => format!("not known ({reason})"),
        None => "not known".to_owned(),
    };
    let mend = |name: &str| match now.get(name) {
        Some(Field::Unavailable(_)) => "reset the card or reboot, and run it again",
        _ => "run it again on a machine that stays as it is",
    };
    let changed = SAME.iter().copied().filter(differs);
    let problems = changed.map(|name| RunProblem {
        rule: RunRule::Identity,
        message: format!(
            "{name} was {} when the run began and is {} at its end: {}",
            shown(before, name),
            shown(now, name),
            mend(name)
        ),
    });
    problems.collect()
}

/// The card broke during cases that say nothing of it, or between cases.
pub(super) fn health(records: &[CaseRecord], after: &BTreeMap<String, Field>) -> Vec<RunProblem> {
    let problem = |when: String, what: &[String]| RunProblem {
        rule: RunRule::Health,
        message: format!(
            "{when}: {}: results of a card that breaks show nothing; reset or replace it",
            what.join(", ")
        ),
    };
    let silent = records.iter().filter(|record| !tells(record));
    let broken = silent.filter_map(|record| {
        let what = record.health.as_ref()?.broken();
        (!what.is_empty()).then_some((record.id.as_str(), what))
    });
    let broken: Vec<(&str, Vec<String>)> = broken.collect();
    let each = broken.iter().take(CASES_TOLD_MAX);
    let mut problems: Vec<RunProblem> = each
        .map(|(id, what)| problem(format!("during {id}"), what))
        .collect();
    if let Some((_, what)) = broken.get(CASES_TOLD_MAX) {
        let more = broken.len() - CASES_TOLD_MAX;
        problems.push(problem(format!("during {more} more cases"), what));
    }
    let between = after.get(BETWEEN_CASES).and_then(|field| match field {
        Field::Value(value) => serde_json::from_value::<HealthRecord>(value.clone()).ok(),
        Field::Unavailable(_) => None,
    });
    let what = between.map(|health| health.broken()).unwrap_or_default();
    if !what.is_empty() {
        problems.push(problem("between cases".to_owned(), &what));
    }
    problems
}

/// Whether a case shows by itself that something was wrong, as a control of health does.
fn tells(record: &CaseRecord) -> bool {
    let mut findings = record.findings.iter();
    matches!(record.outcome, Outcome::Fail | Outcome::Error)
        || findings.any(|finding| finding.kind == FindingKind::Health)
}

/// What went wrong where no case could tell it. Of a filtered run too: it is the machine's, not the selection's.
pub(super) fn driver(beside_cases: Vec<String>) -> impl Iterator<Item = RunProblem> {
    beside_cases.into_iter().map(|message| RunProblem {
        rule: RunRule::Driver,
        message,
    })
}

#[cfg(test)]
mod tests;
