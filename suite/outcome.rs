//! What can be said of a case: findings, outcomes, reasons and faults.
//!
//! Owns: the closed lists that specs (`expect`), reports and exit codes share. Imports nothing of this crate.
//!
//! ```
//! use cuda_gates::outcome::{Finding, FindingKind};
//! let finding = Finding::new(FindingKind::Count, "got 3, want 4");
//! assert_eq!(finding.to_string(), "count: got 3, want 4");
//! ```

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Defines a field-less enum with one stable lower-case name a variant, used in YAML and reports alike.
macro_rules! named_enum {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident = $text:literal),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        pub enum $name { $($(#[$vmeta])* #[serde(rename = $text)] $variant),* }

        impl $name {
            pub const ALL: &'static [$name] = &[$($name::$variant),*];

            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $text),* }
            }

            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some($name::$variant),)* _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.pad(self.name()) }
        }
    };
}
pub(crate) use named_enum;

named_enum! {
    /// What kind of thing a check or the simulated device found: the closed list of `expect: {fail: …}`.
    FindingKind {
        /// An element differs from the reference.
        Mismatch = "mismatch",
        /// A number of elements differs from the reference.
        Count = "count",
        /// A partition's boundary differs.
        Split = "split",
        /// Elements stand in the wrong order.
        Order = "order",
        /// Two collections differ as multisets.
        Multiset = "multiset",
        /// An element that should have been written still holds the poison.
        Unwritten = "unwritten",
        /// An element that should still hold the poison (or an input) was written.
        StrayWrite = "stray_write",
        /// A guard band beside a buffer was written.
        Guard = "guard",
        OutOfBounds = "out_of_bounds",
        Misaligned = "misaligned",
        Uninitialised = "uninitialised",
        Race = "race",
        Barrier = "barrier",
        Membermask = "membermask",
        Deadlock = "deadlock",
        NotRepeatable = "not_repeatable",
        /// A gate or row that launched nothing, so it shows nothing.
        NoWork = "no_work",
        /// A time that is not positive.
        Time = "time",
        Assert = "assert",
        Health = "health",
    }
}

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

named_enum! {
    /// The outcome of a case.
    Outcome {
        Pass = "pass",
        Fail = "fail",
        Skip = "skip",
        Waived = "waived",
        /// Never a pass.
        Error = "error",
    }
}

named_enum! {
    /// Why a case was skipped or ended in error.
    ReasonKind {
        // skips
        Unsupported = "unsupported by this device",
        Deselected = "deselected",
        NeedsHardware = "needs hardware",
        BuiltWithout = "built without",
        // errors
        /// The machine: no device, no driver, driver and library disagree.
        Environment = "environment",
        /// The kernel broke the device context (illegal address, trap, …).
        KernelFault = "kernel fault",
        /// The case outlived its deadline.
        Hang = "hang",
        /// The suite, its kernels or its limits: `require`, missing PTX, too large.
        Setup = "setup",
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
