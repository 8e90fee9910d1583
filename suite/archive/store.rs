//! The archive's root: beginning and joining runs.

use std::fs;
use std::path::{Path, PathBuf};

use super::disk::replace;
use super::names::{folder_name, joined_run_id};
use super::run::RunFolder;
use super::{ArchiveError, Shelf, new_run_id};
use crate::report::Facts;

/// Where runs go unless `--reports` or `CUDA_GATES_REPORTS` says otherwise.
pub const DEFAULT_ROOT: &str = "reports";
/// Names tried before giving up: two runs of one second take the same name once in 65,536.
const NAMES_TRIED_MAX: usize = 64;

/// An archive of runs. Nothing is created before the first run begins.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
}

impl Store {
    pub fn open(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Creates a folder of its own for a run and writes its `run.json`. `facts.run.id` is kept when its folder is
    /// free (an empty one is always replaced); the folder's [`RunFolder::facts`] have the id that was taken.
    ///
    /// # Errors
    /// When the folder or the file cannot be written.
    pub fn begin_run(&self, mut facts: Facts) -> Result<RunFolder, ArchiveError> {
        let shelf = self.shelf(&facts)?;
        if facts.run.id.is_empty() {
            facts.run.id = new_run_id();
        }
        for _ in 0..NAMES_TRIED_MAX {
            let name = folder_name(&facts.run.id, "run");
            match RunFolder::create(&shelf, &name, &facts)? {
                Some(run) => return Ok(run),
                None => facts.run.id = new_run_id(),
            }
        }
        Err(ArchiveError::NoFreeName(shelf))
    }

    /// The folder that all callers with this `key` share (`NEXTEST_RUN_ID`); the first one's facts are kept, with
    /// the shared id.
    ///
    /// # Errors
    /// When the folder or its files cannot be written or read.
    pub fn join_run(&self, key: &str, mut facts: Facts) -> Result<RunFolder, ArchiveError> {
        facts.run.id = joined_run_id(key);
        let path = self.shelf(&facts)?.join(&facts.run.id);
        fs::create_dir_all(&path)
            .map_err(|e| ArchiveError::io("create the run folder", &path, e))?;
        RunFolder::join(path, facts)
    }

    /// Writes files that are no run of gates into a folder of this name: each whole or not at all.
    ///
    /// # Errors
    /// When the folder or a file cannot be written.
    pub fn keep(
        &self,
        shelf: &Shelf,
        id: &str,
        files: &[(&str, &str)],
    ) -> Result<PathBuf, ArchiveError> {
        let folder = self.root.join(shelf.path()).join(folder_name(id, "run"));
        fs::create_dir_all(&folder)
            .map_err(|e| ArchiveError::io("create the folder", &folder, e))?;
        for (name, text) in files {
            replace(&folder.join(name), text)?;
        }
        Ok(folder)
    }

    /// That [`Store::keep`] will have a place for this name; leaves no trace but the folders above it.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn try_out(&self, shelf: &Shelf, id: &str) -> Result<(), ArchiveError> {
        let shelf = self.root.join(shelf.path());
        fs::create_dir_all(&shelf).map_err(|e| ArchiveError::io("create the folder", &shelf, e))?;
        let folder = shelf.join(folder_name(id, "run"));
        fs::create_dir(&folder)
            .and_then(|()| fs::remove_dir(&folder))
            .map_err(|e| ArchiveError::io("create the folder", &folder, e))
    }

    fn shelf(&self, facts: &Facts) -> Result<PathBuf, ArchiveError> {
        let shelf = self.root.join(Shelf::of(facts).path());
        fs::create_dir_all(&shelf).map_err(|e| ArchiveError::io("create the folder", &shelf, e))?;
        Ok(shelf)
    }
}
