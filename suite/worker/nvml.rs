//! NVML in a process of its own: a card that fell off its bus can hold it up for ever, and a broken library can end it.
//!
//! ```text
//! start → identity → watch → read, xid_events, … → finish
//! ```

mod answer;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::capture::last_words;
use super::process::{Process, Silence, describe};
use super::{WORKER_ARGUMENT, own};
use crate::identity::{self, Field, Identity, Reading, XidLog};
use crate::outcome::Reason;
use crate::terms::ReasonKind;

pub(super) use answer::{answer, is_asked_for};

/// The second argument that makes a worker ask NVML. An option, so that a test executable, should it ever be started
/// so, refuses it and does not take it for the name of tests to run.
const ARGUMENT: &str = "--nvml";
/// A driver that starts its cards afresh for each process needs seconds for every one.
const LIMIT: Duration = Duration::from_secs(60);
/// Lines of a dead process' standard error in the reason.
const LAST_LINES: usize = 3;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Question {
    Identity {
        uuid: Option<String>,
    },
    /// Begins to watch a card.
    Watch {
        uuid: Option<String>,
    },
    Read,
    Xid {
        wait_ms: u32,
    },
    Bye,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Identity(Identity),
    /// Why nothing at all can be read.
    Watching {
        unavailable: Option<String>,
    },
    Reading(Reading),
    Xid(Result<Vec<Value>, String>),
}

/// How the process is started.
#[derive(Clone, Debug)]
pub struct NvmlLaunch {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    /// How long an answer may take.
    pub limit: Duration,
}

impl NvmlLaunch {
    /// This executable, which must hand over to [`work`](super::work) when it is asked to: a minute an answer.
    pub fn this_executable() -> Self {
        Self {
            // Why it cannot be started is told where it is asked.
            program: own::program().unwrap_or_else(|_| own::RUNNING.into()),
            arguments: vec![WORKER_ARGUMENT.into(), ARGUMENT.into()],
            limit: LIMIT,
        }
    }

    fn start(&self) -> Result<Process, String> {
        Process::spawn(own::command(&self.program, &self.arguments)).map_err(|error| {
            let program = self.program.display();
            format!("environment: cannot start a process to ask NVML ({program}): {error}")
        })
    }
}

/// What NVML says of one card, from the start of a run to its end.
///
/// Nothing here fails or waits for longer than the limit: what is out of reach says why, field by field. A process
/// that ended or gave no answer is not started again while cases run: its watch is lost with it, and what broke NVML
/// once would be met at every case. [`finish`](Self::finish) alone starts one more.
pub struct NvmlProcess {
    launch: NvmlLaunch,
    /// Or why there is none any more.
    process: Result<Process, String>,
    /// NVML has worked before.
    worked: bool,
    unavailable: Option<String>,
    xid: XidLog,
}

impl NvmlProcess {
    pub fn start(launch: NvmlLaunch) -> Self {
        Self {
            process: launch.start(),
            launch,
            worked: false,
            unavailable: None,
            xid: XidLog::default(),
        }
    }

    /// Driver and card as they are now; `uuid` as for [`identity::read`].
    pub fn identity(&mut self, uuid: Option<&str>) -> Identity {
        self.try_identity(uuid).unwrap_or_else(|reason| {
            identity::unavailable(Reason::new(ReasonKind::Environment, reason))
        })
    }

    fn try_identity(&mut self, uuid: Option<&str>) -> Result<Identity, String> {
        let uuid = uuid.map(str::to_owned);
        let identity = self.ask(&Question::Identity { uuid }, |answer| match answer {
            Answer::Identity(identity) => Ok(identity),
            other => Err(other),
        })?;
        self.worked |= identity.fault.is_none();
        Ok(identity)
    }

    /// Begins to watch a card; what is lost of it later is told by each reading.
    pub fn watch(&mut self, uuid: Option<&str>) {
        let uuid = uuid.map(str::to_owned);
        let asked = self.ask(&Question::Watch { uuid }, |answer| match answer {
            Answer::Watching { unavailable } => Ok(unavailable),
            other => Err(other),
        });
        self.unavailable = asked.unwrap_or_else(Some);
    }

