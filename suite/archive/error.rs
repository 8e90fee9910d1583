//! What can go wrong with the archive, each with the path and what to do.

use std::io;
use std::path::{Path, PathBuf};

use crate::report::ReadError;

#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    #[error("cannot {doing} {path}: {source}. {mend}", path = path.display())]
    Io {
        /// `create the run folder`, `write`, …
        doing: &'static str,
        path: PathBuf,
        mend: &'static str,
        source: io::Error,
    },
    #[error(
        "cannot find a free run folder in {}: every name tried is taken. Choose another folder with --reports DIR",
        .0.display()
    )]
    NoFreeName(PathBuf),
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: ReadError },
    #[error("cannot write {} as JSON: {source}", path.display())]
    Json {
        path: PathBuf,
        source: serde_json::Error,
    },
    #[error("cannot write {} as XML: {message}", path.display())]
    Xml { path: PathBuf, message: String },
    #[error(
        "no run `{name}` in {}: `cuda-gates report list` shows the runs",
        root.display()
    )]
    NoSuchRun { name: String, root: PathBuf },
    #[error("no runs in {}", .0.display())]
    NoRuns(PathBuf),
    #[error("`{name}` names {} runs. Name one by its folder: {}", folders.len(), folders.join(", "))]
    Ambiguous { name: String, folders: Vec<String> },
    #[error(
        "cannot read {}: {source}. `{mend}` writes it again from results.jsonl",
        path.display()
    )]
    Damaged {
        path: PathBuf,
        source: ReadError,
        /// The command that writes it again.
        mend: String,
    },
    #[error("{} was {what}. Run the gates again", path.display())]
    Changed { path: PathBuf, what: String },
    #[error("{}: another process is writing this run. Wait until it ends, or end it", .0.display())]
    InUse(PathBuf),
    #[error(
        "run {0} is complete: there is nothing to resume. `cuda-gates report show {0}` shows it"
    )]
    Complete(String),
    #[error(
        "run {0} was written by many processes, each its own cases, and has no end to resume: \
         `cuda-gates report close {0}` judges what is there"
    )]
    Joined(String),
    #[error(
        "run {0} does not say what it was to run, as an older cuda-gates wrote it: run the gates again"
    )]
    WithoutChoices(String),
    #[error("{} is a report, not a run's folder: name the run that did not end", .0.display())]
    NoRun(PathBuf),
    #[error("{}: the run died before it wrote what it runs on (`run.json`)", .0.display())]
    Bare(PathBuf),
}

impl ArchiveError {
    pub(super) fn io(doing: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io {
            doing,
            path: path.to_owned(),
            mend: mend(doing, source.kind()),
            source,
        }
    }
}

fn mend(doing: &str, kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::PermissionDenied if matches!(doing, "read" | "list") => {
            "Make it and the folders above it readable (`chmod -R u+rX`), or read it as the user who wrote it"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "Make it writable, or choose another folder with --reports DIR (CUDA_GATES_REPORTS)"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            "Free some space, or choose another folder with --reports DIR (CUDA_GATES_REPORTS); \
             what was written before is kept"
        }
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
            "A file stands in the way: move it, or choose another folder with --reports DIR (CUDA_GATES_REPORTS)"
        }
        _ => "Another folder can be chosen with --reports DIR (CUDA_GATES_REPORTS)",
    }
}
