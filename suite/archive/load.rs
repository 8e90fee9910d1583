//! One run from its files, whole or not.

use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::damage::broken_report;
use super::results::{Differing, read_results};
use super::run::{FILES, REPORT, RESULTS, RUN};
use super::{ArchiveError, State, Store};
use crate::regular_file;
use crate::report::record::Report;
use crate::report::{self, Facts, ReadError, Seal};

/// Of a file that is read: a hundred times the largest whole run so far.
pub(super) const BYTES_MAX: u64 = 4 << 30;

/// A run's record. For an incomplete run it is assembled from what is on disk.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    pub path: PathBuf,
    pub report: Report,
    pub state: State,
    pub broken_lines: usize,
    /// Cases that have several results in `results.jsonl`, where that was read.
    pub differing: Vec<Differing>,
    /// Whether the file that tells of the run is as it was written: `report.json`, of an incomplete run `run.json`.
    pub seal: Seal,
}

impl Store {
    /// Loads a run by its folder (or one of a run's own files in it), its id, or the beginning of one; or a report
    /// that lies anywhere under any name.
    ///
    /// # Errors
    /// When there is no such run, several, or it cannot be read.
    pub fn load(&self, name: &str) -> Result<Loaded, ArchiveError> {
        match self.find(name)? {
            Found::Run(folder) => load(&folder),
            Found::File(path) => load_file(&path),
        }
    }

    pub(super) fn find(&self, name: &str) -> Result<Found, ArchiveError> {
        let given = Path::new(name);
        if is_run(given) {
            return Ok(Found::Run(given.to_owned()));
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
            return Ok(if is_part && is_run(folder) {
                Found::Run(folder.to_owned())
            } else {
                Found::File(given.to_owned())
            });
        }
        self.by_id(name).map(Found::Run)
    }

    fn by_id(&self, name: &str) -> Result<PathBuf, ArchiveError> {
        let folders = self.folders()?;
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
            [one] => Ok((*one).clone()),
            many => Err(ArchiveError::Ambiguous {
                name: name.to_owned(),
                folders: many.iter().map(|path| path.display().to_string()).collect(),
            }),
        }
    }
}

/// What a name stands for.
pub(super) enum Found {
    Run(PathBuf),
    /// A report that is no run's own.
    File(PathBuf),
}

/// A run's id is its folder's name.
pub(super) fn id(folder: &Path) -> String {
    let name = folder.file_name();
    name.map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// What may not be looked into may be one: it must not vanish.
pub(super) fn is_run(path: &Path) -> bool {
    let there = |file: &&str| match path.join(file).try_exists() {
        Ok(there) => there,
        Err(e) => e.kind() == io::ErrorKind::PermissionDenied,
    };
    [REPORT, RUN, RESULTS].iter().any(there)
}

/// Whether a file is there; also one that is no regular file.
pub(super) fn is_there(path: &Path) -> Result<bool, ArchiveError> {
    match path.try_exists() {
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => {
            Err(ArchiveError::io("read", path, e))
        }
        there => Ok(there.unwrap_or(false)),
    }
}

pub(super) fn load(folder: &Path) -> Result<Loaded, ArchiveError> {
    let finished = folder.join(REPORT);
    // What is no file is refused with its reason.
    if is_there(&finished)? {
        let mut loaded = load_file(&finished).map_err(|error| broken_report(error, folder))?;
        loaded.path = folder.to_owned();
        return Ok(loaded);
    }
    load_results(folder)
}

/// What a run's start and results hold, whether or not it has a report: of a run that did not reach its end, or of one
/// that other processes may have joined since.
///
/// # Errors
/// When it has no start, or one of the files cannot be read.
pub fn load_results(folder: &Path) -> Result<Loaded, ArchiveError> {
    let (mut facts, seal) = read_start(folder)?;
    facts.run.complete = false;
    facts.run.finished = None;
    let results = read_results(folder)?;
    Ok(Loaded {
        path: folder.to_owned(),
        report: facts.into_report(results.cases, Vec::new()),
        state: State::Incomplete,
        broken_lines: results.broken_lines,
        differing: results.differing,
        seal,
    })
}

/// What was known when a run began.
pub(super) fn read_start(folder: &Path) -> Result<(Facts, Seal), ArchiveError> {
    let start = folder.join(RUN);
    if !is_there(&start)? {
        return Err(ArchiveError::Bare(folder.to_owned()));
    }
    let (report, seal) = read_report(&start)?;
    Ok((Facts::from(report), seal))
}

/// A `report.json` wherever it stands.
pub(super) fn load_file(path: &Path) -> Result<Loaded, ArchiveError> {
    let (report, seal) = read_report(path)?;
    Ok(Loaded {
        path: path.to_owned(),
        state: if report.run.complete {
            State::Complete
        } else {
            State::Incomplete
        },
        report,
        broken_lines: 0,
        differing: Vec::new(),
        seal,
    })
}

pub(super) fn read_report(path: &Path) -> Result<(Report, Seal), ArchiveError> {
    let failed = |source| ArchiveError::Read {
        path: path.to_owned(),
        source,
    };
    let bytes = read(path).map_err(|e| ArchiveError::io("read", path, e))?;
    let text = String::from_utf8(bytes).map_err(|e| failed(ReadError::NotUtf8(e.utf8_error())))?;
    let report = report::from_json(&text).map_err(failed)?;
    let seal = report::seal_of(&text).map_err(|e| failed(e.into()))?;
    Ok((report, seal))
}

/// The bytes of a report, up to the first that no JSON has: a file that was not written to its end may have a hole.
pub(super) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let file = regular_file::open(path, BYTES_MAX)?;
    let mut bytes = Vec::new();
    BufReader::new(file.take(BYTES_MAX)).read_until(0, &mut bytes)?;
    Ok(bytes)
}
