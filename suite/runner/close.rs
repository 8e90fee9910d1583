//! A run of many processes, none of which knew the others' cases, judged as one.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use serde_json::Value;

use super::blank::unjudged;
use super::options::{DeviceChoice, Options};
use super::planned::{PlanError, Planned};
use super::repro::{Repro, target_repro};
use super::resume::{FOREIGN_MEND, foreign};
use super::rules::{self, Whole};
use super::session::suite_record;
use super::tables::Columns;
use super::verdict::Verdict;
use super::{PlannedCase, waiving};
use crate::archive::{self, ArchiveError, Loaded};
use crate::expr::Engine;
use crate::identity::{self, Field};
use crate::report::record::{CaseRecord, Report, RunProblem, RunRule};
use crate::report::{Facts, Seal, tables};
use crate::spec::model::Expect;
use crate::terms::{DeviceKind, Outcome, Profile};
use crate::worker::execute::expected;
use crate::worker::{Address, NvmlLaunch, NvmlProcess};

/// A run that is closed.
pub struct Closed {
    pub report: Report,
    pub folder: PathBuf,
    pub verdict: Verdict,
}

/// Why a run cannot be closed.
#[derive(Debug, thiserror::Error)]
pub enum CloseError {
    #[error("run {0} came to its end by itself: `cuda-gates report show {0}` shows it")]
    Ended(String),
    #[error(
        "run {0} is of one process and did not reach its end: `cuda-gates run --resume {0}` finishes it"
    )]
    Unfinished(String),
    #[error("the run's profile is `{0}`, which this cuda-gates does not know")]
    Profile(String),
    #[error("{0}: close the run with the specs that it ran (--specs DIR)")]
    Specs(String),
    #[error("run {0}. {FOREIGN_MEND}")]
    Foreign(String),
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error(transparent)]
    Archive(#[from] ArchiveError),
}

/// Adds the cases that were skipped before any process ran, holds the run to the rules for whole runs unless
/// `options` select among its cases, and writes its report. `options` say where specs and kernels are; device, profile
/// and images are the run's own. `folder` is the run's. A report that it has already is replaced; one that cannot be
/// read any more is kept beside it.
///
/// # Errors
/// A run with an end of its own, or that of one process; one that was changed after it was written; specs that are not
/// the ones it ran; results of cases that these do not have; an archive that cannot be read or written.
pub fn close(folder: &Path, options: &Options) -> Result<Closed, CloseError> {
    if let Some(found) = archive::last_written(folder)? {
        of_many(&found)?;
    }
    let loaded = archive::load_results(folder)?;
    of_many(&loaded)?;
    let options = of_run(&loaded.report, options)?;
    let planned = Planned::new(&options)?;
    let facts = Facts::from(loaded.report.clone());
    same_specs(&facts, &planned)?;
    if let Some(told) = foreign(&planned.cases, &loaded.report.cases) {
        return Err(CloseError::Foreign(told));
    }
    let cases = planned.select(&options.selection);
    let closing = Closing {
        filtered: options.selection.is_filtered(),
        repro: target_repro(&options),
        kind: planned.chosen.kind(),
        planned: &planned,
        cases: &cases,
    };
    let report = closing.report(facts, loaded);
    archive::close(folder, &report)?;
    let verdict = Verdict::of(&report.cases).held_to(&report.run.problems);
    Ok(Closed {
        report,
        folder: folder.to_owned(),
        verdict,
    })
}

const NO_SEAL: &str = "written before there were seals, or its seal was taken away";

/// That many processes wrote the run, and nobody else since.
fn of_many(loaded: &Loaded) -> Result<(), CloseError> {
    let run = &loaded.report.run;
    // Without a seal nobody knows: those of many processes do not record choices, by which it would be told.
    let unsealed = (run.joined && loaded.seal == Seal::Absent).then(|| NO_SEAL.to_owned());
    if let Some(what) = loaded.seal.broken().or(unsealed) {
        let path = loaded.path.clone();
        return Err(ArchiveError::Changed { path, what }.into());
    }
    match (run.joined, run.complete) {
        (true, _) => Ok(()),
        (false, true) => Err(CloseError::Ended(run.id.clone())),
        (false, false) => Err(CloseError::Unfinished(run.id.clone())),
    }
}

/// The choices that the run was made by.
fn of_run(report: &Report, options: &Options) -> Result<Options, CloseError> {
    let run = &report.run;
    let profile = Profile::from_name(&run.profile);
    let address = match report.device.is_simulated() {
        true => Address::Sim,
        false => Address::Ordinal(0),
    };
    let recorded = Some(run.images.clone()).filter(|images| !images.is_empty());
    Ok(Options {
        device: DeviceChoice::One(address),
        profile: Some(profile.ok_or_else(|| CloseError::Profile(run.profile.clone()))?),
        images: recorded.or_else(|| options.images.clone()),
        schedules: Default::default(),
        ..options.clone()
    })
}

