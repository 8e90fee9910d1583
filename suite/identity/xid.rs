//! Xid errors during a run: the kernel driver's reports of what a card or a program did wrong.
//!
//! Owns: the event set that is registered before a run and read after it. Imports nothing beyond `identity`.
//!
//! ```no_run
//! let watch = cuda_gates::identity::XidWatch::start(Some("GPU-…"));
//! // … the run …
//! println!("{:?}", watch.finish()); // Value([]) when all was well
//! ```

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
pub struct XidWatch {
    events: Result<EventSet<'static>, String>,
}

impl XidWatch {
    /// Never fails: what is out of reach shows in `finish`.
    pub fn start(uuid: Option<&str>) -> Self {
        let owned = uuid.map(str::to_owned);
        Self {
            events: bounded(move || register(owned.as_deref())).and_then(|events| events),
        }
    }

    /// The numbers of the Xid errors since the start. NVML gives every error that waits to be read the latest one's
    /// number: where there are several, their count is right and the last is among them.
    pub fn finish(self) -> Field {
        let events = match self.events {
            Ok(events) => events,
            Err(reason) => return Field::Unavailable(reason),
        };
        bounded(move || collected(&events)).unwrap_or_else(Field::Unavailable)
    }
}

fn collected(events: &EventSet<'_>) -> Field {
    let mut numbers: Vec<Value> = Vec::new();
    while numbers.len() < MOST {
        match events.wait(0) {
            Ok(event) => numbers.extend(event.event_data.map(|xid| match xid {
                XidError::Value(number) => json!(number),
                XidError::Unknown => json!("unknown"),
            })),
            Err(NvmlError::Timeout) => break,
            Err(error) if numbers.is_empty() => {
                return Field::Unavailable(nvml::words(&error));
            }
            // What came before a card was lost is what matters most.
            Err(error) => {
                numbers.push(json!(nvml::words(&error)));
                break;
            }
        }
    }
    Field::Value(Value::Array(numbers))
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
