//! How a run shows that it goes on: a bar on a terminal, plain lines anywhere else. The only place that names
//! indicatif.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::text::headline;
use crate::report::record::CaseRecord;
use crate::terms::Outcome;

/// Written to standard error, so that standard output holds the summary alone.
pub(super) struct Progress {
    bar: Option<ProgressBar>,
    /// Only what is wrong is told.
    quiet: bool,
    total: usize,
    ended: AtomicUsize,
    /// The last line told of what is wrong: many cases may share it.
    told: Mutex<String>,
}

impl Progress {
    /// Of a run of `total` cases. A CI's pseudo-terminal gets plain lines too.
    pub(super) fn new(total: usize, quiet: bool) -> Self {
        let terminal = std::io::stderr().is_terminal() && std::env::var_os("CI").is_none();
        Self {
            bar: (terminal && !quiet).then(|| bar(total)),
            quiet,
            total,
            ended: AtomicUsize::new(0),
            told: Mutex::default(),
        }
    }

    pub(super) fn begun(&self, id: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(id.to_owned());
        }
    }

    pub(super) fn ended(&self, record: &CaseRecord) {
        let count = self.ended.fetch_add(1, Ordering::Relaxed) + 1;
        let wrong = self.news(record);
        match &self.bar {
            Some(bar) => {
                if is_wrong(record) {
                    bar.println(told(&record.id, wrong.as_deref()));
                }
                bar.set_position(count as u64);
            }
            None if self.quiet && !is_wrong(record) => {}
            None => say(&told(&line(count, self.total, record), wrong.as_deref())),
        }
    }

    /// What is wrong, unless the case before was told to be wrong in the same way.
    fn news(&self, record: &CaseRecord) -> Option<String> {
        let wrong = (record.outcome != Outcome::Pass).then(|| headline(record))?;
        let mut last = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if *last == wrong {
            return None;
        }
        last.clone_from(&wrong);
        Some(wrong)
    }

    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn is_wrong(record: &CaseRecord) -> bool {
    matches!(record.outcome, Outcome::Fail | Outcome::Error)
}

fn bar(total: usize) -> ProgressBar {
    let bar = ProgressBar::new(total as u64);
    let style = ProgressStyle::with_template("{elapsed:>4} [{bar:30}] {pos}/{len} {wide_msg}");
    if let Ok(style) = style {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// `[12/216] pass  compaction::…::jit (3 ms)`
fn line(count: usize, total: usize, record: &CaseRecord) -> String {
    let width = total.to_string().len();
    let duration = record.duration_ms.round();
    format!(
        "[{count:>width$}/{total}] {:<5} {} ({duration} ms)",
        record.outcome, record.id
    )
}

fn told(line: &str, wrong: Option<&str>) -> String {
    match wrong {
        Some(wrong) => format!("{line}\n        {wrong}"),
        None => line.to_owned(),
    }
}

fn say(line: &str) {
    // A closed standard error loses the lines, not the run.
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Reason;
    use crate::runner::blank::blank_record;
    use crate::terms::ReasonKind;

    #[test]
    fn plain_lines_count() {
        let mut record = blank_record("s::g::jit");
        record.duration_ms = 2.6;
        assert_eq!(line(7, 216, &record), "[  7/216] pass  s::g::jit (3 ms)");
        record.outcome = Outcome::Error;
        assert_eq!(line(216, 216, &record), "[216/216] error s::g::jit (3 ms)");
    }

    #[test]
    fn what_many_cases_share_is_told_once() {
        let progress = Progress::new(3, false);
        let mut record = blank_record("s::g::jit");
        assert_eq!(progress.news(&record), None);
        record.outcome = Outcome::Error;
        record.reason = Some(Reason::new(ReasonKind::Environment, "no card"));
        let wrong = "error: environment: no card";
        assert_eq!(progress.news(&record).as_deref(), Some(wrong));
        assert_eq!(progress.news(&record), None);
        record.reason = Some(Reason::new(ReasonKind::Hang, "no answer"));
        assert_eq!(
            progress.news(&record).as_deref(),
            Some("error: hang: no answer")
        );
        assert_eq!(told("line", Some(wrong)), format!("line\n        {wrong}"));
        assert_eq!(told("line", None), "line");
    }
}
