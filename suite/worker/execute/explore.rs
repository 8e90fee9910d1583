//! One case under several schedules of the simulated device.
//!
//! It passes only if it passes under all. The first schedule under which it fails decides, and is made simpler. A
//! control gate passes if what it expects shows under at least one of them, and none ends in another way: in an error
//! where a finding is expected, in a finding or another error where an error is.

use std::sync::Arc;
use std::time::Instant;

use super::judge::Judge;
use super::shrink::{Shrunk, shrink};
use super::{Executor, Job, blank, expected, outcome_of};
use crate::case::Case;
use crate::check;
use crate::device::sim::Schedule;
use crate::outcome::{Fault, Reason};
use crate::report::record::{CaseRecord, ScheduledRecord, ShrunkRecord};
use crate::spec::model::{Expect, Gate, Suite};
use crate::terms::{DeviceKind, FindingKind, Outcome, ReasonKind};
use crate::worker::Schedules;

/// What is told of a case that goes on.
#[derive(Debug)]
pub enum Progress<'a> {
    /// A run begins, under this schedule.
    Begins(Schedule),
    /// The case has failed. What follows only looks for a simpler schedule.
    Failed(&'a CaseRecord),
}

pub type Tell<'t> = dyn FnMut(Progress<'_>) + 't;

/// What is the same for every run of a case.
struct Runs<'a> {
    suite: &'a Suite,
    gate: &'a Gate,
    job: &'a Job,
    /// Judges nothing itself: a clone of it does.
    judge: Judge<'a>,
    /// What is known of the case before it runs.
    record: CaseRecord,
}

/// How a case ended under one schedule, before anyone asks what was expected.
struct Ended {
    schedule: Schedule,
    /// Outcome, reason and findings are in here.
    record: CaseRecord,
}

/// What one run says of the gate as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Says {
    Nothing,
    /// The gate has its expected failure.
    Expected,
    /// A control found something, and not what it expects: another schedule may show that.
    Otherwise,
    /// The gate does not pass, whatever other schedules show.
    Decided,
}

/// A failure's kind: simpler schedules must keep it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Found(FindingKind),
    Ended(ReasonKind),
}

impl Executor {
    pub(super) fn explore(
        &mut self,
        case: &Case,
        schedules: Schedules,
        tell: &mut Tell<'_>,
    ) -> CaseRecord {
        let started = Instant::now();
        let suites = Arc::clone(&self.suites);
        let kind = self.device.info().kind;
        let found = suites.iter().find(|suite| suite.name == case.suite);
        let found = found.and_then(|suite| Some((suite, suite.gates.get(&case.gate)?)));
        let mut record = match found {
            Some((suite, gate)) => self.explore_gate(suite, gate, case, schedules, tell),
            None => {
                let message = format!("there is no gate `{}::{}`", case.suite, case.gate);
                let ended = Ended::of(blank(case), Schedule::default(), Err(Fault::setup(message)));
                ended.judged(&Expect::Pass, kind)
            }
        };
        record.duration_ms = started.elapsed().as_secs_f64() * 1e3;
        record
    }

    fn explore_gate(
        &mut self,
        suite: &Suite,
        gate: &Gate,
        case: &Case,
        schedules: Schedules,
        tell: &mut Tell<'_>,
    ) -> CaseRecord {
        let kind = self.device.info().kind;
        let mut record = blank(case);
        let job = self.prepare(suite, gate, case, &mut record);
        let job = match job {
            Ok(Ok(job)) => job,
            Ok(Err(skip)) => {
                return self
                    .never_ran(record, Ok(Some(skip)))
                    .judged(&gate.expect, kind);
            }
            Err(fault) => {
                return self
                    .never_ran(record, Err(fault))
                    .judged(&gate.expect, kind);
            }
        };
        let judge = match self.judge(suite, gate, case, &job) {
            Ok(judge) => judge,
            Err(fault) => {
                return self
                    .never_ran(record, Err(fault))
                    .judged(&gate.expect, kind);
            }
        };
        let runs = Runs {
            suite,
            gate,
            job: &job,
            judge,
            record,
        };
        if schedules.is_default() {
            return self
                .under(&runs, Schedule::default())
                .judged(&gate.expect, kind);
        }
        self.explore_runs(&runs, schedules, tell)
    }

    fn never_ran(&mut self, record: CaseRecord, result: Result<Option<Reason>, Fault>) -> Ended {
        self.lost |= matches!(&result, Err(fault) if fault.sticky);
        Ended::of(record, Schedule::default(), result)
    }

