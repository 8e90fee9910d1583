//! From fates to a suite's record: totals, score, and what the list of equivalents says.
//!
//! Imports `spec` (the list).

use std::collections::HashMap;
use std::sync::Arc;

use super::mutant::Mutant;
use super::record::{MutantOutcome, MutantRecord, NoticeRecord, SuiteRecord, Totals};
use super::trial::{Fate, Notice};
use crate::spec::equivalents::{Equivalent, Equivalents};

/// Of a suite's mutants, how many may be listed as equivalent at most, per cent.
pub const EQUIVALENT_PERCENT_MAX: usize = 10;

impl Totals {
    pub fn add(&mut self, outcome: MutantOutcome) {
        self.mutants += 1;
        *match outcome {
            MutantOutcome::Gate => &mut self.gate,
            MutantOutcome::Detector => &mut self.detector,
            MutantOutcome::Fault | MutantOutcome::Hang => &mut self.fault,
            MutantOutcome::Survived => &mut self.survived,
            MutantOutcome::Equivalent => &mut self.equivalent,
            MutantOutcome::Invalid => &mut self.invalid,
        } += 1;
    }

    pub fn killed(&self) -> usize {
        self.gate + self.detector + self.fault
    }

    /// Per cent of the mutants that are not equivalent; none where there is no such mutant.
    pub fn score(&self) -> Option<f64> {
        let judged = self.killed() + self.survived;
        (judged > 0).then(|| 100.0 * self.killed() as f64 / judged as f64)
    }
}

/// A mutant's record; `listed` where it is held to be equivalent.
pub fn record(mutant: &Mutant, fate: Fate, listed: Option<&Equivalent>) -> MutantRecord {
    let (outcome, by, identical, reason) = match fate {
        Fate::Gate(notice) => (MutantOutcome::Gate, Some(notice), None, None),
        Fate::Detector(notice) => (MutantOutcome::Detector, Some(notice), None, None),
        Fate::Fault(notice) => (MutantOutcome::Fault, Some(notice), None, None),
        Fate::Hang(notice) => (MutantOutcome::Hang, Some(notice), None, None),
        Fate::Invalid(why) => (MutantOutcome::Invalid, None, None, Some(why)),
        Fate::Survived { identical } => match listed {
            Some(entry) if identical => {
                let reason = Some(entry.reason.clone());
                (MutantOutcome::Equivalent, None, Some(true), reason)
            }
            _ => (MutantOutcome::Survived, None, Some(identical), None),
        },
    };
    MutantRecord {
        id: mutant.id.clone(),
        operator: mutant.operator,
        module: mutant.module.to_string(),
        kernel: mutant.kernel.to_string(),
        line: mutant.line,
        source: mutant.source.clone(),
        before: mutant.before.clone(),
        after: mutant.after.clone(),
        outcome,
        by: by.map(NoticeRecord::from),
        identical,
        reason,
    }
}

impl From<Notice> for NoticeRecord {
    fn from(notice: Notice) -> Self {
        Self {
            case: notice.case,
            gate: notice.gate,
            schedule: notice.schedule,
            message: notice.message,
        }
    }
}

/// Fills in what follows from the mutants' records.
pub fn tally(suite: &mut SuiteRecord) {
    for mutant in &suite.mutants {
        suite.totals.add(mutant.outcome);
        let operator = suite.by_operator.entry(mutant.operator).or_default();
        operator.add(mutant.outcome);
        let kernel = suite.by_kernel.entry(mutant.kernel.clone()).or_default();
        kernel.add(mutant.outcome);
    }
    suite.score = suite.totals.score();
}

/// What is wrong with the list: ids of no mutant, mutants that something tells from the original, too many of them.
pub fn problems(list: &Equivalents, all: &[Arc<Mutant>], records: &[MutantRecord]) -> Vec<String> {
    let made: HashMap<&str, &Arc<Mutant>> = all.iter().map(|m| (m.id.as_str(), m)).collect();
    let run: HashMap<&str, &MutantRecord> = records.iter().map(|m| (m.id.as_str(), m)).collect();
    let mut problems = Vec::new();
    for entry in &list.entries {
        let id = entry.mutant.as_str();
        let wrong = match (made.contains_key(id), run.get(id)) {
            (false, _) => Some((
                format!("`{id}` is no mutant of this suite's kernels as they are now"),
                "take it out, or find the line it is on now",
            )),
            (true, Some(record)) => told_apart(record)
                .map(|why| (format!("`{id}` is not equivalent: {why}"), "take it out")),
            (true, None) => None,
        };
        if let Some((message, mend)) = wrong {
            problems.push(list.problem(entry, message, mend).to_string());
        }
    }
    let (listed, most) = (list.entries.len(), all.len() * EQUIVALENT_PERCENT_MAX / 100);
    if listed > most {
        problems.push(format!(
            "{}: {listed} of {} mutants are listed; at most {EQUIVALENT_PERCENT_MAX} % ({most}) may be",
            list.path,
            all.len()
        ));
    }
    problems
}

/// Why a listed mutant is none that nothing can tell from the original.
fn told_apart(record: &MutantRecord) -> Option<String> {
    match (record.outcome, &record.by) {
        (MutantOutcome::Equivalent, _) => None,
        (MutantOutcome::Survived, _) => {
            Some("every gate passes, but memory is not as it is without the change".to_owned())
        }
        (MutantOutcome::Invalid, _) => record.reason.clone(),
        (_, Some(by)) => Some(format!("{} ({})", by.message, by.case)),
        (outcome, None) => Some(outcome.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_score_leaves_out_what_is_equivalent_or_invalid() {
        let mut totals = Totals::default();
        assert_eq!(totals.score(), None);
        for outcome in [
            MutantOutcome::Gate,
            MutantOutcome::Detector,
            MutantOutcome::Hang,
            MutantOutcome::Survived,
            MutantOutcome::Equivalent,
            MutantOutcome::Invalid,
        ] {
            totals.add(outcome);
        }
        assert_eq!((totals.mutants, totals.killed()), (6, 3));
        assert_eq!(totals.score(), Some(75.0));
    }
}
