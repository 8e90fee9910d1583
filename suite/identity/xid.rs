//! Xid errors during a run: the kernel driver's reports of what a card or a program did wrong.
//!
//! Owns: the event set that is registered before a run and read after it. Imports nothing beyond `identity`.
//!
//! ```text
//! start → poll (what came since the last one) → … → finish (all of them)
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

/// Collects the Xid errors of a card from `start` to `finish`.
pub(super) struct XidWatch {
    events: Result<EventSet<'static>, String>,
    /// All since the start.
    numbers: Vec<Value>,
    /// Why no more can be read: a card that was lost, for instance.
    broken: Option<String>,
}

impl XidWatch {
    /// Never fails: what is out of reach shows in `poll` and `finish`.
    pub(super) fn start(uuid: Option<&str>) -> Self {
        Self {
            events: register(uuid),
            numbers: Vec::new(),
            broken: None,
        }
    }

    /// The numbers of the Xid errors since the last call; waits so long for the first. NVML gives every error that
    /// waits to be read the latest one's number: where there are several, their count is right and the last is among
    /// them.
    ///
    /// # Errors
    /// Why they are not known.
    pub(super) fn poll(&mut self, wait_ms: u32) -> Result<Vec<Value>, String> {
        let events = self.events.as_ref().map_err(String::clone)?;
        if let Some(why) = &self.broken {
            return Err(why.clone());
        }
        let mut new: Vec<Value> = Vec::new();
        let mut wait_ms = wait_ms;
        while self.numbers.len() + new.len() < MOST {
            match events.wait(wait_ms) {
                Ok(event) => new.extend(event.event_data.map(|xid| match xid {
                    XidError::Value(number) => json!(number),
                    XidError::Unknown => json!("unknown"),
                })),
                Err(NvmlError::Timeout) => break,
                // What came before a card was lost is what matters most.
                Err(error) => {
                    self.broken = Some(nvml::words(&error));
                    break;
                }
            }
            wait_ms = 0;
        }
        self.numbers.extend(new.iter().cloned());
        match &self.broken {
            Some(why) if new.is_empty() => Err(why.clone()),
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
        self.numbers.extend(self.broken.map(Value::from));
        Field::Value(Value::Array(self.numbers))
    }
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