    fn explore_runs(
        &mut self,
        runs: &Runs<'_>,
        schedules: Schedules,
        tell: &mut Tell<'_>,
    ) -> CaseRecord {
        let (expect, kind) = (&runs.gate.expect, runs.job.info.kind);
        let mut ran = 0;
        // By what it says: the first of each is kept.
        let (mut well, mut shown, mut other, mut decided) = (None, None, None, None);
        for schedule in schedules.each() {
            tell(Progress::Begins(schedule));
            let ended = self.under(runs, schedule);
            ran += 1;
            let place = match ended.says(expect, kind) {
                Says::Nothing => &mut well,
                Says::Expected => &mut shown,
                Says::Otherwise => &mut other,
                Says::Decided => &mut decided,
            };
            place.get_or_insert(ended);
            if decided.is_some() {
                break;
            }
        }
        let Some(ended) = decided.or(shown).or(other).or(well) else {
            let fault = Fault::setup("there is no schedule to run under");
            return self
                .never_ran(runs.record.clone(), Err(fault))
                .judged(expect, kind);
        };
        let asked = schedules.record();
        let (schedule, failure) = (ended.schedule, ended.kind());
        let mut record = ended.judged(expect, kind);
        let mut scheduled = ScheduledRecord {
            schedule,
            ran,
            of: asked.map_or(1, |asked| asked.count),
            seed: asked.and_then(|asked| asked.seed),
            shrunk: None,
        };
        record.scheduled = Some(scheduled);
        let explores = matches!(schedules, Schedules::Explore { .. });
        if let (true, Outcome::Fail | Outcome::Error, Some(failure)) =
            (explores, record.outcome, failure)
        {
            tell(Progress::Failed(&record));
            scheduled.shrunk = self.shrink(runs, schedule, failure, tell);
            record.scheduled = Some(scheduled);
        }
        record
    }

    /// A simpler schedule with the same failure; none where none was found.
    fn shrink(
        &mut self,
        runs: &Runs<'_>,
        from: Schedule,
        failure: Kind,
        tell: &mut Tell<'_>,
    ) -> Option<ShrunkRecord> {
        let Shrunk {
            schedule,
            runs: count,
        } = shrink(from, |candidate| {
            tell(Progress::Begins(candidate));
            self.under(runs, candidate).shows(failure)
        });
        (schedule != from).then_some(ShrunkRecord {
            schedule,
            runs: count,
        })
    }

    /// Runs the case once.
    fn under(&mut self, runs: &Runs<'_>, schedule: Schedule) -> Ended {
        let mut record = runs.record.clone();
        let result = self.follow(schedule).and_then(|()| {
            self.once(
                runs.suite,
                runs.gate,
                runs.job,
                runs.judge.clone(),
                &mut record,
            )
        });
        if matches!(&result, Err(fault) if fault.sticky) {
            self.lost = true;
            // It is not lost so far that no other schedule could be tried.
            if runs.job.info.kind == DeviceKind::Sim {
                self.device.free_all();
            }
        }
        Ended::of(record, schedule, result)
    }

    /// A device that nobody gives a schedule need not take any.
    fn follow(&mut self, schedule: Schedule) -> Result<(), Fault> {
        if self.under != schedule {
            self.device.set_schedule(schedule)?;
            self.under = schedule;
        }
        Ok(())
    }
}

impl Ended {
    /// Findings make a pass or a skip a failure.
    fn of(
        mut record: CaseRecord,
        schedule: Schedule,
        result: Result<Option<Reason>, Fault>,
    ) -> Self {
        let (outcome, reason) = match result {
            Ok(Some(skip)) => (Outcome::Skip, Some(skip)),
            Ok(None) => (Outcome::Pass, None),
            Err(fault) => (outcome_of(&fault.reason), Some(fault.reason)),
        };
        (record.outcome, record.reason) = match outcome {
            Outcome::Pass | Outcome::Skip if !record.findings.is_empty() => (Outcome::Fail, None),
            outcome => (outcome, reason),
        };
        Self { schedule, record }
    }

    /// What the gate's expectation makes of it.
    fn judged(self, expect: &Expect, device: DeviceKind) -> CaseRecord {
        let mut record = self.record;
        record.expected = expected(expect, device);
        (record.outcome, record.reason, record.findings) = check::expectation(
            expect,
            device,
            record.outcome,
            std::mem::take(&mut record.findings),
            record.reason.take(),
        );
        record
    }

    fn says(&self, expect: &Expect, device: DeviceKind) -> Says {
        let Some(kind) = self.kind() else {
            return Says::Nothing;
        };
        let expected = match expect {
            Expect::Pass => false,
            Expect::Fail { cuda, .. } if device == DeviceKind::Cuda => {
                self.shows(Kind::Found(*cuda))
            }
            Expect::Fail { sim, .. } => self.shows(Kind::Found(*sim)),
            Expect::Error { kind } => self.shows(Kind::Ended(*kind)),
        };
        match (expected, expect, kind) {
            (true, ..) => Says::Expected,
            (false, Expect::Fail { .. }, Kind::Found(_)) => Says::Otherwise,
            (false, ..) => Says::Decided,
        }
    }

    /// Of what kind the failure is; none where there is none.
    fn kind(&self) -> Option<Kind> {
        match self.record.outcome {
            Outcome::Error => self
                .record
                .reason
                .as_ref()
                .map(|reason| Kind::Ended(reason.kind)),
            Outcome::Fail => self
                .record
                .findings
                .first()
                .map(|finding| Kind::Found(finding.kind)),
            Outcome::Pass | Outcome::Skip | Outcome::Waived => None,
        }
    }

    fn shows(&self, failure: Kind) -> bool {
        let Self { record, .. } = self;
        match failure {
            Kind::Found(kind) => {
                record.outcome == Outcome::Fail && record.findings.iter().any(|f| f.kind == kind)
            }
            Kind::Ended(_) => self.kind() == Some(failure),
        }
    }
}
