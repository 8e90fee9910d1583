//! How an idle worker is ended, and what went wrong with that: no case is there to tell it.

use std::time::Duration;

use super::Worker;
use crate::worker::capture::last_words;
use crate::worker::process::{GOODBYE, Silence, describe};
use crate::worker::protocol::{Reply, Request};

/// Lines of a dead worker's standard error in what is told.
const LAST_LINES: usize = 5;

impl Worker {
    /// Has the idle worker close its device, within `limit`, and end. Gives what went wrong; at most one thing is the
    /// process's, the others are the driver's calls.
    pub(in crate::worker) fn close(mut self, limit: Duration) -> Vec<String> {
        // What it printed with its last case has gone with that.
        if let Some(wrong) = self.dead() {
            return vec![wrong];
        }
        let (mut wrong, process) = match self.ask(&Request::Bye, limit) {
            Ok(Reply::Closed { failed }) => (failed, self.after_closing()),
            Ok(other) => (Vec::new(), Some(out_of_turn(&format!("{other:?}")))),
            Err(silence) => (Vec::new(), Some(while_closing(&silence, limit))),
        };
        if let Some(process) = process {
            // Gone already, or stuck: what it has printed is all that it will.
            self.kill();
            wrong.push(self.with_last_words(process));
        }
        wrong
    }

    /// How an idle worker has ended, where it has.
    pub(in crate::worker) fn dead(&mut self) -> Option<String> {
        let status = self.process.ended()?;
        let died = format!("the worker died between two cases: {}", describe(status));
        Some(self.with_last_words(died))
    }

    /// Libraries end with the process too.
    fn after_closing(&mut self) -> Option<String> {
        match self.process.wait(GOODBYE) {
            Some(status) if status.success() => None,
            Some(status) => Some(format!(
                "the worker died after it had closed the device: {}",
                describe(status)
            )),
            None => Some(format!(
                "the worker did not end within {} s after it had closed the device; it was killed",
                GOODBYE.as_secs()
            )),
        }
    }

    fn with_last_words(&mut self, mut wrong: String) -> String {
        let complained = self.take_output().stderr;
        let lines = last_words(&complained, LAST_LINES);
        if !lines.is_empty() {
            wrong.push_str("; its last words: ");
            wrong.push_str(&lines.join(" | "));
        }
        wrong
    }
}

fn while_closing(silence: &Silence, limit: Duration) -> String {
    match silence {
        Silence::Deadline => format!(
            "the worker did not close the device within {} s; it was killed",
            limit.as_secs_f64()
        ),
        Silence::Ended(Some(status)) => format!(
            "the worker died while it closed the device: {}",
            describe(*status)
        ),
        Silence::Ended(None) => {
            "the worker closed its socket while it closed the device, and went on; it was killed"
                .to_owned()
        }
        Silence::Garbage(what) => out_of_turn(what),
        Silence::Io(error) => {
            format!("the worker's socket failed while it closed the device: {error}")
        }
    }
}

fn out_of_turn(what: &str) -> String {
    format!("the worker sent what is no answer while it closed the device: {what}")
}
