//! One run's folder, while it runs.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::ArchiveError;
use crate::report::record::{CaseRecord, Report};
use crate::report::{self, Facts};

pub(super) const RUN: &str = "run.json";
pub(super) const RESULTS: &str = "results.jsonl";
pub(super) const REPORT: &str = "report.json";
const JUNIT: &str = "junit.xml";
const SUMMARY: &str = "summary.md";

/// Every file of a run.
pub(super) const FILES: [&str; 5] = [RUN, RESULTS, REPORT, JUNIT, SUMMARY];

/// A run's folder. Results are appended from any thread, and from other processes that joined the run.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    facts: Facts,
    /// The lock on the file keeps other processes out, this one other threads.
    results: Mutex<File>,
}

impl RunFolder {
    /// A folder that was just created and is nobody else's.
    pub(super) fn create(path: PathBuf, facts: Facts) -> Result<Self, ArchiveError> {
        let results = open_results(&path)?;
        write_start(&path, &facts)?;
        Ok(Self {
            path,
            facts,
            results: Mutex::new(results),
        })
    }

    /// A folder that others may be writing to.
    pub(super) fn join(path: PathBuf, facts: Facts) -> Result<Self, ArchiveError> {
        let results = open_results(&path)?;
        let file = path.join(RESULTS);
        let lock = FileLock::take(&results, &file)?;
        let start = path.join(RUN);
        let facts = match fs::read_to_string(&start) {
            Ok(text) => report::from_json(&text)
                .map_err(|source| ArchiveError::Read {
                    path: start,
                    source,
                })?
                .into(),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                write_start(&path, &facts)?;
                facts
            }
            Err(e) => return Err(ArchiveError::io("read", &start, e)),
        };
        drop(lock);
        Ok(Self {
            path,
            facts,
            results: Mutex::new(results),
        })
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

    /// Adds one result and hands it to the operating system before returning, so that it outlives this process.
    ///
    /// # Errors
    /// When it cannot be written; the results before it stay whole.
    pub fn append(&self, case: &CaseRecord) -> Result<(), ArchiveError> {
        let file = self.path.join(RESULTS);
        let line = report::case_to_line(case).map_err(|source| ArchiveError::Json {
            path: file.clone(),
            source,
        })?;
        let results = self.lock();
        let _lock = FileLock::take(&results, &file)?;
        append_line(&results, &line).map_err(|e| ArchiveError::io("append to", &file, e))
    }

    /// Writes `report.json`, `junit.xml` and `summary.md`, each whole or not at all. Every file is tried.
    ///
    /// # Errors
    /// The first failure; `results.jsonl` still has every result.
    pub fn finish(&self, report: &Report) -> Result<(), ArchiveError> {
        let results = self.lock();
        let _lock = FileLock::take(&results, &self.path.join(RESULTS))?;
        self.write_report(report)
    }

    fn lock(&self) -> MutexGuard<'_, File> {
        // A thread that panicked while it held this left at worst a broken line, which the next append closes.
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_report(&self, report: &Report) -> Result<(), ArchiveError> {
        let json = self.path.join(REPORT);
        let wrote_json = report::to_json(report)
            .map_err(|source| ArchiveError::Json {
                path: json.clone(),
                source,
            })
            .and_then(|text| replace(&json, &text));
        let junit = self.path.join(JUNIT);
        let wrote_junit = report::junit_xml(report)
            .map_err(|e| ArchiveError::Xml {
                path: junit.clone(),
                message: e.to_string(),
            })
            .and_then(|text| replace(&junit, &text));
        let wrote_summary = replace(&self.path.join(SUMMARY), &report::summary_markdown(report));
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

fn open_results(folder: &Path) -> Result<File, ArchiveError> {
    let path = folder.join(RESULTS);
    OpenOptions::new()
        .create(true)
        .append(true)
        .read(true)
        .open(&path)
        .map_err(|e| ArchiveError::io("open", &path, e))
}

/// Appends a line, closing first one that a dying writer left open. A line that does not fit is taken back.
pub(super) fn append_line(mut file: &File, line: &str) -> io::Result<()> {
    let len = file.seek(SeekFrom::End(0))?;
    let mut last = [b'\n'];
    if len > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    let text = if last == *b"\n" {
        line.to_owned()
    } else {
        format!("\n{line}")
    };
    file.write_all(text.as_bytes())
        .and_then(|()| file.flush())
        .inspect_err(|_| {
            // Best effort: a broken last line is tolerated by every reader.
            let _ = file.set_len(len);
        })
}

/// Writes a file beside its place and moves it there.
pub(super) fn replace(path: &Path, text: &str) -> Result<(), ArchiveError> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    let written = File::create(&part)
        .and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        })
        .and_then(|()| fs::rename(&part, path));
    written.map_err(|e| {
        let _ = fs::remove_file(&part);
        ArchiveError::io("write", path, e)
    })
}

/// The folder's lock, held on its results file: against other processes, and other handles of this one.
struct FileLock<'a>(&'a File);

impl<'a> FileLock<'a> {
    fn take(file: &'a File, path: &Path) -> Result<Self, ArchiveError> {
        match file.lock() {
            Ok(()) => Ok(Self(file)),
            // A file system without locks: appends of one line are still whole on it.
            Err(e) if e.kind() == io::ErrorKind::Unsupported => Ok(Self(file)),
            Err(e) => Err(ArchiveError::io("lock", path, e)),
        }
    }
}

impl Drop for FileLock<'_> {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}
