//! One case under several schedules of the simulated device.
//!
//! It passes only if it passes under all. The first schedule under which it fails decides, and is made simpler. A
//! control gate passes if what it expects shows under at least one of them, and none ends in another way: in an error
//! where a finding is expected, in a finding or another error where an error is.

use std::sync::Arc;
use std::time::Instant;

use super::ended::{Ended, Kind, Says};
use super::judge::Judge;
use super::prepare::Ready;
use super::shrink::{Shrunk, shrink};
use super::{Executor, blank};
use crate::case::Case;
use crate::check::Stage;
use crate::device::sim::Schedule;
use crate::outcome::{Fault, Reason};
use crate::report::record::{CaseRecord, ScheduledRecord, ShrunkRecord};
use crate::spec::model::{Expect, Gate, Suite};
use crate::terms::{DeviceKind, ReasonKind};
use crate::worker::Schedules;

/// What is told of a case that goes on.
#[derive(Debug)]
pub enum Progress<'a> {
    /// A run begins, under this schedule.
    Begins(Schedule),
    /// The first step follows: from here on the case may end as its gate expects.
    Launches,
    /// The case has failed. What follows only looks for a simpler schedule.
    Failed(&'a CaseRecord),
}

pub type Tell<'t> = dyn FnMut(Progress<'_>) + 't;

/// What is the same for every run of a case.
struct Runs<'a> {
    suite: &'a Suite,
    gate: &'a Gate,
    ready: &'a Ready,
    /// Judges nothing itself: a clone of it does.
    judge: Judge<'a>,
    /// What is known of the case before it runs.
    record: CaseRecord,
}

/// A case after its schedules.
struct Explored {
    /// The run that the record shows.
    shown: Ended,
    /// Schedules that ran.
    ran: u32,
    /// It settles by itself that the gate does not pass.
    decides: bool,
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
        let found = suites.iter().find(|suite| suite.name == case.suite);
        let found = found.and_then(|suite| Some((suite, suite.gates.get(&case.gate)?)));
        let mut record = match found {
            Some((suite, gate)) => self.explore_gate(suite, gate, case, schedules, tell),
            None => {
                let message = format!("there is no gate `{}::{}`", case.suite, case.gate);
                self.never_ran(blank(case), Err(Fault::setup(message)), &Expect::Pass)
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
        let mut record = blank(case);
        let ready = match self.prepare(suite, gate, case, &mut record) {
            Ok(Ok(ready)) => ready,
            Ok(Err(skip)) => return self.never_ran(record, Ok(Some(skip)), gate.expect_of_run()),
            Err(fault) => return self.never_ran(record, Err(fault), gate.expect_of_run()),
        };
        let judge = match self.judge(suite, gate, case, &ready) {
            Ok(judge) => judge,
            Err(fault) => return self.never_ran(record, Err(fault), gate.expect_of_run()),
        };
        let runs = Runs {
            suite,
            gate,
            ready: &ready,
            judge,
            record,
        };
        if schedules.is_default() {
            let ended = self.under(&runs, Schedule::default(), tell);
            return ended.judged(gate.expect_of_run(), ready.info.kind);
        }
        self.explore_runs(&runs, schedules, tell)
    }

    /// The record of a case that was not run under any schedule.
    fn never_ran(
        &mut self,
        record: CaseRecord,
        result: Result<Option<Reason>, Fault>,
        expect: &Expect,
    ) -> CaseRecord {
        self.lost |= matches!(&result, Err(fault) if fault.sticky);
        let ended = Ended::of(record, Schedule::default(), result, Stage::Planning);
        ended.judged(expect, self.device.info().kind)
    }

    fn explore_runs(
        &mut self,
        runs: &Runs<'_>,
        schedules: Schedules,
        tell: &mut Tell<'_>,
    ) -> CaseRecord {
        let (expect, kind) = (runs.gate.expect_of_run(), runs.ready.info.kind);
        let asked = schedules.record();
        let Some(Explored {
            shown,
            ran,
            decides,
        }) = self.each(runs, schedules, tell)
        else {
            let fault = Fault::setup("there is no schedule to run under");
            return self.never_ran(runs.record.clone(), Err(fault), expect);
        };
        let (schedule, failure) = (shown.schedule, shown.kind());
        let mut record = shown.judged(expect, kind);
        let mut scheduled = ScheduledRecord {
            schedule,
            ran,
            of: asked.map_or(1, |asked| asked.count),
            seed: asked.and_then(|asked| asked.seed),
            shrunk: None,
        };
        // What cannot be set up under the fair schedule has nothing to do with any.
        let unscheduled = |schedule: Schedule| {
            failure == Some(Kind::Ended(ReasonKind::Setup)) && schedule == Schedule::default()
        };
        if decides && unscheduled(schedule) {
            return record;
        }
        record.scheduled = Some(scheduled);
        // One that was given is left as it is.
        let explores = matches!(schedules, Schedules::Explore { .. });
        if let Some(failure) = failure.filter(|_| decides && explores) {
            tell(Progress::Failed(&record));
            scheduled.shrunk = self.shrink(runs, schedule, failure, tell);
            let simplest = scheduled.shrunk.map_or(schedule, |shrunk| shrunk.schedule);
            record.scheduled = (!unscheduled(simplest)).then_some(scheduled);
        }
        record
    }

    /// Runs the case under each schedule until one decides; none where there is none.
    fn each(
        &mut self,
        runs: &Runs<'_>,
        schedules: Schedules,
        tell: &mut Tell<'_>,
    ) -> Option<Explored> {
        let mut ran = 0;
        // Of those that say the same the first is kept.
        let (mut well, mut shown, mut other) = (None, None, None);
        for schedule in schedules.each() {
            tell(Progress::Begins(schedule));
            let ended = self.under(runs, schedule, tell);
            ran += 1;
            let place = match ended.says(runs.gate.expect_of_run(), runs.ready.info.kind) {
                Says::Nothing => &mut well,
                Says::Expected => &mut shown,
                Says::Otherwise => &mut other,
                Says::Decided => {
                    return Some(Explored {
                        shown: ended,
                        ran,
                        decides: true,
                    });
                }
            };
            place.get_or_insert(ended);
        }
        Some(Explored {
            shown: shown.or(other).or(well)?,
            ran,
            decides: false,
        })
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
            self.under(runs, candidate, tell).shows(failure)
        });
        (schedule != from).then_some(ShrunkRecord {
            schedule,
            runs: count,
        })
    }

    /// Runs the case once.
    fn under(&mut self, runs: &Runs<'_>, schedule: Schedule, tell: &mut Tell<'_>) -> Ended {
        let mut record = runs.record.clone();
        let expects_error = matches!(runs.gate.expect, Expect::Error { .. });
        let mut stage = Stage::Loading;
        let mut begins = || {
            stage = Stage::Running;
            if expects_error {
                tell(Progress::Launches);
            }
        };
        let result = self.follow(schedule).and_then(|()| {
            self.once(
                runs.suite,
                runs.gate,
                runs.ready,
                runs.judge.clone(),
                &mut record,
                &mut begins,
            )
        });
        if matches!(&result, Err(fault) if fault.sticky) {
            self.lost = true;
            // It is not lost so far that no other schedule could be tried.
            if runs.ready.info.kind == DeviceKind::Sim {
                self.device.free_all();
            }
        }
        Ended::of(record, schedule, result, stage)
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
