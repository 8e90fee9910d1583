//! `kernels build` and `kernels verify`.

use std::path::PathBuf;

use super::args::Kernels;
use super::output::{Answer, Failure, Outcome};
use crate::image::kernels::{self, KernelsError, Which};

/// The folder of kernels where nothing else is said.
const FOLDER: &str = "kernels";

pub(super) fn run(command: Kernels, environment: Option<PathBuf>) -> Outcome {
    let folder = |given: Option<PathBuf>| {
        let folder = given
            .or(environment)
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
            })
        }
        Kernels::Verify { kernels: given } => {
            let report = kernels::verify(&folder(given)?).map_err(failure)?;
            Ok(Answer {
                text: report.to_string(),
                code: u8::from(!report.is_fresh()),
            })
        }
    }
}

/// No compiler, or files that cannot be read or written: the machine's doing.
fn failure(error: KernelsError) -> Failure {
    Failure::environment(error)
}
