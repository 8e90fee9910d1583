//! A table's rows as the points of a picture.

use std::collections::BTreeMap;

use serde_json::Value;

use super::lack::{Kind, Lack};

use crate::report::record::{PlotRecord, TableRecord};
use crate::terms::Scale;

/// One picture's data.
#[derive(Debug, PartialEq)]
pub(super) struct Panel {
    /// The axes that set this picture apart from the table's others, with their values.
    pub axes: Vec<(String, String)>,
    /// In the order of `y`.
    pub series: Vec<Series>,
}

/// One line.
#[derive(Debug, PartialEq)]
pub(super) struct Series {
    pub name: String,
    /// Its times are of the host's clock.
    pub host_clock: bool,
    /// By ascending x.
    pub points: Vec<(f64, f64)>,
    /// Rows that give no point, by the reason.
    pub lacks: BTreeMap<Lack, usize>,
}

/// A magnitude beyond this is no measurement, and has no place in a picture.
pub(super) const MAGNITUDE_MAX: f64 = 1e18;

/// The pictures of a table, in the order of its rows; one without a point where it has no row.
///
/// # Errors
/// The name of a column that the table has not.
pub(super) fn panels(table: &TableRecord, plot: &PlotRecord) -> Result<Vec<Panel>, String> {
    let axes = table.axes.len().max(1).min(table.columns.len());
    let at = |name: &String| table.columns.iter().position(|column| column == name);
    // A column may be called as an axis is.
    let own = |name: &String| {
        table.columns[axes..]
            .iter()
            .position(|column| column == name)
    };
    let x = at(&plot.x).ok_or_else(|| plot.x.clone())?;
    let lines = plot.y.iter().map(|name| {
        own(name)
            .map(|index| axes + index)
            .ok_or_else(|| name.clone())
    });
    let lines: Vec<usize> = lines.collect::<Result<_, _>>()?;
    let apart: Vec<usize> = (0..axes)
        .filter(|axis| table.columns[*axis] != plot.along && varies(table, *axis))
        .collect();
    let mut panels: Vec<Panel> = Vec::new();
    for row in &table.rows {
        let cell = |index: usize| row.get(index).unwrap_or(&Value::Null);
        let name = |axis: &usize| (table.columns[*axis].clone(), plain(cell(*axis)));
        let names: Vec<(String, String)> = apart.iter().map(name).collect();
        let index = panels.iter().position(|panel| panel.axes == names);
        let index = index.unwrap_or_else(|| {
            panels.push(empty_panel(table, plot, names));
            panels.len() - 1
        });
        for (series, column) in panels[index].series.iter_mut().zip(&lines) {
            series.add(cell(x), cell(*column), plot);
        }
    }
    if panels.is_empty() {
        panels.push(empty_panel(table, plot, Vec::new()));
    }
    for series in panels.iter_mut().flat_map(|panel| &mut panel.series) {
        series.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    Ok(panels)
}

impl Series {
    fn add(&mut self, x: &Value, y: &Value, plot: &PlotRecord) {
        match (coordinate(x, plot.x_scale), coordinate(y, plot.y_scale)) {
            (Ok(x), Ok(y)) => self.points.push((x, y)),
            // The line's own cell says more of it than what all lines share.
            (_, Err(kind)) => self.lack(false, kind),
            (Err(kind), Ok(_)) => self.lack(kind != Kind::NotPositive, kind),
        }
    }

    fn lack(&mut self, of_x: bool, kind: Kind) {
        *self.lacks.entry(Lack { of_x, kind }).or_default() += 1;
    }
}

fn empty_panel(table: &TableRecord, plot: &PlotRecord, axes: Vec<(String, String)>) -> Panel {
    let series = plot.y.iter().map(|name| Series {
        name: name.clone(),
        host_clock: table.host_clock.contains(name),
        points: Vec::new(),
        lacks: BTreeMap::new(),
    });
    Panel {
        axes,
        series: series.collect(),
    }
}

fn varies(table: &TableRecord, axis: usize) -> bool {
    let mut values = table.rows.iter().map(|row| row.get(axis));
    let first = values.next();
    values.any(|value| Some(value) != first)
}

fn coordinate(value: &Value, scale: Scale) -> Result<f64, Kind> {
    let value = match value {
        Value::Null => return Err(Kind::Absent),
        value => value.as_f64().ok_or(Kind::NoNumber)?,
    };
    if value.abs() > MAGNITUDE_MAX {
        Err(Kind::Beyond)
    } else if scale != Scale::Linear && value <= 0.0 {
        Err(Kind::NotPositive)
    } else {
        Ok(value)
    }
}

/// A value without quotes.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
