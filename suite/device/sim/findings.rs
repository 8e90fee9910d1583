//! What the detectors saw in one launch: the first few distinct instructions, and how many more.

use std::collections::HashSet;

use super::program::Pc;
use crate::outcome::Finding;
use crate::terms::FindingKind;

/// Distinct instructions reported per launch.
const SHOWN: usize = 8;

struct Record {
    pc: Pc,
    finding: Finding,
    /// Threads that did it.
    threads: u64,
}

#[derive(Default)]
pub struct Recorder {
    shown: Vec<Record>,
    hidden: HashSet<(Pc, FindingKind)>,
}

impl Recorder {
    /// Notes that `threads` threads did something wrong at an instruction; `finding` is asked for once.
    pub fn note(
        &mut self,
        pc: Pc,
        kind: FindingKind,
        threads: u32,
        finding: impl FnOnce() -> Finding,
    ) {
        let known = self
            .shown
            .iter_mut()
            .find(|r| r.pc == pc && r.finding.kind == kind);
        if let Some(record) = known {
            record.threads += u64::from(threads);
        } else if self.shown.len() < SHOWN {
            self.shown.push(Record {
                pc,
                finding: finding(),
                threads: u64::from(threads),
            });
        } else {
            self.hidden.insert((pc, kind));
        }
    }

    /// In the order they were first seen.
    pub fn finish(self) -> Vec<Finding> {
        let hidden = self.hidden.len();
        let mut all: Vec<Finding> = self
            .shown
            .into_iter()
            .map(|record| {
                let mut finding = record.finding;
                if record.threads > 1 {
                    finding
                        .detail
                        .push(format!("{} threads in all did this here", record.threads));
                }
                finding
            })
            .collect();
        if let (Some(last), 1..) = (all.last_mut(), hidden) {
            last.detail.push(format!(
                "{hidden} more instructions of this launch have findings"
            ));
        }
        all
    }
}
