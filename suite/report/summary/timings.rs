//! The tables of timing gates: a line a row, measured or simulated, skipped or not verified.

use indexmap::IndexMap;

use super::Grid;
use super::cells::{fixed, grouped, plain};
use crate::report::record::{CaseRecord, Report, Timing};

/// The timing table of each case that has times to show. A control's times are of a kernel that is wrong.
pub(super) fn grids(report: &Report) -> Vec<Grid> {
    let simulated = report.device.is_simulated();
    let any = |case: &CaseRecord| !case.timings.is_empty() || !case.skipped_rows.is_empty();
    let shown = |case: &&CaseRecord| any(case) && case.expected.is_none();
    let cases = report.cases.iter().filter(shown);
    let mut grids: Vec<Grid> = cases.map(|case| of_case(case, simulated)).collect();
    if let (true, Some(last)) = (simulated, grids.last_mut()) {
        last.notes
            .push("The simulated device has no clock: times need hardware.".to_owned());
    }
    grids
}

fn of_case(case: &CaseRecord, simulated: bool) -> Grid {
    let mut title = format!("{}::{}", case.suite, case.gate);
    for (axis, value) in &case.params {
        title.push_str(&format!(" {axis}={}", plain(value)));
    }
    title.push_str(&format!(" ({})", case.image));
    let columns: &[&str] = if simulated {
        &["row", "simulated instructions", "launches"]
    } else {
        &[
            "row",
            "mean ms",
            "median ms",
            "min – max ms",
            "× baseline",
            "GB/s",
            "launches",
            "cache",
        ]
    };
    let row = if simulated {
        simulated_row
    } else {
        measured_row
    };
    let mut rows: Vec<Vec<String>> = case.timings.iter().map(|(n, t)| row(n, t)).collect();
    for name in case.skipped_rows.keys() {
        let mut cells = vec![String::new(); columns.len()];
        cells[0].clone_from(name);
        cells[1] = SKIPPED.to_owned();
        rows.push(cells);
    }
    Grid {
        title,
        columns: columns.iter().map(|&c| c.to_owned()).collect(),
        labels: 1,
        rows,
        notes: notes(case),
        spare: (!simulated).then_some(3),
    }
}

/// What a timing table's cells do not say: which rows were skipped and why, and what was not judged for it.
fn notes(case: &CaseRecord) -> Vec<String> {
    let mut reasons: IndexMap<String, Vec<&str>> = IndexMap::new();
    for (row, reason) in &case.skipped_rows {
        reasons.entry(reason.to_string()).or_default().push(row);
    }
    let skipped = reasons
        .iter()
        .map(|(reason, rows)| format!("Skipped ({}): {reason}", rows.join(", ")));
    let not_judged = case
        .not_judged
        .keys()
        .map(|that| format!("Not judged, since a row it names is skipped: {that}"));
    skipped.chain(not_judged).collect()
}

/// Stands where the first number of a row would.
const SKIPPED: &str = "skipped";

/// A row's name, with the clock of a host rung.
fn row_name(name: &str, timing: &Timing) -> String {
    match timing.clock.as_str() {
        "host" => format!("{name} (host clock)"),
        _ => name.to_owned(),
    }
}

/// Stands where the numbers of a row would: its output is not what it should be.
const NOT_VERIFIED: &str = "not verified";

fn simulated_row(name: &str, timing: &Timing) -> Vec<String> {
    let instructions = match timing.simulated_instructions {
        Some(n) => grouped(&n.to_string()),
        None if timing.clock == "host" => String::new(),
        None => NOT_VERIFIED.to_owned(),
    };
    vec![
        row_name(name, timing),
        instructions,
        timing.launches.to_string(),
    ]
}

fn measured_row(name: &str, timing: &Timing) -> Vec<String> {
    let optional =
        |value: Option<f64>, show: fn(f64) -> String| value.map_or_else(String::new, show);
    let range = timing.min_ms.zip(timing.max_ms);
    let mean = match (timing.batch_mean_ms, timing.median_ms) {
        (None, None) => NOT_VERIFIED.to_owned(),
        (mean, _) => optional(mean, |v| fixed(v, 4)),
    };
    vec![
        row_name(name, timing),
        mean,
        optional(timing.median_ms, |v| fixed(v, 4)),
        range.map_or_else(String::new, |(min, max)| {
            format!("{} – {}", fixed(min, 4), fixed(max, 4))
        }),
        optional(timing.times_baseline, |v| fixed(v, 2)),
        optional(timing.gb_per_s, |v| fixed(v, 1)),
        timing.launches.to_string(),
        timing.cache.clone(),
    ]
}
