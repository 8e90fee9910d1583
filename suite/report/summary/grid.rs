//! A table of a summary, and a suite's own table as one.

use std::borrow::Cow;

use serde_json::Value;

use super::cells::{number, plain};
use crate::report::record::TableRecord;

#[derive(Clone)]
pub(in crate::report) struct Grid {
    pub title: String,
    pub columns: Vec<String>,
    /// The first `labels` columns are words (or axis values), the others numbers.
    pub labels: usize,
    pub rows: Vec<Vec<String>>,
    pub notes: Vec<String>,
    /// The column that is left out where there is too little room.
    pub spare: Option<usize>,
}

impl Grid {
    fn without(&self, column: usize) -> Self {
        let keep = |cells: &[String]| {
            let kept = cells.iter().enumerate().filter(|(at, _)| *at != column);
            kept.map(|(_, cell)| cell.clone()).collect()
        };
        Self {
            title: self.title.clone(),
            columns: keep(&self.columns),
            labels: self.labels,
            rows: self.rows.iter().map(|row| keep(row)).collect(),
            notes: self.notes.clone(),
            spare: None,
        }
    }

    /// The grid for a view whose columns are `gap` characters apart and together `width` wide.
    pub fn fitting(&self, width: usize, gap: usize) -> Cow<'_, Self> {
        let lines = || self.rows.iter().chain([&self.columns]);
        let widest = |at: usize| lines().filter_map(move |row| Some(row.get(at)?.chars().count()));
        let columns = 0..self.columns.len();
        let natural: usize = columns.map(|at| widest(at).max().unwrap_or(0) + gap).sum();
        match self.spare {
            Some(spare) if natural > width => Cow::Owned(self.without(spare)),
            _ => Cow::Borrowed(self),
        }
    }
}

/// A suite's own table.
pub(super) fn of_table(table: &TableRecord) -> Grid {
    let mut about = String::new();
    for (axis, value) in &table.fixed {
        about.push_str(&format!(", {axis}={}", plain(value)));
    }
    about.push_str(&format!(" ({})", table.image));
    // An axis' value stands as the ids have it.
    let axes = table.axes.len().max(1);
    let cell = |(index, value): (usize, &Value)| match index < axes {
        true => plain(value),
        false => number(value),
    };
    let rows = table
        .rows
        .iter()
        .map(|row| row.iter().enumerate().map(cell).collect());
    let over = match table.axes.as_slice() {
        [] => table.over.clone(),
        axes => axes.join(", "),
    };
    Grid {
        title: format!("{}: {} over {over}{about}", table.suite, table.name),
        columns: table.columns.clone(),
        labels: axes,
        rows: rows.collect(),
        notes: table.notes.clone(),
        spare: None,
    }
}
