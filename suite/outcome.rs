//! What can be said of a case: findings with their site, reasons and faults.
//!
//! May import `terms` only.
//!
//! ```
//! use cuda_gates::outcome::Finding;
//! use cuda_gates::terms::FindingKind;
//! let finding = Finding::new(FindingKind::Count, "got 3, want 4");
//! assert_eq!(finding.to_string(), "count: got 3, want 4");
//! ```

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::terms::{FindingKind, ReasonKind};

/// Where on the device something happened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Site {
    pub kernel: String,
    /// The instruction as PTX text.
    pub instruction: String,
    /// Line in the PTX text, from 1.
    pub ptx_line: u32,
    /// `file:line` of the CUDA source, where the PTX has line information.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub source: Option<String>,
    pub block: [u32; 3],
    pub thread: [u32; 3],
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub address: Option<u64>,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    pub kind: FindingKind,
    /// One line: what was found, with numbers.
    pub message: String,
    /// Further lines: an excerpt around the first mismatch, for instance.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub detail: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub site: Option<Site>,
}

impl Finding {
    pub fn new(kind: FindingKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            detail: Vec::new(),
            site: None,
        }
    }

    pub fn with_detail(mut self, detail: Vec<String>) -> Self {
        self.detail = detail;
        self
    }

    pub fn at(mut self, site: Site) -> Self {
        self.site = Some(site);
        self
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.message)
    }
}

/// Why a case was skipped or ended in error, with the words for a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reason {
    pub kind: ReasonKind,
    pub message: String,
}

impl Reason {
    pub fn new(kind: ReasonKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.message)
    }
}

/// A case that could not be judged: its reason is one of the error kinds.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Fault {
    pub reason: Reason,
    /// The device context is lost: nothing more can run in this process.
    pub sticky: bool,
}

impl Fault {
    pub fn setup(message: impl Into<String>) -> Self {
        Self {
            reason: Reason::new(ReasonKind::Setup, message),
            sticky: false,
        }
    }

    pub fn environment(message: impl Into<String>) -> Self {
        Self {
            reason: Reason::new(ReasonKind::Environment, message),
            sticky: true,
        }
    }

    pub fn kernel(message: impl Into<String>) -> Self {
        Self {
            reason: Reason::new(ReasonKind::KernelFault, message),
            sticky: true,
        }
    }

    pub fn hang(message: impl Into<String>) -> Self {
        Self {
            reason: Reason::new(ReasonKind::Hang, message),
            sticky: true,
        }
    }
}
