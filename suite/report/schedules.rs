//! Schedules of a run and of its cases, in words.

use std::fmt;

use super::record::{ScheduledRecord, SchedulesRecord};

/// `20 of seed 3`, `number 1 of seed 3`, `random:7,switches=13`.
impl fmt::Display for SchedulesRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            count,
            seed,
            first,
            only,
        } = self;
        match (only, seed, first.unwrap_or(0)) {
            (Some(schedule), ..) => schedule.fmt(f),
            (None, Some(seed), 0) => write!(f, "{count} of seed {seed}"),
            (None, Some(seed), first) if *count == 1 => write!(f, "number {first} of seed {seed}"),
            (None, Some(seed), first) => {
                write!(f, "{count} of seed {seed}, from number {first} on")
            }
            (None, None, _) => count.fmt(f),
        }
    }
}

/// `under schedule pct:7,apart, after 4 of 20 of seed 3; simpler: fair,apart (5 runs to find)`
impl fmt::Display for ScheduledRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            schedule,
            ran,
            of,
            seed,
            shrunk,
        } = self;
        write!(f, "under schedule {schedule}")?;
        if let Some(seed) = seed {
            write!(f, ", after {ran} of {of} of seed {seed}")?;
        }
        if let Some(shrunk) = shrunk {
            let (simpler, runs) = (shrunk.schedule, shrunk.runs);
            let s = if runs == 1 { "" } else { "s" };
            write!(f, "; simpler: {simpler} ({runs} run{s} to find)")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::report::record::{ScheduledRecord, SchedulesRecord, ShrunkRecord};

    #[test]
    fn a_run_says_what_its_schedules_were_drawn_from() {
        let explored = |first, count| SchedulesRecord {
            count,
            seed: Some(3),
            first: Some(first),
            only: None,
        };
        assert_eq!(explored(0, 20).to_string(), "20 of seed 3");
        assert_eq!(explored(1, 1).to_string(), "number 1 of seed 3");
        let only = SchedulesRecord {
            count: 1,
            seed: None,
            first: None,
            only: "random:7,switches=13".parse().ok(),
        };
        assert_eq!(only.to_string(), "random:7,switches=13");
    }

    #[test]
    fn a_case_says_its_schedule_and_a_simpler_one() {
        let mut scheduled = ScheduledRecord {
            schedule: "pct:7,reversed,apart".parse().expect("a schedule"),
            ran: 4,
            of: 20,
            seed: Some(3),
            shrunk: None,
        };
        let words = "under schedule pct:7,reversed,apart, after 4 of 20 of seed 3";
        assert_eq!(scheduled.to_string(), words);
        scheduled.shrunk = Some(ShrunkRecord {
            schedule: "fair,apart".parse().expect("a schedule"),
            runs: 5,
        });
        let simpler = format!("{words}; simpler: fair,apart (5 runs to find)");
        assert_eq!(scheduled.to_string(), simpler);
        scheduled = ScheduledRecord {
            seed: None,
            shrunk: None,
            ..scheduled
        };
        assert_eq!(scheduled.to_string(), "under schedule pct:7,reversed,apart");
    }
}
