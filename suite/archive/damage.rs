//! Reports that cannot be read any more: what writes them again, and where they are kept.

use std::fs;
use std::path::{Path, PathBuf};

use super::ArchiveError;
use super::load::{id, is_there, read_report, read_start};
use super::run::REPORT;
use crate::report::ReadError;
use crate::report::record::Report;

/// What a damaged report is kept as.
const DAMAGED: &str = "report.json.damaged";

/// What a run's folder has for a report.
pub(super) enum Written {
    Nothing,
    Report(Box<Report>),
    /// No report any more, at this path.
    Damaged(PathBuf),
}

/// # Errors
/// When the report cannot be read for another reason than damage: it is from a newer version, for instance.
pub(super) fn written(folder: &Path) -> Result<Written, ArchiveError> {
    let path = folder.join(REPORT);
    if !is_there(&path)? {
        return Ok(Written::Nothing);
    }
    match read_report(&path) {
        Ok((report, _)) => Ok(Written::Report(Box::new(report))),
        Err(ArchiveError::Read { source, .. }) if is_damage(&source) => Ok(Written::Damaged(path)),
        Err(error) => Err(error),
    }
}

/// Makes room for the report that is written again.
pub(super) fn keep_aside(damaged: &Path) -> Result<(), ArchiveError> {
    let aside = damaged.with_file_name(DAMAGED);
    fs::rename(damaged, &aside).map_err(|e| ArchiveError::io("move", damaged, e))
}

/// The error of a report that was not read, with what writes it again, where something does.
pub(super) fn broken_report(error: ArchiveError, folder: &Path) -> ArchiveError {
    match error {
        ArchiveError::Read { path, source } if is_damage(&source) => match mend(folder) {
            Some(mend) => ArchiveError::Damaged { path, source, mend },
            None => ArchiveError::Read { path, source },
        },
        other => other,
    }
}

/// The command that writes the report of a run again: it needs what the run was to do, as it was written.
fn mend(folder: &Path) -> Option<String> {
    let (facts, seal) = read_start(folder).ok()?;
    if seal.broken().is_some() {
        return None;
    }
    let id = id(folder);
    match (facts.run.joined, facts.run.choices) {
        (true, _) => Some(format!("cuda-gates report close {id}")),
        (false, Some(_)) => Some(format!("cuda-gates run --resume {id}")),
        (false, None) => None,
    }
}

/// Whether a file was this suite's once, as far as can be told.
fn is_damage(error: &ReadError) -> bool {
    matches!(
        error,
        ReadError::Truncated { .. } | ReadError::Json(_) | ReadError::NotUtf8(_)
    )
}
