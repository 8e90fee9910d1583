//! One run: its cases, its workers, its records, its verdict.

mod begin;
mod conclude;

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::blank::unjudged;
use super::choice::Chosen;
use super::direct::Trials;
use super::health::{self, Monitor};
use super::recorder::Recorder;
use super::repro::Repro;
use super::schedules::decisive;
use super::verdict::Verdict;
use super::{Judge, PlannedCase, waiving};
use crate::archive::{self, Differing, Store, Unfinished};
use crate::case::Case;
use crate::check::{self, Stage};
use crate::device::cuda::CardTurns;
use crate::outcome::{Fault, Reason};
use crate::report::Facts;
use crate::report::record::{
    CaseRecord, ChoicesRecord, DeviceRecord, PRINTED, Report, ScheduledRecord,
};
use crate::spec::model::{Check, Expect, Gate, Suite};
use crate::spec::waivers::Waivers;
use crate::terms::{ImageKind, Outcome, Profile, ReasonKind};
use crate::worker::execute::expected;
use crate::worker::{Answer, NvmlLaunch, Output, Pool, Reached, Schedules};

pub(super) use begin::suite_record;

/// How long a case may wait for a card that another run holds. The longest case of that run is shorter.
const CARD_WAIT: Duration = Duration::from_secs(600);

/// What a run is made of, all choices made.
pub(super) struct Parts {
    pub chosen: Chosen,
    pub profile: Profile,
    pub images: Vec<ImageKind>,
    pub suites: Vec<Suite>,
    pub waivers: Waivers,
    /// The selected cases, in order.
    pub cases: Vec<PlannedCase>,
    pub filtered: bool,
    pub store: Store,
    /// The run that other processes take part in, by its key.
    pub joined: Option<String>,
    pub redact: bool,
    pub pool: Pool,
    /// How NVML is asked about a card.
    pub nvml: NvmlLaunch,
    pub schedules: Schedules,
    /// Puts the command together that runs a case again.
    pub repro: Repro,
    /// None where other processes take part.
    pub choices: Option<ChoicesRecord>,
}

/// A run. Its folder opens, and its first worker starts, with the first case.
pub(super) struct Session {
    parts: Parts,
    /// RFC 3339, UTC.
    started: String,
    clock: Instant,
    turns: CardTurns,
    begun: OnceLock<Result<Begun, Refused>>,
    /// The run that this one goes on with, until it has begun.
    resumed: Mutex<Option<Unfinished>>,
    /// Cases that have a result of that run.
    done: HashSet<String>,
    /// Those that have several.
    differing: Vec<Differing>,
}

/// Why nothing can be run or written, and how the run ends.
type Refused = (Verdict, Reason);

struct Begun {
    recorder: Recorder,
    facts: Facts,
    /// None on the simulated device.
    health: Mutex<Option<Monitor>>,
}

/// A run that is over.
pub(super) struct Ended {
    /// None when no case was run: there is nothing to report.
    pub report: Option<Report>,
    pub folder: Option<PathBuf>,
    pub verdict: Verdict,
    /// Why the archive is not complete.
    pub trouble: Option<String>,
}

impl Judge for Session {
    fn judge(&self, case: &Case) -> CaseRecord {
        match self.begun() {
            Ok(begun) => begun.recorder.record(match begun.recorder.other_device() {
                None => self.waived(begun, self.run(begun, case)),
                Some(why) => {
                    let reason = Reason::new(ReasonKind::Environment, why);
                    self.with_repro(unjudged(case, Outcome::Error, reason))
                }
            }),
            Err((_, reason)) => self.with_repro(unjudged(case, Outcome::Error, reason.clone())),
        }
    }
}

impl Trials for Session {
    fn pending(&self) -> Vec<&PlannedCase> {
        let open = |planned: &&PlannedCase| {
            planned.decided.is_none() && !self.done.contains(&planned.case.id)
        };
        self.parts.cases.iter().filter(open).collect()
    }
}

impl Session {
    pub(super) fn new(parts: Parts) -> Self {
        Self {
            parts,
            started: archive::now(),
            clock: Instant::now(),
            turns: CardTurns::new(CARD_WAIT),
            begun: OnceLock::new(),
            resumed: Mutex::default(),
            done: HashSet::new(),
            differing: Vec::new(),
        }
    }

    /// Goes on with a run that died: its results stay.
    pub(super) fn resuming(mut self, unfinished: Unfinished) -> Self {
        self.done = unfinished.cases.iter().map(|c| c.id.clone()).collect();
        self.differing.clone_from(&unfinished.differing);
        self.resumed = Mutex::new(Some(unfinished));
        self
    }

    /// Opens the device and the run's folder before the first case.
    ///
    /// # Errors
    /// Why nothing can be run, and how the run ends.
    pub(super) fn open(&self) -> Result<(), (Verdict, String)> {
        let refused = |(verdict, reason): &Refused| (*verdict, reason.message.clone());
        self.begun().map(|_| ()).map_err(refused)
    }

    /// The record of a case that is skipped before any device is opened.
    pub(super) fn skip(&self, case: &Case, reason: &Reason) -> CaseRecord {
        let mut record = unjudged(case, Outcome::Skip, reason.clone());
        record.expected = expected(self.expectation(case), self.parts.chosen.kind());
        self.with_repro(record)
    }

    fn begun(&self) -> Result<&Begun, &Refused> {
        self.begun.get_or_init(|| self.begin()).as_ref()
    }

