//! How well a card is, from one moment to the next: error counts, Xid errors, clocks, temperature.
//!
//! Owns: which fields say so, and which change of them is for the worse. Imports nothing beyond `identity`.
//!
//! ```no_run
//! let mut watch = cuda_gates::identity::HealthWatch::start(Some("GPU-…"));
//! let before = watch.read();
//! // … a case …
//! let after = watch.read();
//! println!("{:?} {:?}", cuda_gates::identity::changes(&before, &after), watch.xid_events(0));
//! ```

use std::collections::BTreeMap;

use nvml_wrapper::Nvml;
use serde_json::{Value, json};

use super::nvml::{self, Card};
use super::xid::XidWatch;
use super::{Field, card};

/// Error counts that a healthy card keeps.
pub const COUNTS: &[&str] = &[
    "ecc_corrected_volatile",
    "ecc_uncorrected_volatile",
    "pages_retired_double_bit",
    "pages_retired_single_bit",
    "remapped_rows",
];

/// What changes all the time on a healthy card too.
pub const CONDITIONS: &[&str] = &[
    "clock_memory_mhz",
    "clock_sm_mhz",
    "temperature_c",
    THROTTLE,
];

const THROTTLE: &str = "throttle_reasons";

/// The key of a change's reason, where there is no value any more.
pub const UNAVAILABLE: &str = "unavailable";

/// Of the throttle reasons, those that a card has to itself. Idling, a power cap or clocks that someone has set are
/// none.
const SLOWDOWNS: &[&str] = &[
    "hw_power_brake_slowdown",
    "hw_slowdown",
    "hw_thermal_slowdown",
    "sw_thermal_slowdown",
];

/// One reading: `COUNTS` and `CONDITIONS`, each with its value or why there is none.
pub type Reading = BTreeMap<String, Field>;

/// A field that is no longer what it was.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub field: &'static str,
    pub before: Value,
    /// `{"unavailable": reason}` where it was known and is not: the card is lost, for instance.
    pub after: Value,
}

/// A card that is read again and again.
pub struct HealthWatch {
    card: Result<(&'static Nvml, Card<'static>), String>,
    xid: XidWatch,
}

impl HealthWatch {
    /// Never fails: what is out of reach says why, field by field.
    pub fn start(uuid: Option<&str>) -> Self {
        let session = nvml::session().map_err(|reason| reason.message.clone());
        let card = session.and_then(|session| Ok((session, nvml::find(session, uuid)?)));
        Self {
            card,
            xid: XidWatch::start(uuid),
        }
    }

    /// Why nothing at all can be read.
    pub fn unavailable(&self) -> Option<&str> {
        self.card.as_ref().err().map(String::as_str)
    }

    pub fn read(&self) -> Reading {
        match &self.card {
            Ok((session, card)) => card::some(session, &card.device, names()),
            Err(reason) => unread(reason),
        }
    }

    /// Numbers of the Xid errors since the last call; waits so long for the first.
    ///
    /// # Errors
    /// Why they are not known.
    pub fn xid_events(&mut self, wait_ms: u32) -> Result<Vec<Value>, String> {
        self.xid.poll(wait_ms)
    }
}

/// A reading where nothing can be read.
pub fn unread(reason: &str) -> Reading {
    let unavailable = |name: &str| (name.to_owned(), Field::Unavailable(reason.to_owned()));
    names().map(unavailable).collect()
}

fn names() -> impl Iterator<Item = &'static str> {
    COUNTS.iter().chain(CONDITIONS).copied()
}

