//! How a run shows that it goes on: a bar on a terminal, plain lines anywhere else. The only place that names
//! indicatif.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::text::headline;
use crate::outcome::Outcome;
use crate::report::record::CaseRecord;

/// Written to standard error, so that standard output holds the summary alone.
pub(super) struct Progress {
    bar: Option<ProgressBar>,
    total: usize,
    ended: AtomicUsize,
}

impl Progress {
    /// Of a run of `total` cases. A CI's pseudo-terminal gets plain lines too.
    pub(super) fn new(total: usize) -> Self {
        let terminal = std::io::stderr().is_terminal() && std::env::var_os("CI").is_none();
        Self {
            bar: terminal.then(|| bar(total)),
            total,
            ended: AtomicUsize::new(0),
        }
    }

    pub(super) fn begun(&self, id: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(id.to_owned());
        }
    }

    pub(super) fn ended(&self, record: &CaseRecord) {
        let count = self.ended.fetch_add(1, Ordering::Relaxed) + 1;
        match &self.bar {
            Some(bar) => {
                if matches!(record.outcome, Outcome::Fail | Outcome::Error) {
                    bar.println(format!("{}\n    {}", record.id, headline(record)));
                }
                bar.set_position(count as u64);
            }
            None => say(&line(count, self.total, record)),
        }
    }

    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
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
    let mut line = format!(
        "[{count:>width$}/{total}] {:<5} {} ({duration} ms)",
        record.outcome, record.id
    );
    if record.outcome != Outcome::Pass {
        line.push_str(&format!("\n        {}", headline(record)));
    }
    line
}

fn say(line: &str) {
    // A closed standard error loses the lines, not the run.
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::{Reason, ReasonKind};
    use crate::runner::blank::blank_record;

    #[test]
    fn plain_lines_count_and_tell_what_is_wrong() {
        let mut record = blank_record("s::g::jit");
        record.duration_ms = 2.6;
        assert_eq!(line(7, 216, &record), "[  7/216] pass  s::g::jit (3 ms)");
        record.outcome = Outcome::Error;
        record.reason = Some(Reason::new(ReasonKind::Hang, "no answer within 2 s"));
        assert_eq!(
            line(216, 216, &record),
            "[216/216] error s::g::jit (3 ms)\n        error: hang: no answer within 2 s"
        );
    }
}
