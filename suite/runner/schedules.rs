//! Which schedules of the simulated device a run takes.

use crate::device::sim::Schedule;
use crate::report::record::CaseRecord;
use crate::terms::Outcome;
use crate::worker::{Address, Schedules};

/// What was asked for; nothing by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScheduleChoice {
    /// This many schedules, of which the first is the fair one.
    pub count: Option<u32>,
    /// What they are drawn from. Without a count, one schedule that is not the fair one.
    pub seed: Option<u64>,
    /// This one.
    pub only: Option<Schedule>,
}

impl ScheduleChoice {
    /// Arguments win over the environment. They ask either for one schedule or for an exploration, and nothing of the
    /// environment turns one into the other.
    pub fn over(self, environment: Self) -> Self {
        if self.only.is_some() {
            return self;
        }
        if self == Self::default() {
            return environment;
        }
        Self {
            count: self.count.or(environment.count),
            seed: self.seed.or(environment.seed),
            only: None,
        }
    }

    /// # Errors
    /// On a card, which schedules as it likes; when one schedule is asked for and an exploration too.
    pub fn resolve(self, device: &Address) -> Result<Schedules, String> {
        let given = self.given();
        if !given.is_empty() && *device != Address::Sim {
            return Err(format!(
                "{given} is for the simulated device, and this run is on {device}, which schedules as it likes: leave \
                 it out, or choose --device sim (CUDA_GATES_DEVICE=sim)"
            ));
        }
        match self {
            Self {
                count: None,
                seed: None,
                only: None,
            } => Ok(Schedules::default()),
            Self {
                count: None,
                seed: None,
                only: Some(schedule),
            } => Ok(Schedules::Only(schedule)),
            Self { only: Some(_), .. } => Err(format!(
                "{given} cannot go together: one schedule is replayed, or several are drawn from a seed"
            )),
            Self {
                count: Some(count),
                seed,
                only: None,
            } => Ok(Schedules::explore(seed.unwrap_or(0), count)),
            Self {
                count: None,
                seed: Some(seed),
                only: None,
            } => Ok(Schedules::Explore {
                seed,
                first: 1,
                count: 1,
            }),
        }
    }

    /// `--seed`, `--schedules and --seed`.
    fn given(self) -> String {
        let names = [
            self.count.map(|_| "--schedules (CUDA_GATES_SCHEDULES)"),
            self.seed.map(|_| "--seed (CUDA_GATES_SEED)"),
            self.only.map(|_| "--schedule (CUDA_GATES_SCHEDULE)"),
        ];
        let names: Vec<&str> = names.into_iter().flatten().collect();
        names.join(" and ")
    }

    /// The arguments that ask for the same again: name and value.
    pub(super) fn arguments(self) -> Vec<(&'static str, String)> {
        let arguments = [
            self.count.map(|count| ("--schedules", count.to_string())),
            self.seed.map(|seed| ("--seed", seed.to_string())),
            self.only
                .map(|schedule| ("--schedule", schedule.to_string())),
        ];
        arguments.into_iter().flatten().collect()
    }
}

/// The schedule that shows what is wrong with a case. What a control gate did not find, no single one shows.
pub(super) fn decisive(record: &CaseRecord) -> Option<Schedule> {
    let scheduled = record.scheduled?;
    if let Some(shrunk) = scheduled.shrunk {
        return Some(shrunk.schedule);
    }
    match (record.outcome, &record.expected) {
        (Outcome::Fail, None) | (Outcome::Error, _) => Some(scheduled.schedule),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::record::{ScheduledRecord, ShrunkRecord};
    use crate::runner::blank::blank_record;

    fn schedule(text: &str) -> Option<Schedule> {
        Some(text.parse().expect("a schedule"))
    }

    fn choice(count: Option<u32>, seed: Option<u64>, only: Option<Schedule>) -> ScheduleChoice {
        ScheduleChoice { count, seed, only }
    }

    #[test]
    fn each_way_to_ask_has_its_schedules() {
        let pct = schedule("pct:7,apart");
        let asked = |count, seed, only| choice(count, seed, only).resolve(&Address::Sim);
        assert_eq!(asked(None, None, None), Ok(Schedules::default()));
        assert_eq!(asked(Some(20), None, None), Ok(Schedules::explore(0, 20)));
        assert_eq!(asked(Some(3), Some(9), None), Ok(Schedules::explore(9, 3)));
        let seeded: Vec<Schedule> = asked(None, Some(9), None).unwrap().each().collect();
        assert_eq!(seeded, [Schedule::nth(9, 1)]);
        assert_eq!(asked(None, None, pct), Ok(Schedules::Only(pct.unwrap())));
        for problem in [asked(Some(2), None, pct), asked(None, Some(1), pct)] {
            assert!(problem.unwrap_err().contains("cannot go together"));
        }
    }

    #[test]
    fn a_card_takes_none_and_says_which_it_was_given() {
        let card = Address::Ordinal(0);
        assert!(ScheduleChoice::default().resolve(&card).is_ok());
        for (choice, name) in [
            (
                choice(Some(1), None, None),
                "--schedules (CUDA_GATES_SCHEDULES) is for",
            ),
            (
                choice(None, Some(0), None),
                "--seed (CUDA_GATES_SEED) is for",
            ),
            (
                choice(None, None, schedule("fair")),
                "--schedule (CUDA_GATES_SCHEDULE) is for",
            ),
        ] {
            let problem = choice.resolve(&card).unwrap_err();
            assert!(problem.starts_with(name), "{problem}");
            assert!(problem.contains("on cuda:0"), "{problem}");
        }
    }

    #[test]
    fn a_failure_is_replayed_by_its_simplest_schedule_and_a_control_by_all() {
        let (full, simple): (Schedule, Schedule) = (
            "pct:7,apart".parse().unwrap(),
            "fair,apart".parse().unwrap(),
        );
        let mut record = blank_record("s::g::jit");
        assert_eq!(decisive(&record), None);
        let mut scheduled = ScheduledRecord {
            schedule: full,
            ran: 2,
            of: 9,
            seed: Some(1),
            shrunk: None,
        };
        record.scheduled = Some(scheduled);
        assert_eq!(decisive(&record), None);
        record.outcome = Outcome::Fail;
        assert_eq!(decisive(&record), Some(full));
        record.expected = Some("fail: race".into());
        assert_eq!(decisive(&record), None);
        record.outcome = Outcome::Error;
        assert_eq!(decisive(&record), Some(full));
        scheduled.shrunk = Some(ShrunkRecord {
            schedule: simple,
            runs: 3,
        });
        record.scheduled = Some(scheduled);
        assert_eq!(decisive(&record), Some(simple));
    }

    #[test]
    fn arguments_win_over_the_environment() {
        let environment = choice(Some(20), Some(3), None);
        let replay = choice(None, None, schedule("random:7"));
        assert_eq!(replay.over(environment), replay);
        assert_eq!(environment.over(replay), environment);
        assert_eq!(ScheduleChoice::default().over(environment), environment);
        let fewer = choice(Some(2), None, None);
        assert_eq!(fewer.over(environment), choice(Some(2), Some(3), None));
        assert_eq!(fewer.over(replay), fewer);
    }
}
