//! Listing runs, whole or not.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::disk::Owner;
use super::load::{Loaded, id, is_run, load, read};
use super::results::read_results;
use super::run::{REPORT, RUN};
use super::{ArchiveError, Store};
use crate::report::Seal;
use crate::report::record::Totals;

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
    /// Rules for whole runs that it broke.
    pub problems: usize,
    /// A process is writing it at this moment.
    pub running: bool,
    /// Cases that it was to run; none where it does not say.
    pub selected: Option<usize>,
    /// As [`Loaded::seal`]; absent where the run cannot be read.
    pub seal: Seal,
    /// Lines of `results.jsonl` that hold no whole result, where that file was needed.
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

    /// Loads the run that was started last.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    pub fn newest(&self) -> Result<Loaded, ArchiveError> {
        load(&self.newest_folder()?)
    }

    pub(super) fn newest_folder(&self) -> Result<PathBuf, ArchiveError> {
        let newest = self.folders()?.into_iter().max_by_key(|path| started(path));
        newest.ok_or_else(|| ArchiveError::NoRuns(self.root().to_owned()))
    }

    /// `root/*/*/*` that hold a run, in the order of their names.
    pub(super) fn folders(&self) -> Result<Vec<PathBuf>, ArchiveError> {
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
        let entry = entry.map_err(failed)?;
        let path = entry.path();
        // A run that is not named yet is hidden.
        if !entry.file_name().as_encoded_bytes().starts_with(b".") && is_folder(&entry) {
            folders.push(path);
        }
    }
    folders.sort();
    Ok(folders)
}

/// Also one that may not be looked at, as the folder above it still says.
fn is_folder(entry: &fs::DirEntry) -> bool {
    match fs::metadata(entry.path()) {
        Ok(found) => found.is_dir(),
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => {
            entry.file_type().is_ok_and(|kind| kind.is_dir())
        }
        Err(_) => false,
    }
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
        let bytes = read(&folder.join(file)).ok()?;
        serde_json::from_slice::<Head>(&bytes).ok()
    };
    let head = read(RUN).or_else(|| read(REPORT));
    head.map_or_else(String::new, |head| head.run.started)
}

fn listed(path: &Path) -> Listed {
    let name = |path: Option<&Path>| path.map_or_else(String::new, id);
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
        problems: 0,
        running: Owner::is_there(path),
        selected: None,
        seal: Seal::Absent,
        broken_lines: 0,
    };
    match load(path) {
        Ok(loaded) => {
            listed.started = loaded.report.run.started;
            listed.profile = loaded.report.run.profile;
            listed.state = loaded.state;
            listed.joined = loaded.report.run.joined;
            listed.totals = loaded.report.totals;
            listed.problems = loaded.report.run.problems.len();
            listed.selected = loaded.report.run.choices.map(|choices| choices.cases);
            listed.seal = loaded.seal;
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
