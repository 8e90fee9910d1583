//! The two ways to start a run: `cargo test --test gates`, and the binary's `run`.

use std::io::{self, Write};
use std::num::NonZero;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use indexmap::IndexMap;

use super::fleet::{Fleet, joint};
use super::harness::Harness;
use super::options::{DeviceChoice, Options};
use super::planned::Planned;
use super::repro::{Repro, binary_repro, target_repro};
use super::resume::{choices, same_cases, same_kind, same_suite, take_up};
use super::session::{Ended, Parts, Session, suite_record};
use super::text::refusal;
use super::verdict::Verdict;
use super::{Chosen, PlannedCase, direct};
use crate::archive::{self, Store, Unfinished};
use crate::report::record::ChoicesRecord;
use crate::report::summary_text;
use crate::terms::DeviceKind;
use crate::worker::{Address, Launch, NvmlLaunch, Pool, WorkerConfig, enumerate_devices};

/// Columns of the summary where nothing says how wide the terminal is.
const WIDTH: usize = 100;

/// The binary's `run`: progress on standard error, the summary on standard output. Gives the exit code.
pub fn run(options: &Options) -> u8 {
    judged(options).exit_code()
}

fn judged(options: &Options) -> Verdict {
    let Some(resume) = &options.resume else {
        return whole(options, None);
    };
    match take_up(options, resume) {
        Ok((restored, unfinished)) => whole(&restored, Some(unfinished)),
        Err(error) => refuse(&error),
    }
}

/// A run from its start, or from where it died.
fn whole(options: &Options, unfinished: Option<Unfinished>) -> Verdict {
    let planned = match Planned::new(options) {
        Ok(planned) => planned,
        Err(error) => return refuse(&error),
    };
    let cases = planned.select(&options.selection);
    let choices = choices(options, &planned, &cases);
    if let Some(unfinished) = &unfinished {
        let suite = suite_record(&planned.suites, &planned.waivers);
        let then = unfinished.folder.facts();
        let same = same_kind(then, planned.chosen.kind());
        if let Err(error) = same
            .and_then(|()| same_suite(then, &suite, &choices))
            .and_then(|()| same_cases(then, &cases, &unfinished.cases))
        {
            return refuse(&error);
        }
    }
    if cases.is_empty() {
        complain("error: no case is selected (`cuda-gates list` prints their names)");
        return Verdict::Nothing;
    }
    let skips = skips(&cases);
    let start = Start {
        options,
        filtered: options.selection.is_filtered(),
        joined: None,
        repro: binary_repro,
        planned,
        cases,
        choices: Some(choices),
    };
    let threads = start.threads();
    let fleet = match unfinished {
        None => start.fleet(),
        Some(unfinished) => start.resumed(unfinished),
    };
    let fleet = match fleet {
        Ok(fleet) => fleet,
        Err(verdict) => return verdict,
    };
    direct::run(&fleet, threads, options.quiet);
    let ended = fleet.finish();
    for ended in &ended {
        show(ended, &mut io::stdout().lock());
        if ended.verdict == Verdict::Nothing {
            nothing_ran(ended, &skips, "error: every selected case is skipped");
        }
    }
    joint(ended.iter().map(|ended| ended.verdict))
}

