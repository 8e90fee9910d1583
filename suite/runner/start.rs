//! The two ways to start a run: `cargo test --test gates`, and the binary's `run`.

use std::io::{self, Write};
use std::num::NonZero;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use indexmap::IndexMap;

use super::harness::Harness;
use super::options::Options;
use super::planned::Planned;
use super::repro::{Repro, binary_repro, target_repro};
use super::resume::{choices, same_kind, same_suite, take_up};
use super::session::{Ended, Parts, Session, suite_record};
use super::text::refusal;
use super::verdict::Verdict;
use super::{PlannedCase, direct};
use crate::archive::{Store, Unfinished};
use crate::report::record::ChoicesRecord;
use crate::report::summary_text;
use crate::terms::DeviceKind;
use crate::worker::{Launch, Pool};

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
        let suite = suite_record(&planned.suites);
        let then = unfinished.folder.facts();
        let same = same_kind(then, planned.chosen.kind());
        if let Err(error) = same.and_then(|()| same_suite(then, &suite, &choices)) {
            return refuse(&error);
        }
    }
    if cases.is_empty() {
        complain("error: no case is selected (`cuda-gates list` prints their names)");
        return Verdict::Nothing;
    }
    let filtered = options.selection.is_filtered();
    let skips = skips(&cases);
    let start = Start {
        options,
        planned,
        cases,
        filtered,
        joined: None,
        choices: Some(choices),
    };
    let threads = start.threads();
    let session = match start.session(binary_repro(options)) {
        Ok(session) => session,
        Err(error) => return refuse(&error),
    };
    let session = match unfinished {
        None => session,
        Some(unfinished) => {
            let session = session.resuming(unfinished);
            if let Err((verdict, why)) = session.open() {
                complain(&refusal(why));
                return verdict;
            }
            session
        }
    };
    direct::run(&session, threads, options.quiet);
    let ended = session.finish();
    show(&ended, &mut io::stdout().lock());
    if ended.verdict == Verdict::Nothing {
        nothing_ran(&ended, &skips, "error: every selected case is skipped");
    }
    ended.verdict
}

/// The `gates` target's main: every case a named test, choices from the environment, libtest's own arguments.
pub fn gates() -> ExitCode {
    let harness = Harness::from_process();
    let mut options = match Options::from_environment(|name| std::env::var_os(name)) {
        Ok(options) => options,
        Err(error) => return ExitCode::from(refuse(&error).exit_code()),
    };
    options.selection = harness.selection();
    let planned = match Planned::new(&options) {
        Ok(planned) => planned,
        Err(error) => return ExitCode::from(refuse(&error).exit_code()),
    };
    let all = planned.cases.clone();
    let cases: Vec<PlannedCase> = harness.select(&all).into_iter().cloned().collect();
    let filtered = harness.is_filtered();
    let lists = harness.lists();
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
        choices,
    };
    let threads = start.threads();
    let session = match start.session(target_repro(&options)) {
        Ok(session) => Arc::new(session),
        Err(error) => return ExitCode::from(refuse(&error).exit_code()),
    };
    harness.run(&all, Arc::clone(&session) as Arc<dyn super::Judge>, threads);
    if lists {
        return ExitCode::SUCCESS;
    }
    let ended = session.finish();
    if !filtered {
        // Standard output is the harness's.
        show(&ended, &mut io::stderr().lock());
    } else if let Some(trouble) = &ended.trouble {
        complain(&format!("error: {trouble}"));
    }
    if ended.verdict == Verdict::Nothing && !filtered {
        let message = "error: no case ran: every one is skipped, or there is none";
        nothing_ran(&ended, &skips, message);
    }
    ExitCode::from(ended.verdict.libtest_code(filtered))
}

/// Everything chosen, nothing started.
struct Start<'o> {
    options: &'o Options,
    planned: Planned,
    cases: Vec<PlannedCase>,
    filtered: bool,
    joined: Option<String>,
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

    fn session(self, repro: Repro) -> Result<Session, String> {
        let threads = self.threads();
        let schedules = self.planned.worker.schedules;
        let mut launch = Launch::this_executable(self.planned.worker)
            .map_err(|error| format!("cannot tell which executable this is: {error}"))?;
        launch.case_deadline = self.options.timeout;
        Ok(Session::new(Parts {
            chosen: self.planned.chosen,
            profile: self.planned.profile,
            suites: self.planned.suites,
            cases: self.cases,
            filtered: self.filtered,
            store: Store::open(&self.options.reports),
            joined: self.joined,
            redact: self.options.redact,
            schedules,
            pool: Pool::new(launch, threads),
            repro,
            choices: self.choices,
        }))
    }
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
