//! The summary on a terminal. The only place that names comfy-table.

use std::path::Path;

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, presets};
use indexmap::IndexMap;

use super::record::Report;
use super::summary::{Grid, Summary, Trouble};
use crate::terms::Outcome;

/// Failures told in full; the others by name.
const TROUBLES_MAX: usize = 20;
/// Names told of those, and of an error that many cases share.
const NAMES_MAX: usize = 8;
/// Between two columns of a table.
const COLUMN_GAP: usize = 3;
/// Narrower than this, tables cannot be laid out.
const WIDTH_MIN: usize = 40;

/// What a terminal `width` columns wide shows at the end of a run. `folder`: where the report is.
pub fn summary_text(report: &Report, width: usize, folder: Option<&Path>) -> String {
    let summary = Summary::of(report);
    let width = width.max(WIDTH_MIN);
    let mut out = String::new();
    for (label, text) in &summary.header {
        line(&mut out, &format!("{label:>8}  {text}"));
    }
    if let Some(folder) = folder {
        line(&mut out, &format!("  folder  {}", folder.display()));
    }
    show_problems(&mut out, &summary);
    for trouble in summary.troubles.iter().take(TROUBLES_MAX) {
        line(&mut out, "");
        show_trouble(&mut out, trouble);
    }
    show_rest(&mut out, &summary.troubles);
    for gates in &summary.gates {
        line(&mut out, "");
        line(&mut out, &gates.suite);
        let (columns, labels) = gates.columns();
        line(&mut out, &table(&columns, labels, &gates.cells("·"), width));
    }
    for grid in &summary.grids {
        line(&mut out, "");
        show_grid(&mut out, grid, width);
    }
    show_counts(&mut out, "waived", &summary.waived);
    show_counts(&mut out, "skipped", &summary.skips);
    line(&mut out, "");
    line(&mut out, &summary.totals);
    if let Some(folder) = folder {
        line(&mut out, &format!("report: {}", folder.display()));
    }
    out
}

/// The rules that the run broke as a whole.
fn show_problems(out: &mut String, summary: &Summary) {
    if summary.problems.is_empty() {
        return;
    }
    line(out, "");
    for problem in summary.problems.iter().take(TROUBLES_MAX) {
        line(out, &format!("RUN   {problem}"));
    }
    if summary.problems.len() > TROUBLES_MAX {
        let more = summary.problems.len() - TROUBLES_MAX;
        line(out, &format!("      … {more} more, all in report.json"));
    }
}

/// How many cases were waived or skipped for each reason.
fn show_counts(out: &mut String, what: &str, counts: &IndexMap<String, usize>) {
    if counts.is_empty() {
        return;
    }
    line(out, "");
    for (reason, count) in counts {
        line(out, &format!("{count} {what}: {reason}"));
    }
}

fn show_trouble(out: &mut String, trouble: &Trouble) {
    let word = if trouble.outcome == Outcome::Fail {
        "FAIL"
    } else {
        "ERROR"
    };
    match trouble.ids.as_slice() {
        [id] => line(out, &format!("{word:<5} {id}")),
        ids => {
            line(out, &format!("{word:<5} {} cases:", ids.len()));
            names(out, ids);
        }
    }
    for text in &trouble.lines {
        line(out, &format!("      {text}"));
    }
    line(out, &format!("      again: {}", trouble.repro));
}

fn show_rest(out: &mut String, troubles: &[Trouble]) {
    let Some(rest) = troubles.get(TROUBLES_MAX..).filter(|rest| !rest.is_empty()) else {
        return;
    };
    let ids: Vec<String> = rest.iter().flat_map(|t| t.ids.iter().cloned()).collect();
    line(out, "");
    line(
        out,
        &format!("and {} more failed or ended in error:", ids.len()),
    );
    names(out, &ids);
}

fn names(out: &mut String, ids: &[String]) {
    for id in ids.iter().take(NAMES_MAX) {
        line(out, &format!("      {id}"));
    }
    if ids.len() > NAMES_MAX {
        let more = ids.len() - NAMES_MAX;
        line(out, &format!("      … {more} more, all in report.json"));
    }
}

fn show_grid(out: &mut String, grid: &Grid, width: usize) {
    let grid = grid.fitting(width, COLUMN_GAP);
    line(out, &grid.title);
    line(out, &table(&grid.columns, grid.labels, &grid.rows, width));
    for note in &grid.notes {
        line(out, note);
    }
}

fn table(columns: &[String], labels: usize, rows: &[Vec<String>], width: usize) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING.header_separator(LineStyle::none().fill('─').junction('─')))
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(u16::try_from(width).unwrap_or(u16::MAX))
        .set_header(columns.to_vec());
    for row in rows {
        table.add_row(row.clone());
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        if index < labels {
            // A name broken in two cannot be searched for.
            column.set_constraint(ColumnConstraint::ContentWidth);
        } else {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt()
}

/// Adds a line. Control characters, which would talk to the terminal, are replaced.
fn line(out: &mut String, text: &str) {
    out.extend(text.trim_end().chars().map(|c| match c {
        '\n' => c,
        c if c.is_control() => '\u{fffd}',
        c => c,
    }));
    out.push('\n');
}