/// Counts that differ, slowdowns that are new, and any of these that was known and no longer is. A field that was not
/// known before says nothing.
pub fn changes(before: &Reading, after: &Reading) -> Vec<Change> {
    let both = |name: &'static str| {
        let Some(Field::Value(before)) = before.get(name) else {
            return None;
        };
        let after = match after.get(name)? {
            Field::Value(value) => value.clone(),
            Field::Unavailable(reason) => json!({ UNAVAILABLE: reason }),
        };
        Some(Change {
            field: name,
            before: before.clone(),
            after,
        })
    };
    let counts = COUNTS.iter().filter_map(|name| both(name));
    let counts = counts.filter(|change| change.before != change.after);
    let slowed = both(THROTTLE).and_then(|change| {
        let Change { before, after, .. } = &change;
        if after.get(UNAVAILABLE).is_some() {
            return Some(change);
        }
        let (before, after) = (slowdowns(before), slowdowns(after));
        let new = after.iter().any(|reason| !before.contains(reason));
        new.then(|| Change {
            field: THROTTLE,
            before: before.into(),
            after: after.into(),
        })
    });
    counts.chain(slowed).collect()
}

fn slowdowns(reasons: &Value) -> Vec<&'static str> {
    let given: Vec<&str> = reasons.as_array().map_or_else(Vec::new, |reasons| {
        reasons.iter().filter_map(Value::as_str).collect()
    });
    let known = SLOWDOWNS.iter().copied();
    known.filter(|name| given.contains(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(fields: &[(&str, Value)]) -> Reading {
        let field =
            |(name, value): &(&str, Value)| ((*name).to_owned(), Field::Value(value.clone()));
        fields.iter().map(field).collect()
    }

    #[test]
    fn only_what_is_for_the_worse_is_a_change() {
        let rows =
            |corrected: u32| json!({"corrected": corrected, "uncorrected": 0, "pending": false});
        let before = reading(&[
            ("ecc_uncorrected_volatile", json!(0)),
            ("remapped_rows", rows(0)),
            ("temperature_c", json!(40)),
            (THROTTLE, json!(["gpu_idle"])),
        ]);
        let mut after = before.clone();
        after.insert("temperature_c".into(), Field::Value(json!(80)));
        after.insert(THROTTLE.into(), Field::Value(json!(["sw_power_cap"])));
        assert_eq!(
            changes(&before, &after),
            [],
            "warmer and capped is no fault"
        );
        for (name, value) in [
            ("ecc_uncorrected_volatile", json!(1)),
            ("remapped_rows", rows(1)),
            (THROTTLE, json!(["sw_power_cap", "hw_thermal_slowdown"])),
        ] {
            let mut worse = after.clone();
            worse.insert(name.into(), Field::Value(value));
            let told = changes(&before, &worse);
            assert_eq!(told.len(), 1, "{told:?}");
            assert_eq!(told[0].field, name);
            assert_eq!(changes(&worse, &worse), [], "it was so before: {name}");
        }
    }

    #[test]
    fn what_is_lost_is_a_change_and_what_was_not_known_is_none() {
        for (name, known) in [
            ("ecc_uncorrected_volatile", json!(0)),
            (THROTTLE, json!([])),
        ] {
            let before = reading(&[(name, known.clone())]);
            let unknown = Field::Unavailable("the card is lost".into());
            let after = BTreeMap::from([(name.to_owned(), unknown)]);
            let lost = Change {
                field: name,
                before: known,
                after: json!({"unavailable": "the card is lost"}),
            };
            assert_eq!(changes(&before, &after), [lost]);
            assert_eq!(changes(&after, &before), []);
            assert_eq!(changes(&after, &after), []);
        }
    }

    #[test]
    fn a_card_that_is_not_there_gives_reasons() {
        let mut watch = HealthWatch::start(Some("GPU-00000000-0000-0000-0000-000000000000"));
        assert!(watch.unavailable().is_some_and(|reason| !reason.is_empty()));
        let reading = watch.read();
        assert_eq!(reading.len(), COUNTS.len() + CONDITIONS.len());
        assert_eq!(Some(reading), watch.unavailable().map(unread));
        assert!(watch.xid_events(0).is_err());
    }

    #[test]
    fn every_field_is_one_of_a_card() {
        for name in COUNTS.iter().chain(CONDITIONS) {
            assert!(card::LIVE.contains(name), "{name}");
        }
    }
}
