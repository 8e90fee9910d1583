//! Process isolation: cases run in a worker process that may hang, crash or lose its device without taking the
//! rest of the run with it.
//!
//! Owns: the worker process and its supervisor, the protocol between them, deadlines, the pool of workers, and the
//! process that asks NVML. May import `report` (records), `outcome` and `device` (info), and for NVML `identity`; only
//! [`execute`], [`sources`] and the worker's own start reach further.
//!
//! The supervisor lives in the process that owns the trials and never initialises CUDA. It starts the same
//! executable again with [`WORKER_ARGUMENT`], and hands it one end of a socket pair as its standard input, so that
//! standard output stays free for a kernel's `printf`.
//!
//! ```no_run
//! use cuda_gates::worker::{Address, Launch, Pool, WorkerConfig};
//! let launch = Launch::this_executable(WorkerConfig::new(Address::Sim)).unwrap();
//! let pool = Pool::new(launch, 2);
//! let answer = pool.run("compaction::scan_total::keep=128::n=65537::jit");
//! println!("{:?}", answer.result.map(|record| record.outcome));
//! ```

mod capture;
mod child;
mod enumerate;
mod environment;
pub mod execute;
mod memory;
mod nvml;
mod open;
mod own;
mod pool;
mod process;
mod protocol;
mod schedules;
mod serve;
pub mod sources;
mod supervisor;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::device::DeviceInfo;
use crate::outcome::Fault;
use crate::report::record::CaseRecord;

use execute::Tell;

pub use capture::Output;
pub use enumerate::enumerate_devices;
pub use environment::cleared;
pub use nvml::{NvmlLaunch, NvmlProcess};
pub use open::{is_asked_for, work};
pub use pool::Pool;
pub use schedules::Schedules;
pub use serve::serve;
pub use supervisor::{Answer, Launch, Reached, Supervisor};

/// The first argument that makes the executable a worker.
pub const WORKER_ARGUMENT: &str = "__worker";

/// What a worker does for its supervisor.
pub trait Execute {
    /// Opens the device.
    ///
    /// # Errors
    /// `environment` when there is none to open; nothing can run then, here or in another worker.
    fn hello(&mut self) -> Result<DeviceInfo, Fault>;

    /// Runs the case with this id; tells how far it is where it runs under chosen schedules.
    ///
    /// # Errors
    /// `setup` when there is no such case; everything that a case can end in is an outcome of its record.
    fn run(&mut self, id: &str, tell: &mut Tell<'_>) -> Result<CaseRecord, Fault>;

    /// Whether the device context is gone, so that this process can run nothing more.
    fn lost(&self) -> bool;

    /// Closes the device, which no fault has broken; gives what failed meanwhile.
    fn close(self) -> Vec<String>;
}

/// What a worker needs to know before its first case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerConfig {
    pub device: Address,
    /// A folder of specs; none: the embedded copy.
    #[serde(with = "path_bytes")]
    pub specs: Option<PathBuf>,
    /// A folder of kernels that wins over the embedded copy, file by file.
    #[serde(with = "path_bytes")]
    pub kernels: Option<PathBuf>,
    /// Other than the default on the simulated device alone.
    pub schedules: Schedules,
    /// What the run began with; none: whatever is there.
    pub began: Option<Began>,
}

/// Suites and kernels as a run began with them: results of two versions are not one run's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Began {
    /// The SHA-256 of each suite by its path.
    pub suites: BTreeMap<String, String>,
    /// Over the sources and the PTX of every kernel that a suite names.
    pub kernels_sha256: String,
}

impl WorkerConfig {
    /// The embedded specs and kernels on this device, under its default schedule.
    pub fn new(device: Address) -> Self {
        Self {
            device,
            specs: None,
            kernels: None,
            schedules: Schedules::default(),
            began: None,
        }
    }
}

/// A path as its bytes: one that is no UTF-8 names a folder all the same.
mod path_bytes {
    use std::ffi::OsString;
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    use std::path::PathBuf;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(
        path: &Option<PathBuf>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        let bytes = path.as_ref().map(|path| path.as_os_str().as_bytes());
        bytes.serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<PathBuf>, D::Error> {
        let bytes = Option::<Vec<u8>>::deserialize(from)?;
        Ok(bytes.map(|bytes| PathBuf::from(OsString::from_vec(bytes))))
    }
}

/// One device of this machine, as a person writes it.
///
/// ```
/// use cuda_gates::worker::Address;
/// assert_eq!("cuda:1".parse(), Ok(Address::Ordinal(1)));
/// assert_eq!("cuda".parse(), Ok(Address::Ordinal(0)));
/// assert!("gpu".parse::<Address>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Address {
    Sim,
    /// CUDA's own numbering, after `CUDA_VISIBLE_DEVICES`.
    Ordinal(usize),
    /// `GPU-…` or `MIG-…`
    Uuid(String),
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "sim" => return Ok(Address::Sim),
            "cuda" => return Ok(Address::Ordinal(0)),
            _ => {}
        }
        if let Some(ordinal) = text.strip_prefix("cuda:") {
            return ordinal
                .parse()
                .map(Address::Ordinal)
                .map_err(|_| format!("`{text}`: a number must follow `cuda:`, as in `cuda:0`"));
        }
        if text.starts_with("GPU-") || text.starts_with("MIG-") {
            return Ok(Address::Uuid(text.to_owned()));
        }
        Err(format!(
            "`{text}` is no device: auto, sim, cuda, cuda:N, all, or a UUID as `nvidia-smi -L` prints it"
        ))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Sim => f.write_str("sim"),
            Address::Ordinal(ordinal) => write!(f, "cuda:{ordinal}"),
            Address::Uuid(uuid) => f.write_str(uuid),
        }
    }
}
