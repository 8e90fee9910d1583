//! What a summary says, whatever it is written in: the parts that the terminal and Markdown views share.

use std::borrow::Cow;

use indexmap::IndexMap;
use serde_json::Value;

use super::record::{CaseRecord, Report, RunRecord, TableRecord, Timing, Totals};
use crate::terms::{ImageKind, Outcome};

/// Excerpt lines shown of a finding.
const DETAIL_LINES_MAX: usize = 12;
/// Findings shown of a case.
const FINDINGS_MAX: usize = 4;

pub(super) struct Summary {
    /// Label and text.
    pub header: Vec<(&'static str, String)>,
    pub troubles: Vec<Trouble>,
    pub gates: Vec<Gates>,
    /// Timing tables, then the suites' own.
    pub grids: Vec<Grid>,
    /// Skip reason → number of cases.
    pub skips: IndexMap<String, usize>,
    /// `216 passed, 0 failed, 3 skipped in 1.2 s`.
    pub totals: String,
}

/// A failure or error. Errors with one and the same reason are told once.
pub(super) struct Trouble {
    pub outcome: Outcome,
    pub ids: Vec<String>,
    /// What was found, excerpts indented.
    pub lines: Vec<String>,
    pub repro: String,
}

/// Per gate of a suite, how its cases ended.
pub(super) struct Gates {
    pub suite: String,
    pub rows: Vec<GateRow>,
}

pub(super) struct GateRow {
    pub gate: String,
    /// What a control gate must end in: `fail: mismatch`. Empty for the others.
    pub expected: String,
    pub totals: Totals,
}

impl Gates {
    /// The table's head, and how many of its columns are words. The controls' column is there where there are any.
    pub fn columns(&self) -> (Vec<String>, usize) {
        let counts = ["pass", "fail", "skip", "waived", "error"];
        let words: &[&str] = if self.has_controls() {
            &["gate", "passes on"]
        } else {
            &["gate"]
        };
        let columns = words.iter().chain(&counts).map(|&c| c.to_owned()).collect();
        (columns, words.len())
    }

    /// The table's body; `none` stands for a count of zero.
    pub fn cells(&self, none: &str) -> Vec<Vec<String>> {
        let controls = self.has_controls();
        let row = |row: &GateRow| {
            let mut cells = vec![row.gate.clone()];
            cells.extend(controls.then(|| row.expected.clone()));
            let Totals {
                pass,
                fail,
                skip,
                waived,
                error,
            } = row.totals;
            let counts = [pass, fail, skip, waived, error].map(|count| match count {
                0 => none.to_owned(),
                count => count.to_string(),
            });
            cells.extend(counts);
            cells
        };
        self.rows.iter().map(row).collect()
    }

    fn has_controls(&self) -> bool {
        self.rows.iter().any(|row| !row.expected.is_empty())
    }
}

#[derive(Clone)]
pub(super) struct Grid {
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
        let mut grids = timing_grids(report);
        let tables = report.tables.iter().filter(|table| !table.rows.is_empty());
        grids.extend(tables.map(table_grid));
        Self {
            header: header(report),
            troubles: troubles(&report.cases),
            gates: gates(&report.cases),
            grids,
            skips,
            totals: totals(report),
        }
    }
}

