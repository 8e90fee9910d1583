//! Suites × blocks × axes × images → cases: stable ids, seeds and selection.
//!
//! Owns: the id of a case (its address, the test's name and the command that runs it again), which block takes part
//! in which profile, and libtest's rules of selection. May import `spec`, `terms` and `outcome`.
//!
//! ```
//! use cuda_gates::case::matches;
//! let id = "compaction::exact::keep=128::n=8387997::jit";
//! assert!(matches(id, &["keep=128".into()], false, &[]));
//! assert!(!matches(id, &["keep=128".into()], true, &[]));
//! ```

mod expand;
mod find;
mod native;
mod select;
#[cfg(test)]
mod tests;

use indexmap::IndexMap;
use sha2::{Digest, Sha256};

use crate::outcome::Reason;
use crate::spec::model::{AxisValue, Check, Suite};
use crate::terms::{DeviceKind, ImageKind, ReasonKind};

pub use expand::{check_kind, every, expand};
pub use find::find;
pub use native::calls_native;
pub use select::{matches, select};

/// One gate on one choice of axis values and one image: what becomes a named test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// `suite::gate::axis=value::…::image`
    pub id: String,
    pub suite: String,
    /// Index into [`Suite::blocks`]: where the inputs come from.
    pub block: usize,
    pub gate: String,
    /// The implementation that the gate judges.
    pub subject: String,
    /// The kind of the gate's check: `exact`, `timings`, …
    pub check: String,
    pub image: ImageKind,
    /// Axis → value, in the block's order.
    pub params: IndexMap<String, AxisValue>,
}

impl Case {
    /// The parameters for a person: `keep = 128, n = 8387997`; empty without axes.
    pub fn params_text(&self) -> String {
        let each: Vec<String> = self
            .params
            .iter()
            .map(|(axis, value)| format!("{axis} = {}", axis_text(value)))
            .collect();
        each.join(", ")
    }
}

/// An axis value as ids and templates show it.
pub fn axis_text(value: &AxisValue) -> String {
    match value {
        AxisValue::Int(v) => v.to_string(),
        AxisValue::Text(v) => v.clone(),
    }
}

/// The seed of an input that asks for `seed: case_id`: the first eight bytes (little endian) of the SHA-256 of the
/// suite's name, the input's name and the parameters. Neither gate nor image is part of it, so every gate and every
/// image of the same parameters sees the same array; two inputs of one case differ.
pub fn seed(case: &Case, input: &str) -> u64 {
    let mut hash = Sha256::new();
    // Each text is followed by a byte that UTF-8 never holds, so no two lists of texts hash alike.
    let mut text = |t: &str| {
        hash.update(t.as_bytes());
        hash.update([0xFF]);
    };
    text(&case.suite);
    text(input);
    for (axis, value) in &case.params {
        text(axis);
        text(&axis_text(value));
    }
    let digest = hash.finalize();
    let mut first = [0; 8];
    first.copy_from_slice(&digest[..8]);
    u64::from_le_bytes(first)
}

/// What is known of a case before any device is opened: the reason of its skip, or none when it runs.
pub fn decided(suite: &Suite, case: &Case, device: DeviceKind) -> Option<Reason> {
    let unsupported = |message: String| Some(Reason::new(ReasonKind::Unsupported, message));
    let gate = suite.gates.get(&case.gate)?;
    if !gate.devices.is_empty() && !gate.devices.contains(&device) {
        let names: Vec<&str> = gate.devices.iter().map(|d| d.name()).collect();
        return unsupported(format!(
            "the gate names devices: [{}], this one is {device}",
            names.join(", ")
        ));
    }
    if device == DeviceKind::Sim && matches!(gate.check, Check::Health { .. }) {
        let message = "the simulated device has no error counts, temperature or clocks to read";
        return Some(Reason::new(ReasonKind::NeedsHardware, message));
    }
    if device == DeviceKind::Sim && case.image == ImageKind::Sass {
        return unsupported("the simulated device runs PTX, not native code (image sass)".into());
    }
    None
}
