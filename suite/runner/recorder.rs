//! Records of a run, each handed to the operating system before the next case starts: killing the run loses none.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Verdict;
use super::resume::{other_device, same_device};
use crate::archive::{self, ArchiveError, RunFolder, Store, Unfinished};
use crate::identity::Field;
use crate::report::record::{CaseRecord, Report, ResumedRecord};
use crate::report::{Facts, Redactor};

/// Collects records and appends them to the run's folder.
pub(super) struct Recorder {
    folder: RunFolder,
    redactor: Option<Redactor>,
    /// Why no case can be judged here: the run that was joined is on another device.
    other_device: Option<String>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    records: Vec<CaseRecord>,
    /// Places in `records` of those that could not be written yet.
    unwritten: Vec<usize>,
    /// Why a record could not be written; the first time. None where all of them are.
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
        let (facts, redactor) = redacted(facts, redact, store.root())?;
        let device = facts.device.clone();
        let folder = match key {
            Some(key) => store.join_run(key, facts)?,
            None => store.begin_run(facts)?,
        };
        Ok(Self {
            other_device: other_device(folder.id(), &folder.facts().device, &device),
            folder,
            redactor,
            state: Mutex::default(),
        })
    }

    /// Goes on with a run that died, on the same device: its results are the first records.
    ///
    /// # Errors
    /// When the device is another one, or the archive cannot be written; how the run ends then.
    pub(super) fn resume(
        unfinished: Unfinished,
        facts: &Facts,
        redact: bool,
    ) -> Result<Self, (Verdict, String)> {
        let Unfinished {
            mut folder, cases, ..
        } = unfinished;
        let usage = |error: ArchiveError| (Verdict::Usage, error.to_string());
        let (now, redactor) = redacted(facts.clone(), redact, folder.path()).map_err(usage)?;
        same_device(folder.id(), &folder.facts().device, &now.device)?;
        let resumed = ResumedRecord {
            at: archive::now(),
            results: cases.len(),
        };
        folder.resumed(resumed).map_err(usage)?;
        let state = State {
            records: cases,
            ..State::default()
        };
        Ok(Self {
            other_device: None,
            folder,
            redactor,
            state: Mutex::new(state),
        })
    }

    /// Why no case can be judged here, where the run that was joined is on another device.
    pub(super) fn other_device(&self) -> Option<&str> {
        self.other_device.as_deref()
    }

    /// What the run's folder says of its start.
    pub(super) fn facts(&self) -> &Facts {
        self.folder.facts()
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn id(&self) -> &str {
        self.folder.id()
    }

    /// A card's fields as they are written; none that cannot be redacted.
    pub(super) fn shown(
        &self,
        facts: &Facts,
        fields: BTreeMap<String, Field>,
    ) -> BTreeMap<String, Field> {
        let Some(redactor) = &self.redactor else {
            return fields;
        };
        let mut facts = facts.clone();
        facts.device.identity = fields;
        let redacted = redactor.facts(facts);
        redacted.map_or_else(|_| BTreeMap::new(), |facts| facts.device.identity)
    }

    /// Keeps a record and appends it; gives it back as it is shown. One that cannot be written is tried again with the
    /// next.
    pub(super) fn record(&self, record: CaseRecord) -> CaseRecord {
        let record = self.redacted(record);
        let appended = self.folder.append(&record);
        let mut state = self.state();
        if let Err(error) = appended {
            let at = state.records.len();
            state.unwritten.push(at);
            state.trouble.get_or_insert(error.to_string());
        } else {
            self.catch_up(&mut state);
        }
        state.records.push(record.clone());
        record
    }

    /// Appends what could not be written before: the disk has room again.
    fn catch_up(&self, state: &mut State) {
        let State {
            records, unwritten, ..
        } = state;
        while let Some(record) = unwritten.last().and_then(|at| records.get(*at)) {
            if self.folder.append(record).is_err() {
                return;
            }
            unwritten.pop();
        }
        state.trouble = None;
    }

    /// The records so far, and why some are not in the archive.
    pub(super) fn take(&self) -> (Vec<CaseRecord>, Option<String>) {
        let mut state = self.state();
        self.catch_up(&mut state);
        let state = std::mem::take(&mut *state);
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

/// The facts as they are written, and what takes away who the device's owner is.
fn redacted(
    facts: Facts,
    redact: bool,
    root: &Path,
) -> Result<(Facts, Option<Redactor>), ArchiveError> {
    if !redact {
        return Ok((facts, None));
    }
    let redactor = Redactor::of(&facts.device);
    let facts = redactor.facts(facts).map_err(|source| ArchiveError::Json {
        path: root.to_owned(),
        source,
    })?;
    Ok((facts, Some(redactor)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::on_h200;
    use crate::runner::blank::blank_record;

    fn recorder(redact: bool) -> (tempfile::TempDir, Recorder) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path());
        let recorder = Recorder::begin(&store, None, on_h200(), redact).unwrap();
        (folder, recorder)
    }

    #[test]
    fn a_record_that_was_written_after_all_is_no_trouble() {
        let (folder, recorder) = recorder(false);
        {
            // As after a disk that was full.
            let mut state = recorder.state();
            state.records.push(blank_record("s::first::jit"));
            state.unwritten.push(0);
            state.trouble = Some("no space".into());
        }
        recorder.record(blank_record("s::second::jit"));
        let (records, trouble) = recorder.take();
        assert_eq!((records.len(), trouble), (2, None));
        let written = Store::open(folder.path()).newest().unwrap().report.cases;
        assert_eq!(written.len(), 2);
    }

    #[test]
    fn fields_are_compared_as_they_are_written() {
        let (folder, recorder) = recorder(true);
        let facts = on_h200();
        let shown = recorder.shown(&facts, facts.device.identity.clone());
        let written = Store::open(folder.path()).newest().unwrap().report;
        assert_eq!(shown, written.device.identity);
        assert_ne!(shown, facts.device.identity, "it has a UUID");
        assert_eq!(recorder.shown(&facts, shown.clone()), shown);
    }
}
