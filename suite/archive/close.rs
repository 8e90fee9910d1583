//! Runs that nobody finished: what is in their results, and the report that somebody writes for all of them.

use std::path::Path;

use super::load::{Loaded, read_results, read_start};
use super::run::{RUN, RunFolder};
use super::{ArchiveError, State};
use crate::report::Facts;
use crate::report::record::Report;

/// What a run's folder holds, whether or not it has a report already: processes may have joined since.
///
/// # Errors
/// When it holds no run, or one that cannot be read.
pub fn load_results(folder: &Path) -> Result<Loaded, ArchiveError> {
    let start = folder.join(RUN);
    if !start.is_file() {
        return Err(ArchiveError::Bare(folder.to_owned()));
    }
    let (facts, seal) = read_start(folder)?;
    let results = read_results(folder)?;
    Ok(Loaded {
        path: folder.to_owned(),
        report: facts.into_report(results.cases, Vec::new()),
        state: State::Incomplete,
        broken_lines: results.broken_lines,
        seal,
    })
}

/// Writes the report of such a run beside its results, to which it adds the report's cases that have none there.
///
/// # Errors
/// When it cannot be written; the results that are there stay as they are.
pub fn close(folder: &Path, report: &Report) -> Result<(), ArchiveError> {
    let facts = Facts::from(report.clone());
    RunFolder::join(folder.to_owned(), facts)?.close(report)
}
