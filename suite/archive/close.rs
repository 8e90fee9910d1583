//! Runs that nobody finished: the report that somebody writes for all of their processes.

use std::path::{Path, PathBuf};

use super::load::{Found, load};
use super::run::RunFolder;
use super::{ArchiveError, Loaded, Store};
use crate::report::Facts;
use crate::report::record::Report;

impl Store {
    /// The folder of a run, named as for [`Store::load`]; of the one that was started last, when none is named.
    ///
    /// # Errors
    /// When there is no such run, or several.
    pub fn folder(&self, name: Option<&str>) -> Result<PathBuf, ArchiveError> {
        match name.map(|name| self.find(name)) {
            None => self.newest_folder(),
            Some(Ok(Found::Run(folder))) => Ok(folder),
            Some(Ok(Found::File(path))) => Err(ArchiveError::NoRun(path)),
            Some(Err(error)) => Err(error),
        }
    }
}

/// A run as it was last written; none where that is a damaged report, which can be written again.
///
/// # Errors
/// When there is no run, or it cannot be read.
pub fn last_written(folder: &Path) -> Result<Option<Loaded>, ArchiveError> {
    match load(folder) {
        Ok(loaded) => Ok(Some(loaded)),
        Err(ArchiveError::Damaged { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes the report of such a run beside its results, to which it adds the report's cases that have none there. A
/// damaged report is kept under another name.
///
/// # Errors
/// When it cannot be written; the results that are there stay as they are.
pub fn close(folder: &Path, report: &Report) -> Result<(), ArchiveError> {
    let facts = Facts::from(report.clone());
    RunFolder::join(folder.to_owned(), facts)?.close(report)
}
