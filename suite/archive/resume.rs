//! Going on with a run that died.

use super::damage::{Written, keep_aside, written};
use super::disk::{Owner, remove_parts};
use super::load::{Found, id, read_start};
use super::results::{Differing, Results, read_results};
use super::{ArchiveError, RunFolder, Store};
use crate::report::record::CaseRecord;

/// A run that did not reach its end, this process' alone.
#[derive(Debug)]
pub struct Unfinished {
    pub folder: RunFolder,
    /// Its results, the worst one of each case.
    pub cases: Vec<CaseRecord>,
    pub differing: Vec<Differing>,
}

impl Store {
    /// Takes up an incomplete run, named as for [`Store::load`]. Its `run.json` stays as it is until
    /// [`RunFolder::resumed`]. A `report.json` that cannot be read any more is moved aside.
    ///
    /// # Errors
    /// When there is no such run, or it cannot be taken up: it is complete, another process has it or many had, its
    /// files cannot be read, were changed, or are from before runs could be resumed.
    pub fn take_up(&self, name: &str) -> Result<Unfinished, ArchiveError> {
        let path = match self.find(name)? {
            Found::Run(folder) => folder,
            Found::File(path) => return Err(ArchiveError::NoRun(path)),
        };
        let owner = Owner::take(&path)?;
        let damaged = match written(&path)? {
            Written::Report(report) if report.run.complete => {
                return Err(ArchiveError::Complete(id(&path)));
            }
            Written::Damaged(report) => Some(report),
            Written::Report(_) | Written::Nothing => None,
        };
        let (facts, seal) = read_start(&path)?;
        if let Some(what) = seal.broken() {
            return Err(ArchiveError::Changed { path, what });
        }
        if facts.run.joined {
            return Err(ArchiveError::Joined(id(&path)));
        }
        if facts.run.choices.is_none() {
            return Err(ArchiveError::WithoutChoices(id(&path)));
        }
        let Results {
            cases, differing, ..
        } = read_results(&path)?;
        remove_parts(&path);
        if let Some(report) = damaged {
            keep_aside(&report)?;
        }
        let folder = RunFolder::take_up(path, facts, owner)?;
        Ok(Unfinished {
            folder,
            cases,
            differing,
        })
    }
}
