//! What a run was: suite, device, driver, profile, compilers.

use indexmap::IndexMap;
use serde::Deserialize;

use crate::identity::Field;
use crate::report::record::{
    BETWEEN_CASES, CaseRecord, HealthRecord, Report, ResumedRecord, RunRecord,
};
use crate::terms::ImageKind;

pub(super) fn lines(report: &Report) -> Vec<(&'static str, String)> {
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
    } else if let Some(Field::Unavailable(why)) = report.device.identity.get("driver_version") {
        lines.push(("driver", format!("unknown ({why})")));
    }
    let between = report.device.after.get(BETWEEN_CASES);
    if let Some(Field::Value(between)) = between
        && let Ok(between) = HealthRecord::deserialize(between)
    {
        lines.push(("health", format!("between cases: {between}")));
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
    if let Some(schedules) = &report.run.schedules {
        lines.push(("schedule", schedules.to_string()));
    }
    let compiled: Vec<String> = compilers
        .iter()
        .filter(|(_, compilers)| !compilers.is_empty())
        .map(|(image, compilers)| format!("{image} from {}", compilers.join(" and ")))
        .collect();
    if !compiled.is_empty() {
        lines.push(("kernels", compiled.join("; ")));
    }
    lines.push(("run", format!("{}{state}", report.run.id)));
    for resumed in &report.run.resumed {
        let ResumedRecord { at, results } = resumed;
        lines.push(("resumed", format!("{at}, with {results} results there")));
    }
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
