//! One run's folder, while it runs.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::ArchiveError;
use super::damage::{Written, keep_aside, written};
use super::disk::{FileLock, Owner, PART, append_line, open_results, replace, sync, sync_folder};
use super::load::read_report;
use super::results::read_results;
use crate::report::record::{CaseRecord, Report, ResumedRecord};
use crate::report::{self, Facts};

pub(super) const RUN: &str = "run.json";
pub(super) const RESULTS: &str = "results.jsonl";
pub(super) const REPORT: &str = "report.json";
pub(super) const JUNIT: &str = "junit.xml";
pub(super) const SUMMARY: &str = "summary.md";

/// Every file of a run.
pub(super) const FILES: [&str; 5] = [RUN, RESULTS, REPORT, JUNIT, SUMMARY];

/// A run's folder. Results are appended from any thread, and from other processes that joined the run.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    facts: Facts,
    results: File,
    /// The lock on the file keeps other processes out, this one other threads.
    writing: Mutex<()>,
    /// None where other processes write too.
    _owner: Option<Owner>,
}

impl RunFolder {
    /// A folder of this name on the shelf, whole from the moment it has that name; none where the name is taken.
    pub(super) fn create(
        shelf: &Path,
        name: &str,
        facts: &Facts,
    ) -> Result<Option<Self>, ArchiveError> {
        let path = shelf.join(name);
        if path.symlink_metadata().is_ok() {
            return Ok(None);
        }
        // Hidden, so that nobody takes it for a run.
        let stage = shelf.join(format!(".{name}.{}{PART}", std::process::id()));
        match fs::create_dir(&stage) {
            Ok(()) => {}
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
            Err(e) => return Err(ArchiveError::io("create the run folder", &path, e)),
        }
        let staged = Self::fill(&stage, path.clone(), facts);
        let placed = staged.and_then(|run| match fs::rename(&stage, &path) {
            Ok(()) => sync_folder(shelf)
                .map(|()| Some(run))
                .map_err(|e| ArchiveError::io("write", shelf, e)),
            // Somebody else was faster.
            Err(_) if path.symlink_metadata().is_ok() => Ok(None),
            Err(e) => Err(ArchiveError::io("create the run folder", &path, e)),
        });
        if !matches!(placed, Ok(Some(_))) {
            let _ = fs::remove_dir_all(&stage);
        }
        placed
    }

    fn fill(stage: &Path, path: PathBuf, facts: &Facts) -> Result<Self, ArchiveError> {
        let owner = Owner::take(stage)?;
        let results = open_results(&stage.join(RESULTS))?;
        write_start(stage, facts)?;
        Ok(Self::of(path, facts.clone(), results, Some(owner)))
    }

    /// A folder that others may be writing to.
    pub(super) fn join(path: PathBuf, facts: Facts) -> Result<Self, ArchiveError> {
        let file = path.join(RESULTS);
        let results = open_results(&file)?;
        let lock = FileLock::take(&results, &file)?;
        let start = path.join(RUN);
        let facts = if start.exists() {
            read_report(&start)?.0.into()
        } else {
            write_start(&path, &facts)?;
            facts
        };
        drop(lock);
        Ok(Self::of(path, facts, results, None))
    }

    /// A folder whose run died, for the process that goes on with it.
    pub(super) fn take_up(path: PathBuf, facts: Facts, owner: Owner) -> Result<Self, ArchiveError> {
        let results = open_results(&path.join(RESULTS))?;
        Ok(Self::of(path, facts, results, Some(owner)))
    }

