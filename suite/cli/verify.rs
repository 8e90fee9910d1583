//! `report verify`.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::args::Format;
use super::output::{self, Answer, Outcome};
use crate::archive::{State, Store, Verified};

pub(super) fn verify(runs: &[String], reports: PathBuf, format: Format) -> Outcome {
    let store = Store::open(reports);
    let found = match runs {
        [] => store.verify_all()?,
        runs => runs
            .iter()
            .map(|run| store.verify(run))
            .collect::<Result<_, _>>()?,
    };
    let mut answer = match format {
        Format::Json => output::json(&json!({
            "schema": "cuda-gates.verified/1.0",
            "runs": found.iter().map(as_json).collect::<Vec<_>>(),
        })),
        Format::Text => Answer::from(found.iter().map(as_text).collect::<String>()),
    };
    if found.is_empty() {
        // As a run of no cases: what was to be verified is elsewhere.
        answer.code = 4;
        answer.trouble = nothing(store.root());
    }
    let wrong = found.iter().filter(|run| !run.problems.is_empty()).count();
    if wrong > 0 {
        answer.code = 1;
        answer.trouble = format!(
            "error: {wrong} of {} are not as they were written",
            found.len()
        );
    }
    Ok(answer)
}

fn nothing(root: &Path) -> String {
    let root_shown = root.display();
    match root.is_dir() {
        true => format!("error: no runs in {root_shown}: nothing was verified"),
        false => format!(
            "error: {root_shown} is not there: nothing was verified. Name the archive with --reports DIR \
             (CUDA_GATES_REPORTS)"
        ),
    }
}

fn as_text(run: &Verified) -> String {
    let state = match &run.state {
        State::Complete => "complete",
        State::Incomplete => "incomplete",
        State::Unreadable(_) => "unreadable",
    };
    let verdict = if run.problems.is_empty() {
        "ok"
    } else {
        "WRONG"
    };
    let mut text = format!(
        "{verdict:<5}  {}  {state}, {} results\n",
        run.id, run.results
    );
    for line in run.problems.iter().chain(&run.notes) {
        text.push_str(&format!("       {line}\n"));
    }
    text
}

fn as_json(run: &Verified) -> serde_json::Value {
    let state = match &run.state {
        State::Complete => "complete",
        State::Incomplete => "incomplete",
        State::Unreadable(_) => "unreadable",
    };
    json!({
        "id": run.id,
        "path": run.path.display().to_string(),
        "state": state,
        "results": run.results,
        "problems": run.problems,
        "notes": run.notes,
    })
}
