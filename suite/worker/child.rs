//! One live worker: the cases it is given, and what it tells of them.

use std::io;
use std::process::Command;
use std::time::{Duration, Instant};

use super::capture::Output;
use super::process::{Process, Silence};
use super::protocol::{Reply, Request};
use super::supervisor::Reached;
use crate::device::sim::Schedule;
use crate::report::record::CaseRecord;

mod closing;

/// How far a case has come.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub reached: Option<Reached>,
    /// It came to its first step; told where its gate expects an error.
    pub launched: bool,
    /// How the case has failed, where all that remains is to find a simpler schedule.
    pub failed: Option<Box<CaseRecord>>,
}

impl Told {
    fn begins(&mut self, schedule: Schedule) {
        let before = self.reached.map_or(0, |reached| reached.runs);
        self.launched = false;
        self.reached = Some(Reached {
            schedule,
            runs: before + 1,
        });
    }
}

/// A worker process. Dropping it ends it: kindly when it is idle, else by a kill.
pub(super) struct Worker {
    process: Process,
    /// What it has told of the case it is at.
    told: Told,
    /// No request is unanswered.
    idle: bool,
}

impl Worker {
    pub(super) fn spawn(command: Command) -> io::Result<Self> {
        Ok(Self {
            process: Process::spawn(command)?,
            told: Told::default(),
            idle: true,
        })
    }

    /// Sends a request and waits for its reply, taking up whatever the worker prints meanwhile. A run under another
    /// schedule has the limit for itself.
    pub(super) fn ask(&mut self, request: &Request, limit: Duration) -> Result<Reply, Silence> {
        self.idle = false;
        self.told = Told::default();
        self.process.send(request)?;
        let reply = self.await_reply(limit)?;
        // A worker flushes before it answers, so this is all of the case's.
        self.process.drain().map_err(Silence::Io)?;
        self.idle = true;
        Ok(reply)
    }

    fn await_reply(&mut self, limit: Duration) -> Result<Reply, Silence> {
        let mut deadline = Instant::now() + limit;
        loop {
            match self.process.receive(deadline)? {
                Reply::Begins { schedule } => {
                    self.told.begins(schedule);
                    deadline = Instant::now() + limit;
                }
                Reply::Launches => self.told.launched = true,
                Reply::Failed { record } => self.told.failed = Some(record),
                reply => return Ok(reply),
            }
        }
    }

    /// What it has told of the case that it was last at.
    pub(super) fn take_told(&mut self) -> Told {
        std::mem::take(&mut self.told)
    }

    /// What was printed since the last call.
    pub(super) fn take_output(&mut self) -> Output {
        self.process.take_output()
    }

    /// Kills and reaps it, and takes up its last words. False when it cannot be killed.
    pub(super) fn kill(&mut self) -> bool {
        self.process.kill()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if self.idle {
            self.process.part(&Request::Bye);
        }
    }
}
