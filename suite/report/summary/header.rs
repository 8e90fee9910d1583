//! What a run was: suite, device, driver, profile, compilers.

use indexmap::IndexMap;
use serde::Deserialize;

use crate::identity::Field;
use crate::report::record::{
    BETWEEN_CASES, CaseRecord, HealthRecord, Report, ResumedRecord, RunRecord,
};
use crate::terms::ImageKind;

pub(super) fn lines(report: &Report) -> Vec<(&'static str, String)> {
    let compilers = compilers(&report.cases);
    let run = &report.run;
    let lines = [
        ("suite", Some(suite(report))),
        ("device", Some(device(report))),
        ("driver", driver(report)),
        ("health", between_cases(report)),
        ("profile", Some(profile(report, &compilers))),
        ("schedule", run.schedules.as_ref().map(ToString::to_string)),
        ("kernels", kernels(&compilers)),
        ("run", Some(format!("{}{}", run.id, state(run)))),
    ];
    let known = lines
        .into_iter()
        .filter_map(|(label, text)| Some((label, text?)));
    let resumed = run.resumed.iter().map(|ResumedRecord { at, results }| {
        ("resumed", format!("{at}, with {results} results there"))
    });
    known.chain(resumed).collect()
}

fn suite(report: &Report) -> String {
    let suite = &report.suite;
    let dirty = if suite.dirty == Some(true) {
        " (dirty)"
    } else {
        ""
    };
    match &suite.commit {
        Some(commit) => {
            let commit: String = commit.chars().take(12).collect();
            format!("cuda-gates {}, commit {commit}{dirty}", suite.version)
        }
        None => format!("cuda-gates {}", suite.version),
    }
}

fn device(report: &Report) -> String {
    match (&report.device.info, &report.device.unavailable) {
        (Some(info), _) => {
            let (major, minor) = info.compute_capability;
            format!("{}, cc {major}.{minor}", info.name)
        }
        (None, Some(reason)) => format!("none ({reason})"),
        (None, None) => "none".to_owned(),
    }
}

/// The driver's version and CUDA's; none where there is no driver to know.
fn driver(report: &Report) -> Option<String> {
    let device = &report.device;
    if let Some(driver) = &device.driver_version {
        let cuda = device.info.as_ref().and_then(|i| i.cuda_driver_version);
        let cuda = cuda.map_or_else(String::new, |v| {
            format!(", CUDA {}.{}", v / 1000, v % 1000 / 10)
        });
        return Some(format!("{driver}{cuda}"));
    }
    match device.identity.get("driver_version")? {
        Field::Unavailable(why) => Some(format!("unknown ({why})")),
        Field::Value(_) => None,
    }
}

/// What happened to the card while no case ran.
fn between_cases(report: &Report) -> Option<String> {
    let Field::Value(between) = report.device.after.get(BETWEEN_CASES)? else {
        return None;
    };
    let between = HealthRecord::deserialize(between).ok()?;
    Some(format!("between cases: {between}"))
}

fn profile(report: &Report, compilers: &IndexMap<ImageKind, Vec<&str>>) -> String {
    let images = match compilers.keys().collect::<Vec<_>>().as_slice() {
        [] => String::new(),
        [one] => format!(", image {one}"),
        many => {
            let names: Vec<&str> = many.iter().map(|image| image.name()).collect();
            format!(", images {}", names.join(", "))
        }
    };
    format!("{}{images}", report.run.profile)
}

/// What compiled each image's code; none where nothing was compiled.
fn kernels(compilers: &IndexMap<ImageKind, Vec<&str>>) -> Option<String> {
    let compiled: Vec<String> = compilers
        .iter()
        .filter(|(_, compilers)| !compilers.is_empty())
        .map(|(image, compilers)| format!("{image} from {}", compilers.join(" and ")))
        .collect();
    (!compiled.is_empty()).then(|| compiled.join("; "))
}

/// What a reader must know before trusting the totals.
fn state(run: &RunRecord) -> &'static str {
    match run {
        RunRecord { joined: true, .. } => ", of many processes",
        RunRecord {
            complete: false, ..
        } => ", incomplete",
        RunRecord { filtered: true, .. } => ", filtered",
        _ => "",
    }
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
