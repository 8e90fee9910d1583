//! Assertions of kernels: what the compiler left in the module of one, and that it failed.

use std::fmt;

/// An assertion, as far as the module tells about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assertion {
    /// The condition's text.
    pub message: Option<String>,
    /// File and line, from 1.
    pub place: Option<(String, u32)>,
    pub function: Option<String>,
}

impl fmt::Display for Assertion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((file, line)) = &self.place {
            write!(f, "{file}:{line}: ")?;
        }
        if let Some(function) = &self.function {
            write!(f, "{function}: ")?;
        }
        match &self.message {
            Some(message) => write!(f, "assertion failed: {message}"),
            None => f.write_str("an assertion failed"),
        }
    }
}

/// That one did not hold for a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedAssertion {
    pub assertion: Assertion,
    pub block: [u32; 3],
    pub thread: [u32; 3],
}

/// What is noted about an instruction that stands in place of another.
#[derive(Clone, Debug)]
pub enum Note {
    /// Why it cannot run, or what reaching it means.
    Words(String),
    Assertion(Assertion),
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words(words) => f.write_str(words),
            Self::Assertion(assertion) => assertion.fmt(f),
        }
    }
}
