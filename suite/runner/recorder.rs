//! Records of a run, each handed to the operating system before the next case starts: killing the run loses none.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::archive::{ArchiveError, RunFolder, Store};
use crate::report::record::{CaseRecord, Report};
use crate::report::{Facts, Redactor};

/// Collects records and appends them to the run's folder.
pub(super) struct Recorder {
    folder: RunFolder,
    redactor: Option<Redactor>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    records: Vec<CaseRecord>,
    /// Why a record could not be written; the first time.
    trouble: Option<String>,
}

impl Recorder {
    /// Opens a folder for the run: its own, or the one it shares with other processes under `key`.
    ///
    /// # Errors
    /// When the archive cannot be written.
    pub(super) fn begin(
        store: &Store,
        key: Option<&str>,
        facts: Facts,
        redact: bool,
    ) -> Result<Self, ArchiveError> {
        let redactor = redact.then(|| Redactor::of(&facts.device));
        let facts = match &redactor {
            Some(redactor) => redactor.facts(facts).map_err(|source| ArchiveError::Json {
                path: store.root().to_owned(),
                source,
            })?,
            None => facts,
        };
        let folder = match key {
            Some(key) => store.join_run(key, facts)?,
            None => store.begin_run(facts)?,
        };
        Ok(Self {
            folder,
            redactor,
            state: Mutex::default(),
        })
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn id(&self) -> &str {
        self.folder.id()
    }

    /// Keeps a record and appends it; gives it back as it is shown.
    pub(super) fn record(&self, record: CaseRecord) -> CaseRecord {
        let record = self.redacted(record);
        let appended = self.folder.append(&record);
        let mut state = self.state();
        if let Err(error) = appended {
            state.trouble.get_or_insert(error.to_string());
        }
        state.records.push(record.clone());
        record
    }

    /// The records so far, and why some are not in the archive.
    pub(super) fn take(&self) -> (Vec<CaseRecord>, Option<String>) {
        let state = std::mem::take(&mut *self.state());
        (state.records, state.trouble)
    }

    /// Writes the report's files, and gives the report back as it is shown.
    ///
    /// # Errors
    /// When they cannot be written, with the report.
    pub(super) fn finish(&self, report: Report) -> (Report, Result<(), ArchiveError>) {
        let report = match &self.redactor {
            None => report,
            Some(redactor) => match redactor.report(report.clone()) {
                Ok(redacted) => redacted,
                Err(source) => {
                    let path = self.path().to_owned();
                    return (report, Err(ArchiveError::Json { path, source }));
                }
            },
        };
        let written = self.folder.finish(&report);
        (report, written)
    }

    fn redacted(&self, record: CaseRecord) -> CaseRecord {
        let Some(redactor) = &self.redactor else {
            return record;
        };
        redactor.case(record.clone()).unwrap_or_else(|_| {
            // What cannot be redacted is not shown.
            let mut bare = record;
            bare.findings.clear();
            bare.reported.clear();
            bare.values.clear();
            bare.kernels.clear();
            (bare.health, bare.waiver) = (None, None);
            if let Some(reason) = &mut bare.reason {
                reason.message = "left out: it could not be redacted".to_owned();
            }
            bare
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
