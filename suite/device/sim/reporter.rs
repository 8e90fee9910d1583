//! Turns what went wrong at an instruction into a finding with its place.

use super::assertion::{FailedAssertion, Note};
use super::block::Shape;
use super::findings::Recorder;
use super::lanes::LANES;
use super::memory::{Spaces, Violation, Violations};
use super::program::{Kernel, Pc, Space};
use crate::outcome::{Fault, Finding, Site};
use crate::terms::FindingKind;

/// The warp that runs, for naming it.
#[derive(Clone, Copy)]
pub struct Reporter<'a> {
    pub kernel: &'a Kernel,
    pub shape: Shape,
    pub block: [u32; 3],
    pub warp: usize,
}

impl Reporter<'_> {
    fn thread(&self, lane: u32) -> [u32; 3] {
        self.shape.thread((self.warp * LANES) as u32 + lane)
    }

    pub fn site(&self, pc: Pc, lane: u32, address: Option<u64>) -> Site {
        let origin = &self.kernel.origin[pc as usize];
        Site {
            kernel: self.kernel.name.clone(),
            instruction: origin.text.clone(),
            ptx_line: origin.ptx_line,
            source: origin.source.clone(),
            block: self.block,
            thread: self.thread(lane),
            address,
        }
    }

    #[cold]
    pub fn memory(
        &self,
        recorder: &mut Recorder,
        spaces: &Spaces<'_>,
        pc: Pc,
        space: Space,
        bytes: u64,
        violations: &Violations,
    ) {
        for violation in Violation::ALL {
            let (mask, address) = violations.of(violation);
            if mask == 0 {
                continue;
            }
            let lane = mask.trailing_zeros();
            let (kind, what) = match violation {
                Violation::OutOfBounds => (FindingKind::OutOfBounds, "access out of bounds"),
                Violation::Misaligned => (FindingKind::Misaligned, "misaligned access"),
                Violation::Uninitialised => {
                    (FindingKind::Uninitialised, "read of memory never written")
                }
                Violation::ReadOnly => (FindingKind::StrayWrite, "write to read-only memory"),
            };
            recorder.note(pc, kind, mask.count_ones(), || {
                let place = spaces.describe(space, lane as usize, address, bytes);
                let message = format!("{what}: {bytes} bytes {place}");
                Finding::new(kind, message).at(self.site(pc, lane, Some(address)))
            });
        }
    }

    /// An aligned barrier that only some of a warp's threads execute.
    #[cold]
    pub fn divergent(
        &self,
        recorder: &mut Recorder,
        pc: Pc,
        mask: u32,
        absent: u32,
        detail: Vec<String>,
    ) {
        recorder.note(pc, FindingKind::Barrier, mask.count_ones(), || {
            let live = mask | absent;
            let message = format!(
                "barrier reached by lanes {mask:#010x} of a warp \
                 whose lanes {live:#010x} must reach it together"
            );
            Finding::new(FindingKind::Barrier, message)
                .with_detail(detail)
                .at(self.site(pc, mask.trailing_zeros(), None))
        });
    }

    /// Lanes `mask` executed an instruction that names lanes which did not, or leaves out some that did.
    #[cold]
    pub fn membermask(
        &self,
        recorder: &mut Recorder,
        pc: Pc,
        (mask, named, absent): (u32, u32, u32),
        detail: Vec<String>,
    ) {
        recorder.note(pc, FindingKind::Membermask, mask.count_ones(), || {
            let message = if absent != 0 {
                format!("membermask {named:#010x} names lanes {absent:#010x} that are not at this instruction")
            } else {
                let unnamed = mask & !named;
                format!("membermask {named:#010x} leaves out lanes {unnamed:#010x} that execute this instruction")
            };
            Finding::new(FindingKind::Membermask, message)
                .with_detail(detail)
                .at(self.site(pc, mask.trailing_zeros(), None))
        });
    }

    /// Lanes `mask` came to a trap.
    #[cold]
    pub fn trapped(&self, recorder: &mut Recorder, pc: Pc, mask: u32) -> Fault {
        let Some(note) = &self.kernel.origin[pc as usize].note else {
            return Fault::kernel(format!("{} trapped", self.words(pc)));
        };
        if let Note::Assertion(assertion) = note {
            let lanes = (0..LANES as u32).filter(|lane| mask >> lane & 1 != 0);
            recorder
                .failed_assertions
                .extend(lanes.map(|lane| FailedAssertion {
                    assertion: assertion.clone(),
                    block: self.block,
                    thread: self.thread(lane),
                }));
        }
        self.broken(pc, &note.to_string())
    }

    pub fn broken(&self, pc: Pc, what: &str) -> Fault {
        Fault::kernel(format!("{}: {what}", self.words(pc)))
    }

    fn words(&self, pc: Pc) -> String {
        let (name, [x, y, z]) = (&self.kernel.name, self.block);
        format!(
            "kernel {name}, {} in block ({x}, {y}, {z})",
            self.kernel.place(pc)
        )
    }
}
