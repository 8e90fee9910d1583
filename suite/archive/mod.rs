//! Runs on disk, filed by driver version and card: `reports/<driver>/<card>/<run id>/`.
//!
//! Owns: the layout, run ids, the files of a run (`run.json` at its start, `results.jsonl` as it goes, then
//! `report.json`, `junit.xml` and `summary.md`), listing and loading, also of runs that died, taking those
//! up again, and telling what was changed. May import `regular_file` and `report`.
//! The simulator's runs are under `sim/`, those without a driver under `no-driver/`.
//!
//! ```
//! use cuda_gates::archive::Store;
//! use cuda_gates::report::Facts;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = tempfile::tempdir()?;
//! let store = Store::open(dir.path());
//! let run = store.begin_run(Facts::sample())?;
//! let report = run.facts().clone().into_report(Vec::new(), Vec::new());
//! run.finish(&report)?;
//! assert_eq!(store.load(run.id())?.report, report);
//! # Ok(())
//! # }
//! ```

mod close;
mod damage;
mod disk;
mod error;
mod limit;
mod list;
mod load;
mod names;
mod results;
mod resume;
mod run;
mod store;
mod verify;

pub use close::{close, last_written};
pub use error::ArchiveError;
pub use limit::report_file_limit;
pub use list::{Listed, State};
pub use load::{Loaded, load_results};
pub use names::{Shelf, new_run_id, now};
pub use results::Differing;
pub use resume::Unfinished;
pub use run::RunFolder;
pub use store::{DEFAULT_ROOT, Store};
pub use verify::Verified;

#[cfg(test)]
mod tests;
