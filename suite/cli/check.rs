//! `check [SPEC…]`: everything that can be said of specs without a device.

use std::path::PathBuf;

use super::folders::Found;
use super::output::{Answer, Failure, Outcome};
use super::table::columns;
use crate::case::{self, Case};
use crate::expr::Engine;
use crate::image::Catalog;
use crate::input;
use crate::plan;
use crate::spec::model::{Expect, Place, Suite};
use crate::spec::{Loader, SpecErrors};
use crate::terms::{ImageKind, Profile, ReasonKind};
use crate::worker::sources;

/// Loads the files (folders: every suite in them), expands every profile and builds every plan.
pub(super) fn check(files: &[PathBuf], found: &Found) -> Outcome {
    let catalog = found.catalog()?;
    let suites = match files {
        [] => found.sources()?.suites,
        files => load(files, &catalog).map_err(|errors| Failure {
            code: 2,
            text: errors.render(),
        })?,
    };
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

fn load(files: &[PathBuf], catalog: &Catalog) -> Result<Vec<Suite>, SpecErrors> {
    let loader = Loader::new(catalog, sources::names());
    let mut suites = Vec::new();
    let mut problems = Vec::new();
    for path in files {
        let loaded = if path.is_dir() {
            loader.dir(path)
        } else {
            loader.file(path).map(|suite| vec![suite])
        };
        match loaded {
            Ok(loaded) => suites.extend(loaded),
            Err(errors) => problems.extend(errors.0),
        }
    }
    if problems.is_empty() {
        Ok(suites)
    } else {
        Err(SpecErrors(problems))
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
