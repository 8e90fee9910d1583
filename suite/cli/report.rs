//! `report list` and `report show`.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::args::{Format, ShowFormat};
use super::output::{self, Answer, Failure, Outcome};
use super::table::columns;
use crate::archive::{Listed, Loaded, State, Store};
use crate::report::{Redactor, Seal, broken_rules, summary_markdown, summary_text, to_json};
use crate::runner::{self, CloseError, Options, width};

/// Below a run that nobody has judged as a whole.
const MANY: &str = "A run of many processes: the results that are there. `cuda-gates report close` judges it as \
                    one.\n";

pub(super) fn list(reports: PathBuf, format: Format) -> Outcome {
    let store = Store::open(reports);
    let runs = store.list()?;
    Ok(match format {
        Format::Json => output::json(&json!({
            "schema": "cuda-gates.runs/1.0",
            "runs": runs.iter().map(as_json).collect::<Vec<_>>(),
        })),
        Format::Text if runs.is_empty() => {
            Answer::from(format!("no runs in {}\n", store.root().display()))
        }
        Format::Text => Answer::from(columns(
            &["run", "driver", "card", "profile", "result", ""],
            runs.iter().map(as_row),
        )),
    })
}

fn as_row(run: &Listed) -> Vec<String> {
    let mut about = match &run.state {
        State::Complete => String::new(),
        State::Incomplete if run.joined => "of many processes".to_owned(),
        State::Incomplete => {
            let word = if run.running { "running" } else { "incomplete" };
            match run.selected {
                Some(selected) => format!("{word}: {} of {selected} cases", run.totals.all()),
                None => word.to_owned(),
            }
        }
        State::Unreadable(why) => format!("unreadable: {why}"),
    };
    if let Some(broken) = run.seal.broken() {
        let joint = if about.is_empty() { "" } else { "; " };
        about.push_str(&format!("{joint}{broken}"));
    }
    if run.broken_lines > 0 {
        about.push_str(&format!(" ({} broken lines)", run.broken_lines));
    }
    // The shelf's folder is a bare version there.
    let card = match run.driver.as_str() {
        "sim" => format!("simulator {}", run.card),
        _ => run.card.clone(),
    };
    vec![
        run.id.clone(),
        run.driver.clone(),
        card,
        run.profile.clone(),
        format!("{}{}", run.totals.line(), broken_rules(run.problems)),
        about,
    ]
}

fn as_json(run: &Listed) -> serde_json::Value {
    let (state, why) = match &run.state {
        State::Complete => ("complete", None),
        State::Incomplete => ("incomplete", None),
        State::Unreadable(why) => ("unreadable", Some(why)),
    };
    json!({
        "id": run.id,
        "driver": run.driver,
        "card": run.card,
        "path": run.path.display().to_string(),
        "started": run.started,
        "profile": run.profile,
        "state": state,
        "joined": run.joined,
        "running": run.running,
        "selected": run.selected,
        "changed": run.seal.broken(),
        "unreadable": why,
        "totals": run.totals,
        "problems": run.problems,
        "broken_lines": run.broken_lines,
    })
}

/// A run as it was recorded, or without what identifies a card or a person; the newest when none is named.
pub(super) fn load(run: Option<&str>, reports: PathBuf, redact: bool) -> Result<Loaded, Failure> {
    let store = Store::open(reports);
    let mut loaded = match run {
        Some(run) => store.load(run)?,
        None => store.newest()?,
    };
    if redact {
        let redactor = Redactor::of(&loaded.report.device);
        loaded.report = redactor.report(loaded.report).map_err(Failure::usage)?;
    }
    Ok(loaded)
}

/// Closes a run, the newest when none is named, and shows its report; the exit code is its verdict's.
pub(super) fn close(run: Option<&str>, options: &Options, format: ShowFormat) -> Outcome {
    let folder = Store::open(&options.reports).folder(run)?;
    let closed = runner::close(&folder, options).map_err(|error| match error {
        CloseError::Archive(error) => Failure::from(error),
        other => Failure::usage(other),
    })?;
    let loaded = Loaded {
        path: closed.folder,
        state: match closed.report.run.complete {
            true => State::Complete,
            false => State::Incomplete,
        },
        report: closed.report,
        broken_lines: 0,
        differing: Vec::new(),
        seal: Seal::Whole,
    };
    let answer = show(&loaded, format)?;
    Ok(Answer {
        code: closed.verdict.exit_code(),
        ..answer
    })
}

pub(super) fn show(loaded: &Loaded, format: ShowFormat) -> Outcome {
    let report = &loaded.report;
    let mut answer = Answer::from(match format {
        ShowFormat::Json => to_json(report).map_err(Failure::usage)?,
        ShowFormat::Markdown => summary_markdown(report),
        ShowFormat::Text => {
            let mut text = summary_text(report, width(), Some(Path::new(&loaded.path)));
            if report.run.joined && report.run.finished.is_none() {
                text.push_str(MANY);
            } else if loaded.state != State::Complete {
                text.push_str("This run did not reach its end: its results so far.\n");
                if report.run.choices.is_some() {
                    let id = &report.run.id;
                    text.push_str(&format!("`cuda-gates run --resume {id}` finishes it.\n"));
                }
            }
            for differing in &loaded.differing {
                text.push_str(&format!("{differing}: the worst counts.\n"));
            }
            if loaded.broken_lines > 0 {
                text.push_str(&format!(
                    "{} broken lines in results.jsonl are left out.\n",
                    loaded.broken_lines
                ));
            }
            text
        }
    });
    if let Some(broken) = loaded.seal.broken() {
        answer.code = 1;
        answer.trouble = format!("error: {}: {broken}", loaded.path.display());
    }
    Ok(answer)
}