    fn of(path: PathBuf, facts: Facts, results: File, owner: Option<Owner>) -> Self {
        Self {
            path,
            facts,
            results,
            writing: Mutex::new(()),
            _owner: owner,
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn id(&self) -> &str {
        &self.facts.run.id
    }

    /// What was known when the run began, with its id.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Notes that the run goes on.
    ///
    /// # Errors
    /// When `run.json` cannot be written; the one that is there stays.
    pub fn resumed(&mut self, record: ResumedRecord) -> Result<(), ArchiveError> {
        self.facts.run.resumed.push(record);
        write_start(&self.path, &self.facts)
    }

    /// Adds one result and waits until the disk has it, so that it outlives this process and a loss of power.
    ///
    /// # Errors
    /// When it cannot be written; the results before it stay whole.
    pub fn append(&self, case: &CaseRecord) -> Result<(), ArchiveError> {
        let file = self.path.join(RESULTS);
        self.write(case)?;
        // Without a lock: several threads wait for the disk at once.
        sync(&self.results).map_err(|e| ArchiveError::io("append to", &file, e))
    }

    /// Hands one result to the operating system.
    pub(super) fn write(&self, case: &CaseRecord) -> Result<(), ArchiveError> {
        let _writing = self.lock();
        let _lock = FileLock::take(&self.results, &self.path.join(RESULTS))?;
        self.write_locked(case)
    }

    fn write_locked(&self, case: &CaseRecord) -> Result<(), ArchiveError> {
        let file = self.path.join(RESULTS);
        let line = report::case_to_line(case).map_err(|source| ArchiveError::Json {
            path: file.clone(),
            source,
        })?;
        append_line(&self.results, &line).map_err(|e| ArchiveError::io("append to", &file, e))
    }

    /// Writes `junit.xml`, `summary.md` and at last `report.json`, which makes the run complete; each whole or not at
    /// all. Every file is tried.
    ///
    /// # Errors
    /// The first failure; `results.jsonl` still has every result.
    pub fn finish(&self, report: &Report) -> Result<(), ArchiveError> {
        let _writing = self.lock();
        let _lock = FileLock::take(&self.results, &self.path.join(RESULTS))?;
        self.write_report(report)
    }

    /// The same for a report with cases that no process ran: `results.jsonl` is given them first, so that it and the
    /// report say the same.
    ///
    /// # Errors
    /// The first failure.
    pub(super) fn close(&self, report: &Report) -> Result<(), ArchiveError> {
        let file = self.path.join(RESULTS);
        let _writing = self.lock();
        let _lock = FileLock::take(&self.results, &file)?;
        let results = read_results(&self.path)?;
        let there: HashSet<&str> = results.cases.iter().map(|case| case.id.as_str()).collect();
        let lacking = |case: &&CaseRecord| !there.contains(case.id.as_str());
        for case in report.cases.iter().filter(lacking) {
            self.write_locked(case)?;
        }
        sync(&self.results).map_err(|e| ArchiveError::io("append to", &file, e))?;
        if let Written::Damaged(damaged) = written(&self.path)? {
            keep_aside(&damaged)?;
        }
        self.write_report(report)
    }

    fn lock(&self) -> MutexGuard<'_, ()> {
        // A thread that panicked while it held this left at worst a broken line, which the next append closes.
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_report(&self, report: &Report) -> Result<(), ArchiveError> {
        let junit = self.path.join(JUNIT);
        let wrote_junit = report::junit_xml(report)
            .map_err(|e| ArchiveError::Xml {
                path: junit.clone(),
                message: e.to_string(),
            })
            .and_then(|text| replace(&junit, &text));
        let wrote_summary = replace(&self.path.join(SUMMARY), &report::summary_markdown(report));
        let json = self.path.join(REPORT);
        let wrote_json = report::to_json(report)
            .map_err(|source| ArchiveError::Json {
                path: json.clone(),
                source,
            })
            .and_then(|text| replace(&json, &text));
        wrote_json.and(wrote_junit).and(wrote_summary)
    }
}

fn write_start(folder: &Path, facts: &Facts) -> Result<(), ArchiveError> {
    let path = folder.join(RUN);
    let start = facts.clone().into_report(Vec::new(), Vec::new());
    let text = report::to_json(&start).map_err(|source| ArchiveError::Json {
        path: path.clone(),
        source,
    })?;
    replace(&path, &text)
}
