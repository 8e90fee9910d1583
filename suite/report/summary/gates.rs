//! How the cases of each gate ended.

use indexmap::IndexMap;

use crate::report::record::{CaseRecord, Totals};

/// Per gate of a suite, how its cases ended.
pub(in crate::report) struct Gates {
    pub suite: String,
    pub rows: Vec<GateRow>,
}

pub(in crate::report) struct GateRow {
    pub gate: String,
    /// What a control gate must end in: `fail: mismatch`. Empty for the others.
    pub expected: String,
    pub totals: Totals,
}

impl Gates {
    /// The table's head, and how many of its columns are words. The controls' column is there where there are any.
    pub fn columns(&self) -> (Vec<String>, usize) {
        let counts = ["pass", "fail", "skip", "waived", "error"];
        let words: &[&str] = if self.has_controls() {
            &["gate", "passes on"]
        } else {
            &["gate"]
        };
        let columns = words.iter().chain(&counts).map(|&c| c.to_owned()).collect();
        (columns, words.len())
    }

    /// The table's body; `none` stands for a count of zero.
    pub fn cells(&self, none: &str) -> Vec<Vec<String>> {
        let controls = self.has_controls();
        let row = |row: &GateRow| {
            let mut cells = vec![row.gate.clone()];
            cells.extend(controls.then(|| row.expected.clone()));
            let Totals {
                pass,
                fail,
                skip,
                waived,
                error,
                skips: _,
            } = row.totals;
            let counts = [pass, fail, skip, waived, error].map(|count| match count {
                0 => none.to_owned(),
                count => count.to_string(),
            });
            cells.extend(counts);
            cells
        };
        self.rows.iter().map(row).collect()
    }

    fn has_controls(&self) -> bool {
        self.rows.iter().any(|row| !row.expected.is_empty())
    }
}

pub(super) fn of(cases: &[CaseRecord]) -> Vec<Gates> {
    let mut suites: IndexMap<&str, IndexMap<&str, (Vec<&str>, Totals)>> = IndexMap::new();
    for case in cases {
        let gates = suites.entry(&case.suite).or_default();
        let (expected, totals) = gates.entry(&case.gate).or_default();
        totals.add(case);
        if let Some(expects) = case.expected.as_deref()
            && !expected.contains(&expects)
        {
            expected.push(expects);
        }
    }
    let row = |(gate, (expected, totals)): (&str, (Vec<&str>, Totals))| GateRow {
        gate: gate.to_owned(),
        expected: expected.join(", "),
        totals,
    };
    suites
        .into_iter()
        .map(|(suite, gates)| Gates {
            suite: suite.to_owned(),
            rows: gates.into_iter().map(row).collect(),
        })
        .collect()
}
