//! Which of the things that may run at once goes on, and where a schedule is written down.
//!
//! A schedule and the launches decide everything: the same one replays byte for byte. Its text is what commands and
//! reports carry: `fair`, `random:7`, `pct:7,reversed,resident=2,apart,switches=13`.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the simulated device orders what may run at once.
///
/// ```
/// use cuda_gates::device::sim::Schedule;
/// let schedule: Schedule = "pct:7,reversed,resident=2".parse().unwrap();
/// assert_eq!(schedule.resident, Some(2));
/// assert_eq!(schedule.to_string(), "pct:7,reversed,resident=2");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Schedule {
    pub policy: Policy,
    /// In which order blocks of a grid start; the device's own choice where none is given.
    pub order: Option<BlockOrder>,
    /// Most blocks that are resident at once.
    pub resident: Option<u32>,
    /// Lanes that part at a branch do not meet again but at `.sync` instructions.
    pub apart: bool,
    /// Decisions that follow the policy; all later ones are fair.
    pub switches: Option<u32>,
}

/// Who goes on at a decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Policy {
    /// Everyone in turn.
    #[default]
    Fair,
    /// Anyone who can, for a random time.
    Random { seed: u64 },
    /// The one with the highest random priority, which few random steps lower: probabilistic concurrency testing
    /// (Burckhardt, Kothari, Musuvathi and Nagarakatte, "A Randomized Scheduler with Probabilistic Guarantees of
    /// Finding Bugs", 2010). Who only waits falls behind the others.
    Pct { seed: u64 },
}

/// CUDA promises none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockOrder {
    Forward,
    Reversed,
}

/// Blocks at once that an exploration takes in turn.
const RESIDENT: [Option<u32>; 4] = [None, Some(1), Some(2), Some(4)];

impl Schedule {
    /// The schedule of this number in an exploration: number 0 is the fair one, the others differ in all they can.
    pub fn nth(seed: u64, number: u32) -> Self {
        if number == 0 {
            return Self::default();
        }
        let bits = split_mix(seed ^ split_mix(u64::from(number)));
        // Short seeds are easier to type.
        let seed = bits >> 40;
        let policy = if number.is_multiple_of(2) {
            Policy::Pct { seed }
        } else {
            Policy::Random { seed }
        };
        let reversed = bits & 1 == 1;
        Self {
            policy,
            order: Some(if reversed {
                BlockOrder::Reversed
            } else {
                BlockOrder::Forward
            }),
            resident: RESIDENT[(bits >> 1) as usize % RESIDENT.len()],
            apart: number % 4 >= 2,
            switches: None,
        }
    }
}

/// Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014.
pub(super) fn split_mix(state: u64) -> u64 {
    let z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.policy {
            Policy::Fair => write!(f, "fair")?,
            Policy::Random { seed } => write!(f, "random:{seed}")?,
            Policy::Pct { seed } => write!(f, "pct:{seed}")?,
        }
        match self.order {
            None => {}
            Some(BlockOrder::Forward) => write!(f, ",forward")?,
            Some(BlockOrder::Reversed) => write!(f, ",reversed")?,
        }
        if let Some(blocks) = self.resident {
            write!(f, ",resident={blocks}")?;
        }
        if self.apart {
            write!(f, ",apart")?;
        }
        if let Some(switches) = self.switches {
            write!(f, ",switches={switches}")?;
        }
        Ok(())
    }
}

/// What is wrong with a schedule's text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    #[error(
        "`{part}` is no part of a schedule: give `fair`, `random:SEED` or `pct:SEED`, then any of `forward`, \
         `reversed`, `resident=BLOCKS` (1 or more), `apart` and `switches=COUNT` (0 to {max}), with commas between",
        max = u32::MAX
    )]
    Unknown { part: String },
    #[error("`{part}` comes after `{before}` in one schedule: leave one of them out")]
    Twice { part: String, before: String },
}

impl FromStr for Schedule {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Self, ScheduleError> {
        let mut parts = text.split(',');
        let policy = parts.next().unwrap_or_default();
        let mut schedule = Self {
            policy: parse_policy(policy).ok_or_else(|| wrong(policy))?,
            ..Self::default()
        };
        let mut given: [Option<&str>; 4] = [None; 4];
        for part in parts {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let number = value.parse::<u32>().ok();
            let is_bare = name.len() == part.len();
            let says = match (name, number) {
                ("forward", None) if is_bare => {
                    schedule.order = Some(BlockOrder::Forward);
                    0
                }
                ("reversed", None) if is_bare => {
                    schedule.order = Some(BlockOrder::Reversed);
                    0
                }
                ("apart", None) if is_bare => {
                    schedule.apart = true;
                    1
                }
                ("resident", Some(1..)) => {
                    schedule.resident = number;
                    2
                }
                ("switches", Some(_)) => {
                    schedule.switches = number;
                    3
                }
                _ => return Err(wrong(part)),
            };
            if let Some(before) = given[says].replace(part) {
                return Err(ScheduleError::Twice {
                    part: part.to_owned(),
                    before: before.to_owned(),
                });
            }
        }
        Ok(schedule)
    }
}

fn wrong(part: &str) -> ScheduleError {
    ScheduleError::Unknown {
        part: part.to_owned(),
    }
}

fn parse_policy(text: &str) -> Option<Policy> {
    match text.split_once(':') {
        None if text == "fair" => Some(Policy::Fair),
        Some(("random", seed)) => Some(Policy::Random {
            seed: seed.parse().ok()?,
        }),
        Some(("pct", seed)) => Some(Policy::Pct {
            seed: seed.parse().ok()?,
        }),
        _ => None,
    }
}

impl TryFrom<String> for Schedule {
    type Error = ScheduleError;

    fn try_from(text: String) -> Result<Self, ScheduleError> {
        text.parse()
    }
}

impl From<Schedule> for String {
    fn from(schedule: Schedule) -> Self {
        schedule.to_string()
    }
}
