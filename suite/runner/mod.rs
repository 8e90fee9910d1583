//! Cases become named trials, and trials a run with a verdict.
//!
//! Owns: the choices of a run, its device, the trials under `cargo test` and in the binary, progress, the verdict and
//! the exit codes. The only place that names libtest-mimic and indicatif. May import everything that a run passes
//! through: `spec`, `case`, `device` (presence), `image`, `worker`, `check` (expectations), `identity`, `report` and
//! `archive`. It never initialises CUDA.
//!
//! ```
//! use cuda_gates::runner::Verdict;
//! assert_eq!(Verdict::of([]).exit_code(), 4);
//! ```

mod blank;
mod choice;
mod close;
mod direct;
mod fleet;
pub mod harness;
mod health;
mod options;
mod planned;
mod progress;
mod recorder;
mod repro;
mod resume;
mod rules;
mod schedules;
mod session;
mod start;
mod tables;
mod text;
mod verdict;
mod waiving;

use crate::case::Case;
use crate::outcome::Reason;
use crate::report::record::CaseRecord;

pub use choice::Chosen;
pub use close::{CloseError, Closed, close};
pub use options::{
    DEFAULT_TIMEOUT, DeviceChoice, Options, Resume, Selection, UsageError, parse_count,
    parse_images, parse_profile, parse_seed, parse_timeout,
};
pub use planned::{KERNELS, PlanError, Planned, folder};
pub use schedules::ScheduleChoice;
pub(crate) use start::width;
pub use start::{gates, run};
pub use text::refusal;
pub use verdict::Verdict;
pub use waiving::day;

/// A selected case, and what is known of it before any device is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedCase {
    pub case: Case,
    /// Why it is skipped; none when it runs.
    pub decided: Option<Reason>,
}

/// Runs a case to its record; called from several threads.
pub trait Judge: Send + Sync {
    fn judge(&self, case: &Case) -> CaseRecord;
}
