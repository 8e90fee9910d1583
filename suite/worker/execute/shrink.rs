//! From a schedule under which a case fails to a simpler one under which it fails in the same way.

use std::time::{Duration, Instant};

use crate::device::sim::{Policy, Schedule};

/// Runs that simplifying may take.
const RUNS_MAX: u32 = 40;
/// No run starts later than this.
const TIME_MAX: Duration = Duration::from_secs(30);
/// Decisions beyond which no limit is looked for.
const SWITCHES_MAX: u32 = 1 << 24;

/// What came of simplifying.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shrunk {
    pub schedule: Schedule,
    /// Runs it took.
    pub runs: u32,
}

/// Simplifies a schedule: without lanes apart, with the device's own residency and order of blocks, fair; then with as
/// few decisions by its policy as still fail. Each change stays only if `fails` says that the same failure does.
pub(super) fn shrink(from: Schedule, fails: impl FnMut(Schedule) -> bool) -> Shrunk {
    let until = Instant::now() + TIME_MAX;
    let mut search = Search {
        best: from,
        runs: 0,
        may_go_on: move |runs| runs < RUNS_MAX && Instant::now() < until,
        fails,
    };
    search.drop_parts();
    search.fewer_switches();
    Shrunk {
        schedule: search.best,
        runs: search.runs,
    }
}

struct Search<M, F> {
    best: Schedule,
    runs: u32,
    may_go_on: M,
    fails: F,
}

impl<M: Fn(u32) -> bool, F: FnMut(Schedule) -> bool> Search<M, F> {
    /// Takes the candidate over if it fails too. False as well for one that there is no run left for.
    fn takes(&mut self, candidate: Schedule) -> bool {
        if candidate == self.best || !(self.may_go_on)(self.runs) {
            return false;
        }
        self.runs += 1;
        let fails = (self.fails)(candidate);
        if fails {
            self.best = candidate;
        }
        fails
    }

    fn drop_parts(&mut self) {
        let simpler: [fn(Schedule) -> Schedule; 4] = [
            |schedule| Schedule {
                apart: false,
                ..schedule
            },
            |schedule| Schedule {
                resident: None,
                ..schedule
            },
            |schedule| Schedule {
                order: None,
                ..schedule
            },
            |schedule| Schedule {
                policy: Policy::Fair,
                switches: None,
                ..schedule
            },
        ];
        for simpler in simpler {
            self.takes(simpler(self.best));
        }
    }

    /// A limit that fails is looked for in large steps, then the smallest between it and the last that did not fail. A
    /// failure need not stay with a larger limit; whatever is kept was run.
    fn fewer_switches(&mut self) {
        if self.best.policy == Policy::Fair {
            return;
        }
        let full = self.best;
        let with = |switches| Schedule {
            switches: Some(switches),
            ..full
        };
        let most = full.switches.unwrap_or(SWITCHES_MAX);
        let (mut passes, mut limit) = (0, 1);
        while limit < most && !self.takes(with(limit)) {
            (passes, limit) = (limit, limit.saturating_mul(8));
        }
        if self.best == full && full.switches.is_none() {
            return;
        }
        let mut fails = limit.min(most);
        while fails - passes > 1 && (self.may_go_on)(self.runs) {
            let middle = passes + (fails - passes) / 2;
            match self.takes(with(middle)) {
                true => fails = middle,
                false => passes = middle,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(text: &str) -> Schedule {
        text.parse().expect("a schedule")
    }

    /// What is left where `fails` decides, and every candidate that was run.
    fn shrunk(from: &str, fails: fn(&Schedule) -> bool) -> (String, Vec<Schedule>) {
        let mut tried = Vec::new();
        let shrunk = shrink(schedule(from), |candidate| {
            tried.push(candidate);
            fails(&candidate)
        });
        assert_eq!(shrunk.runs as usize, tried.len());
        assert!(shrunk.runs <= RUNS_MAX);
        (shrunk.schedule.to_string(), tried)
    }

    fn decisions(schedule: &Schedule) -> u32 {
        match schedule.policy {
            Policy::Fair => 0,
            _ => schedule.switches.unwrap_or(u32::MAX),
        }
    }

    #[test]
    fn what_has_no_part_in_the_failure_goes() {
        let all = "pct:7,reversed,resident=2,apart";
        assert_eq!(shrunk(all, |_| true).0, "fair");
        let apart = shrunk(all, |s| s.apart && s.resident == Some(2)).0;
        assert_eq!(apart, "fair,resident=2,apart");
    }

    #[test]
    fn the_fewest_decisions_that_fail_are_found_to_one() {
        for (least, fails) in [
            (1, (|s| decisions(s) >= 1) as fn(&Schedule) -> bool),
            (8, |s| decisions(s) >= 8),
            (13, |s| decisions(s) >= 13),
            (4097, |s| decisions(s) >= 4097),
            (1_000_003, |s| decisions(s) >= 1_000_003),
        ] {
            let (left, tried) = shrunk("random:7,forward,apart", fails);
            assert_eq!(left, format!("random:7,switches={least}"));
            // Each candidate is run once.
            let distinct: std::collections::HashSet<_> = tried.iter().collect();
            assert_eq!(distinct.len(), tried.len());
        }
    }

    #[test]
    fn a_limit_that_is_given_is_lowered_and_never_raised() {
        let (left, tried) = shrunk("random:7,switches=20", |s| decisions(s) >= 17);
        assert_eq!(left, "random:7,switches=17");
        assert!(tried.iter().all(|s| decisions(s) < 20));
    }

    #[test]
    fn nothing_simpler_that_fails_leaves_the_schedule_as_it_is() {
        let all = "random:7,reversed,resident=2,apart";
        let (left, tried) = shrunk(all, |_| false);
        assert_eq!(left, all);
        assert!(!tried.contains(&schedule(all)));
        assert_eq!(shrunk("fair", |_| false), ("fair".to_owned(), Vec::new()));
    }

    #[test]
    fn no_run_starts_once_the_budget_is_spent() {
        let mut runs = 0;
        let mut search = Search {
            best: schedule("random:7,apart"),
            runs: 0,
            may_go_on: |runs| runs < 3,
            fails: |_| {
                runs += 1;
                false
            },
        };
        search.drop_parts();
        search.fewer_switches();
        assert_eq!((search.runs, search.best), (3, schedule("random:7,apart")));
        assert_eq!(runs, 3);
    }
}
