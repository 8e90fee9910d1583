//! Timing rows: on a card between stamps, on the simulated device once.
//!
//! Owns: the order of poison, preparation, warm-ups, single runs and the batch. Imports `plan` and `outcome`.
//!
//! ```text
//! poison, prepare, (each, run) × warmups, (each, |run|) × runs, poison, prepare, |run × runs|     | is a stamp
//! ```

use super::Session;
use crate::device::{Elapsed, Stamp};
use crate::outcome::Fault;
use crate::plan::{Row, Step, is_native};
use crate::value::POISON_BYTE;

/// The times of one row. On the simulated device only `simulated_instructions` is there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowTimes {
    /// Milliseconds of each single run, by the device's clock (a host row's: the host's), in the order they ran.
    pub singles_ms: Vec<f64>,
    /// Milliseconds of all `runs` back to back (not their mean). None where every run needs its own preparation.
    pub batch_ms: Option<f64>,
    pub simulated_instructions: Option<u64>,
    /// Runs before the timed ones: as many as asked for, and one at least where the native library is called.
    pub warmups: u32,
    /// Kernel launches of one run, preparation not counted; calls of the native library and host rungs are none.
    pub launches: u64,
}

impl Session<'_> {
    /// Poison, prepare, warm up, then `runs` singles and one batch. Nothing waits for the device before all of it is
    /// queued, so that the host's pace stays out of the times.
    ///
    /// Before the batch, or else the last single, everything is poisoned again: what is verified afterwards was written
    /// by a timed run, and not by a warm-up.
    pub(super) fn timed_row(
        &mut self,
        row: &Row,
        warmups: u32,
        runs: u32,
    ) -> Result<RowTimes, Fault> {
        self.afresh(row)?;
        // A library's first call loads its code, which belongs in no time.
        let warmups = warmups.max(is_native(&row.steps).into());
        for _ in 0..warmups {
            self.steps(&row.prepare_each)?;
            self.steps(&row.steps)?;
        }
        // A preparation between the runs would be inside the batch's time.
        let has_batch = row.prepare_each.is_empty() && runs > 0;
        let mut spans = Vec::with_capacity(runs as usize);
        for run in 1..=runs {
            if run == runs && !has_batch {
                self.afresh(row)?;
            }
            self.steps(&row.prepare_each)?;
            spans.push(self.stamped(&row.steps, 1)?);
        }
        let batch = match has_batch {
            true => {
                self.afresh(row)?;
                Some(self.stamped(&row.steps, runs)?)
            }
            false => None,
        };
        self.device.finish()?;
        let mut times = RowTimes {
            warmups,
            launches: launches(&row.steps),
            ..RowTimes::default()
        };
        for span in spans {
            times.singles_ms.extend(self.milliseconds(span)?);
        }
        if let Some(span) = batch {
            times.batch_ms = self.milliseconds(span)?;
        }
        Ok(times)
    }

    /// As before the row's first run.
    pub(super) fn afresh(&mut self, row: &Row) -> Result<(), Fault> {
        self.poison(POISON_BYTE)?;
        self.steps(&row.prepare)
    }

    /// The simulated device has no clock, and its runs are all alike: one is enough.
    pub(super) fn simulated_row(&mut self, row: &Row) -> Result<RowTimes, Fault> {
        self.afresh(row)?;
        self.steps(&row.prepare_each)?;
        let (start, end) = self.stamped(&row.steps, 1)?;
        let simulated_instructions = match self.device.between(start, end)? {
            Elapsed::Instructions(count) if !row.is_host() => Some(count),
            Elapsed::Instructions(_) | Elapsed::Milliseconds(_) => None,
        };
        Ok(RowTimes {
            simulated_instructions,
            launches: launches(&row.steps),
            ..RowTimes::default()
        })
    }

    fn stamped(&mut self, steps: &[Step], times: u32) -> Result<(Stamp, Stamp), Fault> {
        let start = self.device.stamp()?;
        for _ in 0..times {
            self.steps(steps)?;
        }
        Ok((start, self.device.stamp()?))
    }

    fn milliseconds(&mut self, (start, end): (Stamp, Stamp)) -> Result<Option<f64>, Fault> {
        Ok(match self.device.between(start, end)? {
            Elapsed::Milliseconds(ms) => Some(ms),
            Elapsed::Instructions(_) => None,
        })
    }
}

fn launches(steps: &[Step]) -> u64 {
    let is_launch = |step: &&Step| matches!(step, Step::Launch(_));
    steps.iter().filter(is_launch).count() as u64
}
