//! A mutation run for a person: two tables a suite, then each survivor with its line before and after.
//!
//! Imports the records.

use std::fmt::Write;

use super::record::{MutantOutcome, MutantRecord, MutationReport, SuiteRecord, Totals};

const HEADINGS: [&str; 8] = [
    "",
    "mutants",
    "gate",
    "detector",
    "fault",
    "survived",
    "equivalent",
    "score",
];

/// Everything but the mutants that were noticed.
pub fn summary(report: &MutationReport) -> String {
    let mut text = String::new();
    for suite in &report.suites {
        text.push_str(&of_suite(suite, report.schedules));
        text.push('\n');
    }
    text
}

/// One suite.
fn of_suite(suite: &SuiteRecord, schedules: u32) -> String {
    let mut text = format!(
        "{}: {} of {} mutants, {} cases, {} in {:.1} s\n\n",
        suite.suite,
        suite.mutants.len(),
        suite.made,
        suite.cases,
        match schedules {
            1 => "1 schedule".to_owned(),
            several => format!("{several} schedules"),
        },
        suite.wall_ms / 1e3,
    );
    let named = suite.by_operator.iter();
    let rows = named.map(|(operator, totals)| (operator.name(), *totals));
    text.push_str(&table("operator", rows, None));
    text.push('\n');
    let named = suite.by_kernel.iter();
    let rows = named.map(|(kernel, totals)| (kernel.as_str(), *totals));
    text.push_str(&table("kernel", rows, Some(suite.totals)));
    for note in &suite.notes {
        let _ = writeln!(text, "\nnote: {note}");
    }
    let of = |outcome| suite.mutants.iter().filter(move |m| m.outcome == outcome);
    listed(&mut text, "survived", of(MutantOutcome::Survived));
    listed(&mut text, "invalid", of(MutantOutcome::Invalid));
    listed(&mut text, "equivalent", of(MutantOutcome::Equivalent));
    for problem in &suite.problems {
        let _ = writeln!(text, "\nerror: {problem}");
    }
    text
}

fn listed<'a>(text: &mut String, what: &str, mutants: impl Iterator<Item = &'a MutantRecord>) {
    let mut mutants = mutants.peekable();
    if mutants.peek().is_some() {
        let _ = writeln!(text, "\n{what}:");
    }
    for mutant in mutants {
        let _ = writeln!(text, "  {}", mutant.id);
        let after = match mutant.after.as_str() {
            "" => "(nothing)",
            after => after,
        };
        let _ = writeln!(text, "    {} → {after}", mutant.before);
        let mut about = Vec::new();
        about.extend(mutant.source.clone());
        match mutant.identical {
            Some(true) => about.push("all memory is the same".to_owned()),
            Some(false) => about.push("memory differs, and every gate passes".to_owned()),
            None => {}
        }
        about.extend(mutant.reason.clone());
        if !about.is_empty() {
            let _ = writeln!(text, "    {}", about.join(": "));
        }
    }
}

fn table<'a>(
    first: &str,
    rows: impl Iterator<Item = (&'a str, Totals)>,
    sum: Option<Totals>,
) -> String {
    let mut lines = vec![HEADINGS.map(str::to_owned)];
    lines[0][0] = first.to_owned();
    lines.extend(rows.chain(sum.map(|sum| ("all", sum))).map(|(name, t)| {
        let score = t
            .score()
            .map_or("–".to_owned(), |score| format!("{score:.1} %"));
        [
            name.to_owned(),
            t.mutants.to_string(),
            t.gate.to_string(),
            t.detector.to_string(),
            t.fault.to_string(),
            t.survived.to_string(),
            t.equivalent.to_string(),
            score,
        ]
    }));
    let width = |column: usize| {
        let cells = lines.iter().map(|line| line[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..HEADINGS.len()).map(width).collect();
    let mut text = String::new();
    for line in &lines {
        let cells = line.iter().zip(&widths).enumerate();
        let padded = cells.map(|(column, (cell, &width))| match column {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        let padded: Vec<String> = padded.collect();
        let _ = writeln!(text, "{}", padded.join("  ").trim_end());
    }
    text
}
