//! Records of a run, each on disk before the next case starts.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::archive::{ArchiveError, RunFolder, Store};
use crate::report::record::{CaseRecord, DeviceRecord, Report};
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
    /// The first record that could not be written, or read back, and why.
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
            Some(redactor) => redacted(redactor.facts(facts), store)?,
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

    /// Keeps a record and appends it, and gives it back as it was written.
    pub(super) fn record(&self, record: CaseRecord) -> CaseRecord {
        let shown = match &self.redactor {
            Some(redactor) => redactor.case(record).map_err(|e| e.to_string()),
            None => Ok(record),
        };
        let written = shown.and_then(|record| {
            let appended = self.folder.append(&record).map_err(|e| e.to_string());
            self.state().records.push(record.clone());
            appended.map(|()| record)
        });
        written.unwrap_or_else(|problem| {
            self.state().trouble.get_or_insert(problem);
            self.state().records.last().cloned().unwrap_or_else(unreachable_record)
        })
    }
}
