//! Runs killed at random moments, and resumed until they are done.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use cuda_gates::archive::{State, Store};
use cuda_gates::report::case_from_line;
use cuda_gates::report::record::Report;

use super::durable_place::{Place, SUITE};

/// Resumed runs that are killed too, of one round, at most.
const KILLS_AGAIN_MAX: u32 = 3;

/// What became of the runs that were killed.
#[derive(Default)]
pub struct Figures {
    rounds: u32,
    kills: u32,
    /// Killed before there was a folder: nothing had begun.
    before: u32,
    /// Killed between the first result and the last, or before the report was there.
    pub between: u32,
    /// Over before the kill came.
    after: u32,
    /// Results on disk at a kill.
    fewest: Option<usize>,
    most: usize,
    /// Lines that the kill cut.
    broken_lines: usize,
    unbroken: Duration,
    took: Duration,
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} runs, {} kills: {} before there was a folder, {} in the middle ({} to {} results on disk, {} cut \
             lines), {} after the end; each resumed to the verdicts of an unbroken run ({:.2?}); {:.1?} in all",
            self.rounds,
            self.kills,
            self.before,
            self.between,
            self.fewest.unwrap_or(0),
            self.most,
            self.broken_lines,
            self.after,
            self.unbroken,
            self.took
        )
    }
}

/// Numbers without a pattern, the same for the same seed.
struct Random(u64);

impl Random {
    /// From 0 up to 1.
    fn share(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// As many rounds as it takes to kill `count` runs in the middle.
pub fn rounds(count: u32, seed: u64) -> Figures {
    let clock = Instant::now();
    let mut random = Random(seed);
    let place = Place::new(SUITE);
    let begun = Instant::now();
    place.run(&[]).ends(1);
    let mut figures = Figures {
        unbroken: begun.elapsed(),
        ..Figures::default()
    };
    let whole = place.newest();
    while figures.between < count {
        let most = 20 * count;
        assert!(
            figures.rounds < most,
            "kills come too early or too late: {figures}"
        );
        fs::remove_dir_all(place.reports()).unwrap();
        round(&place, &whole, &mut random, &mut figures);
        figures.rounds += 1;
    }
    figures.took = clock.elapsed();
    figures
}

fn round(place: &Place, whole: &Report, random: &mut Random, figures: &mut Figures) {
    // Nothing is known before the first kill.
    let mut resume: Option<String> = None;
    let mut before = Vec::new();
    for kill in 0..=KILLS_AGAIN_MAX {
        let last = kill == KILLS_AGAIN_MAX || (kill > 0 && random.share() < 0.5);
        if last {
            break;
        }
        killed(
            place,
            resume.as_deref(),
            figures.unbroken.mul_f64(random.share()),
        );
        figures.kills += 1;
        let runs = Store::open(place.reports()).list().unwrap();
        let Some(run) = runs.first() else {
            figures.before += 1;
            continue;
        };
        assert_eq!(runs.len(), 1, "{runs:?}");
        assert!(!matches!(run.state, State::Unreadable(_)), "{run:?}");
        before = kept(&run.path, &before);
        if run.state == State::Complete {
            figures.after += 1;
            return finished(place, whole, &before);
        }
        figures.between += 1;
        let results = run.totals.all();
        figures.fewest = Some(figures.fewest.map_or(results, |fewest| fewest.min(results)));
        figures.most = figures.most.max(results);
        figures.broken_lines += run.broken_lines;
        resume = Some(run.id.clone());
    }
    match &resume {
        Some(id) => place.run(&["run", "--resume", id]).ends(1),
        None => place.run(&[]).ends(1),
    };
    finished(place, whole, &before);
}

/// Starts or resumes a run, and kills it after this time unless it is over by then.
fn killed(place: &Place, resume: Option<&str>, after: Duration) {
    let mut command = place.command();
    if let Some(id) = resume {
        command.args(["run", "--resume", id]);
    }
    let mut child = command.spawn().unwrap();
    thread::sleep(after);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// The results on disk, which begin with those that were there before; what was added is whole records, but for the
/// last.
fn kept(run: &Path, before: &[u8]) -> Vec<u8> {
    let now = fs::read(run.join("results.jsonl")).unwrap();
    assert!(now.starts_with(before), "results were lost");
    let mut added = now[before.len()..].split(|byte| *byte == b'\n');
    // What follows the last line's end is cut, and so is what the kill before left.
    added.next_back();
    if before.last().is_some_and(|byte| *byte != b'\n') {
        added.next();
    }
    for line in added {
        let line = String::from_utf8_lossy(line);
        assert!(case_from_line(&line).is_ok(), "{line}");
    }
    now
}

fn finished(place: &Place, whole: &Report, before: &[u8]) {
    let store = Store::open(place.reports());
    let run = store.newest().unwrap();
    assert_eq!(run.state, State::Complete);
    let now = fs::read(run.path.join("results.jsonl")).unwrap();
    assert!(now.starts_with(before), "results were lost");
    same_verdicts(&run.report, whole);
    let verified = store.verify(&run.report.run.id).unwrap();
    assert!(verified.problems.is_empty(), "{verified:?}");
}

/// Cases, in their order, with everything that a verdict is made of.
pub fn same_verdicts(report: &Report, whole: &Report) {
    let verdicts = |report: &Report| -> Vec<(String, String)> {
        let verdict = |case: &cuda_gates::report::record::CaseRecord| {
            let parts = (&case.outcome, &case.reason, &case.findings, &case.repro);
            (case.id.clone(), format!("{parts:?}"))
        };
        report.cases.iter().map(verdict).collect()
    };
    let each: BTreeMap<_, _> = verdicts(report).into_iter().collect();
    assert_eq!(each.len(), report.cases.len(), "a case counts once");
    assert_eq!(verdicts(report), verdicts(whole));
    assert_eq!(report.totals, whole.totals);
}
