//! What a run ran on: driver and card through NVML, the host, the toolchain.
//!
//! Owns: every name of nvml-wrapper (in `nvml`), the fields' names and units. May import `outcome`
//! and `terms`. Every field is a value or the reason why there is none: on WSL, Jetson, MIG and vGPU
//! many are missing, and without a driver all are. NVML may end the process that asks it, or hold it
//! up: whoever must live on asks in a process of its own.
//!
//! ```
//! let identity = cuda_gates::identity::read(Some("GPU-00000000-0000-0000-0000-000000000000"));
//! assert!(identity.fields.contains_key("name"), "a field is always there, with a value or a reason");
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::outcome::Reason;

mod card;
mod field;
mod health;
mod machine;
mod nvml;
mod xid;

pub use field::Field;
pub use health::{CONDITIONS, COUNTS, Change, HealthWatch, Reading, UNAVAILABLE, changes, unread};
pub use machine::{host, toolchain};
pub use xid::XidLog;

/// What NVML says at one time. Units are the last part of a field's name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    /// Of the kernel driver: `580.159.04`. Also without NVML, where `/proc` tells it.
    pub driver_version: Option<String>,
    /// What does not change during a run.
    pub fields: BTreeMap<String, Field>,
    /// What may: clocks, temperature, error counts, processes.
    pub live: BTreeMap<String, Field>,
    /// Why NVML as a whole is out of reach; its kind is `environment`.
    pub fault: Option<Reason>,
}

/// Reads driver and card. `uuid` is CUDA's ([`DeviceInfo::uuid`](crate::device::DeviceInfo::uuid)): indices differ
/// between CUDA and NVML. Without one, a machine's only card is taken.
///
/// Never fails: what is out of reach says why, field by field. NVML is loaded into this process.
pub fn read(uuid: Option<&str>) -> Identity {
    match nvml::session() {
        Ok(session) => nvml::identity(session, uuid),
        Err(reason) => unavailable(reason.clone()),
    }
}

/// What is known where NVML cannot be asked: every field is there, with this reason.
pub fn unavailable(reason: Reason) -> Identity {
    let unavailable = |names: &[&str]| {
        let field = |name: &&str| {
            let why = Field::Unavailable(reason.message.clone());
            ((*name).to_owned(), why)
        };
        names.iter().map(field).collect()
    };
    Identity {
        driver_version: kernel_driver_version(Path::new("/proc")),
        fields: unavailable(card::FIELDS),
        live: unavailable(card::LIVE),
        fault: Some(reason),
    }
}

/// The loaded kernel driver's version by `<proc_root>/driver/nvidia/version`, without any library.
pub fn kernel_driver_version(proc_root: &Path) -> Option<String> {
    let text = std::fs::read_to_string(proc_root.join("driver/nvidia/version")).ok()?;
    let line = text.lines().find(|line| line.starts_with("NVRM version"))?;
    let is_version = |word: &&str| {
        word.contains('.')
            && word
                .split('.')
                .all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
    };
    line.split_whitespace().find(is_version).map(str::to_owned)
}

#[cfg(test)]
mod tests;
