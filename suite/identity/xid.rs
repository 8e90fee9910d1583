//! Xid errors during a run: the kernel driver's reports of what a card or a program did wrong.
//!
//! Owns: the event set that is registered before a run and read after it, and the list of what came. Imports nothing
//! beyond `identity`.
//!
//! ```text
//! start → poll (what came since the last one) → … → the log (all of them)
//! ```

use nvml_wrapper::bitmasks::event::EventTypes;
use nvml_wrapper::enums::event::XidError;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::event::EventSet;
use serde_json::{Value, json};

use super::nvml;
use crate::identity::Field;

/// More than this are not told apart.
const MOST: usize = 1000;

/// Collects the Xid errors of a card.
pub(super) struct XidWatch {
    /// Or why no more can be read: a card that was lost, for instance.
    events: Result<EventSet<'static>, String>,
    /// How many more are told apart.
    left: usize,
}

impl XidWatch {
    /// Never fails: what is out of reach shows in `poll`.
    pub(super) fn start(uuid: Option<&str>) -> Self {
        Self {
            events: register(uuid),
            left: MOST,
        }
    }

    /// The numbers of the Xid errors since the last call; waits so long for the first. NVML gives every error that
    /// waits to be read the latest one's number: where there are several, their count is right and the last is among
    /// them.
    ///
    /// # Errors
    /// Why they are not known. What came before a card was lost is given first, and the reason by the next call.
    pub(super) fn poll(&mut self, wait_ms: u32) -> Result<Vec<Value>, String> {
        let events = self.events.as_ref().map_err(String::clone)?;
        let (new, lost) = collect(events, wait_ms, self.left);
        self.left -= new.len();
        let Some(reason) = lost else {
            return Ok(new);
        };
        self.events = Err(reason.clone());
        if new.is_empty() {
            return Err(reason);
        }
        Ok(new)
    }
}

/// What has come, `most` at most, and why nothing more can.
fn collect(events: &EventSet<'static>, wait_ms: u32, most: usize) -> (Vec<Value>, Option<String>) {
    let mut new: Vec<Value> = Vec::new();
    let mut wait_ms = wait_ms;
    while new.len() < most {
        match events.wait(wait_ms) {
            Ok(event) => new.extend(event.event_data.map(|xid| match xid {
                XidError::Value(number) => json!(number),
                XidError::Unknown => json!("unknown"),
            })),
            Err(NvmlError::Timeout) => break,
            Err(error) => return (new, Some(nvml::words(&error))),
        }
        wait_ms = 0;
    }
    (new, None)
}

fn register(uuid: Option<&str>) -> Result<EventSet<'static>, String> {
    let session = nvml::session().map_err(|reason| reason.message.clone())?;
    let card = nvml::find(session, uuid)?;
    let events = session
        .create_event_set()
        .map_err(|error| nvml::words(&error))?;
    card.device
        .register_events(EventTypes::CRITICAL_XID_ERROR, events)
        .map_err(|failed| nvml::words(&failed.error))
}

/// All Xid errors of a run, poll by poll.
#[derive(Debug, Default)]
pub struct XidLog {
    numbers: Vec<Value>,
    lost: Option<String>,
}

impl XidLog {
    pub fn note(&mut self, polled: &Result<Vec<Value>, String>) {
        match polled {
            Ok(new) => self.numbers.extend_from_slice(new),
            Err(reason) => self.lost = Some(reason.clone()),
        }
    }

    /// The numbers of all; last the reason why no more could be read, if there is one.
    pub fn told(self) -> Field {
        match self.lost {
            Some(reason) if self.numbers.is_empty() => Field::Unavailable(reason),
            lost => {
                let reason = lost.map(Value::from);
                Field::Value(self.numbers.into_iter().chain(reason).collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_stays_when_no_more_can_be_read() {
        let told = |polls: &[Result<Vec<Value>, String>]| {
            let mut log = XidLog::default();
            polls.iter().for_each(|poll| log.note(poll));
            log.told()
        };
        let lost = || Err("the card needs a reset".to_owned());
        assert_eq!(told(&[Ok(vec![])]), Field::Value(json!([])));
        assert_eq!(
            told(&[lost()]),
            Field::Unavailable("the card needs a reset".to_owned())
        );
        let all = [
            Ok(vec![json!(13), json!("unknown")]),
            Ok(vec![]),
            Ok(vec![json!(79)]),
        ];
        assert_eq!(told(&all), Field::Value(json!([13, "unknown", 79])));
        let then = [Ok(vec![json!(79)]), lost(), lost()];
        assert_eq!(
            told(&then),
            Field::Value(json!([79, "the card needs a reset"]))
        );
    }
}
