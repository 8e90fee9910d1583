//! The evaluator of a suite's `tables`: joins the records of one input and image, and computes each column.
//!
//! A row's expressions see every gate of the suite that ran on that input as a map (`want_len`, `got`, `launches`,
//! …, `reported`, `outcome`), `rows` (the timing rows by name), the axes and the suite's lets. A value that does not
//! exist (a row left out by `when`, a time on the simulated device, a gate that was not selected) gives an empty
//! cell; a value that exists and cannot be computed gives an empty cell and a note. A line without any value is left
//! out, unless one of its cells could not be computed.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::record::{CaseRecord, PlotRecord, TableRecord};
use crate::spec::model::{Expr, Plot, Suite, Table};
use crate::terms::ImageKind;

/// Names an expression may use, and their values.
pub type Names = BTreeMap<String, Value>;

/// The expression language, as this module needs it.
pub trait Evaluate {
    /// # Errors
    /// What is wrong, in one line.
    fn evaluate(&self, expr: &Expr, names: &Names) -> Result<Value, String>;
}

/// Every table of every suite for each image it has cases for, in the suites' order. Tables without any value are
/// left out, but for those with a plot: it must be possible to say why there is none.
pub fn evaluate(suites: &[Suite], cases: &[CaseRecord], with: &dyn Evaluate) -> Vec<TableRecord> {
    let mut tables = Vec::new();
    for suite in suites {
        let groups = join(suite, cases, with);
        let mut images: Vec<ImageKind> = Vec::new();
        for group in &groups {
            if !images.contains(&group.image) {
                images.push(group.image);
            }
        }
        for (name, table) in &suite.tables {
            for image in &images {
                let groups: Vec<&Group> = groups
                    .iter()
                    .filter(|g| g.image == *image && is_over(g, table))
                    .collect();
                tables.extend(one_table(suite, name, table, *image, &groups, with));
            }
        }
    }
    tables
}

/// Whether the axes that the table is over are there.
fn is_over(group: &Group<'_>, table: &Table) -> bool {
    table
        .over
        .iter()
        .all(|axis| group.params.contains_key(axis))
}

/// The cases of one input (equal parameters) and image.
struct Group<'a> {
    image: ImageKind,
    params: &'a IndexMap<String, Value>,
    names: Names,
    /// Timing rows that did not run, each with its reason.
    skipped: IndexMap<&'a str, String>,
}

fn join<'a>(suite: &Suite, cases: &'a [CaseRecord], with: &dyn Evaluate) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for case in cases.iter().filter(|c| c.suite == suite.name) {
        let found = groups
            .iter()
            .position(|g| g.image == case.image && *g.params == case.params);
        let index = found.unwrap_or_else(|| {
            groups.push(Group {
                image: case.image,
                params: &case.params,
                names: axes_and_lets(suite, case, with),
                skipped: IndexMap::new(),
            });
            groups.len() - 1
        });
        let skipped = case.skipped_rows.iter();
        let skipped = skipped.map(|(row, reason)| (row.as_str(), reason.to_string()));
        groups[index].skipped.extend(skipped);
        let names = &mut groups[index].names;
        names.insert(case.gate.clone(), gate_value(case));
        if !case.timings.is_empty() {
            let rows = names
                .entry("rows".to_owned())
                .or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(rows) = rows {
                for (name, timing) in &case.timings {
                    rows.insert(name.clone(), serde_json::json!(timing));
                }
            }
        }
    }
    groups
}

/// A let that cannot be computed for these axes is absent, as its cases' own errors say.
fn axes_and_lets(suite: &Suite, case: &CaseRecord, with: &dyn Evaluate) -> Names {
    let mut names: Names = case.params.clone().into_iter().collect();
    for (name, expr) in &suite.lets {
        if let Ok(value) = with.evaluate(expr, &names) {
            names.insert(name.clone(), value);
        }
    }
    names
}

fn gate_value(case: &CaseRecord) -> Value {
    let mut gate: Map<String, Value> = case.values.clone().into_iter().collect();
    gate.insert(
        "reported".to_owned(),
        Value::Object(case.reported.clone().into_iter().collect()),
    );
    gate.insert("outcome".to_owned(), case.outcome.name().into());
    Value::Object(gate)
}

