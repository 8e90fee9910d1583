//! What a run says beside its cases: the rules for whole runs that it broke, and what became of each waiver.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::terms::{Outcome, named_enum};

named_enum! {
    /// A rule for whole runs.
    RunRule {
        /// A gate that the suite's `must_run` names had no case that ran.
        MustRun = "must_run",
        /// A waiver is past its day, names no case, or is no longer needed.
        Waiver = "waiver",
        /// The card or its driver is not what it was when the run began.
        Identity = "identity",
        /// The card broke while cases passed.
        Health = "health",
        /// Cases have no result.
        Incomplete = "incomplete",
        /// A worker died, or a call failed, where no case could tell it: while the device was closed, or between cases.
        Driver = "driver",
        /// A case has several results, which differ.
        Results = "results",
    }
}

/// A rule that a whole run broke: it does not pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunProblem {
    pub rule: RunRule,
    /// What is wrong, with its place where it has one, and what to do.
    pub message: String,
}

impl fmt::Display for RunProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.message)
    }
}

/// The waiver of a case that failed or ended in error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CaseWaiver {
    /// What the case would be without it: `fail` or `error`.
    pub waives: Outcome,
    /// The waiver's pattern.
    pub cases: String,
    pub reason: String,
    pub link: String,
    /// The last day it holds (UTC): `2027-01-31`.
    pub expires: String,
}

impl fmt::Display for CaseWaiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            reason,
            link,
            expires,
            ..
        } = self;
        write!(f, "{reason} ({link}, until {expires})")
    }
}

named_enum! {
    /// What became of a waiver in a run.
    WaiverState {
        /// It waived a failure or an error.
        Waived = "waived",
        /// Its cases passed, which an intermittent failure may.
        Quiet = "intermittent, passed",
        /// Its cases passed, all that the device's default profile and images have: it must go.
        Unneeded = "no longer needed",
        /// Its cases passed, but not all that the default profile and images have took part; or some failed in another
        /// way.
        NotSeen = "not seen failing",
        /// Another card or driver, or a day past its last.
        Elsewhere = "not for this device",
        /// None of its cases ran.
        NotRun = "not run",
        Expired = "expired",
        /// No case of the suites has such a name.
        Unmatched = "unmatched",
    }
}

/// A waiver, and what it did in a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WaiverRecord {
    pub cases: String,
    pub cards: Vec<String>,
    /// What it waives; any finding where it names none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub kinds: Option<Vec<String>>,
    /// `any`, `580.159.04`, or `from 570.26, below 580.65.06`.
    pub drivers: String,
    pub reason: String,
    pub link: String,
    pub expires: String,
    pub intermittent: bool,
    pub state: WaiverState,
    /// Cases that it waived.
    pub waived: usize,
    /// Cases of its pattern that passed.
    pub passed: usize,
}
