//! Listing and loading runs, whole or not.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;

use super::run::{FILES, REPORT, RESULTS, RUN};
use super::{ArchiveError, Store};
use crate::report::record::{CaseRecord, Report, Totals};
use crate::report::{self, Facts};

/// Whether a run reached its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    Complete,
    /// It died, was stopped, or is still running.
    Incomplete,
    /// Its files cannot be read, with the reason.
    Unreadable(String),
}

/// A run as `report list` shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    pub driver: String,
    pub card: String,
    pub id: String,
    pub path: PathBuf,
    /// RFC 3339; empty when unknown.
    pub started: String,
    pub profile: String,
    pub state: State,
    /// Written by many processes, none of which knows whether all its results are there.
    pub joined: bool,
    pub totals: Totals,
    /// Lines of `results.jsonl` that hold no whole result, where that file was needed.
    pub broken_lines: usize,
}

/// A run's record. For an incomplete run it is assembled from what is on disk.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    pub path: PathBuf,
    pub report: Report,
    pub state: State,
    pub broken_lines: usize,
}

impl Store {
    /// Every run, oldest first. A run that cannot be read is listed too. A root that does not exist has none.
    ///
    /// # Errors
    /// When a folder cannot be read.
    pub fn list(&self) -> Result<Vec<Listed>, ArchiveError> {
        let mut runs: Vec<Listed> = self.folders()?.iter().map(|path| listed(path)).collect();
        runs.sort_by(|a, b| (&a.started, &a.id).cmp(&(&b.started, &b.id)));
        Ok(runs)
    }

    /// Loads a run by its folder (or one of a run's own files in it), its id, or the beginning of one; or a report
    /// that lies anywhere under any name.
    ///
    /// # Errors
    /// When there is no such run, several, or it cannot be read.
    pub fn load(&self, name: &str) -> Result<Loaded, ArchiveError> {
        let given = Path::new(name);
        if is_run(given) {
            return load(given);
        }
        if let (true, Some(folder)) = (given.is_file(), given.parent()) {
            let folder = if folder.as_os_str().is_empty() {
                Path::new(".")
            } else {
                folder
            };
            let is_part = given
                .file_name()
                .is_some_and(|name| FILES.iter().any(|file| name == *file));
            return if is_part && is_run(folder) {
                load(folder)
            } else {
                load_file(given)
            };
        }
        let folders = self.folders()?;
        let id = |path: &Path| {
            path.file_name()
                .map_or_else(String::new, |name| name.to_string_lossy().into_owned())
        };
        let mut found: Vec<&PathBuf> = folders.iter().filter(|path| id(path) == name).collect();
        if found.is_empty() && !name.is_empty() {
            found = folders
                .iter()
                .filter(|path| id(path).starts_with(name))
                .collect();
        }
        match found.as_slice() {
            [] => Err(ArchiveError::NoSuchRun {
                name: name.to_owned(),
                root: self.root().to_owned(),
            }),
            [one] => load(one),
            many => Err(ArchiveError::Ambiguous {
                name: name.to_owned(),
                ids: many.iter().map(|path| id(path)).collect(),
            }),
        }
    }

    /// Loads the run that was started last.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    pub fn newest(&self) -> Result<Loaded, ArchiveError> {
        let folders = self.folders()?;
        let newest = folders.iter().max_by_key(|path| started(path));
        load(newest.ok_or_else(|| ArchiveError::NoRuns(self.root().to_owned()))?)
    }

    /// `root/*/*/*` that hold a run, in the order of their names.
    fn folders(&self) -> Result<Vec<PathBuf>, ArchiveError> {
        let mut runs = Vec::new();
        for driver in subfolders(self.root())? {
            for card in subfolders(&driver)? {
                runs.extend(subfolders(&card)?.into_iter().filter(|path| is_run(path)));
            }
        }
        Ok(runs)
    }
}

fn subfolders(folder: &Path) -> Result<Vec<PathBuf>, ArchiveError> {
    let failed = |e| ArchiveError::io("list", folder, e);
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(failed(e)),
    };
    let mut folders = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            folders.push(path);
        }
    }
    folders.sort();
    Ok(folders)
}

