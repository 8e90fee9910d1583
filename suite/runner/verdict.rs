//! The verdict of a run, and the exit codes that tell it.

use crate::report::record::{CaseRecord, RunProblem};
use crate::terms::{Outcome, ReasonKind};

/// How a run ended; the first that applies, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Arguments or specs that cannot be used.
    Usage,
    /// No case could start.
    Environment,
    /// Nothing selected, or all skipped.
    Nothing,
    /// A gate failed or ended in error.
    Failed,
    Passed,
}

/// The exit code of a failed test process, as libtest has it.
const LIBTEST_FAILED: u8 = 101;

impl Verdict {
    /// Of the records of all selected cases.
    pub fn of<'r>(records: impl IntoIterator<Item = &'r CaseRecord>) -> Self {
        let (mut started, mut stranded, mut broken) = (false, false, false);
        for record in records {
            match record.outcome {
                Outcome::Skip => {}
                Outcome::Error if is_stranded(record) => stranded = true,
                outcome => {
                    started = true;
                    broken |= matches!(outcome, Outcome::Fail | Outcome::Error);
                }
            }
        }
        match (started, stranded, broken) {
            (false, true, _) => Verdict::Environment,
            (false, false, _) => Verdict::Nothing,
            (true, true, _) | (true, _, true) => Verdict::Failed,
            (true, false, false) => Verdict::Passed,
        }
    }

    /// A whole run that breaks a rule does not pass.
    pub fn held_to(self, problems: &[RunProblem]) -> Self {
        match self {
            Verdict::Passed if !problems.is_empty() => Verdict::Failed,
            verdict => verdict,
        }
    }

    /// The exit code of the binary.
    pub fn exit_code(self) -> u8 {
        match self {
            Verdict::Passed => 0,
            Verdict::Failed => 1,
            Verdict::Usage => 2,
            Verdict::Environment => 3,
            Verdict::Nothing => 4,
        }
    }

    /// The exit code of the `gates` target. A filter that selects nothing is fine there: other targets own that test,
    /// and a filtered run judges its own cases only.
    pub fn libtest_code(self, filtered: bool) -> u8 {
        match self {
            Verdict::Nothing if filtered => 0,
            Verdict::Failed => LIBTEST_FAILED,
            other => other.exit_code(),
        }
    }
}

fn is_stranded(record: &CaseRecord) -> bool {
    let kind = record.reason.as_ref().map(|reason| reason.kind);
    kind == Some(ReasonKind::Environment)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Reason;
    use crate::runner::blank::blank_record;

    fn record(outcome: Outcome, kind: Option<ReasonKind>) -> CaseRecord {
        let mut record = blank_record("s::g::jit");
        record.outcome = outcome;
        record.reason = kind.map(|kind| Reason::new(kind, "why"));
        record
    }

    #[test]
    fn verdicts_and_exit_codes_are_the_table() {
        let pass = || record(Outcome::Pass, None);
        let fail = || record(Outcome::Fail, None);
        let waived = || record(Outcome::Waived, None);
        let skip = || record(Outcome::Skip, Some(ReasonKind::NeedsHardware));
        let hang = || record(Outcome::Error, Some(ReasonKind::Hang));
        let setup = || record(Outcome::Error, Some(ReasonKind::Setup));
        let no_device = || record(Outcome::Error, Some(ReasonKind::Environment));
        // records, verdict, binary, gates, gates filtered
        let table = [
            (vec![], Verdict::Nothing, 4, 4, 0),
            (vec![skip(), skip()], Verdict::Nothing, 4, 4, 0),
            (vec![pass()], Verdict::Passed, 0, 0, 0),
            (vec![pass(), skip()], Verdict::Passed, 0, 0, 0),
            (vec![waived()], Verdict::Passed, 0, 0, 0),
            (vec![pass(), fail()], Verdict::Failed, 1, 101, 101),
            (vec![hang()], Verdict::Failed, 1, 101, 101),
            (vec![setup()], Verdict::Failed, 1, 101, 101),
            (vec![no_device()], Verdict::Environment, 3, 3, 3),
            (
                vec![skip(), no_device(), no_device()],
                Verdict::Environment,
                3,
                3,
                3,
            ),
            (vec![pass(), no_device()], Verdict::Failed, 1, 101, 101),
        ];
        for (records, verdict, binary, gates, filtered) in table {
            let got = Verdict::of(&records);
            assert_eq!(got, verdict, "{records:?}");
            assert_eq!(got.exit_code(), binary);
            assert_eq!(got.libtest_code(false), gates);
            assert_eq!(got.libtest_code(true), filtered);
        }
        assert_eq!(Verdict::Usage.exit_code(), 2);
        assert_eq!(Verdict::Usage.libtest_code(true), 2);
    }
}
