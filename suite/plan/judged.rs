//! The values a gate wants, and the names of the runs that give them.

use crate::spec::model::{Check, Expr, Gate, Measure, Range, Row, Slice, Suite, Want};

/// Every value a gate needs: its check's, its reports', and for a timing gate those of the rows in `rows`.
pub(super) fn wants<'s>(suite: &'s Suite, gate: &'s Gate, rows: &[&'s Row]) -> Vec<&'s Want> {
    let mut all: Vec<&Want> = gate.check.want().into_iter().collect();
    let checks = rows.iter().flat_map(|row| suite.verifying(row));
    all.extend(checks.filter_map(Check::want));
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
