//! Bit for bit: every element in its place, and nothing written elsewhere.

use super::bytes::{Places, differences, written};
use super::{comparable, show};
use crate::outcome::{Fault, Finding};
use crate::terms::FindingKind;
use crate::value::ArrayRef;

/// `got` starts with `want`, bitwise (−0 is not 0; NaNs agree in every bit), and its rest still holds the poison.
///
/// # Errors
/// `setup` when `got` cannot hold `want`, by type or length.
pub fn exact(got: ArrayRef<'_>, want: ArrayRef<'_>) -> Result<Vec<Finding>, Fault> {
    let want = comparable(got, want)?;
    let found = differences(got, want);
    let mut findings = Vec::new();
    if !found.wrong.is_empty() {
        let message = show::differing(found.wrong, ["differs", "differ"], got, want);
        findings.push(
            Finding::new(FindingKind::Mismatch, message).with_detail(show::excerpt(
                found.wrong,
                got,
                want,
            )),
        );
    }
    findings.extend(show::unwritten(found.unwritten, want.len()));
    findings.extend(stray_writes(got, want.len()));
    Ok(findings)
}

/// Elements of `got` from `from` on that no longer hold the poison.
pub(super) fn stray_writes(got: ArrayRef<'_>, from: usize) -> Option<Finding> {
    let Places { count, first, last } = written(got, from);
    let at = match count {
        0 => return None,
        1 => format!("at {first}: got {}", show::element(got, first)),
        _ => format!(
            "first at {first}: got {}; last at {last}: got {}",
            show::element(got, first),
            show::element(got, last)
        ),
    };
    let verb = if count == 1 { "was" } else { "were" };
    let message = format!(
        "{} past the {from} wanted {verb} written, {at}",
        show::elements(count)
    );
    Some(Finding::new(FindingKind::StrayWrite, message))
}

/// Number of places where `got` differs from `against`, over the length of `against`.
///
/// # Errors
/// `setup` when `got` cannot hold `against`, by type or length.
pub fn order_differences(got: ArrayRef<'_>, against: ArrayRef<'_>) -> Result<u64, Fault> {
    let against = comparable(got, against)?;
    let found = differences(got, against);
    Ok((found.wrong.count + found.unwritten.count) as u64)
}