/// Cases of other specs would be missing, or skipped for other reasons.
fn same_specs(facts: &Facts, planned: &Planned) -> Result<(), CloseError> {
    let suites = planned.suites.iter().map(|suite| suite.sha256.as_str());
    let now: HashSet<&str> = suites.chain([planned.waivers.sha256.as_str()]).collect();
    let then = &facts.suite.specs;
    let gone = then.iter().find(|spec| !now.contains(spec.sha256.as_str()));
    if let Some(spec) = gone {
        let message = format!("{} is not what it was when the run began", spec.path);
        return Err(CloseError::Specs(message));
    }
    let known = |sha256: &str| then.iter().any(|spec| spec.sha256 == sha256);
    let now = suite_record(&planned.suites, &planned.waivers).specs;
    match now.iter().find(|spec| !known(&spec.sha256)) {
        Some(spec) => Err(CloseError::Specs(format!(
            "{} was not among the run's specs",
            spec.path
        ))),
        None => Ok(()),
    }
}

struct Closing<'a> {
    filtered: bool,
    repro: Repro,
    kind: DeviceKind,
    planned: &'a Planned,
    /// Those that were selected.
    cases: &'a [PlannedCase],
}

impl Closing<'_> {
    fn report(&self, mut facts: Facts, loaded: Loaded) -> Report {
        let (records, missing) = self.records(loaded.report.cases);
        let now = self.read_again(&mut facts);
        let whole = Whole {
            suites: &self.planned.suites,
            waivers: &self.planned.waivers,
            cases: self.cases,
            records: &records,
            kind: self.kind,
            device: waiving::on(&facts.device),
            today: waiving::day(&facts.run.started),
        };
        let mut waivers = whole.waivers();
        let mut problems = incomplete(&missing, loaded.broken_lines);
        problems.extend(rules::results(&loaded.differing));
        if self.filtered || !missing.is_empty() {
            waivers.retain(|waiver| waiver.waived > 0);
        } else {
            problems.extend(whole.problems(&waivers));
        }
        // The machine's, whatever was selected.
        problems.extend(
            now.iter()
                .flat_map(|now| rules::identity(&facts.device.identity, now)),
        );
        problems.extend(rules::health(&records, &facts.device.after));
        let run = &mut facts.run;
        run.complete = missing.is_empty();
        run.filtered = self.filtered;
        run.finished = Some(archive::now());
        (run.problems, run.waivers) = (problems, waivers);
        let columns = Columns(Engine::new());
        let tables = tables::evaluate(&self.planned.suites, &records, &columns);
        facts.into_report(records, tables)
    }

    /// The results in the order of the cases, with those that were skipped unrun; and the cases that have none.
    fn records(&self, results: Vec<CaseRecord>) -> (Vec<CaseRecord>, Vec<String>) {
        let mut results: IndexMap<String, CaseRecord> = results
            .into_iter()
            .map(|record| (record.id.clone(), record))
            .collect();
        let mut records = Vec::new();
        let mut missing = Vec::new();
        for PlannedCase { case, decided } in self.cases {
            match (results.shift_remove(&case.id), decided) {
                (Some(record), _) => records.push(record),
                (None, Some(reason)) => {
                    let mut record = unjudged(case, Outcome::Skip, reason.clone());
                    record.expected =
                        expected(self.expectation(&case.suite, &case.gate), self.kind);
                    record.repro = (self.repro)(&case.id, None);
                    records.push(record);
                }
                (None, None) => missing.push(case.id.clone()),
            }
        }
        // What else ran is judged too.
        records.extend(results.into_values());
        (records, missing)
    }

    fn expectation(&self, suite: &str, gate: &str) -> &Expect {
        let suite = self.planned.suites.iter().find(|s| s.name == suite);
        let gate = suite.and_then(|suite| suite.gates.get(gate));
        gate.map_or(&Expect::Pass, |gate| &gate.expect)
    }

    /// A card is read once more: no process knew that it was the last. One that cannot be found is gone, unless this
    /// is another machine.
    fn read_again(&self, facts: &mut Facts) -> Option<BTreeMap<String, Field>> {
        let uuid = facts.device.info.as_ref()?.uuid.clone()?;
        if self.kind != DeviceKind::Cuda || uuid.starts_with("redacted:") {
            return None;
        }
        let now = NvmlProcess::start(NvmlLaunch::this_executable()).identity(Some(&uuid));
        let is_there = |field: &Field| matches!(field, Field::Value(_));
        if !now.fields.get("uuid").is_some_and(is_there) && !is_here(&facts.host) {
            return None;
        }
        facts.device.after = now.live;
        Some(now.fields)
    }
}

/// Whether a run's host is this machine, or one that nothing tells from it.
fn is_here(host: &BTreeMap<String, Value>) -> bool {
    let here = identity::host();
    let same = |name: &&str| host.get(*name) == here.get(*name);
    ["kernel", "cpu", "memory_bytes"].iter().all(same)
}

fn incomplete(missing: &[String], broken_lines: usize) -> Vec<RunProblem> {
    let missing: Vec<&str> = missing.iter().map(String::as_str).collect();
    let mend = "they were not selected, or their processes died. Run them, or close the run with the filter it was \
                selected by";
    let mut problems = Vec::from_iter(rules::without_result(&missing, mend));
    if broken_lines > 0 {
        let message =
            format!("{broken_lines} lines of results.jsonl are broken: their cases are lost");
        let rule = RunRule::Incomplete;
        problems.push(RunProblem { rule, message });
    }
    problems
}

#[cfg(test)]
mod tests;
