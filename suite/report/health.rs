//! How a card was while a case ran.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::identity::{Field, UNAVAILABLE};

/// NVML's fields beside a case. While cases pass they are read every quarter of a second at most, so that a short
/// case may show the last reading before it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HealthRecord {
    /// Clocks, temperature and what holds the clocks down, after the case; of a health gate the error counts too.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub after: BTreeMap<String, Field>,
    /// Error counts that are no longer what they were before the case, and slowdowns that are new.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub changed: BTreeMap<String, ChangeRecord>,
    /// Numbers of the Xid errors while it ran.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub xid_events: Vec<Value>,
    /// Why nothing could be read.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub unavailable: Option<String>,
}

/// Xid errors that a program causes by itself; the rest are the card's or the driver's. From the catalogue of Xid
/// errors in NVIDIA's documentation: those after which the application is to be started again.
const OF_PROGRAMS: &[u64] = &[8, 11, 13, 31, 32, 43, 45, 68, 69, 109];
/// Counts that rise only where memory is damaged.
const DAMAGE: &[&str] = &[
    "ecc_uncorrected_volatile",
    "pages_retired_double_bit",
    "remapped_rows",
];

/// Among a device's fields after the run: a [`HealthRecord`] of what happened beside no case.
pub const BETWEEN_CASES: &str = "between_cases";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChangeRecord {
    pub before: Value,
    /// `{"unavailable": reason}` where it can no longer be read.
    pub after: Value,
}

impl HealthRecord {
    /// What no program can do to a card: Xid errors that are not a program's, and damaged memory. One line each.
    pub fn broken(&self) -> Vec<String> {
        let of_program = |xid: &&Value| xid.as_u64().is_some_and(|n| OF_PROGRAMS.contains(&n));
        let xid = self.xid_events.iter().filter(|xid| !of_program(xid));
        let xid = xid.map(|xid| format!("Xid {}", plain(xid)));
        let damage = self
            .changed
            .iter()
            .filter(|(name, change)| DAMAGE.contains(&name.as_str()) && change.lost().is_none());
        let damage = damage.map(|(name, change)| change.told(name));
        xid.chain(damage).collect()
    }
}

impl ChangeRecord {
    fn told(&self, name: &str) -> String {
        let before = plain(&self.before);
        match self.lost() {
            Some(reason) => format!("{name} {before} → not known ({reason})"),
            None => format!("{name} {before} → {}", plain(&self.after)),
        }
    }

    /// Why the field can no longer be read.
    pub fn lost(&self) -> Option<&str> {
        self.after.get(UNAVAILABLE).and_then(Value::as_str)
    }
}

/// One line for a person: what changed, then how warm and how fast the card is.
impl fmt::Display for HealthRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(reason) = &self.unavailable {
            return write!(f, "not known: {reason}");
        }
        let xid = self
            .xid_events
            .iter()
            .map(|xid| format!("Xid {}", plain(xid)));
        let changed = self.changed.iter();
        let changed = changed.map(|(name, change)| change.told(name));
        let mut parts: Vec<String> = xid.chain(changed).collect();
        if parts.is_empty() {
            parts.push("nothing changed".to_owned());
        }
        let value = |name: &str| match self.after.get(name) {
            Some(Field::Value(value)) => Some(value),
            _ => None,
        };
        parts.extend(value("temperature_c").map(|v| format!("{} °C", plain(v))));
        parts.extend(value("clock_sm_mhz").map(|v| format!("SM {} MHz", plain(v))));
        let throttled = value("throttle_reasons").and_then(Value::as_array);
        if let Some(reasons) = throttled.filter(|reasons| !reasons.is_empty()) {
            let names: Vec<String> = reasons.iter().map(plain).collect();
            parts.push(format!("held down by {}", names.join(", ")));
        }
        f.write_str(&parts.join("; "))
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_card_is_broken_by_what_no_program_does() {
        let change = |before, after| ChangeRecord { before, after };
        let lost = change(json!(0), json!({"unavailable": "no answer"}));
        let mut health = HealthRecord {
            xid_events: vec![json!(31), json!(43)],
            changed: BTreeMap::from([
                (
                    "ecc_corrected_volatile".to_owned(),
                    change(json!(0), json!(2)),
                ),
                (
                    "throttle_reasons".to_owned(),
                    change(json!([]), json!(["hw_slowdown"])),
                ),
                ("ecc_uncorrected_volatile".to_owned(), lost),
            ]),
            ..HealthRecord::default()
        };
        assert_eq!(health.broken(), [""; 0]);
        health.xid_events.push(json!(79));
        health
            .xid_events
            .push(json!("a number newer than this program"));
        let rows = change(json!({"pending": false}), json!({"pending": true}));
        health.changed.insert("remapped_rows".to_owned(), rows);
        let found = health.broken();
        assert_eq!(found.len(), 3, "{found:?}");
        assert_eq!(found[0], "Xid 79");
        assert!(found[2].starts_with("remapped_rows {"), "{found:?}");
    }

    #[test]
    fn what_changed_comes_first() {
        let mut health = HealthRecord {
            after: BTreeMap::from([
                ("temperature_c".to_owned(), Field::Value(json!(84))),
                ("clock_sm_mhz".to_owned(), Field::Value(json!(1980))),
                (
                    "throttle_reasons".to_owned(),
                    Field::Value(json!(["hw_thermal_slowdown"])),
                ),
            ]),
            ..HealthRecord::default()
        };
        assert_eq!(
            health.to_string(),
            "nothing changed; 84 °C; SM 1980 MHz; held down by hw_thermal_slowdown"
        );
        health.xid_events = vec![json!(31)];
        let change = ChangeRecord {
            before: json!(0),
            after: json!(1),
        };
        health
            .changed
            .insert("ecc_uncorrected_volatile".to_owned(), change);
        health.after.clear();
        assert_eq!(health.to_string(), "Xid 31; ecc_uncorrected_volatile 0 → 1");
        let lost = ChangeRecord {
            before: json!(0),
            after: json!({"unavailable": "the card is lost"}),
        };
        health.xid_events.clear();
        health
            .changed
            .insert("ecc_uncorrected_volatile".to_owned(), lost);
        assert_eq!(
            health.to_string(),
            "ecc_uncorrected_volatile 0 → not known (the card is lost)"
        );
        health.unavailable = Some("no NVML".to_owned());
        assert_eq!(health.to_string(), "not known: no NVML");
    }
}