fn totals(report: &Report) -> String {
    let mut line = report.totals.line();
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

fn header(report: &Report) -> Vec<(&'static str, String)> {
    let mut lines = vec![(
        "suite",
        match (&report.suite.commit, report.suite.dirty) {
            (Some(commit), dirty) => format!(
                "cuda-gates {}, commit {}{}",
                report.suite.version,
                commit.chars().take(12).collect::<String>(),
                if dirty == Some(true) { " (dirty)" } else { "" }
            ),
            (None, _) => format!("cuda-gates {}", report.suite.version),
        },
    )];
    match (&report.device.info, &report.device.unavailable) {
        (Some(info), _) => {
            let (major, minor) = info.compute_capability;
            lines.push(("device", format!("{}, cc {major}.{minor}", info.name)));
        }
        (None, Some(reason)) => lines.push(("device", format!("none ({reason})"))),
        (None, None) => lines.push(("device", "none".to_owned())),
    }
    if let Some(driver) = &report.device.driver_version {
        let cuda = report
            .device
            .info
            .as_ref()
            .and_then(|i| i.cuda_driver_version);
        let cuda = cuda.map_or_else(String::new, |v| {
            format!(", CUDA {}.{}", v / 1000, v % 1000 / 10)
        });
        lines.push(("driver", format!("{driver}{cuda}")));
    }
    let compilers = compilers(&report.cases);
    let images = match compilers.keys().collect::<Vec<_>>().as_slice() {
        [] => String::new(),
        [one] => format!(", image {one}"),
        many => {
            let names: Vec<&str> = many.iter().map(|image| image.name()).collect();
            format!(", images {}", names.join(", "))
        }
    };
    let state = match report.run {
        RunRecord { joined: true, .. } => ", of many processes",
        RunRecord {
            complete: false, ..
        } => ", incomplete",
        RunRecord { filtered: true, .. } => ", filtered",
        _ => "",
    };
    lines.push(("profile", format!("{}{images}", report.run.profile)));
    let compiled: Vec<String> = compilers
        .iter()
        .filter(|(_, compilers)| !compilers.is_empty())
        .map(|(image, compilers)| format!("{image} from {}", compilers.join(" and ")))
        .collect();
    if !compiled.is_empty() {
        lines.push(("kernels", compiled.join("; ")));
    }
    lines.push(("run", format!("{}{state}", report.run.id)));
    lines
}

/// Image → what compiled the code of its cases.
fn compilers(cases: &[CaseRecord]) -> IndexMap<ImageKind, Vec<&str>> {
    let mut images: IndexMap<ImageKind, Vec<&str>> = IndexMap::new();
    for case in cases {
        let known = images.entry(case.image).or_default();
        for kernel in &case.kernels {
            if !known.contains(&kernel.compiler.as_str()) {
                known.push(&kernel.compiler);
            }
        }
    }
    images
}

fn troubles(cases: &[CaseRecord]) -> Vec<Trouble> {
    let mut failed = Vec::new();
    let mut errors: Vec<Trouble> = Vec::new();
    for case in cases {
        match case.outcome {
            Outcome::Fail => failed.push(trouble(case)),
            Outcome::Error => {
                let new = trouble(case);
                match errors.iter_mut().find(|known| known.lines == new.lines) {
                    Some(known) => known.ids.extend(new.ids),
                    None => errors.push(new),
                }
            }
            Outcome::Pass | Outcome::Skip | Outcome::Waived => {}
        }
    }
    failed.extend(errors);
    failed
}

fn trouble(case: &CaseRecord) -> Trouble {
    let mut lines: Vec<String> = Vec::new();
    if let Some(reason) = &case.reason {
        lines.extend(reason.to_string().lines().map(str::to_owned));
    }
    for finding in case.findings.iter().take(FINDINGS_MAX) {
        lines.extend(finding.to_string().lines().map(str::to_owned));
        let shown = finding.detail.iter().take(DETAIL_LINES_MAX);
        lines.extend(shown.map(|line| format!("  {line}")));
        if finding.detail.len() > DETAIL_LINES_MAX {
            let more = finding.detail.len() - DETAIL_LINES_MAX;
            lines.push(format!("  … {more} more lines in report.json"));
        }
        if let Some(site) = &finding.site {
            let ([bx, by, bz], [tx, ty, tz]) = (site.block, site.thread);
            let source = site.source.as_ref().map_or_else(
                || format!("PTX line {}", site.ptx_line),
                |source| format!("{source}, PTX line {}", site.ptx_line),
            );
            lines.push(format!(
                "  at {}: `{}` ({source}), block ({bx},{by},{bz}) thread ({tx},{ty},{tz})",
                site.kernel, site.instruction
            ));
        }
    }
    if case.findings.len() > FINDINGS_MAX {
        let more = case.findings.len() - FINDINGS_MAX;
        lines.push(format!("… {more} more findings in report.json"));
    }
    Trouble {
        outcome: case.outcome,
        ids: vec![case.id.clone()],
        lines,
        repro: case.repro.clone(),
    }
}

fn gates(cases: &[CaseRecord]) -> Vec<Gates> {
    let mut suites: IndexMap<&str, IndexMap<&str, (Vec<&str>, Totals)>> = IndexMap::new();
    for case in cases {
        let gates = suites.entry(&case.suite).or_default();
        let (expected, totals) = gates.entry(&case.gate).or_default();
        totals.add(case.outcome);
        if let Some(expects) = case.expected.as_deref()
            && !expected.contains(&expects)
        {
            expected.push(expects);
        }
    }
    let row = |(gate, (expected, totals)): (&str, (Vec<&str>, Totals))| GateRow {
        gate: gate.to_owned(),
        expected: expected.join(", "),
        totals,
    };
    suites
        .into_iter()
        .map(|(suite, gates)| Gates {
            suite: suite.to_owned(),
            rows: gates.into_iter().map(row).collect(),
        })
        .collect()
}

/// The timing table of each case that has times to show. A control's times are of a kernel that is wrong.
fn timing_grids(report: &Report) -> Vec<Grid> {
    let simulated = report.device.is_simulated();
    let any = |case: &CaseRecord| !case.timings.is_empty() || !case.skipped_rows.is_empty();
    let shown = |case: &&CaseRecord| any(case) && case.expected.is_none();
    let cases = report.cases.iter().filter(shown);
    let mut grids: Vec<Grid> = cases.map(|case| timing_grid(case, simulated)).collect();
    if let (true, Some(last)) = (simulated, grids.last_mut()) {
        last.notes
            .push("The simulated device has no clock: times need hardware.".to_owned());
    }
    grids
}

fn timing_grid(case: &CaseRecord, simulated: bool) -> Grid {
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
        notes: timing_notes(case),
        spare: (!simulated).then_some(3),
    }
}

