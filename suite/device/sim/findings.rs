//! What the detectors saw in one launch: the first few distinct instructions, and how many more.

use std::collections::HashSet;

use super::assertion::FailedAssertion;
use super::program::Pc;
use crate::outcome::Finding;
use crate::terms::FindingKind;

/// Distinct instructions reported per launch.
const SHOWN: usize = 8;

/// Accesses out of bounds after which a launch ends: one whose length is wrong would else run for hours, meet the
/// case's deadline, and lose what was found.
const OUT_OF_BOUNDS_MAX: u64 = 1 << 20;

struct Record {
    pc: Pc,
    finding: Finding,
    /// How often a thread did it.
    times: u64,
}

#[derive(Default)]
pub struct Recorder {
    shown: Vec<Record>,
    hidden: HashSet<(Pc, FindingKind)>,
    out_of_bounds: u64,
    /// Of the threads that ended the launch by one.
    pub failed_assertions: Vec<FailedAssertion>,
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
        if kind == FindingKind::OutOfBounds {
            self.out_of_bounds += u64::from(threads);
        }
        let known = self
            .shown
            .iter_mut()
            .find(|r| r.pc == pc && r.finding.kind == kind);
        if let Some(record) = known {
            record.times += u64::from(threads);
        } else if self.shown.len() < SHOWN {
            self.shown.push(Record {
                pc,
                finding: finding(),
                times: u64::from(threads),
            });
        } else {
            self.hidden.insert((pc, kind));
        }
    }

    /// So much went out of bounds that the launch should end here.
    pub fn is_flooded(&self) -> bool {
        self.out_of_bounds > OUT_OF_BOUNDS_MAX
    }

    /// In the order they were first seen; `lost` if accesses were no longer followed at the end.
    pub fn finish(self, lost: bool) -> Vec<Finding> {
        let hidden = self.hidden.len();
        let flooded = self.is_flooded();
        let mut all: Vec<Finding> = self
            .shown
            .into_iter()
            .map(|record| {
                let mut finding = record.finding;
                if record.times > 1 {
                    finding
                        .detail
                        .push(format!("{} times in all, over all threads", record.times));
                }
                finding
            })
            .collect();
        if let (Some(last), 1..) = (all.last_mut(), hidden) {
            last.detail.push(format!(
                "{hidden} more instructions of this launch have findings"
            ));
        }
        if let (Some(last), true) = (all.last_mut(), lost) {
            let line = "the launch has more accesses, or more memory, than are followed: not all races were looked for";
            last.detail.push(line.to_owned());
        }
        let mut outside = all
            .iter_mut()
            .filter(|f| f.kind == FindingKind::OutOfBounds);
        if let (Some(first), true) = (outside.next(), flooded) {
            let line =
                "the launch was ended early: more than a million accesses went out of bounds";
            first.detail.push(line.to_owned());
        }
        all
    }
}
