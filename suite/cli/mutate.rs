//! `mutate`: whether a suite's gates notice kernels that are wrong.

use super::args::{Format, Mutate};
use super::output::{Answer, Failure, Outcome};
use crate::mutate::{self, Choices, Refused};
use crate::runner::Options;

/// Exit code when a suite is not good enough, as when a gate fails.
const FAILED: u8 = 1;
/// Exit code when there is nothing to run.
const NOTHING: u8 = 4;

pub(super) fn mutate(arguments: Mutate, environment: Options) -> Outcome {
    let format = arguments.format;
    let (options, choices) = arguments.resolve(environment);
    let ended = mutate::run(&options, &choices).map_err(|refused| match refused {
        Refused::Usage(message) => Failure::usage(message),
        Refused::Folder(message) => Failure::file(message),
        Refused::Nothing(message) => Failure {
            code: NOTHING,
            text: format!("error: {message}"),
        },
        Refused::Baseline(message) => Failure {
            code: FAILED,
            text: format!("error: {message}"),
        },
    })?;
    let mut text = match format {
        Format::Text => ended.text,
        Format::Json => ended.report.to_json().map_err(Failure::environment)?,
    };
    if let (Format::Text, Some(folder)) = (format, &ended.folder) {
        text.push_str(&format!("report: {}\n", folder.display()));
    }
    let trouble = ended.trouble.map(|trouble| format!("error: {trouble}"));
    let code = match ended.passed && trouble.is_none() {
        true => 0,
        false => FAILED,
    };
    Ok(Answer {
        text,
        code,
        trouble: trouble.unwrap_or_default(),
    })
}

impl Mutate {
    fn resolve(self, environment: Options) -> (Options, Choices) {
        let options = self.folders.resolve(environment);
        let options = Options {
            reports: self.reports.unwrap_or(options.reports),
            profile: self.profile.or(options.profile),
            quiet: self.quiet,
            ..options
        };
        let choices = Choices {
            suites: self.suites,
            schedules: self.schedules,
            seed: self.seed,
            operators: self.operators.map_or(Vec::new(), |operators| operators.0),
            limit: self.limit.map(|limit| limit as usize),
            kernel: self.kernel,
            mutants: self.mutants,
            listed: self.listed,
            least_score: self.least,
        };
        (options, choices)
    }
}
