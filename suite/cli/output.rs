//! What a command prints, and how it ends.

use std::io::{self, Write};
use std::process::ExitCode;

use crate::archive::ArchiveError;
use crate::runner::{UsageError, refusal};

/// How a command ends without an answer.
#[derive(Debug)]
pub(super) struct Failure {
    pub code: u8,
    /// For stderr; as it is.
    pub text: String,
}

impl Failure {
    /// Exit code 2: what was asked for cannot be.
    pub fn usage(message: impl std::fmt::Display) -> Self {
        Self {
            code: 2,
            text: refusal(message),
        }
    }

    /// Exit code 2: a file that cannot be read or written.
    pub fn file(message: impl std::fmt::Display) -> Self {
        Self {
            code: 2,
            text: format!("error: {message}"),
        }
    }

    /// Exit code 3: the machine has no compiler, or no device.
    pub fn environment(message: impl std::fmt::Display) -> Self {
        Self {
            code: 3,
            text: format!("error: {message}"),
        }
    }
}

impl From<UsageError> for Failure {
    fn from(error: UsageError) -> Self {
        Self::usage(error)
    }
}

impl From<ArchiveError> for Failure {
    fn from(error: ArchiveError) -> Self {
        Self::usage(error)
    }
}

/// What a command has to say on stdout, and its exit code.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub text: String,
    pub code: u8,
    /// For stderr, after the text: what could not be done of it. Not in `text`, and never with the code 0.
    pub trouble: String,
}

impl From<String> for Answer {
    fn from(text: String) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }
}

pub(super) type Outcome = Result<Answer, Failure>;

/// Prints, and turns the outcome into the process's exit code.
pub(super) fn end(outcome: Outcome) -> ExitCode {
    match outcome {
        Ok(answer) => match print(&answer.text) {
            Ok(()) => {
                if !answer.trouble.is_empty() {
                    complain(&answer.trouble);
                }
                ExitCode::from(answer.code)
            }
            Err(e) => {
                complain(&format!("error: cannot write to stdout: {e}"));
                ExitCode::from(2)
            }
        },
        Err(failure) => {
            complain(&failure.text);
            ExitCode::from(failure.code)
        }
    }
}

/// A reader that has seen enough (`cuda-gates list | head`) is no error.
fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    let wrote = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    match wrote {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// With stderr closed there is nobody left to tell.
fn complain(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", text.trim_end());
}

/// One JSON document.
pub(super) fn json(document: &serde_json::Value) -> Answer {
    Answer::from(format!("{document:#}\n"))
}