fn one_table(
    suite: &Suite,
    name: &str,
    table: &Table,
    image: ImageKind,
    groups: &[&Group<'_>],
    with: &dyn Evaluate,
) -> Option<TableRecord> {
    let mut notes = Vec::new();
    let mut kept: Vec<(&Group<'_>, Vec<Value>)> = Vec::new();
    for group in groups {
        let mut failed = false;
        let mut cells = Vec::with_capacity(table.columns.len());
        for (column, expr) in &table.columns {
            cells.push(cell(expr, &group.names, with).unwrap_or_else(|message| {
                failed = true;
                note(&mut notes, format!("{column}: {message}"));
                Value::Null
            }));
        }
        if failed || cells.iter().any(|c| !c.is_null()) {
            kept.push((group, cells));
        }
    }
    if groups.is_empty() || (kept.is_empty() && table.plot.is_none()) {
        return None;
    }
    for (column, expr) in &table.columns {
        row_notes(column, expr, groups, &mut notes);
    }
    let (fixed, varying) = split_axes(&table.over, &kept);
    let axes: Vec<String> = table.over.iter().cloned().chain(varying).collect();
    let columns = axes.iter().chain(table.columns.keys()).cloned().collect();
    let host_clock = host_columns(table, &kept);
    let axis =
        |group: &Group<'_>, axis: &String| group.params.get(axis).cloned().unwrap_or_default();
    let rows = kept
        .into_iter()
        .map(|(group, cells)| axes.iter().map(|a| axis(group, a)).chain(cells).collect())
        .collect();
    Some(TableRecord {
        suite: suite.name.clone(),
        name: name.to_owned(),
        over: table.over.first().cloned().unwrap_or_default(),
        plot: table.plot.as_ref().map(|plot| plot_record(plot, table)),
        axes,
        image,
        fixed,
        columns,
        rows,
        notes,
        host_clock,
        timed: timed_columns(table),
    })
}

/// Whether a row's times are of the host's clock.
fn is_by_host(group: &Group<'_>, row: &str) -> bool {
    let timing = group.names.get("rows").and_then(|rows| rows.get(row));
    let clock = timing.and_then(|timing| timing.get("clock"));
    clock.is_some_and(|clock| clock == "host")
}

/// The columns that use a row whose times are of the host's clock.
fn host_columns(table: &Table, kept: &[(&Group<'_>, Vec<Value>)]) -> Vec<String> {
    let is_host = |path: &[String]| match path {
        [rows, row, ..] if rows == "rows" => kept.iter().any(|(group, _)| is_by_host(group, row)),
        _ => false,
    };
    let columns = table.columns.iter();
    columns
        .filter(|(_, expr)| paths(&expr.source).iter().any(|path| is_host(path)))
        .map(|(name, _)| name.clone())
        .collect()
}

/// What a timing row has only where there is a clock.
const TIMES: &[&str] = &[
    "min_ms",
    "median_ms",
    "max_ms",
    "batch_mean_ms",
    "times_baseline",
    "gb_per_s",
];

/// The columns that use the time of a row.
fn timed_columns(table: &Table) -> Vec<String> {
    let is_time = |path: &[String]| match path {
        [rows, _, value] => rows == "rows" && TIMES.contains(&value.as_str()),
        _ => false,
    };
    let columns = table.columns.iter();
    columns
        .filter(|(_, expr)| paths(&expr.source).iter().any(|path| is_time(path)))
        .map(|(name, _)| name.clone())
        .collect()
}

/// A plot with its defaults filled in.
fn plot_record(plot: &Plot, table: &Table) -> PlotRecord {
    let all = || {
        table
            .columns
            .keys()
            .filter(|name| **name != plot.x)
            .cloned()
    };
    let y = if plot.y.is_empty() {
        all().collect()
    } else {
        plot.y.clone()
    };
    PlotRecord {
        x_label: plot.x_label.clone().unwrap_or_else(|| plot.x.clone()),
        y_label: plot.y_label.clone().unwrap_or_else(|| shared_label(&y)),
        along: match table.over.contains(&plot.x) {
            true => plot.x.clone(),
            false => table.over.last().cloned().unwrap_or_default(),
        },
        x: plot.x.clone(),
        y,
        x_scale: plot.x_scale,
        y_scale: plot.y_scale,
    }
}

/// One line's name, or the unit that the names of all end with: `scan_ms` and `atomic_ms` are in `ms`.
fn shared_label(names: &[String]) -> String {
    let unit = |name: &String| name.rsplit_once('_').map(|(_, unit)| unit.to_owned());
    match names {
        [one] => one.clone(),
        [first, others @ ..] => {
            let shared = unit(first).filter(|u| others.iter().all(|o| unit(o).as_ref() == Some(u)));
            shared.unwrap_or_default()
        }
        [] => String::new(),
    }
}

/// Ends the note of a column whose values are there.
const BY_HOST: &str = "is by the host's clock";

/// Of a table's notes, those that say why cells of this column are empty; without the column's name.
pub(super) fn why_empty<'t>(table: &'t TableRecord, column: &str) -> Vec<&'t str> {
    let words = |note: &'t str, name: &str| note.strip_prefix(name)?.strip_prefix(": ");
    // A column's name may begin with another's.
    let is_own = |note: &'t str| {
        let named = table
            .columns
            .iter()
            .filter(|name| words(note, name).is_some());
        named
            .max_by_key(|name| name.len())
            .is_some_and(|name| name == column)
    };
    let notes = table.notes.iter().map(String::as_str);
    let own = notes.filter(|note| is_own(note) && !note.ends_with(BY_HOST));
    own.filter_map(|note| words(note, column)).collect()
}

/// What a column's numbers do not say of the rows they come from: the host's clock, and rows that were skipped.
fn row_notes(column: &str, expr: &Expr, groups: &[&Group<'_>], notes: &mut Vec<String>) {
    for path in paths(&expr.source) {
        let [root, row, ..] = path.as_slice() else {
            continue;
        };
        for group in groups.iter().filter(|_| root == "rows") {
            if is_by_host(group, row) && exists(&path, &group.names) {
                note(notes, format!("{column}: row {row} {BY_HOST}"));
            } else if let Some(reason) = group.skipped.get(row.as_str()) {
                note(notes, format!("{column}: row {row} is skipped ({reason})"));
            }
        }
    }
}

/// Axes besides `over`: those with one value in every row, and the names of the others.
fn split_axes(
    over: &[String],
    kept: &[(&Group<'_>, Vec<Value>)],
) -> (IndexMap<String, Value>, Vec<String>) {
    let mut fixed = IndexMap::new();
    let mut varying = Vec::new();
    for axis in kept.iter().flat_map(|(g, _)| g.params.keys()) {
        if over.contains(axis) || fixed.contains_key(axis) || varying.contains(axis) {
            continue;
        }
        let first = kept[0].0.params.get(axis);
        match first {
            Some(value) if kept.iter().all(|(g, _)| g.params.get(axis) == first) => {
                fixed.insert(axis.clone(), value.clone());
            }
            _ => varying.push(axis.clone()),
        }
    }
    (fixed, varying)
}

/// Null where a value does not exist; an error where all exist and nothing can be computed from them.
fn cell(expr: &Expr, names: &Names, with: &dyn Evaluate) -> Result<Value, String> {
    if paths(&expr.source).iter().any(|path| !exists(path, names)) {
        return Ok(Value::Null);
    }
    with.evaluate(expr, names)
}

/// Each note once.
fn note(notes: &mut Vec<String>, note: String) {
    if !notes.contains(&note) {
        notes.push(note);
    }
}

fn exists(path: &[String], names: &Names) -> bool {
    let mut at = path.first().and_then(|root| names.get(root));
    for key in &path[1..] {
        at = at.and_then(|value| value.get(key));
    }
    at.is_some_and(|value| !value.is_null())
}

/// The property chains of an expression: `a.b / min(c, 2)` has `a.b` and `c`. Calls, numbers and strings are none.
fn paths(source: &str) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    let mut chars = source.char_indices().peekable();
    while let Some((start, c)) = chars.next() {
        if matches!(c, '"' | '\'' | '`') {
            while let Some((_, inner)) = chars.next() {
                if inner == '\\' {
                    chars.next();
                } else if inner == c {
                    break;
                }
            }
        } else if c.is_ascii_digit() {
            while chars
                .next_if(|(_, c)| c.is_alphanumeric() || *c == '.')
                .is_some()
            {}
        } else if c.is_alphabetic() || c == '_' {
            let mut end = start + c.len_utf8();
            while let Some((at, c)) =
                chars.next_if(|(_, c)| c.is_alphanumeric() || matches!(c, '_' | '.'))
            {
                end = at + c.len_utf8();
            }
            let word = &source[start..end];
            let called = source[end..].trim_start().starts_with('(');
            if !called && !matches!(word, "true" | "false" | "in" | "if" | "else") {
                paths.push(word.split('.').map(str::to_owned).collect());
            }
        }
    }
    paths
}