/// The `gates` target's main: every case a named test, choices from the environment, libtest's own arguments.
pub fn gates() -> ExitCode {
    archive::report_file_limit();
    let harness = Harness::from_process();
    let (options, planned) = match harness_choices(&harness) {
        Ok(chosen) => chosen,
        Err(verdict) => return ExitCode::from(verdict.exit_code()),
    };
    let all = planned.cases.clone();
    let cases: Vec<PlannedCase> = harness.select(&all).into_iter().cloned().collect();
    let filtered = harness.is_filtered();
    let skips = skips(&cases);
    let joined = nextest_run();
    let choices = joined
        .is_none()
        .then(|| choices(&options, &planned, &cases));
    let start = Start {
        options: &options,
        planned,
        cases,
        filtered,
        joined,
        repro: target_repro,
        choices,
    };
    let threads = start.threads();
    let lists = harness.lists();
    // Listing asks no driver.
    let fleet = match if lists { start.one() } else { start.fleet() } {
        Ok(fleet) => Arc::new(fleet),
        Err(verdict) => return ExitCode::from(verdict.exit_code()),
    };
    harness.run(&all, Arc::clone(&fleet) as Arc<dyn super::Judge>, threads);
    if lists {
        return ExitCode::SUCCESS;
    }
    let ended = fleet.finish();
    for ended in &ended {
        show_beside_harness(ended, filtered, &skips);
    }
    let verdict = joint(ended.iter().map(|ended| ended.verdict));
    ExitCode::from(verdict.libtest_code(filtered))
}

/// What the environment and libtest's arguments choose.
fn harness_choices(harness: &Harness) -> Result<(Options, Planned), Verdict> {
    let options = Options::from_environment(|name| std::env::var_os(name));
    let mut options = options.map_err(|error| refuse(&error))?;
    options.selection = harness.selection();
    let planned = Planned::new(&options).map_err(|error| refuse(&error))?;
    Ok((options, planned))
}

/// The end of a run on standard error, since standard output is the harness's; of a filtered one its trouble only.
fn show_beside_harness(ended: &Ended, filtered: bool, skips: &IndexMap<String, usize>) {
    if filtered {
        let report = ended.report.iter();
        for problem in report.flat_map(|report| &report.run.problems) {
            complain(&format!("error: {problem}"));
        }
        if let Some(trouble) = &ended.trouble {
            complain(&format!("error: {trouble}"));
        }
        return;
    }
    show(ended, &mut io::stderr().lock());
    if ended.verdict == Verdict::Nothing {
        let message = "error: no case ran: every one is skipped, or there is none";
        nothing_ran(ended, skips, message);
    }
}

/// Everything chosen, nothing started.
struct Start<'o> {
    options: &'o Options,
    planned: Planned,
    cases: Vec<PlannedCase>,
    filtered: bool,
    joined: Option<String>,
    repro: fn(&Options) -> Repro,
    choices: Option<ChoicesRecord>,
}

