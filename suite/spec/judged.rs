//! What a check names: its pipeline, its wanted value, the parts of buffers it reads. The loader's rules, the plan and
//! the judge all ask here, so that they mean the same.

use super::model::{Check, Expect, Gate, Row, Slice, Suite, Verify, Want};

impl Check {
    /// The pipeline it runs; timings run one for each row.
    pub fn run(&self) -> Option<&str> {
        match self {
            Check::ScanTotal { run, .. }
            | Check::Count { run, .. }
            | Check::Exact { run, .. }
            | Check::Multiset { run, .. }
            | Check::Partition { run, .. }
            | Check::Sorted { run, .. }
            | Check::Permutation { run, .. }
            | Check::Near { run, .. }
            | Check::Repeatable { run, .. }
            | Check::Assert { run, .. }
            | Check::Health { run } => Some(run),
            Check::Timings(_) => None,
        }
    }

    /// What it wants, where it wants a value.
    pub fn want(&self) -> Option<&Want> {
        match self {
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
            | Check::Health { .. }
            | Check::Timings(_) => None,
        }
    }

    /// The slices it reads, the small ones first, so that a judge that is handed one reading at a time keeps a copy of
    /// a few bytes only.
    pub fn slices(&self) -> Vec<&Slice> {
        match self {
            Check::Partition { got, split, .. } => split.iter().chain([got]).collect(),
            Check::ScanTotal { got, .. }
            | Check::Count { got, .. }
            | Check::Exact { got, .. }
            | Check::Multiset { got, .. }
            | Check::Sorted { got, .. }
            | Check::Permutation { got, .. }
            | Check::Near { got, .. }
            | Check::Repeatable { got, .. } => vec![got],
            Check::Assert { .. } | Check::Health { .. } | Check::Timings(_) => Vec::new(),
        }
    }
}

impl Gate {
    /// What the process that runs a case holds it to. A card's health is read by another, which judges then.
    pub fn expect_of_run(&self) -> &Expect {
        match self.check {
            Check::Health { .. } => &Expect::Pass,
            _ => &self.expect,
        }
    }
}

impl Suite {
    /// The checks that verify a timing row; a name that is no gate is left out (a loaded suite has none).
    pub fn verifying<'s>(&'s self, row: &'s Row) -> Vec<&'s Check> {
        let check = |verify: &'s Verify| match verify {
            Verify::Gate(name) => self.gates.get(name).map(|gate| &gate.check),
            Verify::Inline(check) => Some(check.as_ref()),
        };
        row.verify.iter().filter_map(check).collect()
    }
}
