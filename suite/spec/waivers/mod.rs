//! Known failures, each with its reason and its end: `waivers.yaml` beside the suites.
//!
//! ```yaml
//! version: 1
//! waivers:
//!   - cases: compaction::exact_compaction::keep=26::*
//!     cards: [Tesla T4]
//!     kinds: mismatch
//!     driver: {from: 570.26, below: 580.65.06}
//!     reason: the driver's compiler drops a store
//!     link: https://example.com/bugs/1
//!     expires: 2027-01-31
//! ```

mod by_case;
mod decode;
mod pattern;
mod version;

use std::path::Path;

use super::model::Place;
use super::problem::{Problem, SpecErrors};
use super::{beside, sha256};
use crate::terms::{FindingKind, ReasonKind};

use pattern::Pattern;

pub use by_case::ByCase;
pub use version::{Drivers, Version};

/// Its name in a folder of suites, of which it is none.
pub const FILE: &str = "waivers.yaml";

/// The file as read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Waivers {
    /// As given or found: `specs/waivers.yaml`. Empty where there is no such file.
    pub path: String,
    /// Of the file's bytes, lower-case hex.
    pub sha256: String,
    pub entries: Vec<Waiver>,
}

/// One known failure.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiver {
    /// A case's id, in which `*` stands for any text. Its suite is written out.
    pub cases: String,
    /// Names of cards, as a run records them, in which `*` stands for any text; at least one.
    pub cards: Vec<String>,
    /// None: any finding, and no error.
    pub kinds: Option<Vec<FailureKind>>,
    pub drivers: Drivers,
    pub reason: String,
    /// Where the failure is followed up.
    pub link: String,
    /// The last day it holds (UTC): `2027-01-31`.
    pub expires: String,
    /// Its cases may pass as well.
    pub intermittent: bool,
    place: Place,
    source_line: String,
}

/// What a case is found to do, or how it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    Found(FindingKind),
    /// An error that is judged: a kernel fault or a hang.
    Ended(ReasonKind),
}

impl FailureKind {
    /// All that a waiver can name.
    pub fn all() -> impl Iterator<Item = Self> {
        let ended = [ReasonKind::KernelFault, ReasonKind::Hang].map(Self::Ended);
        let found = FindingKind::ALL.iter().filter(|kind| !kind.is_note());
        found.map(|kind| Self::Found(*kind)).chain(ended)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Found(kind) => kind.name(),
            Self::Ended(kind) => kind.name(),
        }
    }
}

/// The device that a waiver is asked about.
#[derive(Clone, Copy, Debug, Default)]
pub struct OnDevice<'a> {
    /// As the device names itself; none where no device was opened, and no waiver is for that.
    pub card: Option<&'a str>,
    /// Of the kernel driver; none on the simulated device.
    pub driver: Option<&'a str>,
}

impl Waivers {
    /// Reads the file of a folder of suites; none stands there as a rule.
    ///
    /// # Errors
    /// Every problem of the file.
    pub fn beside(folder: &Path) -> Result<Self, SpecErrors> {
        let path = folder.join(FILE);
        // A link to nowhere is a problem, and not a file less.
        if path.symlink_metadata().is_err() {
            return Ok(Self::default());
        }
        Self::file(&path)
    }

    /// # Errors
    /// Every problem of the file.
    pub fn file(path: &Path) -> Result<Self, SpecErrors> {
        let (shown, bytes) = super::read(path)?;
        Self::parse(&shown, &bytes)
    }

    /// # Errors
    /// Every problem of the text.
    pub fn parse(path: &str, bytes: &[u8]) -> Result<Self, SpecErrors> {
        let start = "`version: 1` and `waivers: [...]`";
        let entries = beside::decode(path, bytes, start, |decoder, tree, lines| {
            decoder.waivers(tree, lines)
        })?;
        Ok(Self {
            path: path.to_owned(),
            sha256: sha256(bytes),
            entries,
        })
    }

    /// What is wrong with a waiver, at its place in the file.
    pub fn problem(&self, waiver: &Waiver, message: impl Into<String>, mend: &str) -> Problem {
        Problem {
            place: Some(waiver.place),
            source_line: waiver.source_line.clone(),
            ..Problem::of_file(&self.path, message, Some(mend.to_owned()))
        }
    }

    /// What is wrong with waivers whatever ran: those past their day, and those whose pattern is no case's of `ids`.
    pub fn stale<'i>(&self, today: &str, ids: impl Iterator<Item = &'i str>) -> Vec<Stale<'_>> {
        let ids = ByCase::new(ids.map(|id| (id, ())));
        let unmatched = |waiver: &&Waiver| ids.named_by(waiver).next().is_none();
        let expired = self.entries.iter().filter(|w| w.is_expired(today));
        let expired = expired.map(|waiver| Stale {
            waiver,
            expired: true,
        });
        let unmatched = self.entries.iter().filter(unmatched).map(|waiver| Stale {
            waiver,
            expired: false,
        });
        expired.chain(unmatched).collect()
    }
}

/// A waiver that waives nothing, whatever ran.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stale<'w> {
    pub waiver: &'w Waiver,
    /// Past its last day; else no case has such a name.
    pub expired: bool,
}

impl Stale<'_> {
    /// At its place in the file.
    pub fn problem(&self, waivers: &Waivers) -> Problem {
        let Waiver { cases, expires, .. } = self.waiver;
        let (message, mend) = match self.expired {
            true => (
                format!("the waiver of `{cases}` expired: {expires} was its last day"),
                "mend what it waives, or follow its link and give it a later day",
            ),
            false => (
                format!("no case is named `{cases}`"),
                "`cuda-gates list` prints the names of a profile; take the waiver out if its cases are gone",
            ),
        };
        waivers.problem(self.waiver, message, mend)
    }
}

impl Waiver {
    /// Whether it names this case.
    pub fn names(&self, id: &str) -> bool {
        Pattern::new(&self.cases).matches(id)
    }

    /// What it names; none where it is for any finding.
    pub fn kind_names(&self) -> Option<Vec<&'static str>> {
        let kinds = self.kinds.as_ref()?.iter();
        Some(kinds.map(|kind| kind.name()).collect())
    }

    /// Whether it is for all that a case did.
    pub fn covers(&self, failure: &[FailureKind]) -> bool {
        let by_default = |kind: &FailureKind| matches!(kind, FailureKind::Found(kind) if *kind != FindingKind::Health);
        match &self.kinds {
            Some(kinds) => !failure.is_empty() && failure.iter().all(|kind| kinds.contains(kind)),
            None => failure.iter().all(by_default),
        }
    }

    /// Past its last day. `today`: `2026-11-30`.
    pub fn is_expired(&self, today: &str) -> bool {
        self.expires.as_str() < today
    }

    /// Whether it is for this device and holds on this day.
    pub fn holds(&self, device: OnDevice<'_>, today: &str) -> bool {
        let is_card = |card: &str| {
            self.cards
                .iter()
                .any(|name| Pattern::new(name).matches(card))
        };
        !self.is_expired(today)
            && device.card.is_some_and(is_card)
            && self.drivers.contain(device.driver)
    }

    /// Line and column in the file.
    pub fn place(&self) -> Place {
        self.place
    }
}

#[cfg(test)]
mod tests;
