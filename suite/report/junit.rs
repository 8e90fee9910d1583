//! The record as JUnit XML: one test suite a suite. The only place that names quick-junit.

use std::time::Duration;

use indexmap::IndexMap;
use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};

use super::record::{CaseRecord, Report, RunProblem, RunRule, Totals};
use crate::terms::Outcome;

/// `junit.xml`. A waived case counts as skipped, with its reason.
///
/// # Errors
/// Only when the XML writer fails.
pub fn junit_xml(report: &Report) -> Result<String, quick_junit::SerializeError> {
    let mut suites: IndexMap<&str, Vec<&CaseRecord>> = IndexMap::new();
    for case in &report.cases {
        suites.entry(&case.suite).or_default().push(case);
    }
    let mut junit = quick_junit::Report::new("cuda-gates");
    junit.set_time(duration(report.run.wall_ms));
    for (name, cases) in suites {
        let mut suite = TestSuite::new(name);
        suite.set_time(duration(cases.iter().map(|c| c.duration_ms).sum()));
        for (key, value) in properties(report) {
            suite.add_property((key, value.as_str()));
        }
        for (kind, count) in Totals::of(cases.iter().copied()).skips.each() {
            let name = format!("skipped: {kind}");
            suite.add_property((name.as_str(), count.to_string().as_str()));
        }
        suite.add_test_cases(cases.into_iter().map(test_case));
        junit.add_test_suite(suite);
    }
    if !report.run.problems.is_empty() {
        junit.add_test_suite(of_run(&report.run.problems));
    }
    junit.to_string()
}

/// Rules for whole runs, each broken one a failed test: a run that breaks one does not pass.
fn of_run(problems: &[RunProblem]) -> TestSuite {
    let mut suite = TestSuite::new("the run as a whole");
    let mut places: IndexMap<RunRule, usize> = IndexMap::new();
    for problem in problems {
        let place = places.entry(problem.rule).or_default();
        *place += 1;
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_type(problem.rule.name());
        status.set_message(xml_text(&problem.message));
        let mut test = TestCase::new(format!("run::{}::{place}", problem.rule), status);
        test.set_classname("run");
        suite.add_test_case(test);
    }
    suite
}

fn properties(report: &Report) -> Vec<(&'static str, String)> {
    let mut properties = vec![
        ("run", report.run.id.clone()),
        ("started", report.run.started.clone()),
        ("profile", report.run.profile.clone()),
    ];
    if let Some(schedules) = &report.run.schedules {
        properties.push(("schedules", schedules.to_string()));
    }
    if let Some(info) = &report.device.info {
        let (major, minor) = info.compute_capability;
        properties.push(("device", info.name.clone()));
        properties.push(("compute_capability", format!("{major}.{minor}")));
    }
    if let Some(driver) = &report.device.driver_version {
        properties.push(("driver_version", driver.clone()));
    }
    properties
}

fn test_case(case: &CaseRecord) -> TestCase {
    let kind = match case.outcome {
        Outcome::Pass => None,
        Outcome::Fail => Some(TestCaseStatus::non_success(NonSuccessKind::Failure)),
        Outcome::Error => Some(TestCaseStatus::non_success(NonSuccessKind::Error)),
        Outcome::Skip | Outcome::Waived => Some(TestCaseStatus::skipped()),
    };
    let status = kind.map_or_else(TestCaseStatus::success, |mut status| {
        let finding = case.findings.first();
        let (ty, message) = match (&case.waiver, &case.reason, finding) {
            (Some(waiver), ..) => (case.outcome.name(), waiver.to_string()),
            (None, Some(reason), _) => (reason.kind.name(), reason.message.clone()),
            (None, None, Some(finding)) => (finding.kind.name(), finding.message.clone()),
            (None, None, None) => (case.outcome.name(), String::new()),
        };
        status.set_type(ty);
        status.set_message(xml_text(&message));
        if !matches!(case.outcome, Outcome::Skip | Outcome::Waived) {
            status.set_description(xml_text(&description(case)));
        }
        status
    });
    let mut test = TestCase::new(xml_text(&case.id), status);
    test.set_classname(xml_text(&format!("{}.{}", case.suite, case.gate)));
    test.set_time(duration(case.duration_ms));
    if !case.subject.is_empty() {
        test.add_property(("subject", xml_text(&case.subject).as_str()));
    }
    test
}

fn description(case: &CaseRecord) -> String {
    let mut text = String::new();
    for finding in &case.findings {
        text.push_str(&format!("{finding}\n"));
        for line in &finding.detail {
            text.push_str(&format!("  {line}\n"));
        }
    }
    if let Some(health) = &case.health {
        text.push_str(&format!("health: {health}\n"));
    }
    if let Some(scheduled) = &case.scheduled {
        text.push_str(&format!("{scheduled}\n"));
    }
    text.push_str(&format!("again: {}\n", case.repro));
    text
}

/// XML 1.0 has no place for U+FFFE and U+FFFF; the writer drops the control characters itself.
fn xml_text(text: &str) -> String {
    text.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

/// A time from a record, which may be anything in a file someone else wrote.
fn duration(ms: f64) -> Duration {
    Duration::try_from_secs_f64(ms / 1000.0).unwrap_or_default()
}
