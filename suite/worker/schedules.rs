//! Which schedules of the simulated device a case runs under.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::device::sim::Schedule;
use crate::report::record::SchedulesRecord;

/// The schedules that every case of a run takes, one after the other.
///
/// ```
/// use cuda_gates::{device::sim::Schedule, worker::Schedules};
/// let explored = Schedules::explore(7, 3);
/// let each: Vec<Schedule> = explored.each().collect();
/// assert_eq!(each, [Schedule::default(), Schedule::nth(7, 1), Schedule::nth(7, 2)]);
/// assert!(Schedules::default().each().eq([Schedule::default()]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Schedules {
    /// [`Schedule::nth`] of a seed: `count` of them from the number `first` on.
    Explore { seed: u64, first: u32, count: u32 },
    /// This one, to replay what it did.
    Only(Schedule),
}

impl Default for Schedules {
    /// The fair one.
    fn default() -> Self {
        Self::explore(0, 1)
    }
}

impl Schedules {
    /// The first `count` schedules of a seed, of which the first is the fair one.
    pub fn explore(seed: u64, count: u32) -> Self {
        let first = 0;
        Self::Explore { seed, first, count }
    }

    pub fn each(self) -> impl Iterator<Item = Schedule> {
        let (seed, numbers, only) = match self {
            Self::Explore { seed, first, count } => {
                (seed, first..first.saturating_add(count), None)
            }
            Self::Only(schedule) => (0, 0..0, Some(schedule)),
        };
        let explored = numbers.map(move |number| Schedule::nth(seed, number));
        only.into_iter().chain(explored)
    }

    /// Whether nobody asked for anything but the fair schedule: reports then say nothing of schedules.
    pub fn is_default(self) -> bool {
        self == Self::default()
    }

    /// What a run's report says of them; nothing of the default.
    pub fn record(self) -> Option<SchedulesRecord> {
        if self.is_default() {
            return None;
        }
        Some(match self {
            Self::Explore { seed, first, count } => SchedulesRecord {
                count,
                seed: Some(seed),
                first: Some(first),
                only: None,
            },
            Self::Only(schedule) => SchedulesRecord {
                count: 1,
                seed: None,
                first: None,
                only: Some(schedule),
            },
        })
    }
}