    /// Why nothing at all can be read, from the start of the watch.
    pub fn unavailable(&self) -> Option<&str> {
        self.unavailable.as_deref()
    }

    /// The watched card's health as it is now.
    pub fn read(&mut self) -> Reading {
        let asked = self.ask(&Question::Read, |answer| match answer {
            Answer::Reading(reading) => Ok(reading),
            other => Err(other),
        });
        asked.unwrap_or_else(|reason| identity::unread(&reason))
    }

    /// Numbers of the watched card's Xid errors since the last call; waits so long for the first.
    ///
    /// # Errors
    /// Why they are not known.
    pub fn xid_events(&mut self, wait_ms: u32) -> Result<Vec<Value>, String> {
        let asked = self.ask(&Question::Xid { wait_ms }, |answer| match answer {
            Answer::Xid(polled) => Ok(polled),
            other => Err(other),
        });
        let polled = asked.and_then(|polled| polled);
        self.xid.note(&polled);
        polled
    }

    /// All Xid errors since the start of the watch, and the identity at the end.
    ///
    /// A process that is gone is started once more for it, if NVML has ever worked in this run: what ended one call may
    /// have passed, and without the identity nobody knows whether the run ended on the card that it began on.
    pub fn finish(mut self, uuid: Option<&str>) -> (Identity, Field) {
        // A card that was lost says so only after what came before.
        while self.xid_events(0).is_ok_and(|new| !new.is_empty()) {}
        let xid = std::mem::take(&mut self.xid).told();
        if let Ok(identity) = self.try_identity(uuid) {
            return (identity, xid);
        }
        if self.worked {
            self.process = self.launch.start();
        }
        (self.identity(uuid), xid)
    }

    fn ask<T>(
        &mut self,
        question: &Question,
        answer: impl FnOnce(Answer) -> Result<T, Answer>,
    ) -> Result<T, String> {
        let process = self.process.as_mut().map_err(|reason| reason.clone())?;
        let limit = self.launch.limit;
        let deadline = Instant::now() + limit;
        let asked = process
            .send(question)
            .and_then(|()| process.receive(deadline))
            .and_then(|given| {
                answer(given).map_err(|other| Silence::Garbage(format!("out of turn: {other:?}")))
            });
        let silence = match asked {
            Ok(answer) => return Ok(answer),
            Err(silence) => silence,
        };
        let reason = ended(process, silence, limit);
        self.process = Err(reason.clone());
        Err(reason)
    }
}

impl Drop for NvmlProcess {
    fn drop(&mut self) {
        if let Ok(process) = &mut self.process {
            process.part(&Question::Bye);
        }
    }
}

/// Ends a process that gave no answer, and says why there is none.
fn ended(process: &mut Process, silence: Silence, limit: Duration) -> String {
    let gone = process.kill();
    let mut reason = match silence {
        Silence::Deadline => format!(
            "NVML gave no answer within {} s; its process was killed (a card that fell off its bus? `dmesg` tells; a \
             reset or reboot mends it)",
            limit.as_secs_f64()
        ),
        Silence::Ended(Some(status)) => format!("NVML ended its process: {}", describe(status)),
        Silence::Ended(None) => {
            "the process that asks NVML closed its socket and went on; it was killed".to_owned()
        }
        Silence::Garbage(what) => {
            format!("the process that asks NVML sent what is no answer: {what}")
        }
        Silence::Io(error) => format!("the socket of the process that asks NVML failed: {error}"),
    };
    if !gone {
        reason.push_str("; it does not end even so (stuck in the driver?)");
    }
    let complaints = process.take_output().stderr;
    let lines = last_words(&complaints, LAST_LINES);
    if !lines.is_empty() {
        reason.push_str("; its last words: ");
        reason.push_str(&lines.join(" | "));
    }
    format!("environment: {reason}")
}
