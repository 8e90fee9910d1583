//! `check [SPEC…]`: everything that can be said of specs without a device.

use std::path::{Path, PathBuf};

use super::folders::Found;
use super::output::{Answer, Failure, Outcome};
use super::table::columns;
use crate::archive;
use crate::case::{self, Case};
use crate::expr::Engine;
use crate::image::Catalog;
use crate::input;
use crate::plan;
use crate::runner::day;
use crate::spec::model::{Expect, Place, Suite};
use crate::spec::waivers::{self, Waivers};
use crate::spec::{Loader, Problem, SpecErrors};
use crate::terms::{ImageKind, Profile, ReasonKind};
use crate::worker::sources::{self, Sources};

/// Loads the files (folders: every suite in them), expands every profile and builds every plan.
pub(super) fn check(files: &[PathBuf], found: &Found) -> Outcome {
    let catalog = found.catalog()?;
    let Checked { suites, waivers } = match files {
        [] => {
            let Sources {
                suites, waivers, ..
            } = found.sources()?;
            Checked {
                waivers: vec![(waivers, suites.clone())],
                suites,
            }
        }
        files => load(files, &catalog).map_err(rendered)?,
    };
    let mut known = Vec::new();
    for (waivers, suites) in &waivers {
        known.extend(stale(waivers, suites)?);
    }
    if !known.is_empty() {
        return Err(rendered(SpecErrors(known)));
    }
    let mut problems = Vec::new();
    let mut rows = Vec::new();
    for suite in &suites {
        let mut row = vec![suite.path.clone(), suite.name.clone()];
        for profile in Profile::ALL {
            match case::expand(std::slice::from_ref(suite), *profile, &[ImageKind::Jit]) {
                Ok(cases) => {
                    row.push(cases.len().to_string());
                    plans(suite, &cases, &catalog, &mut problems);
                }
                // Blocks are compared over all profiles, so each profile tells the same.
                Err(found) => found
                    .into_iter()
                    .for_each(|problem| once(problem, &mut problems)),
            }
        }
        rows.push(row);
    }
    if !problems.is_empty() {
        return Err(Failure::usage(problems.join("\nerror: ")));
    }
    let headings = ["spec", "suite", "quick", "full", "perf", "huge"];
    Ok(Answer::from(columns(&headings, rows.into_iter())))
}

/// What is checked: suites, and files of waivers, each with the suites that it is about.
#[derive(Default)]
struct Checked {
    suites: Vec<Suite>,
    waivers: Vec<(Waivers, Vec<Suite>)>,
}

fn load(files: &[PathBuf], catalog: &Catalog) -> Result<Checked, SpecErrors> {
    let loader = Loader::new(catalog, sources::names());
    let mut checked = Checked::default();
    let mut problems = Vec::new();
    for path in files {
        if let Err(errors) = load_one(path, &loader, &mut checked) {
            problems.extend(errors.0);
        }
    }
    if problems.is_empty() {
        Ok(checked)
    } else {
        Err(SpecErrors(problems))
    }
}

fn load_one(path: &Path, loader: &Loader<'_>, checked: &mut Checked) -> Result<(), SpecErrors> {
    if path.is_dir() {
        let suites = loader.dir(path)?;
        checked
            .waivers
            .push((Waivers::beside(path)?, suites.clone()));
        checked.suites.extend(suites);
    } else if path.file_name().is_some_and(|name| name == waivers::FILE) {
        let waivers = Waivers::file(path)?;
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let suites = loader.dir(folder.unwrap_or(Path::new(".")))?;
        checked.waivers.push((waivers, suites));
    } else {
        checked.suites.push(loader.file(path)?);
    }
    Ok(())
}

/// Waivers that waive nothing, whatever runs.
fn stale(waivers: &Waivers, suites: &[Suite]) -> Result<Vec<Problem>, Failure> {
    if waivers.entries.is_empty() {
        return Ok(Vec::new());
    }
    let ids = case::every(suites).map_err(|problems| Failure::usage(problems.join("\nerror: ")))?;
    let now = archive::now();
    let stale = waivers.stale(day(&now), ids.iter().map(String::as_str));
    Ok(stale.iter().map(|stale| stale.problem(waivers)).collect())
}

fn rendered(errors: SpecErrors) -> Failure {
    Failure {
        code: 2,
        text: errors.render(),
    }
}

fn once(problem: String, problems: &mut Vec<String>) {
    if !problems.contains(&problem) {
        problems.push(problem);
    }
}

/// A case whose plan cannot be built ends in `error: setup` on every device, unless that is what its gate expects.
fn plans(suite: &Suite, cases: &[Case], catalog: &Catalog, problems: &mut Vec<String>) {
    let engine = Engine::new();
    for case in cases {
        let expected = suite.gates.get(&case.gate).map(|gate| &gate.expect);
        if matches!(
            expected,
            Some(Expect::Error {
                kind: ReasonKind::Setup
            })
        ) {
            continue;
        }
        match plan::build(suite, case, catalog, &engine) {
            Ok(prepared) => inputs(suite, case, &prepared, problems),
            Err(fault) => once(fault.reason.message, problems),
        }
    }
}

/// Inputs that their generators cannot make.
fn inputs(suite: &Suite, case: &Case, prepared: &plan::Prepared, problems: &mut Vec<String>) {
    let Some(block) = suite.blocks.get(case.block) else {
        return;
    };
    for (input, request) in block.inputs.values().zip(&prepared.inputs) {
        if let Err(fault) = input::check(request) {
            let first = input.params.values().next();
            let Place { line, column } = first.map_or(input.generator.place, |expr| expr.place);
            let message = fault.reason.message;
            once(
                format!("{}:{line}:{column}: {message}", suite.path),
                problems,
            );
        }
    }
}