impl Start<'_> {
    /// Workers, and trials at once: one a GPU, one a core for the simulated device.
    fn threads(&self) -> usize {
        match self.planned.chosen.kind() {
            DeviceKind::Cuda => 1,
            DeviceKind::Sim => thread::available_parallelism().map_or(1, NonZero::get),
        }
    }

    /// A session for each card, where all were asked for; else one.
    fn fleet(self) -> Result<Fleet, Verdict> {
        if self.options.device != DeviceChoice::All {
            return self.one();
        }
        let cards = enumerate_devices().map_err(|fault| {
            complain(&format!("error: {}", fault.reason));
            Verdict::Environment
        })?;
        let sessions = cards.into_iter().enumerate().map(|(index, card)| {
            // A card that drops out gives its number to the next one.
            let address = card.uuid.map_or(Address::Ordinal(index), Address::Uuid);
            // The folder of a nextest run is shared by its processes, but not by cards.
            let joined = self.joined.as_ref().map(|key| format!("{key}-{address}"));
            let named = match (&address, self.options.redact) {
                // A hidden UUID names no card.
                (Address::Uuid(_), true) => DeviceChoice::All,
                _ => DeviceChoice::One(address.clone()),
            };
            let options = Options {
                device: named,
                ..self.options.clone()
            };
            self.session(address, joined, (self.repro)(&options))
        });
        fleet_of(sessions.collect())
    }

    fn one(self) -> Result<Fleet, Verdict> {
        let address = self.planned.chosen.address.clone();
        let repro = (self.repro)(self.options);
        fleet_of(
            self.session(address, self.joined.clone(), repro)
                .map(|one| vec![one]),
        )
    }

    /// The run that died, on the one device that it was on.
    fn resumed(self, unfinished: Unfinished) -> Result<Fleet, Verdict> {
        let address = self.planned.chosen.address.clone();
        let repro = (self.repro)(self.options);
        let session = self.session(address, None, repro);
        let session = session.map(|session| session.resuming(unfinished));
        if let Ok(session) = &session
            && let Err((verdict, why)) = session.open()
        {
            complain(&refusal(why));
            return Err(verdict);
        }
        fleet_of(session.map(|one| vec![one]))
    }

    fn session(
        &self,
        address: Address,
        joined: Option<String>,
        repro: Repro,
    ) -> Result<Session, String> {
        let threads = self.threads();
        let worker = WorkerConfig {
            device: address.clone(),
            ..self.planned.worker.clone()
        };
        let schedules = worker.schedules;
        let mut launch = Launch::this_executable(worker)
            .map_err(|error| format!("cannot tell which executable this is: {error}"))?;
        launch.case_deadline = self.options.timeout;
        Ok(Session::new(Parts {
            chosen: Chosen {
                address: address.clone(),
                ..self.planned.chosen.clone()
            },
            profile: self.planned.profile,
            images: self.planned.images.clone(),
            suites: self.planned.suites.clone(),
            waivers: self.planned.waivers.clone(),
            cases: self.cases.clone(),
            filtered: self.filtered,
            store: Store::open(&self.options.reports),
            joined,
            redact: self.options.redact,
            schedules,
            pool: Pool::new(launch, threads),
            nvml: NvmlLaunch::this_executable(),
            repro,
            // Of many cards each has a run of its own, which is resumed on that card.
            choices: self.choices.clone().map(|choices| ChoicesRecord {
                device: match self.options.device {
                    DeviceChoice::All => address.to_string(),
                    _ => choices.device.clone(),
                },
                ..choices
            }),
        }))
    }
}

/// Where the driver gave a list, it was not empty.
fn fleet_of(sessions: Result<Vec<Session>, String>) -> Result<Fleet, Verdict> {
    let sessions = sessions.map_err(|error| refuse(&error))?;
    Fleet::new(sessions).ok_or(Verdict::Environment)
}

/// The run that nextest made of many processes, by its id.
fn nextest_run() -> Option<String> {
    std::env::var_os("NEXTEST")?;
    std::env::var("NEXTEST_RUN_ID").ok()
}

fn show(ended: &Ended, to: &mut impl Write) {
    if let Some(report) = &ended.report {
        let text = summary_text(report, width(), ended.folder.as_deref());
        // A reader that left does not change the verdict.
        let _ = to.write_all(text.as_bytes());
    }
    if let Some(trouble) = &ended.trouble {
        complain(&format!("error: {trouble}"));
    }
}

/// Columns of the terminal, or what its user says.
pub(crate) fn width() -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    columns
        .or_else(|| {
            let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
            Some(usize::from(size.ws_col))
        })
        .filter(|&columns| columns > 0)
        .unwrap_or(WIDTH)
}

/// Why cases are skipped before any device is opened: each reason, and how many cases have it.
fn skips(cases: &[PlannedCase]) -> IndexMap<String, usize> {
    let mut skips = IndexMap::new();
    for reason in cases.iter().filter_map(|planned| planned.decided.as_ref()) {
        *skips.entry(reason.to_string()).or_insert(0) += 1;
    }
    skips
}

/// Where no case was run there is no summary that tells why.
fn nothing_ran(ended: &Ended, skips: &IndexMap<String, usize>, message: &str) {
    if ended.report.is_none() {
        for (reason, count) in skips {
            complain(&format!("{count} skipped: {reason}"));
        }
    }
    complain(message);
}

fn refuse(error: &impl std::fmt::Display) -> Verdict {
    complain(&refusal(error));
    Verdict::Usage
}

fn complain(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", text.trim_end());
}
