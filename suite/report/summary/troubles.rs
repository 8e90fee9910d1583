//! What failed, and how it is told.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::outcome::{Finding, Reason};
use crate::report::record::{CaseRecord, ChangeRecord, PRINTED, ScheduledRecord};
use crate::terms::Outcome;

/// Excerpt lines shown of a finding.
const DETAIL_LINES_MAX: usize = 12;
/// Findings shown of a case.
const FINDINGS_MAX: usize = 4;
/// Of what a case printed, the last lines, and characters of each.
const PRINTED_LINES_MAX: usize = 6;
const PRINTED_CHARS_MAX: usize = 200;

/// A failure or error. Errors that only temperature and clocks tell apart are told once.
pub(in crate::report) struct Trouble {
    pub outcome: Outcome,
    pub ids: Vec<String>,
    /// What was found, excerpts indented.
    pub lines: Vec<String>,
    pub repro: String,
}

pub(super) fn of(cases: &[CaseRecord]) -> Vec<Trouble> {
    let mut failed = Vec::new();
    let mut errors: Vec<(Essence, Trouble)> = Vec::new();
    for case in cases {
        match case.outcome {
            Outcome::Fail => failed.push(trouble(case)),
            Outcome::Error => {
                let essence = Essence::of(case);
                match errors.iter_mut().find(|(known, _)| *known == essence) {
                    Some((_, known)) => known.ids.push(case.id.clone()),
                    None => errors.push((essence, trouble(case))),
                }
            }
            Outcome::Pass | Outcome::Skip | Outcome::Waived => {}
        }
    }
    failed.extend(errors.into_iter().map(|(_, trouble)| trouble));
    failed
}

/// What two errors share that are told as one.
#[derive(PartialEq)]
struct Essence<'a> {
    reason: Option<&'a Reason>,
    findings: &'a [Finding],
    printed: [Option<&'a Value>; 2],
    changed: Option<(&'a BTreeMap<String, ChangeRecord>, &'a [Value])>,
    scheduled: Option<ScheduledRecord>,
}

impl<'a> Essence<'a> {
    fn of(case: &'a CaseRecord) -> Self {
        let health = case.health.as_ref();
        Self {
            reason: case.reason.as_ref(),
            findings: &case.findings,
            printed: PRINTED.map(|name| case.reported.get(name)),
            changed: health.map(|health| (&health.changed, &health.xid_events[..])),
            scheduled: case.scheduled,
        }
    }
}

/// The end of what a case wrote to each stream.
fn printed(case: &CaseRecord) -> Vec<String> {
    let streams = PRINTED.iter().filter_map(|name| {
        let text = case.reported.get(*name)?.as_str()?;
        let lines: Vec<&str> = text
            .lines()
            .filter(|line| !line.trim().is_empty())
            .collect();
        let first = lines.len().saturating_sub(PRINTED_LINES_MAX);
        let head = match first {
            0 => format!("{name}:"),
            more => format!("{name} ({more} lines before these in report.json):"),
        };
        let line = |line: &&str| {
            let shown: String = line.chars().take(PRINTED_CHARS_MAX).collect();
            format!("  {shown}")
        };
        (!lines.is_empty())
            .then(|| [vec![head], lines[first..].iter().map(line).collect()].concat())
    });
    streams.flatten().collect()
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
    lines.extend(printed(case));
    lines.extend(
        case.health
            .as_ref()
            .map(|health| format!("health: {health}")),
    );
    lines.extend(case.scheduled.map(|scheduled| scheduled.to_string()));
    Trouble {
        outcome: case.outcome,
        ids: vec![case.id.clone()],
        lines,
        repro: case.repro.clone(),
    }
}