fn is_run(path: &Path) -> bool {
    [REPORT, RUN, RESULTS]
        .iter()
        .any(|file| path.join(file).is_file())
}

/// When a run began (RFC 3339, so that text sorts as time does); empty when its files do not say. Reads the small file
/// written at its start where there is one.
fn started(folder: &Path) -> String {
    #[derive(serde::Deserialize)]
    struct Head {
        run: Run,
    }
    #[derive(serde::Deserialize)]
    struct Run {
        started: String,
    }
    let read = |file: &str| {
        let text = fs::read_to_string(folder.join(file)).ok()?;
        serde_json::from_str::<Head>(&text).ok()
    };
    let head = read(RUN).or_else(|| read(REPORT));
    head.map_or_else(String::new, |head| head.run.started)
}

fn listed(path: &Path) -> Listed {
    let name = |path: Option<&Path>| {
        path.and_then(Path::file_name)
            .map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    };
    let card = path.parent();
    let mut listed = Listed {
        driver: name(card.and_then(Path::parent)),
        card: name(card),
        id: name(Some(path)),
        path: path.to_owned(),
        started: String::new(),
        profile: String::new(),
        state: State::Incomplete,
        joined: false,
        totals: Totals::default(),
        broken_lines: 0,
    };
    match load(path) {
        Ok(loaded) => {
            listed.started = loaded.report.run.started;
            listed.profile = loaded.report.run.profile;
            listed.state = loaded.state;
            listed.joined = loaded.report.run.joined;
            listed.totals = loaded.report.totals;
            listed.broken_lines = loaded.broken_lines;
        }
        Err(e) => {
            listed.state = State::Unreadable(e.to_string());
            if let Ok(results) = read_results(path) {
                listed.totals = Totals::of(&results.cases);
                listed.broken_lines = results.broken_lines;
            }
        }
    }
    listed
}

fn load(folder: &Path) -> Result<Loaded, ArchiveError> {
    let finished = folder.join(REPORT);
    if finished.is_file() {
        let mut loaded = load_file(&finished)?;
        loaded.path = folder.to_owned();
        return Ok(loaded);
    }
    let start = folder.join(RUN);
    if !start.is_file() {
        return Err(ArchiveError::Bare(folder.to_owned()));
    }
    let mut facts = Facts::from(read_report(&start)?);
    facts.run.complete = false;
    facts.run.finished = None;
    let results = read_results(folder)?;
    Ok(Loaded {
        path: folder.to_owned(),
        report: facts.into_report(results.cases, Vec::new()),
        state: State::Incomplete,
        broken_lines: results.broken_lines,
    })
}

/// A `report.json` wherever it stands.
fn load_file(path: &Path) -> Result<Loaded, ArchiveError> {
    let report = read_report(path)?;
    Ok(Loaded {
        path: path.to_owned(),
        state: if report.run.complete {
            State::Complete
        } else {
            State::Incomplete
        },
        report,
        broken_lines: 0,
    })
}

pub(super) fn read_report(path: &Path) -> Result<Report, ArchiveError> {
    let text = fs::read_to_string(path).map_err(|e| ArchiveError::io("read", path, e))?;
    report::from_json(&text).map_err(|source| ArchiveError::Read {
        path: path.to_owned(),
        source,
    })
}

pub(super) struct Results {
    pub cases: Vec<CaseRecord>,
    pub broken_lines: usize,
}

/// The results of a folder: the last one of each case, in the order of their first. No file is no results.
pub(super) fn read_results(folder: &Path) -> Result<Results, ArchiveError> {
    let path = folder.join(RESULTS);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(e) => return Err(ArchiveError::io("read", &path, e)),
    };
    let mut cases: IndexMap<String, CaseRecord> = IndexMap::new();
    let mut broken_lines = 0;
    for line in bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty()) {
        match std::str::from_utf8(line)
            .ok()
            .and_then(|l| report::case_from_line(l).ok())
        {
            Some(case) => {
                cases.insert(case.id.clone(), case);
            }
            None => broken_lines += 1,
        }
    }
    Ok(Results {
        cases: cases.into_values().collect(),
        broken_lines,
    })
}
