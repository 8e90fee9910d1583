//! What failed, and how it is told.

use crate::report::record::CaseRecord;
use crate::terms::Outcome;

/// Excerpt lines shown of a finding.
const DETAIL_LINES_MAX: usize = 12;
/// Findings shown of a case.
const FINDINGS_MAX: usize = 4;

/// A failure or error. Errors with one and the same reason are told once.
pub(in crate::report) struct Trouble {
    pub outcome: Outcome,
    pub ids: Vec<String>,
    /// What was found, excerpts indented.
    pub lines: Vec<String>,
    pub repro: String,
}

pub(super) fn of(cases: &[CaseRecord]) -> Vec<Trouble> {
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
