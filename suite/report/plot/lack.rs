//! Why points, lines and whole pictures are missing, in words.

use indexmap::IndexMap;

use super::series::{MAGNITUDE_MAX, Series};
use crate::report::record::{PlotRecord, Report, TableRecord};
use crate::report::tables::why_empty;

/// Why a row gives a line no point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// The cell is empty.
    Absent,
    /// Text, or true or false.
    NoNumber,
    /// Beyond [`MAGNITUDE_MAX`].
    Beyond,
    /// On a logarithmic axis; told of the point, whichever of its cells it is.
    NotPositive,
}

/// What is wrong with a point, and in which of its two cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Lack {
    pub of_x: bool,
    pub kind: Kind,
}

/// What words are made from.
#[derive(Clone, Copy)]
pub(super) struct Words<'a> {
    pub report: &'a Report,
    pub table: &'a TableRecord,
    pub plot: &'a PlotRecord,
}

impl Words<'_> {
    /// What is not in a picture that is drawn. A line's empty cells are told where it has no point at all.
    pub fn without(&self, series: &[Series]) -> Vec<String> {
        let (lines, empty): (Vec<&Series>, Vec<&Series>) =
            series.iter().partition(|series| !series.points.is_empty());
        let all = empty.into_iter().chain(lines);
        let told = all.flat_map(|series| {
            let reasons = match self.needs_clock(series) {
                Some(_) => vec![NO_CLOCK.to_owned()],
                None => self.reasons(series),
            };
            let name = &series.name;
            reasons
                .into_iter()
                .map(move |reason| format!("{name}: {reason}"))
        });
        told.collect()
    }

    /// Why no line has a point.
    pub fn nothing(&self, series: &[Series]) -> String {
        let mut clock: Vec<&str> = Vec::new();
        let mut others: IndexMap<String, Vec<&str>> = IndexMap::new();
        for line in series {
            if let Some(column) = self.needs_clock(line) {
                if !clock.contains(&column) {
                    clock.push(column);
                }
            } else {
                let reason = self.reasons(line).join(", ");
                others.entry(reason).or_default().push(&line.name);
            }
        }
        let mut parts = Vec::new();
        if !clock.is_empty() {
            let need = if clock.len() == 1 { "needs" } else { "need" };
            parts.push(format!(
                "{NO_CLOCK}, so {} {need} hardware",
                clock.join(", ")
            ));
        }
        let others = others.iter();
        parts.extend(others.map(|(reason, names)| format!("{}: {reason}", names.join(", "))));
        match parts.is_empty() {
            true => "the plot names no line".to_owned(),
            false => parts.join("; "),
        }
    }

    /// The column without which an empty line cannot be: a time, where there is no clock.
    fn needs_clock<'s>(&'s self, series: &'s Series) -> Option<&'s str> {
        if !series.points.is_empty() || !self.report.device.is_simulated() {
            return None;
        }
        let is_timed = |name: &&str| self.table.timed.iter().any(|timed| timed == name);
        [series.name.as_str(), self.plot.x.as_str()]
            .into_iter()
            .find(is_timed)
    }

    fn reasons(&self, series: &Series) -> Vec<String> {
        let is_empty = series.points.is_empty();
        if is_empty && series.lacks.is_empty() {
            return vec![self.absent("no row has a value", &series.name)];
        }
        let lacks = series.lacks.iter();
        lacks
            .filter(|(lack, _)| is_empty || lack.kind != Kind::Absent)
            .map(|(lack, count)| self.reason(*lack, *count, series))
            .collect()
    }

    fn reason(&self, lack: Lack, count: usize, series: &Series) -> String {
        let of = match lack.of_x {
            true => format!(" whose {}", self.plot.x),
            false => " whose value".to_owned(),
        };
        let points = match count {
            1 => "1 point".to_owned(),
            count => format!("{count} points"),
        };
        match (lack.kind, lack.of_x) {
            (Kind::Absent, true) => {
                let what = format!("no {} in {}", self.plot.x, rows(count));
                self.absent(&what, &self.plot.x)
            }
            (Kind::Absent, false) => {
                let what = format!("no value in {}", rows(count));
                self.absent(&what, &series.name)
            }
            (Kind::NoNumber, _) => format!("{points}{of} is no number"),
            (Kind::Beyond, _) => format!("{points}{of} is beyond ±{MAGNITUDE_MAX:e}"),
            (Kind::NotPositive, _) => {
                format!("{points} at or below zero, which a logarithmic axis has no place for")
            }
        }
    }

    /// With what the table's notes say of the column.
    fn absent(&self, what: &str, column: &str) -> String {
        match why_empty(self.table, column).as_slice() {
            [] => what.to_owned(),
            notes => format!("{what} ({})", notes.join("; ")),
        }
    }
}

const NO_CLOCK: &str = "the simulated device has no clock";

fn rows(count: usize) -> String {
    match count {
        1 => "1 row".to_owned(),
        count => format!("{count} rows"),
    }
}
