//! The plots of a report's tables, as SVG: one picture for each table with a `plot`, image, and value of the axes that
//! neither run along the picture nor are fixed.
//!
//! The only place that names plotters. Equal reports give equal bytes.

mod draw;
mod scale;
mod series;
#[cfg(test)]
mod tests;

use super::record::{PlotRecord, Report, TableRecord};
use draw::Picture;
use series::{Panel, Series};

/// A picture, or why there is none.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// `SUITE.TABLE.IMAGE.svg`, with `.AXIS=VALUE` before the ending where that axis varies. Letters, digits, `_`, `-`,
    /// `=` and `.` only, and never first a `.`: whoever wrote the report, it is a name inside the folder it is put in.
    pub file: String,
    pub drawn: Result<Drawn, NotDrawn>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    pub svg: String,
    /// Lines and points that are not in the picture, and why.
    pub without: Vec<String>,
}

/// Why a table is not drawn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotDrawn {
    #[error("the simulated device has no clock, so {0} need hardware")]
    NoClock(String),
    #[error("no row has a number for {x} and for {y}")]
    NoNumbers { x: String, y: String },
    #[error("the table has no column `{0}`")]
    NoColumn(String),
    /// The writer of pictures gave up.
    #[error("{0}")]
    Writer(String),
}

/// Every plot of the report, in the order of its tables. None where no table has a plot.
pub fn plots(report: &Report) -> Vec<Plot> {
    let mut plots: Vec<Plot> = Vec::new();
    for table in &report.tables {
        let Some(plot) = &table.plot else { continue };
        for (file, drawn) in of_table(report, table, plot) {
            let taken = |file: &String| plots.iter().any(|plot| plot.file == *file);
            let numbered = |n: usize| format!("{file}-{n}.svg");
            // Values that differ in nothing but what a file's name cannot hold.
            let free = (2..).map(numbered).find(|file| !taken(file));
            let file = Some(format!("{file}.svg"))
                .filter(|file| !taken(file))
                .or(free);
            plots.extend(file.map(|file| Plot { file, drawn }));
        }
    }
    plots
}

type Named = (String, Result<Drawn, NotDrawn>);

fn of_table(report: &Report, table: &TableRecord, plot: &PlotRecord) -> Vec<Named> {
    let stem = file_part(&format!("{}.{}.{}", table.suite, table.name, table.image));
    let panels = match series::panels(table, plot) {
        Ok(panels) => panels,
        Err(column) => return vec![(stem, Err(NotDrawn::NoColumn(column)))],
    };
    if panels.is_empty() {
        return vec![(stem, Err(no_numbers(report, plot)))];
    }
    let named = panels.into_iter().map(|panel| {
        let mut name = stem.clone();
        for (axis, value) in &panel.axes {
            name.push_str(&format!(".{}={}", file_part(axis), file_part(value)));
        }
        (name, draw(report, table, plot, panel))
    });
    named.collect()
}

fn draw(
    report: &Report,
    table: &TableRecord,
    plot: &PlotRecord,
    panel: Panel,
) -> Result<Drawn, NotDrawn> {
    let (lines, empty): (Vec<Series>, Vec<Series>) = panel
        .series
        .into_iter()
        .partition(|series| !series.points.is_empty());
    if lines.is_empty() {
        return Err(no_numbers(report, plot));
    }
    let mut without = Vec::new();
    for series in empty.iter().chain(&lines) {
        if series.points.is_empty() && series.off_scale == 0 {
            without.push(format!("{}: no numbers", series.name));
        }
        if series.off_scale > 0 {
            let points = if series.off_scale == 1 {
                "point"
            } else {
                "points"
            };
            let what = format!("{}: {} {points}", series.name, series.off_scale);
            without.push(format!(
                "{what} at or below zero, which a logarithmic axis has no place for"
            ));
        }
    }
    let picture = Picture {
        title: format!("{}: {}", table.suite, table.name),
        subtitle: subtitle(report, table, &panel.axes),
        plot,
        lines: &lines,
    };
    let svg = draw::svg(&picture).map_err(|error| NotDrawn::Writer(error.to_string()))?;
    Ok(Drawn { svg, without })
}

/// Card, driver, image, then the axes that have one value in the whole picture.
fn subtitle(report: &Report, table: &TableRecord, axes: &[(String, String)]) -> String {
    let device = report.device.info.as_ref();
    let mut parts = vec![device.map_or_else(|| "no device".to_owned(), |info| info.name.clone())];
    if let Some(driver) = report
        .device
        .driver_version
        .as_ref()
        .filter(|_| !report.device.is_simulated())
    {
        parts.push(format!("driver {driver}"));
    }
    parts.push(table.image.name().to_owned());
    let fixed = table
        .fixed
        .iter()
        .map(|(axis, value)| (axis.clone(), series::plain(value)));
    parts.extend(
        fixed
            .chain(axes.iter().cloned())
            .map(|(axis, value)| format!("{axis} = {value}")),
    );
    parts.join(" · ")
}

fn no_numbers(report: &Report, plot: &PlotRecord) -> NotDrawn {
    let y = plot.y.join(", ");
    if report.device.is_simulated() {
        return NotDrawn::NoClock(y);
    }
    let x = plot.x.clone();
    NotDrawn::NoNumbers { x, y }
}

/// Part of a file's name: what else could stand there is `_`.
fn file_part(text: &str) -> String {
    let kept = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let part: String = text
        .chars()
        .map(|c| if kept(c) { c } else { '_' })
        .take(PART_MAX)
        .collect();
    match part.strip_prefix('.') {
        Some(rest) => format!("_{rest}"),
        None => part,
    }
}

/// Characters of a file name's part: three parts and the ending stay below 255.
const PART_MAX: usize = 100;
