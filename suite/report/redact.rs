//! Redaction: the card's UUID and serial number become hashes, wherever they stand; process ids are left out, and a
//! home folder is `~`, so that no user is named.
//!
//! The same card gives the same hash, so redacted runs of one card still compare.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::Facts;
use super::record::{CaseRecord, DeviceRecord, Report};
use crate::identity::Field;

/// Shorter values (`0`, `N/A`) identify nobody, and replacing them everywhere would spoil the text.
const SECRET_LEN_MIN: usize = 6;
/// Prefixes of device UUIDs as the CUDA driver prints and accepts them.
const UUID_PREFIXES: [&str; 2] = ["GPU-", "MIG-"];
/// A driver accepts a UUID's beginning; one shorter than this says too little to hide.
const UUID_DIGITS_MIN: usize = 6;

/// Folders that hold a folder a user.
const HOMES: [&str; 2] = ["/home", "/Users"];
/// The folder of a user without one among those.
const ROOT_HOME: &str = "/root";

/// Hashes the identifying values of one device, and hides whose machine it was.
pub struct Redactor {
    /// Longest first, so that a value that contains another goes whole.
    secrets: Vec<String>,
    /// This user's home folder, where it is elsewhere than most are.
    home: Option<String>,
}

impl Redactor {
    /// What identifies this device, its UUIDs and serial numbers, and this process' user.
    pub fn of(device: &DeviceRecord) -> Self {
        Self::with_home(device, std::env::var("HOME").ok())
    }

    pub(super) fn with_home(device: &DeviceRecord, home: Option<String>) -> Self {
        let mut secrets = Vec::new();
        let mut keep = |text: &str| {
            if text.len() >= SECRET_LEN_MIN && !text.starts_with("redacted:") {
                secrets.push(text.to_owned());
                if let Some(bare) = UUID_PREFIXES.iter().find_map(|p| text.strip_prefix(p)) {
                    secrets.push(bare.to_owned());
                }
            }
        };
        if let Some(uuid) = device.info.as_ref().and_then(|i| i.uuid.as_deref()) {
            keep(uuid);
        }
        for fields in [&device.identity, &device.before, &device.after] {
            for (name, field) in fields {
                if let (true, Field::Value(value)) = (identifies(name), field) {
                    keep(&plain(value));
                }
            }
        }
        secrets.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        secrets.dedup();
        let home = home.map(|home| home.trim_end_matches('/').to_owned());
        Self {
            secrets,
            // A home at the root of the file system is a container's, and names nobody.
            home: home.filter(|home| home.starts_with('/')),
        }
    }

    /// # Errors
    /// Only when a value cannot be written as JSON.
    pub fn report(&self, report: Report) -> Result<Report, serde_json::Error> {
        let facts = self.facts(Facts::from(report.clone()))?;
        let cases = report
            .cases
            .into_iter()
            .map(|case| self.case(case))
            .collect::<Result<_, _>>()?;
        let mut tables = report.tables;
        for table in &mut tables {
            let fixed = table.fixed.values_mut();
            fixed
                .chain(table.rows.iter_mut().flatten())
                .for_each(|value| self.walk_value(value));
            table
                .notes
                .iter_mut()
                .for_each(|note| *note = self.text(note));
        }
        Ok(facts.into_report(cases, tables))
    }

    /// # Errors
    /// Only when a value cannot be written as JSON.
    pub fn facts(&self, facts: Facts) -> Result<Facts, serde_json::Error> {
        let mut device = facts.device;
        for fields in [&mut device.identity, &mut device.before, &mut device.after] {
            for (name, field) in fields.iter_mut() {
                match field {
                    Field::Value(value) if identifies(name) && !value.is_null() => {
                        *value = Value::String(hashed(&plain(value)));
                    }
                    Field::Value(Value::Object(map)) if name == "processes" => {
                        map.remove("pids");
                    }
                    _ => {}
                }
            }
        }
        Ok(Facts {
            run: self.walk(facts.run)?,
            suite: self.walk(facts.suite)?,
            host: self.walk(facts.host)?,
            toolchain: self.walk(facts.toolchain)?,
            device: self.walk(device)?,
        })
    }

