//! `kernels build`, `kernels verify` and `kernels native`.

use std::path::PathBuf;

use super::args::Kernels;
use super::output::{Answer, Failure, Outcome};
use crate::device::cuda;
use crate::image::Catalog;
use crate::image::kernels::{self, KernelsError, Which};
use crate::image::native::{self, NativeError};

/// The folder of kernels where nothing else is said.
const FOLDER: &str = "kernels";

pub(super) fn run(command: Kernels, environment: Option<PathBuf>) -> Outcome {
    let folder = |given: Option<PathBuf>| {
        let folder = given
            .or(environment.clone())
            .unwrap_or_else(|| PathBuf::from(FOLDER));
        if folder.is_dir() {
            Ok(folder)
        } else {
            Err(Failure::usage(format!(
                "no folder of kernels at {}: start in the repository, or name one with --kernels DIR",
                folder.display()
            )))
        }
    };
    match command {
        Kernels::Build {
            kernels: given,
            all,
        } => {
            let which = if all { Which::All } else { Which::Stale };
            let report = kernels::build(&folder(given)?, which).map_err(failure)?;
            Ok(Answer {
                text: report.to_string(),
                code: u8::from(report.failed().next().is_some()),
                ..Answer::default()
            })
        }
        Kernels::Native { kernels: given } => {
            let here = || Some(PathBuf::from(FOLDER)).filter(|path| path.is_dir());
            native(given.or(environment.clone()).or_else(here))
        }
        Kernels::Verify { kernels: given } => {
            let report = kernels::verify(&folder(given)?).map_err(failure)?;
            Ok(Answer {
                text: report.to_string(),
                code: u8::from(!report.is_fresh()),
                ..Answer::default()
            })
        }
    }
}

/// Asks the driver in this process, which runs nothing else, for the cards to build for.
fn native(folder: Option<PathBuf>) -> Outcome {
    let catalog = Catalog::open(folder.as_deref()).map_err(Failure::usage)?;
    let cards: Vec<(u32, u32)> = cuda::enumerate()
        .unwrap_or_default()
        .iter()
        .map(|card| card.compute_capability)
        .collect();
    let chosen = std::env::var("CUDA_GATES_ARCHS").unwrap_or_default();
    let built = native::build(catalog.native(), &chosen, &cards);
    let built = built.map_err(|error| match error {
        NativeError::Place(_) => Failure::usage(error),
        other => Failure::environment(other),
    })?;
    let text = format!("{built}\n");
    Ok(Answer::from(text))
}

/// No compiler, or files that cannot be read or written: the machine's doing.
fn failure(error: KernelsError) -> Failure {
    Failure::environment(error)
}
