//! Which parts of which buffers a check reads, in the order a plan lists them and a judge takes them.

use crate::spec::model::{Check, Expr, Gate, Measure, Range, Row, Slice, Suite, Verify, Want};

/// The slices a check reads, the small ones first, so that a judge that is handed one reading at a time keeps a copy
/// of a few bytes only.
pub fn judged_slices(check: &Check) -> Vec<&Slice> {
    match check {
        Check::Partition { got, split, .. } => split.iter().chain([got]).collect(),
        Check::ScanTotal { got, .. }
        | Check::Count { got, .. }
        | Check::Exact { got, .. }
        | Check::Multiset { got, .. }
        | Check::Sorted { got, .. }
        | Check::Permutation { got, .. }
        | Check::Near { got, .. }
        | Check::Repeatable { got, .. } => vec![got],
        Check::Assert { .. } | Check::Timings(_) => Vec::new(),
    }
}

/// The checks that verify a timing row; a name that is no gate is left out (a loaded suite has none).
pub fn verified<'s>(suite: &'s Suite, row: &'s Row) -> Vec<&'s Check> {
    let check = |verify: &'s Verify| match verify {
        Verify::Gate(name) => suite.gates.get(name).map(|gate| &gate.check),
        Verify::Inline(check) => Some(check.as_ref()),
    };
    row.verify.iter().filter_map(check).collect()
}

/// What a check wants, where it wants a value.
pub(crate) fn want(check: &Check) -> Option<&Want> {
    match check {
        Check::ScanTotal { want, .. }
        | Check::Count { want, .. }
        | Check::Exact { want, .. }
        | Check::Multiset { want, .. }
        | Check::Partition { want, .. }
        | Check::Permutation { want, .. }
        | Check::Near { want, .. } => Some(want),
        Check::Sorted { .. }
        | Check::Repeatable { .. }
        | Check::Assert { .. }
        | Check::Timings(_) => None,
    }
}

/// Every value a gate needs: its check's, its reports', and for a timing gate those of the rows in `rows`.
pub(super) fn wants<'s>(suite: &'s Suite, gate: &'s Gate, rows: &[&'s Row]) -> Vec<&'s Want> {
    let mut all: Vec<&Want> = want(&gate.check).into_iter().collect();
    let checks = rows.iter().flat_map(|row| verified(suite, row));
    all.extend(checks.filter_map(want));
    all.extend(gate.report.values().map(|Measure::Against(want)| want));
    all
}

/// What a [`super::WantedRun`] is called: `naive/out[0..n]`. Equal names are equal runs, as the expressions have one
/// meaning within a case.
pub fn wanted_key(pipeline: &str, slice: &Slice) -> String {
    format!("{pipeline}/{}", slice_text(slice))
}

/// A slice as YAML has it.
pub(super) fn slice_text(slice: &Slice) -> String {
    let source = |e: &Expr| e.source.clone();
    match &slice.range {
        Range::All => slice.buffer.clone(),
        Range::One(at) => format!("{}[{}]", slice.buffer, source(at)),
        Range::Span(from, to) => format!("{}[{}..{}]", slice.buffer, source(from), source(to)),
    }
}
