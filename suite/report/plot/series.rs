//! A table's rows as the points of a picture.

use serde_json::Value;

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
    /// Points that a logarithmic axis has no place for.
    pub off_scale: usize,
}

/// A magnitude beyond this is no measurement, and is left out like an absent value.
const MAGNITUDE_MAX: f64 = 1e18;

/// The pictures of a table, in the order of its rows. None where it has no row.
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
            if let (Some(x), Some(y)) = (number(cell(x)), number(cell(*column))) {
                series.add(x, y, plot);
            }
        }
    }
    for series in panels.iter_mut().flat_map(|panel| &mut panel.series) {
        series.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    Ok(panels)
}

impl Series {
    fn add(&mut self, x: f64, y: f64, plot: &PlotRecord) {
        let has_place = |value: f64, scale| scale == Scale::Linear || value > 0.0;
        if has_place(x, plot.x_scale) && has_place(y, plot.y_scale) {
            self.points.push((x, y));
        } else {
            self.off_scale += 1;
        }
    }
}

fn empty_panel(table: &TableRecord, plot: &PlotRecord, axes: Vec<(String, String)>) -> Panel {
    let series = plot.y.iter().map(|name| Series {
        name: name.clone(),
        host_clock: table.host_clock.contains(name),
        points: Vec::new(),
        off_scale: 0,
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

fn number(value: &Value) -> Option<f64> {
    value.as_f64().filter(|value| value.abs() <= MAGNITUDE_MAX)
}

/// A value without quotes.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
