//! Whether the files of a run are as they were written, and say the same.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::load::{Found, id, load, load_file, read_start};
use super::results::{Results, read_results};
use super::run::{JUNIT, REPORT, RESULTS, RUN, SUMMARY};
use super::{ArchiveError, Loaded, State, Store};
use crate::report::record::{CaseRecord, Report};
use crate::report::{Seal, results_sha256};

/// What was found about one run, or one report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    pub id: String,
    pub path: PathBuf,
    pub state: State,
    /// Results that can be read.
    pub results: usize,
    /// What is wrong. Empty when all is as it was written.
    pub problems: Vec<String>,
    /// What is worth knowing of a run that is all right.
    pub notes: Vec<String>,
}

impl Store {
    /// Verifies a run, named as for [`Store::load`].
    ///
    /// # Errors
    /// When there is no such run, or several.
    pub fn verify(&self, name: &str) -> Result<Verified, ArchiveError> {
        Ok(match self.find(name)? {
            Found::Run(folder) => verify(&folder),
            Found::File(path) => judge(load_file(&path), path.display().to_string(), &path),
        })
    }

    /// Verifies every run of the archive.
    ///
    /// # Errors
    /// When a folder cannot be read.
    pub fn verify_all(&self) -> Result<Vec<Verified>, ArchiveError> {
        Ok(self.folders()?.iter().map(|path| verify(path)).collect())
    }
}

fn verify(folder: &Path) -> Verified {
    let loaded = load(folder);
    let report = loaded.as_ref().ok().map(|loaded| loaded.report.clone());
    let mut found = judge(loaded, id(folder), folder);
    match report {
        None => {
            if let Ok(results) = read_results(folder) {
                found.results = results.cases.len();
            }
        }
        Some(report) => results(&report, folder, &mut found),
    }
    // An incomplete run without a report was loaded from its start.
    if found.state == State::Complete
        || (found.state == State::Incomplete && folder.join(REPORT).is_file())
    {
        start(folder, &mut found);
        for name in [JUNIT, SUMMARY] {
            if !folder.join(name).is_file() {
                found.problems.push(format!("{name} is missing"));
            }
        }
    }
    found
}

fn judge(loaded: Result<Loaded, ArchiveError>, id: String, path: &Path) -> Verified {
    let mut found = Verified {
        id,
        path: path.to_owned(),
        state: State::Incomplete,
        results: 0,
        problems: Vec::new(),
        notes: Vec::new(),
    };
    match loaded {
        Err(error) => {
            let told = error.to_string();
            found.state = State::Unreadable(told.clone());
            found.problems.push(told);
        }
        Ok(loaded) => {
            found.results = loaded.report.cases.len();
            found.state = loaded.state;
            let file = match (path.is_dir(), path.join(REPORT).is_file()) {
                (true, true) => format!("{REPORT} "),
                (true, false) => format!("{RUN} "),
                (false, _) => String::new(),
            };
            sealed(&loaded.seal, &file, &mut found.problems);
        }
    }
    found
}

fn sealed(seal: &Seal, file: &str, problems: &mut Vec<String>) {
    match seal {
        Seal::Whole => {}
        Seal::Absent => problems.push(format!(
            "{file}has no seal: it was written before there was one, or the seal was taken away"
        )),
        Seal::Broken(_) => {
            let told = seal.broken().unwrap_or_default();
            problems.push(format!("{file}was {told}"));
        }
    }
}

fn start(folder: &Path, found: &mut Verified) {
    match read_start(folder) {
        Ok((_, seal)) => sealed(&seal, &format!("{RUN} "), &mut found.problems),
        Err(error) => found.problems.push(error.to_string()),
    }
}

/// Of a complete run, whether `results.jsonl` says what the report does.
fn results(report: &Report, folder: &Path, found: &mut Verified) {
    let results = match read_results(folder) {
        Ok(results) => results,
        Err(error) => return found.problems.push(error.to_string()),
    };
    tell_extra(report, &results, found);
    if results.broken_lines > 0 {
        let lines = results.broken_lines;
        found.notes.push(format!(
            "{RESULTS}: {lines} lines hold no whole result, as when the run was killed while it wrote one"
        ));
    }
    if found.state != State::Complete {
        return;
    }
    if !folder.join(RESULTS).is_file() {
        return found.problems.push(format!("{RESULTS} is missing"));
    }
    let same = match (
        results_sha256(&results.cases),
        results_sha256(&report.cases),
    ) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    };
    if !same {
        let told = difference(&report.cases, &results.cases);
        found
            .problems
            .push(format!("{RESULTS} and report.json differ: {told}"));
    }
}

/// Results that a run cannot have, as far as it can be told without its specs.
fn tell_extra(report: &Report, results: &Results, found: &mut Verified) {
    let judged = report.run.problems.iter();
    let judged: Vec<&str> = judged.map(|problem| problem.message.as_str()).collect();
    for differing in &results.differing {
        let told = differing.to_string();
        // Processes of one run may have the same case (`cargo nextest run --retries`), and a run may say that it is so.
        let is_known = report.run.joined || judged.iter().any(|message| message.contains(&told));
        let list = match is_known {
            true => &mut found.notes,
            false => &mut found.problems,
        };
        list.push(format!("{RESULTS}: {told}"));
    }
    let selected = report.run.choices.as_ref().map(|choices| choices.cases);
    if let Some(selected) = selected
        && results.cases.len() > selected
    {
        let there = results.cases.len();
        found.problems.push(format!(
            "{RESULTS} has results of {there} cases, and the run selected {selected}"
        ));
    }
}

fn difference(report: &[CaseRecord], results: &[CaseRecord]) -> String {
    let by_id = |cases: &[CaseRecord]| -> BTreeMap<String, CaseRecord> {
        let entry = |case: &CaseRecord| (case.id.clone(), case.clone());
        cases.iter().map(entry).collect()
    };
    let (report, results) = (by_id(report), by_id(results));
    let lacking = |these: &BTreeMap<String, _>, those: &BTreeMap<String, CaseRecord>| {
        let missing = those.keys().filter(|id| !these.contains_key(*id));
        missing.cloned().collect::<Vec<String>>()
    };
    let differ = report
        .iter()
        .filter(|(id, case)| results.get(*id).is_some_and(|other| other != *case));
    let parts = [
        ("missing in results.jsonl", lacking(&results, &report)),
        ("missing in report.json", lacking(&report, &results)),
        ("not the same", differ.map(|(id, _)| id.clone()).collect()),
    ];
    let told: Vec<String> = parts
        .iter()
        .filter_map(|(what, ids)| Some(format!("{} {what} (first {})", ids.len(), ids.first()?)))
        .collect();
    told.join(", ")
}