    /// # Errors
    /// Only when a value cannot be written as JSON.
    pub fn case(&self, case: CaseRecord) -> Result<CaseRecord, serde_json::Error> {
        let params: Vec<String> = case.params.keys().cloned().collect();
        let rows: Vec<String> = case.timings.keys().cloned().collect();
        let mut case = self.walk(case)?;
        // A JSON object in memory sorts its keys; the order of axes and rows is the spec's.
        case.params
            .sort_by_key(|key, _| params.iter().position(|k| k == key));
        case.timings
            .sort_by_key(|key, _| rows.iter().position(|k| k == key));
        Ok(case)
    }

    fn walk<T: Serialize + DeserializeOwned>(&self, record: T) -> Result<T, serde_json::Error> {
        let mut value = serde_json::to_value(record)?;
        self.walk_value(&mut value);
        serde_json::from_value(value)
    }

    fn walk_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.text(text),
            Value::Array(items) => items.iter_mut().for_each(|v| self.walk_value(v)),
            Value::Object(map) => map.values_mut().for_each(|v| self.walk_value(v)),
            _ => {}
        }
    }

    /// `text` with this device's identifiers, and anything shaped like a device UUID, hashed, and home folders as `~`.
    pub fn text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.secrets {
            if text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), &hashed(secret));
            }
        }
        let text = UUID_PREFIXES
            .iter()
            .fold(text, |text, prefix| hash_uuids(&text, prefix));
        let own = self.home.as_deref();
        let text = own
            .into_iter()
            .chain([ROOT_HOME])
            .fold(text, |text, home| hide_homes(&text, home, false));
        HOMES.iter().fold(text, |text, homes| {
            hide_homes(&text, &format!("{homes}/"), true)
        })
    }
}

/// Replaces every path that begins with `prefix`, and the folder's name after it where it `holds_homes`, by `~`.
fn hide_homes(text: &str, prefix: &str, holds_homes: bool) -> String {
    let in_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(prefix) {
        let after = &rest[at + prefix.len()..];
        let name = after.find(|c| !in_name(c)).unwrap_or(after.len());
        let before = rest[..at].chars().next_back().or(out.chars().next_back());
        // Part of a longer path, or of another name.
        let begins = before.is_none_or(|c| !in_name(c) && !matches!(c, '/' | '~'));
        if begins && (name > 0) == holds_homes {
            out.push_str(&rest[..at]);
            out.push('~');
        } else {
            out.push_str(&rest[..at + prefix.len() + name]);
        }
        rest = &after[name..];
    }
    out.push_str(rest);
    out
}

/// Replaces every `prefix` that hexadecimal digits and dashes follow: other cards' UUIDs, and shortened ones.
fn hash_uuids(text: &str, prefix: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(prefix) {
        let after = &rest[at + prefix.len()..];
        let len = after
            .find(|c: char| !c.is_ascii_hexdigit() && c != '-')
            .unwrap_or(after.len());
        out.push_str(&rest[..at]);
        if len >= UUID_DIGITS_MIN {
            out.push_str(&hashed(&rest[at..at + prefix.len() + len]));
        } else {
            out.push_str(&rest[at..at + prefix.len() + len]);
        }
        rest = &after[len..];
    }
    out.push_str(rest);
    out
}

fn identifies(field: &str) -> bool {
    let field = field.to_ascii_lowercase();
    field.contains("uuid") || field.contains("serial")
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn hashed(secret: &str) -> String {
    if secret.starts_with("redacted:") {
        return secret.to_owned();
    }
    let digest = Sha256::digest(secret.as_bytes());
    let hex: String = digest[..8].iter().map(|b| format!("{b:02x}")).collect();
    format!("redacted:{hex}")
}
