//! The results of a run, line by line.

use std::fmt;
use std::io::{self, BufReader};
use std::path::Path;

use indexmap::IndexMap;

use super::ArchiveError;
use super::load::BYTES_MAX;
use super::run::RESULTS;
use crate::regular_file::{self, Line};
use crate::report;
use crate::report::record::CaseRecord;

/// Of one line: eight times what a worker may say of a case.
const LINE_BYTES_MAX: usize = 64 << 20;

/// A case whose results are not the same outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Differing {
    pub id: String,
    /// Their outcomes, in the order of the file.
    pub outcomes: Vec<&'static str>,
}

impl fmt::Display for Differing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (count, told) = (self.outcomes.len(), self.outcomes.join(", "));
        write!(f, "{count} results of {} differ: {told}", self.id)
    }
}

/// What a file of results holds.
#[derive(Default)]
pub(super) struct Results {
    /// The worst result of each case, the last of equals, in the order of their first.
    pub cases: Vec<CaseRecord>,
    pub broken_lines: usize,
    pub differing: Vec<Differing>,
}

/// The results of a case so far.
struct Of {
    worst: CaseRecord,
    outcomes: Vec<&'static str>,
}

/// The results of a folder. No file is no results.
///
/// # Errors
/// When the file is none, or cannot be read.
pub(super) fn read_results(folder: &Path) -> Result<Results, ArchiveError> {
    let path = folder.join(RESULTS);
    let read = regular_file::open(&path, BYTES_MAX)
        .map_err(io::Error::from)
        .and_then(|file| read_lines(&mut BufReader::new(file)));
    match read {
        Ok(results) => Ok(results),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Results::default()),
        Err(e) => Err(ArchiveError::io("read", &path, e)),
    }
}

fn read_lines(from: &mut impl io::BufRead) -> io::Result<Results> {
    let mut cases: IndexMap<String, Of> = IndexMap::new();
    let mut broken_lines = 0;
    let mut line = Vec::new();
    loop {
        let case = match regular_file::next_line(from, LINE_BYTES_MAX, &mut line)? {
            Line::End => break,
            Line::Whole if line.is_empty() => continue,
            Line::Whole => std::str::from_utf8(&line)
                .ok()
                .and_then(|line| report::case_from_line(line).ok()),
            Line::TooLong => None,
        };
        match case {
            Some(case) => add(&mut cases, case),
            None => broken_lines += 1,
        }
    }
    let differing = cases.iter().filter(|(_, of)| of.differ());
    Ok(Results {
        broken_lines,
        differing: differing
            .map(|(id, of)| Differing {
                id: id.clone(),
                outcomes: of.outcomes.clone(),
            })
            .collect(),
        cases: cases.into_values().map(|of| of.worst).collect(),
    })
}

/// A failure is not undone by a later pass: whoever wants that runs the case again in another run.
fn add(cases: &mut IndexMap<String, Of>, case: CaseRecord) {
    let outcome = case.outcome.name();
    match cases.get_mut(&case.id) {
        None => {
            let outcomes = vec![outcome];
            cases.insert(
                case.id.clone(),
                Of {
                    worst: case,
                    outcomes,
                },
            );
        }
        Some(of) => {
            of.outcomes.push(outcome);
            if case.outcome.badness() >= of.worst.outcome.badness() {
                of.worst = case;
            }
        }
    }
}

impl Of {
    fn differ(&self) -> bool {
        self.outcomes
            .iter()
            .any(|outcome| *outcome != self.worst.outcome.name())
    }
}
