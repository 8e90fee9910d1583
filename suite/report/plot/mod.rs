//! The plots of a report's tables, as SVG: one picture for each table with a `plot`, image, and value of the axes that
//! neither run along the picture nor are fixed.
//!
//! The only place that names plotters. Equal reports give equal bytes.

mod draw;
mod lack;
mod scale;
mod series;
#[cfg(test)]
mod tests;

use sha2::{Digest, Sha256};

use super::record::{PlotRecord, Report, TableRecord};
use draw::Picture;
use lack::Words;
use series::{Panel, Series};

/// A picture, or why there is none.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// `SUITE.TABLE.IMAGE.svg`, with `.AXIS=VALUE` before the ending where that axis varies. Letters, digits, `_`, `-`,
    /// `=` and `.` only, never first a `.`, and at most 255 bytes: whoever wrote the report, it is a name inside the
    /// folder it is put in.
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
    /// What each line lacks.
    #[error("{0}")]
    NoPoints(String),
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
    let stem = format!("{}.{}.{}", table.suite, table.name, table.image);
    let panels = match series::panels(table, plot) {
        Ok(panels) => panels,
        Err(column) => return vec![(file_stem(&stem), Err(NotDrawn::NoColumn(column)))],
    };
    let named = panels.into_iter().map(|panel| {
        let mut name = stem.clone();
        for (axis, value) in &panel.axes {
            name.push_str(&format!(".{axis}={value}"));
        }
        (file_stem(&name), draw(report, table, plot, panel))
    });
    named.collect()
}

fn draw(
    report: &Report,
    table: &TableRecord,
    plot: &PlotRecord,
    panel: Panel,
) -> Result<Drawn, NotDrawn> {
    let words = Words {
        report,
        table,
        plot,
    };
    if panel.series.iter().all(|series| series.points.is_empty()) {
        return Err(NotDrawn::NoPoints(words.nothing(&panel.series)));
    }
    let without = words.without(&panel.series);
    let drawn = |series: &Series| !series.points.is_empty();
    let lines: Vec<Series> = panel.series.into_iter().filter(drawn).collect();
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

/// A file's name without its ending: what else could stand there is `_`, and what is too long ends in a hash of all
/// of it.
fn file_stem(name: &str) -> String {
    let kept = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '=');
    let stem: String = name
        .chars()
        .map(|c| if kept(c) { c } else { '_' })
        .collect();
    let mut stem = match stem.strip_prefix('.') {
        Some(rest) => format!("_{rest}"),
        None => stem,
    };
    if stem.len() > STEM_MAX {
        let hash = Sha256::digest(name.as_bytes());
        let hash: String = hash
            .iter()
            .take(8)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        stem.truncate(STEM_MAX - hash.len() - 1);
        stem.push_str(&format!("-{hash}"));
    }
    stem
}

/// Bytes of a file's name before its number and ending, with which it stays below the 255 that file systems take.
const STEM_MAX: usize = 220;