    fn waived(&self, begun: &Begun, mut record: CaseRecord) -> CaseRecord {
        let device = waiving::on(&begun.facts.device);
        let today = waiving::day(&begun.facts.run.started);
        waiving::waive(&self.parts.waivers, device, today, &mut record);
        record
    }

    /// Runs a case in a worker, alone on its card, without recording it.
    fn run(&self, begun: &Begun, case: &Case) -> CaseRecord {
        let clock = Instant::now();
        let uuid = self.parts.pool.device().and_then(|info| info.uuid);
        let lock = uuid.map(|uuid| self.turns.take(&uuid, say));
        let lock = lock.transpose();
        let gate = self.gate(case);
        let judges_health = gate.filter(|gate| matches!(gate.check, Check::Health { .. }));
        let before = begun.monitor(|monitor| monitor.before(judges_health.is_some()));
        let answer = match &lock {
            Ok(_) => self.parts.pool.run(&case.id),
            Err(fault) => Answer::fault(fault.clone(), Output::default()),
        };
        let stage = match answer.launched {
            true => Stage::Running,
            false => Stage::Loading,
        };
        let mut record = match answer.result {
            Ok(record) => record,
            Err(fault) => {
                let mut record = self.unanswered(case, fault, stage);
                record.scheduled = answer.reached.and_then(|at| self.scheduled(at));
                record.duration_ms = milliseconds(clock.elapsed());
                record
            }
        };
        attach(&mut record, answer.output);
        let exactly = judges_health.is_some() || record.outcome != Outcome::Pass;
        record.health = before.and_then(|before| {
            begun.monitor(|monitor| monitor.after(&before, exactly, judges_health.is_some()))
        });
        if let Some(gate) = judges_health {
            record.expected = expected(&gate.expect, self.parts.chosen.kind());
            health::judge(&mut record, &gate.expect, stage);
        } else if !exactly
            && record
                .health
                .as_ref()
                .is_some_and(|h| h.unavailable.is_some())
        {
            // The run's own fields say so once.
            record.health = None;
        }
        if self.parts.joined.is_some() {
            // Nobody else of this run knows how this process' worker ends.
            ended_badly(&mut record, &self.parts.pool.close());
        }
        self.with_repro(record)
    }

    /// The record of a case whose worker gave none. A gate may expect the death it died of.
    fn unanswered(&self, case: &Case, fault: Fault, stage: Stage) -> CaseRecord {
        let reason = self.parts.chosen.explain(fault.reason);
        let expect = match reason.kind {
            // What a health gate expects is judged later, with the card's health.
            ReasonKind::KernelFault | ReasonKind::Hang => {
                self.gate(case).map_or(&Expect::Pass, Gate::expect_of_run)
            }
            _ => &Expect::Pass,
        };
        let kind = self.parts.chosen.kind();
        let judged = check::expectation(
            expect,
            kind,
            Outcome::Error,
            Vec::new(),
            Some(reason.clone()),
            stage,
        );
        let mut record = unjudged(case, judged.0, reason);
        (record.reason, record.findings) = (judged.1, judged.2);
        record.expected = expected(self.expectation(case), kind);
        record
    }

    fn gate(&self, case: &Case) -> Option<&Gate> {
        let suite = self.parts.suites.iter().find(|s| s.name == case.suite);
        suite.and_then(|suite| suite.gates.get(&case.gate))
    }

    fn expectation(&self, case: &Case) -> &Expect {
        self.gate(case).map_or(&Expect::Pass, |gate| &gate.expect)
    }

    fn with_repro(&self, mut record: CaseRecord) -> CaseRecord {
        record.repro = (self.parts.repro)(&record.id, decisive(&record));
        record
    }

    /// Of a case that gave no record under chosen schedules.
    fn scheduled(&self, at: Reached) -> Option<ScheduledRecord> {
        let asked = self.parts.schedules.record()?;
        Some(ScheduledRecord {
            schedule: at.schedule,
            ran: at.runs,
            of: asked.count,
            seed: asked.seed,
            shrunk: None,
        })
    }
}

impl Begun {
    /// None where nothing watches the card.
    fn monitor<T>(&self, ask: impl FnOnce(&mut Monitor) -> T) -> Option<T> {
        let mut health = self.health.lock().unwrap_or_else(PoisonError::into_inner);
        health.as_mut().map(ask)
    }
}

fn uuid_of(device: &DeviceRecord) -> Option<&str> {
    device.info.as_ref()?.uuid.as_deref()
}

/// What a worker printed goes with its case, where a reader of the report finds it.
fn attach(record: &mut CaseRecord, output: Output) {
    for (name, text) in PRINTED.into_iter().zip([output.stdout, output.stderr]) {
        if !text.is_empty() {
            record.reported.insert(name.to_owned(), text.into());
        }
    }
}

/// To who watches; one that left does not change the run.
fn say(words: &str) {
    let _ = writeln!(io::stderr().lock(), "{words}");
}

/// What went wrong when a case's worker was ended is an error of the case.
fn ended_badly(record: &mut CaseRecord, wrong: &[String]) {
    if wrong.is_empty() {
        return;
    }
    let wrong = wrong.join("; ");
    match (&mut record.reason, record.outcome) {
        (Some(reason), Outcome::Error) => reason.message.push_str(&format!("; then {wrong}")),
        _ => {
            record.outcome = Outcome::Error;
            record.reason = Some(Reason::new(ReasonKind::KernelFault, wrong));
        }
    }
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests;
