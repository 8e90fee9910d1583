//! Xid errors during a run: the kernel driver's reports of what a card or a program did wrong.
//!
//! Owns: the event set that is registered before a run and read after it. Imports nothing beyond `identity`.
//!
//! ```text
//! start → poll (what came since the last one) → … → finish (all of them)
//! ```

use std::mem;

use nvml_wrapper::bitmasks::event::EventTypes;
use nvml_wrapper::enums::event::XidError;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::event::EventSet;
use serde_json::{Value, json};

use super::bounded::bounded;
use super::nvml;
use crate::identity::Field;

/// More than this are not told apart.
const MOST: usize = 1000;

/// Collects the Xid errors of a card from `start` to `finish`.
pub(super) struct XidWatch {
    /// Or why no more can be read: a card that was lost, for instance.
    events: Result<EventSet<'static>, String>,
    /// All since the start.
    numbers: Vec<Value>,
}

/// What has come, and what more can be read from.
type Collected = (Vec<Value>, Result<EventSet<'static>, String>);

impl XidWatch {
    /// Never fails: what is out of reach shows in `poll` and `finish`.
    pub(super) fn start(uuid: Option<&str>) -> Self {
        let owned = uuid.map(str::to_owned);
        let events = bounded(move || register(owned.as_deref())).and_then(|events| events);
        Self {
            events,
            numbers: Vec::new(),
        }
    }

    /// The numbers of the Xid errors since the last call; waits so long for the first. NVML gives every error that
    /// waits to be read the latest one's number: where there are several, their count is right and the last is among
    /// them.
    ///
    /// # Errors
    /// Why they are not known.
    pub(super) fn poll(&mut self, wait_ms: u32) -> Result<Vec<Value>, String> {
        // The thread that asks owns them meanwhile; one that gets no answer keeps them.
        if let Err(why) = &self.events {
            return Err(why.clone());
        }
        let events = mem::replace(&mut self.events, Err(String::new()))?;
        let most = MOST.saturating_sub(self.numbers.len());
        let collected = bounded(move || collect(events, wait_ms, most));
        let (new, events) = collected.unwrap_or_else(|silent| (Vec::new(), Err(silent)));
        self.events = events;
        self.numbers.extend(new.iter().cloned());
        match &self.events {
            Err(why) if new.is_empty() => Err(why.clone()),
            _ => Ok(new),
        }
    }

    /// The numbers of all Xid errors since the start; last the reason why no more could be read, if there is one.
    pub(super) fn finish(mut self) -> Field {
        if let Err(reason) = self.poll(0)
            && self.numbers.is_empty()
        {
            return Field::Unavailable(reason);
        }
        self.numbers.extend(self.events.err().map(Value::from));
        Field::Value(Value::Array(self.numbers))
    }
}

fn collect(events: EventSet<'static>, wait_ms: u32, most: usize) -> Collected {
    let mut new: Vec<Value> = Vec::new();
    let mut wait_ms = wait_ms;
    while new.len() < most {
        match events.wait(wait_ms) {
            Ok(event) => new.extend(event.event_data.map(|xid| match xid {
                XidError::Value(number) => json!(number),
                XidError::Unknown => json!("unknown"),
            })),
            Err(NvmlError::Timeout) => break,
            // What came before a card was lost is what matters most.
            Err(error) => return (new, Err(nvml::words(&error))),
        }
        wait_ms = 0;
    }
    (new, Ok(events))
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
