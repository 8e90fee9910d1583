//! Several cards in one run: a session each, side by side, and one trial a case.

use std::cmp::Reverse;
use std::thread;

use super::direct::Trials;
use super::session::{Ended, Session};
use super::verdict::Verdict;
use super::{Judge, PlannedCase};
use crate::case::Case;
use crate::report::record::CaseRecord;

/// The sessions of a run: one, or with `--device all` one a card.
pub(super) struct Fleet {
    /// At least one.
    sessions: Vec<Session>,
}

impl Fleet {
    /// None without a session.
    pub(super) fn new(sessions: Vec<Session>) -> Option<Self> {
        (!sessions.is_empty()).then_some(Self { sessions })
    }

    pub(super) fn finish(&self) -> Vec<Ended> {
        self.sessions.iter().map(Session::finish).collect()
    }
}

impl Trials for Fleet {
    /// The same for every card: only a run of one is ever resumed.
    fn pending(&self) -> Vec<&PlannedCase> {
        self.sessions
            .first()
            .map_or_else(Vec::new, Session::pending)
    }
}

impl Judge for Fleet {
    /// The case on every card at once; gives the worst record.
    fn judge(&self, case: &Case) -> CaseRecord {
        if let [only] = self.sessions.as_slice() {
            return only.judge(case);
        }
        let records: Vec<CaseRecord> = thread::scope(|scope| {
            let running: Vec<_> = self
                .sessions
                .iter()
                .map(|session| scope.spawn(|| session.judge(case)))
                .collect();
            running
                .into_iter()
                .map(|thread| {
                    thread
                        .join()
                        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                })
                .collect()
        });
        worst(records).unwrap_or_else(|| unreachable!("a fleet has at least one session"))
    }
}

/// The first of those with the worst outcome.
fn worst(records: Vec<CaseRecord>) -> Option<CaseRecord> {
    records
        .into_iter()
        .min_by_key(|record| Reverse(record.outcome.badness()))
}

/// The verdict of several runs: as one that had all their cases.
pub(super) fn joint(verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
    let verdicts: Vec<Verdict> = verdicts.into_iter().collect();
    let all = |verdict| verdicts.iter().all(|held| *held == verdict);
    if verdicts.contains(&Verdict::Usage) {
        Verdict::Usage
    } else if all(Verdict::Nothing) {
        Verdict::Nothing
    } else if all(Verdict::Environment) {
        Verdict::Environment
    } else if verdicts
        .iter()
        .all(|verdict| matches!(verdict, Verdict::Passed))
    {
        Verdict::Passed
    } else {
        Verdict::Failed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::blank::blank_record;
    use crate::terms::Outcome;

    #[test]
    fn the_worst_record_of_a_case_stands_for_all() {
        let record = |outcome, id: &str| {
            let mut record = blank_record("s::g::jit");
            record.outcome = outcome;
            record.repro = id.to_owned();
            record
        };
        let passes = record(Outcome::Pass, "0");
        let of = |records| worst(records).unwrap().repro;
        assert_eq!(of(vec![passes.clone(), record(Outcome::Fail, "1")]), "1");
        let errors = [record(Outcome::Error, "2"), record(Outcome::Error, "3")];
        assert_eq!(of([vec![passes.clone()], errors.to_vec()].concat()), "2");
        assert_eq!(of(vec![passes, record(Outcome::Skip, "4")]), "4");
    }

    #[test]
    fn no_card_hides_another() {
        use Verdict::{Environment, Failed, Nothing, Passed, Usage};
        for (verdicts, together) in [
            (vec![Passed], Passed),
            (vec![Passed, Passed], Passed),
            (vec![Passed, Failed], Failed),
            (vec![Passed, Environment], Failed),
            (vec![Passed, Nothing], Failed),
            (vec![Environment, Environment], Environment),
            (vec![Environment, Failed], Failed),
            (vec![Nothing, Nothing], Nothing),
            (vec![Passed, Usage], Usage),
        ] {
            assert_eq!(joint(verdicts.clone()), together, "{verdicts:?}");
        }
    }
}
