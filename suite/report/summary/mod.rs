//! What a summary says, whatever it is written in: the parts that the terminal and Markdown views share.

mod cells;
mod gates;
mod grid;
mod header;
mod timings;
mod troubles;

use indexmap::IndexMap;

use super::record::{CaseRecord, Report};
use crate::terms::Outcome;

pub(super) use gates::Gates;
pub(super) use grid::Grid;
pub(super) use troubles::Trouble;

pub(super) struct Summary {
    /// Label and text.
    pub header: Vec<(&'static str, String)>,
    /// Rules for whole runs that this one broke.
    pub problems: Vec<String>,
    pub troubles: Vec<Trouble>,
    pub gates: Vec<Gates>,
    /// Timing tables, then the suites' own.
    pub grids: Vec<Grid>,
    /// Skip reason → number of cases.
    pub skips: IndexMap<String, usize>,
    /// Waiver → number of cases.
    pub waived: IndexMap<String, usize>,
    /// `216 passed, 0 failed, 3 skipped in 1.2 s`.
    pub totals: String,
}

impl Summary {
    pub fn of(report: &Report) -> Self {
        let mut skips = IndexMap::new();
        for case in report.cases.iter().filter(|c| c.outcome == Outcome::Skip) {
            let reason = case
                .reason
                .as_ref()
                .map_or_else(|| "no reason given".to_owned(), |reason| reason.to_string());
            *skips.entry(reason).or_insert(0) += 1;
        }
        let mut waived = IndexMap::new();
        for case in report.cases.iter().filter(|c| c.outcome == Outcome::Waived) {
            *waived.entry(why_waived(case)).or_insert(0) += 1;
        }
        let mut grids = timings::grids(report);
        let tables = report.tables.iter().filter(|table| !table.rows.is_empty());
        grids.extend(tables.map(grid::of_table));
        Self {
            header: header::lines(report),
            problems: report
                .run
                .problems
                .iter()
                .map(ToString::to_string)
                .collect(),
            troubles: troubles::of(&report.cases),
            gates: gates::of(&report.cases),
            grids,
            skips,
            waived,
            totals: totals(report),
        }
    }
}

fn why_waived(case: &CaseRecord) -> String {
    let waiver = case.waiver.as_ref().map(ToString::to_string);
    let reason = case.reason.as_ref().map(ToString::to_string);
    waiver
        .or(reason)
        .unwrap_or_else(|| "no reason given".to_owned())
}

fn totals(report: &Report) -> String {
    let mut line = report.totals.line();
    line.push_str(&broken_rules(report.run.problems.len()));
    // A run that died left no times.
    if report.run.wall_ms > 0.0 {
        line.push_str(&format!(" in {}", seconds(report.run.wall_ms)));
    }
    if report.run.work_ms > 0.0 {
        let work = seconds(report.run.work_ms);
        line.push_str(&format!(
            " ({work} from the first allocation to the last verdict)"
        ));
    }
    line
}

/// `, 2 broken rules` behind the totals of a run: it fails though every case may have passed.
pub fn broken_rules(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => ", 1 broken rule".to_owned(),
        count => format!(", {count} broken rules"),
    }
}

/// `0.85 s`, `12.3 s`, `4 min 05 s`.
fn seconds(ms: f64) -> String {
    let s = ms / 1000.0;
    if s < 10.0 {
        format!("{s:.2} s")
    } else if s < 120.0 {
        format!("{s:.1} s")
    } else {
        let whole = s.round() as u64;
        format!("{} min {:02} s", whole / 60, whole % 60)
    }
}
