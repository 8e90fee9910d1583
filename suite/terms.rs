//! The closed lists of names that specs, reports, the command line and exit codes share.
//!
//! Imports nothing of this crate.
//!
//! ```
//! use cuda_gates::terms::{FindingKind, Outcome};
//! assert_eq!(FindingKind::from_name("stray_write"), Some(FindingKind::StrayWrite));
//! assert_eq!(Outcome::Pass.to_string(), "pass");
//! ```

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
        /// Two accesses of one place that nothing orders, one of them a write.
        Race = "race",
        /// A race whose write does not change what is there. Reported, but no failure by itself.
        ValueRace = "value_race",
        /// A read through the read-only cache of memory that the same launch writes.
        Stale = "stale",
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

impl FindingKind {
    /// Whether a finding is only told, and fails no gate that does not expect it.
    pub const fn is_note(self) -> bool {
        matches!(self, Self::ValueRace)
    }
}

named_enum! {
    /// How a plot's axis maps numbers to places. A logarithmic one has no place for zero and below.
    Scale {
        Linear = "linear",
        Log2 = "log2",
        Log10 = "log10",
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

impl Outcome {
    /// Of several results of a case the one with the most counts.
    pub const fn badness(self) -> u8 {
        match self {
            Outcome::Pass => 0,
            Outcome::Skip => 1,
            Outcome::Waived => 2,
            Outcome::Fail => 3,
            Outcome::Error => 4,
        }
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

named_enum! {
    /// How a module's code reaches the device.
    ImageKind {
        /// Native code from this machine's nvcc, cubin only.
        Sass = "sass",
        /// The committed PTX, compiled by the driver (or run by the simulated device).
        Jit = "jit",
        /// PTX compiled at run time through NVRTC.
        Nvrtc = "nvrtc",
    }
}

named_enum! {
    DeviceKind {
        /// A card, through the CUDA driver.
        Cuda = "cuda",
        /// The simulated device.
        Sim = "sim",
    }
}

named_enum! {
    /// Which sizes of an axis a run takes.
    Profile { Quick = "quick", Full = "full", Perf = "perf", Huge = "huge" }
}

named_enum! {
    /// Of a sorted array.
    Order { Ascending = "ascending", Descending = "descending" }
}

/// How far a float may lie from its reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// Units in the last place.
    Ulps(u64),
    Relative(f64),
}
