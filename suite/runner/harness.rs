//! libtest-mimic, and nothing of it outside.
//!
//! It is a printer and a filter here; the verdict is the runner's own, since libtest-mimic's is success for zero
//! trials, for a filter that matches nothing and for trials that are all ignored.

use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Completion, Failed, Trial};

use super::options::Selection;
use super::text::{explanation, headline};
use super::{Judge, PlannedCase};
use crate::report::record::CaseRecord;
use crate::terms::Outcome;

/// The arguments of a test process, as libtest has them.
pub struct Harness {
    arguments: Arguments,
}

impl Harness {
    /// From this process' arguments; ends it for `--help` and for wrong ones, as libtest does.
    pub fn from_process() -> Self {
        Self {
            arguments: Arguments::from_args(),
        }
    }

    /// Only the names are asked for.
    pub fn lists(&self) -> bool {
        self.arguments.list
    }

    pub fn selection(&self) -> Selection {
        let Arguments {
            filter,
            exact,
            skip,
            ..
        } = &self.arguments;
        Selection {
            filters: filter.iter().cloned().collect(),
            exact: *exact,
            skip: skip.clone(),
        }
    }

    /// Whether the arguments choose among the trials.
    pub fn is_filtered(&self) -> bool {
        self.selection().is_filtered() || self.arguments.ignored
    }

    /// The cases that these arguments leave.
    pub fn select<'c>(&self, cases: &'c [PlannedCase]) -> Vec<&'c PlannedCase> {
        let stays = |planned: &&PlannedCase| {
            let trial = Trial::test(&planned.case.id, || Ok(()));
            let trial = trial.with_ignored_flag(planned.decided.is_some());
            !self.arguments.is_filtered_out(&trial)
        };
        cases.iter().filter(stays).collect()
    }

    /// Lists or runs the cases as trials, at most `threads` at once unless the arguments say otherwise.
    pub fn run(mut self, cases: &[PlannedCase], judge: Arc<dyn Judge>, threads: usize) {
        self.arguments.test_threads.get_or_insert(threads.max(1));
        let trials = cases
            .iter()
            .map(|planned| trial(planned, Arc::clone(&judge)))
            .collect();
        let _ = libtest_mimic::run(&self.arguments, trials);
    }
}

/// A case as a trial. One that is decided already is ignored in the list; should it be run for all that
/// (`--ignored`), its reason is told.
fn trial(planned: &PlannedCase, judge: Arc<dyn Judge>) -> Trial {
    let PlannedCase { case, decided } = planned.clone();
    let ignored = decided.is_some();
    let name = case.id.clone();
    let run = move || match &decided {
        Some(reason) => Ok(Completion::ignored_with(reason)),
        None => completion(&judge.judge(&case)),
    };
    Trial::ignorable_test(name, run).with_ignored_flag(ignored)
}

fn completion(record: &CaseRecord) -> Result<Completion, Failed> {
    match record.outcome {
        Outcome::Pass => Ok(Completion::Completed),
        Outcome::Skip | Outcome::Waived => Ok(match (&record.waiver, &record.reason) {
            (Some(waiver), _) => Completion::ignored_with(format!("waived: {waiver}")),
            (None, Some(reason)) => Completion::ignored_with(reason),
            (None, None) => Completion::ignored_with(record.outcome),
        }),
        Outcome::Fail | Outcome::Error => {
            // The line that nextest's JUnit takes for the message.
            if std::env::var_os("NEXTEST").is_some() {
                eprintln!("Error: {}", headline(record));
            }
            Err(Failed::from(explanation(record)))
        }
    }
}

/// Runs plain test functions under the usual arguments: the `main` of a test target that owns its process.
pub fn run_tests(tests: &[(&'static str, fn())]) -> ExitCode {
    let trial = |&(name, test): &(&'static str, fn())| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    };
    let trials = tests.iter().map(trial).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Reason;
    use crate::runner::blank::{blank_case, blank_record};
    use crate::terms::ReasonKind;

    fn harness(arguments: &[&str]) -> Harness {
        let all = std::iter::once("gates").chain(arguments.iter().copied());
        Harness {
            arguments: Arguments::from_iter(all),
        }
    }

    fn cases() -> Vec<PlannedCase> {
        let skip = || Reason::new(ReasonKind::Unsupported, "not here");
        [
            ("s::a::jit", None),
            ("s::ab::jit", None),
            ("s::c::jit", Some(skip())),
        ]
        .map(|(id, decided)| PlannedCase {
            case: blank_case(id),
            decided,
        })
        .to_vec()
    }

    fn selected(arguments: &[&str]) -> Vec<String> {
        let cases = cases();
        let chosen = harness(arguments).select(&cases);
        chosen
            .iter()
            .map(|planned| planned.case.id.clone())
            .collect()
    }

    #[test]
    fn selection_follows_the_arguments() {
        assert_eq!(selected(&[]), ["s::a::jit", "s::ab::jit", "s::c::jit"]);
        assert_eq!(selected(&["s::a"]), ["s::a::jit", "s::ab::jit"]);
        assert_eq!(selected(&["--exact", "s::a::jit"]), ["s::a::jit"]);
        assert_eq!(selected(&["--skip", "ab"]), ["s::a::jit", "s::c::jit"]);
        assert_eq!(selected(&["--ignored"]), ["s::c::jit"]);
        assert_eq!(selected(&["nothing"]), [""; 0]);
        assert!(harness(&["--ignored"]).is_filtered());
        assert!(harness(&["s"]).is_filtered());
        assert!(!harness(&["--nocapture", "--format", "terse"]).is_filtered());
        assert!(harness(&["--list"]).lists());
    }

    #[test]
    fn outcomes_become_completions() {
        let ended = |outcome, reason: Option<Reason>| {
            let mut record = blank_record("s::a::jit");
            record.outcome = outcome;
            record.reason = reason;
            completion(&record)
        };
        let needs = || Some(Reason::new(ReasonKind::NeedsHardware, "no clock"));
        assert!(matches!(
            ended(Outcome::Pass, None),
            Ok(Completion::Completed)
        ));
        let Ok(Completion::Ignored { reason }) = ended(Outcome::Skip, needs()) else {
            panic!("a skip is ignored at run time");
        };
        assert_eq!(reason.as_deref(), Some("needs hardware: no clock"));
        for outcome in [Outcome::Fail, Outcome::Error] {
            let Err(failed) = ended(outcome, needs()) else {
                panic!("{outcome} fails");
            };
            let text = failed.message().unwrap_or_default();
            assert!(text.starts_with(outcome.name()), "{text}");
        }
    }
}
