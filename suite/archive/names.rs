//! The names of folders: which shelf a run stands on, and run ids.

use std::hash::{BuildHasher, Hasher};
use std::path::PathBuf;

use jiff::Timestamp;

use crate::report::Facts;

/// Long enough for every card's name, short enough for every file system.
const NAME_BYTES_MAX: usize = 80;

/// The two folders above a run: the driver's version and the card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shelf {
    pub driver: String,
    pub card: String,
}

impl Shelf {
    /// `580.159.04/NVIDIA-H200`, `sim/0.1.0` (the suite's version: it is the simulator's), or
    /// `no-driver/no-device` where there was no driver; `580.159.04/no-device` where it has no card to give.
    pub fn of(facts: &Facts) -> Self {
        let (driver, card) = match &facts.device.info {
            Some(_) if facts.device.is_simulated() => ("sim", facts.suite.version.as_str()),
            Some(info) => match &facts.device.driver_version {
                Some(driver) => (driver.as_str(), info.name.as_str()),
                None => ("unknown-driver", info.name.as_str()),
            },
            None => match &facts.device.driver_version {
                Some(driver) => (driver.as_str(), "no-device"),
                None => ("no-driver", "no-device"),
            },
        };
        Self {
            driver: folder_name(driver, "unknown-driver"),
            card: folder_name(card, "unknown-card"),
        }
    }

    pub fn path(&self) -> PathBuf {
        PathBuf::from(&self.driver).join(&self.card)
    }
}

/// A folder name from anything: ASCII letters, digits, `.`, `_` and `-`; never empty, never hidden, never `..`.
pub(super) fn folder_name(text: &str, otherwise: &str) -> String {
    let mut name = String::new();
    for c in text.chars() {
        let c = if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') {
            c
        } else {
            '-'
        };
        if name.len() < NAME_BYTES_MAX && !(c == '-' && name.ends_with('-')) {
            name.push(c);
        }
    }
    let name = name
        .trim_start_matches(['.', '-'])
        .trim_end_matches(['.', '-']);
    if name.is_empty() {
        otherwise.to_owned()
    } else {
        name.to_owned()
    }
}

/// RFC 3339, UTC.
pub fn now() -> String {
    Timestamp::now().to_string()
}

/// `20261129T224100Z-3f2a`: sorts by time; the last part tells apart runs of one second.
pub fn new_run_id() -> String {
    let now = Timestamp::now().strftime("%Y%m%dT%H%M%SZ");
    // The standard library seeds each of these from the operating system's randomness.
    let random = std::hash::RandomState::new().build_hasher().finish();
    format!("{now}-{:04x}", random & 0xffff)
}

/// The id that every process of one nextest run shares.
pub(super) fn joined_run_id(key: &str) -> String {
    format!("nextest-{}", folder_name(key, "run"))
}
