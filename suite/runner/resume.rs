//! Going on with a run that died: its choices again, its results kept, and nothing under it that has changed.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::options::{DeviceChoice, Options, Resume, Selection};
use super::planned::Planned;
use super::schedules::ScheduleChoice;
use super::{PlannedCase, Verdict};
use crate::archive::{Store, Unfinished};
use crate::report::Facts;
use crate::report::record::{
    CaseRecord, ChoicesRecord, DeviceRecord, RunRecord, SchedulesRecord, SuiteRecord,
};
use crate::terms::{DeviceKind, Profile};
use crate::worker::sources;

const DEVICE_MEND: &str = "Name its device with --device, or begin a new run";
pub(super) const FOREIGN_MEND: &str =
    "Take their lines out of results.jsonl, or run the gates again";
/// Differences told of each kind.
const TOLD_MAX: usize = 5;

/// What a run is to remember, so that it can be resumed.
pub(super) fn choices(
    options: &Options,
    planned: &Planned,
    cases: &[PlannedCase],
) -> ChoicesRecord {
    let mut ids = Sha256::new();
    for planned in cases {
        ids.update(planned.case.id.as_bytes());
        ids.update(b"\n");
    }
    let ids = ids.finalize();
    let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
    ChoicesRecord {
        device: match &options.device {
            DeviceChoice::Auto => "auto".to_owned(),
            DeviceChoice::All => "all".to_owned(),
            DeviceChoice::One(address) => address.to_string(),
        },
        profile: options.profile.map(|profile| profile.name().to_owned()),
        images: options.images.clone(),
        filters: options.selection.filters.clone(),
        exact: options.selection.exact,
        skip: options.selection.skip.clone(),
        specs: path(&options.specs),
        kernels: path(&options.kernels),
        timeout_s: options.timeout.as_secs_f64(),
        redact: options.redact,
        cases: cases.len(),
        cases_sha256: ids.iter().map(|byte| format!("{byte:02x}")).collect(),
        kernels_sha256: sources::hashes(&planned.suites, &planned.catalog).kernels_sha256,
    }
}

/// Takes up the run, and gives the options it was started with.
///
/// # Errors
/// When it cannot be resumed, with the reason.
pub(super) fn take_up(options: &Options, resume: &Resume) -> Result<(Options, Unfinished), String> {
    let store = Store::open(&options.reports);
    let unfinished = store.take_up(&resume.run).map_err(|e| e.to_string())?;
    let run = &unfinished.folder.facts().run;
    let choices = run.choices.as_ref();
    let choices =
        choices.ok_or_else(|| format!("run {} does not say what it was to run", run.id))?;
    let restored = restored(options, resume, run, choices)?;
    Ok((restored, unfinished))
}

fn restored(
    options: &Options,
    resume: &Resume,
    run: &RunRecord,
    choices: &ChoicesRecord,
) -> Result<Options, String> {
    let id = &run.id;
    let device = || {
        let hidden = |_| {
            let device = &choices.device;
            format!("run {id}: its device `{device}` has no such name here: name it with --device")
        };
        choices.device.parse().map_err(hidden)
    };
    let profile = |name: &str| {
        let known = Profile::from_name(name);
        known.ok_or_else(|| format!("run {id}: `{name}` is no profile"))
    };
    let timeout = Duration::try_from_secs_f64(choices.timeout_s)
        .map_err(|_| format!("run {id}: {} s is no deadline", choices.timeout_s))?;
    let folder = |named: &Option<PathBuf>, then: &Option<String>, option: &str| {
        let hidden = |then: &&String| choices.redact && then.starts_with('~');
        match (named, then) {
            (None, Some(then)) if hidden(&then) => Err(format!(
                "run {id}: it was recorded without the name of its folder `{then}`: name it with {option}"
            )),
            _ => Ok(named.clone().or_else(|| then.as_ref().map(PathBuf::from))),
        }
    };
    Ok(Options {
        device: resume.device.clone().map_or_else(device, Ok)?,
        profile: choices.profile.as_deref().map(profile).transpose()?,
        images: choices.images.clone(),
        reports: options.reports.clone(),
        specs: folder(&resume.specs, &choices.specs, "--specs")?,
        kernels: folder(&resume.kernels, &choices.kernels, "--kernels")?,
        timeout: resume.timeout.unwrap_or(timeout),
        schedules: schedules(run.schedules.as_ref()),
        selection: Selection {
            filters: choices.filters.clone(),
            exact: choices.exact,
            skip: choices.skip.clone(),
        },
        redact: choices.redact,
        quiet: options.quiet,
        resume: None,
    })
}

/// What asks for the schedules of a record.
fn schedules(record: Option<&SchedulesRecord>) -> ScheduleChoice {
    match record {
        None => ScheduleChoice::default(),
        Some(record) => ScheduleChoice {
            // One that is not the first was asked for by its seed alone.
            count: (record.only.is_none() && record.first != Some(1)).then_some(record.count),
            seed: record.seed,
            only: record.only,
        },
    }
}

/// That the device is of the kind that the run was on: what it selects depends on that.
///
/// # Errors
/// What was chosen, and what to do.
pub(super) fn same_kind(then: &Facts, now: DeviceKind) -> Result<(), String> {
    let wrong: Vec<String> = match &then.device.info {
        Some(info) if info.kind != now => {
            let (then, now) = (info.kind.name(), now.name());
            vec![format!(
                "it was on a device of kind {then}, this one is of kind {now}"
            )]
        }
        _ => Vec::new(),
    };
    refused(&then.run.id, &wrong, DEVICE_MEND)
}

