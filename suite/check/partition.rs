//! A partition: both halves in order, and the boundary between them.

use super::exact::exact;
use super::multiset::foreign;
use super::number::number;
use super::{bytes, retyped};
use crate::outcome::{Fault, Finding};
use crate::terms::FindingKind;
use crate::value::{ArrayRef, Scalar};

/// `got` is `want` bit for bit, as for [`exact`], and where a boundary was read, it is `split`.
///
/// # Errors
/// `setup` when `got` cannot hold `want`, or `got_split` has not exactly one element.
pub fn partition(
    got: ArrayRef<'_>,
    want: ArrayRef<'_>,
    got_split: Option<ArrayRef<'_>>,
    split: u64,
) -> Result<Vec<Finding>, Fault> {
    let mut findings = exact(got, want)?;
    for finding in &mut findings {
        if finding.kind == FindingKind::Mismatch {
            finding.message.push_str(&halves(got, want, split)?);
        }
    }
    if let Some(got_split) = got_split {
        let wrong = number(got_split, Scalar::Int(split.into()), FindingKind::Split)?;
        for finding in wrong {
            // At most one finding of a kind: an unwritten boundary joins the unwritten elements.
            match findings.iter_mut().find(|f| f.kind == finding.kind) {
                Some(same) => same.detail.push(format!("split: {}", finding.message)),
                None => findings.push(finding),
            }
        }
    }
    Ok(findings)
}

/// What a mismatch is like: in which half, and whether only the order is wrong.
fn halves(got: ArrayRef<'_>, want: ArrayRef<'_>, split: u64) -> Result<String, Fault> {
    let want = retyped(got.element_type(), want)?;
    let (got, middle) = (
        got.slice(0, want.len()),
        usize::try_from(split).map_or(want.len(), |split| split.min(want.len())),
    );
    let wrong = |from, to| {
        bytes::differences(got.slice(from, to), want.slice(from, to))
            .wrong
            .count
    };
    let mut words = format!(
        "; {} before the split at {split}, {} from there",
        wrong(0, middle),
        wrong(middle, want.len())
    );
    if foreign(got, want).is_empty() {
        words.push_str("; the same elements in another order");
    }
    Ok(words)
}
