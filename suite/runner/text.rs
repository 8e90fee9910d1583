//! A record as the text of a failed test.

use std::fmt::Write;

use crate::report::record::{CaseRecord, PRINTED};
use crate::terms::Outcome;

/// Why nothing is run, for standard error. Rendered problems are laid out in lines of their own, below the word.
pub fn refusal(problem: impl std::fmt::Display) -> String {
    let problem = problem.to_string();
    let laid_out = problem.starts_with([' ', '\n']) || problem.trim_end().contains('\n');
    match laid_out {
        true => format!("error:\n{}", problem.trim_start_matches('\n')),
        false => format!("error: {problem}"),
    }
}

/// One line: the first thing that is wrong.
pub(super) fn headline(record: &CaseRecord) -> String {
    let finding = record.findings.first().map(ToString::to_string);
    let reason = record.reason.as_ref().map(ToString::to_string);
    let waiver = record.waiver.as_ref().map(ToString::to_string);
    let what = match record.outcome {
        Outcome::Waived => waiver.or(reason).or(finding),
        Outcome::Error => reason.or(finding),
        _ => finding.or(reason),
    };
    match what {
        Some(what) => format!("{}: {what}", record.outcome),
        None => record.outcome.to_string(),
    }
}

/// Everything: reason, findings with their excerpts and places, what was printed, and how to run it again.
pub(super) fn explanation(record: &CaseRecord) -> String {
    let mut text = format!("{}\n", record.outcome);
    if let Some(reason) = &record.reason {
        push(&mut text, &format!("  {reason}"));
    }
    for finding in &record.findings {
        push(&mut text, &format!("  {finding}"));
        for line in &finding.detail {
            push(&mut text, &format!("    {line}"));
        }
        if let Some(site) = &finding.site {
            let [block, thread] =
                [site.block, site.thread].map(|[x, y, z]| format!("({x},{y},{z})"));
            let source = site.source.as_deref().unwrap_or("no source line");
            push(
                &mut text,
                &format!(
                    "    at {source}, kernel {}, PTX line {}: {}; block {block}, thread {thread}",
                    site.kernel, site.ptx_line, site.instruction
                ),
            );
        }
    }
    if let Some(health) = &record.health {
        push(&mut text, &format!("  health: {health}"));
    }
    if let Some(scheduled) = &record.scheduled {
        push(&mut text, &format!("  {scheduled}"));
    }
    for name in PRINTED {
        if let Some(printed) = record.reported.get(name).and_then(|v| v.as_str()) {
            push(&mut text, &format!("  {name}:"));
            for line in printed.lines() {
                push(&mut text, &format!("    {line}"));
            }
        }
    }
    push(&mut text, &format!("  again: {}", record.repro));
    text
}

fn push(text: &mut String, line: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::{Finding, Reason, Site};
    use crate::runner::blank::blank_record;
    use crate::terms::{FindingKind, ReasonKind};

    #[test]
    fn a_failure_tells_findings_excerpt_place_and_command() {
        let mut record = blank_record("s::g::n=1::jit");
        record.outcome = Outcome::Fail;
        record.repro = "cuda-gates run --exact s::g::n=1::jit".into();
        record
            .reported
            .insert(PRINTED[0].into(), "from the kernel\n".into());
        let site = Site {
            kernel: "scatter".into(),
            instruction: "st.global.u32 [%rd1], %r1;".into(),
            ptx_line: 7,
            source: Some("scatter.cu:3".into()),
            block: [1, 0, 0],
            thread: [2, 0, 0],
            address: None,
        };
        let finding = Finding::new(FindingKind::Mismatch, "1 of 2 elements")
            .with_detail(vec!["[0] got 1, want 2".into()])
            .at(site);
        record.findings = vec![finding];
        assert_eq!(
            explanation(&record),
            "fail\n  \
               mismatch: 1 of 2 elements\n    \
                 [0] got 1, want 2\n    \
                 at scatter.cu:3, kernel scatter, PTX line 7: st.global.u32 [%rd1], %r1;; \
                 block (1,0,0), thread (2,0,0)\n  \
               stdout:\n    \
                 from the kernel\n  \
               again: cuda-gates run --exact s::g::n=1::jit\n"
        );
    }

    #[test]
    fn what_is_laid_out_stands_below_the_word() {
        assert_eq!(refusal("no such folder"), "error: no such folder");
        assert_eq!(refusal("one\n"), "error: one\n");
        assert_eq!(
            refusal("  × wrong\n   ╭─[a.yaml:1:1]\n"),
            "error:\n  × wrong\n   ╭─[a.yaml:1:1]\n"
        );
        assert_eq!(refusal("one\ntwo"), "error:\none\ntwo");
    }

    #[test]
    fn an_error_begins_with_its_reason() {
        let mut record = blank_record("s::g::jit");
        record.outcome = Outcome::Error;
        record.reason = Some(Reason::new(ReasonKind::Hang, "no answer within 2 s"));
        record.findings = vec![Finding::new(FindingKind::Race, "between two threads")];
        assert_eq!(headline(&record), "error: hang: no answer within 2 s");
    }
}