/// That what was to run is what would run now.
///
/// # Errors
/// What differs, and what to do.
pub(super) fn same_suite(
    then: &Facts,
    suite: &SuiteRecord,
    choices: &ChoicesRecord,
) -> Result<(), String> {
    let mut wrong = Vec::new();
    let version = |suite: &SuiteRecord| match &suite.commit {
        Some(commit) => format!("cuda-gates {}, commit {commit}", suite.version),
        None => format!("cuda-gates {}", suite.version),
    };
    if version(&then.suite) != version(suite) {
        let (then, now) = (version(&then.suite), version(suite));
        wrong.push(format!("it was run by {then}, this is {now}"));
    }
    wrong.extend(specs(&then.suite, suite));
    // The recorded choices were there when the run was taken up.
    if let Some(recorded) = &then.run.choices {
        if recorded.kernels_sha256 != choices.kernels_sha256 {
            wrong.push("the kernels, or their PTX, have changed".to_owned());
        }
        if wrong.is_empty() && recorded.cases_sha256 != choices.cases_sha256 {
            let (then, now) = (recorded.cases, choices.cases);
            wrong.push(format!(
                "it selected {then} cases, the same choices now select {now}, or others"
            ));
        }
    }
    refused(
        &then.run.id,
        &wrong,
        "Start it where it was started, or name the same folders with --specs and --kernels; else begin a new run",
    )
}

/// That the results which are there are of cases that the run selects.
///
/// # Errors
/// The first of the others, and what to do.
pub(super) fn same_cases(
    then: &Facts,
    cases: &[PlannedCase],
    results: &[CaseRecord],
) -> Result<(), String> {
    let told = foreign(cases, results);
    let wrong: Vec<String> = told.into_iter().collect();
    refused(&then.run.id, &wrong, FOREIGN_MEND)
}

/// Results of cases that are none of these, in words.
pub(super) fn foreign(cases: &[PlannedCase], results: &[CaseRecord]) -> Option<String> {
    let selected: HashSet<&str> = cases.iter().map(|p| p.case.id.as_str()).collect();
    let is_foreign = |record: &&CaseRecord| !selected.contains(record.id.as_str());
    let first = results.iter().find(is_foreign)?;
    let count = results.iter().filter(is_foreign).count();
    Some(format!(
        "results.jsonl has results of {count} cases that it did not select (first {})",
        first.id
    ))
}

/// Specs by their names: their folder may be called otherwise here, or its name be hidden. No two are in one folder
/// under one name.
fn specs(then: &SuiteRecord, now: &SuiteRecord) -> Vec<String> {
    let find = |suite: &SuiteRecord, path: &str| {
        let mut specs = suite.specs.iter();
        specs
            .find(|spec| name(&spec.path) == name(path))
            .map(|spec| spec.sha256.clone())
    };
    let mut told: Vec<String> = then
        .specs
        .iter()
        .filter_map(|spec| match find(now, &spec.path) {
            None => Some(format!("{} is not there", spec.path)),
            Some(sha256) if sha256 != spec.sha256 => Some(format!("{} has changed", spec.path)),
            Some(_) => None,
        })
        .collect();
    let new = now
        .specs
        .iter()
        .filter(|spec| find(then, &spec.path).is_none());
    told.extend(new.map(|spec| format!("{} is new", spec.path)));
    let rest = told.len().saturating_sub(TOLD_MAX);
    told.truncate(TOLD_MAX);
    if rest > 0 {
        told.push(format!("{rest} more specs differ"));
    }
    told
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// That the device is the one that the run was on.
///
/// # Errors
/// How the run ends: an environment that has no such device, or a choice that cannot be.
pub(super) fn same_device(
    id: &str,
    then: &DeviceRecord,
    now: &DeviceRecord,
) -> Result<(), (Verdict, String)> {
    if let (Some(info), None, Some(reason)) = (&then.info, &now.info, &now.unavailable) {
        let name = &info.name;
        return Err((
            Verdict::Environment,
            format!("run {id} was on {name}, and no device opens now: {reason}"),
        ));
    }
    refused(id, &differences(then, now), DEVICE_MEND).map_err(|told| (Verdict::Usage, told))
}

/// Why a process that joins a run of many processes must not judge a case: it has another device, or none.
pub(super) fn other_device(id: &str, then: &DeviceRecord, now: &DeviceRecord) -> Option<String> {
    let wrong = differences(then, now);
    (!wrong.is_empty()).then(|| {
        format!(
            "run {id} began on another device: {}. Results of two cards are not one run's: give every process the same \
             one (CUDA_GATES_DEVICE), and run the gates again where that is gone",
            wrong.join("; ")
        )
    })
}

/// In what two devices differ, each in words.
fn differences(then: &DeviceRecord, now: &DeviceRecord) -> Vec<String> {
    let fields = |device: &DeviceRecord| {
        let info = device.info.as_ref();
        let cuda = info.and_then(|info| info.cuda_driver_version);
        [
            ("device", info.map(|info| info.name.clone())),
            ("UUID", info.and_then(|info| info.uuid.clone())),
            ("driver", device.driver_version.clone()),
            (
                "CUDA driver version",
                cuda.map(|version| version.to_string()),
            ),
        ]
    };
    let shown = |value: Option<String>| value.unwrap_or_else(|| "none".to_owned());
    let pairs = fields(then).into_iter().zip(fields(now));
    pairs
        .filter(|(then, now)| then != now)
        .map(|((name, then), (_, now))| {
            format!(
                "its {name} was {}, this one's is {}",
                shown(then),
                shown(now)
            )
        })
        .collect()
}

fn refused(id: &str, wrong: &[String], mend: &str) -> Result<(), String> {
    match wrong {
        [] => Ok(()),
        _ => Err(format!(
            "run {id} cannot be resumed: {}. {mend}",
            wrong.join("; ")
        )),
    }
}

#[cfg(test)]
mod tests;