/// What a timing table's cells do not say: which rows were skipped and why, and what was not judged for it.
fn timing_notes(case: &CaseRecord) -> Vec<String> {
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

fn table_grid(table: &TableRecord) -> Grid {
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

/// A cell: integers with thousands separated, floats with about four digits (below 0.001 and from 10¹⁵ on with an
/// exponent), a dash for `null`.
fn number(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::Number(n) if n.is_f64() => float(n.as_f64().unwrap_or(f64::NAN)),
        Value::Number(n) => grouped(&n.to_string()),
        other => plain(other),
    }
}

/// From here on a number without an exponent is digits that nobody measured.
const PLAIN_MAX: f64 = 1e15;

fn scientific(value: f64) -> String {
    format!("{value:.3e}")
}

/// So many decimals, where they say something: neither a row of digits nor a zero that is none.
fn fixed(value: f64, decimals: usize) -> String {
    let a = value.abs();
    let vanishes = a > 0.0 && a < 0.5 * 0.1f64.powi(decimals as i32);
    match a >= PLAIN_MAX || vanishes {
        true => scientific(value),
        false => format!("{value:.decimals$}"),
    }
}

fn float(value: f64) -> String {
    match value.abs() {
        a if a >= PLAIN_MAX || (a > 0.0 && a < 1e-3) => scientific(value),
        a if a >= 1000.0 => grouped(&format!("{value:.0}")),
        a if a >= 100.0 => format!("{value:.1}"),
        a if a >= 10.0 => format!("{value:.2}"),
        a if a >= 1.0 => format!("{value:.3}"),
        _ => format!("{value:.4}"),
    }
}

/// `8387997` → `8,387,997`.
fn grouped(digits: &str) -> String {
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", digits),
    };
    let mut out = String::from(sign);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A value without quotes.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
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
