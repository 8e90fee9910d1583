//! Times that can be believed at all.

use crate::outcome::Finding;
use crate::terms::FindingKind;

/// Every time of the row, in milliseconds, is a positive number; and there is one.
pub fn times(row: &str, times_ms: &[f64]) -> Vec<Finding> {
    if times_ms.is_empty() {
        let message = format!("row `{row}` has no times");
        return vec![Finding::new(FindingKind::Time, message)];
    }
    let wrong = |ms: &f64| !(ms.is_finite() && *ms > 0.0);
    let Some(first) = times_ms.iter().position(wrong) else {
        return Vec::new();
    };
    let count = times_ms.iter().copied().filter(wrong).count();
    let message = format!(
        "row `{row}`: {count} of {} times not positive, first in run {first}: {} ms",
        times_ms.len(),
        times_ms[first]
    );
    vec![Finding::new(FindingKind::Time, message)]
}

/// The finding for a gate or row, named so in the message, that launched nothing: what it read shows nothing.
pub fn no_work(what: &str) -> Finding {
    Finding::new(
        FindingKind::NoWork,
        format!("{what} launched nothing, so it shows nothing"),
    )
}
