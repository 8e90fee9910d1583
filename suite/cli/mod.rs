//! The command line: arguments, commands, what is printed where, and exit codes.
//!
//! Owns: every command of the binary but what `run` does, which is the runner's. The only place that names clap. May
//! import everything. An answer goes to stdout, whole or as one JSON document; complaints go to stderr.
//!
//! ```
//! assert_eq!(cuda_gates::cli::run(["cuda-gates", "schema", "report"]), std::process::ExitCode::SUCCESS);
//! ```

mod args;
mod check;
mod devices;
mod explain;
mod folders;
mod kernels;
mod list;
mod mutate;
mod output;
mod plots;
mod report;
mod table;
#[cfg(test)]
mod tests;
mod verify;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use args::{Choices, Cli, Command, Document, Folders, Format};
use folders::Found;
use output::{Answer, Failure, Outcome};

use crate::expr::Engine;
use crate::runner::{self, Options, Planned, Selection};
use crate::worker::sources::Sources;
use crate::{case, plan, spec};

/// The binary's main function, beside the worker's.
pub fn main() -> ExitCode {
    run(std::env::args_os())
}

/// Runs a command line, program name first.
pub fn run<A: Into<OsString> + Clone>(arguments: impl IntoIterator<Item = A>) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version come this way too, with exit code 0. A closed pipe is the reader's choice.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let checked = cli.no_command_among_filters().map_err(Failure::usage);
    let environment = checked.and_then(|()| {
        let environment = cli.environment(|name| std::env::var_os(name));
        environment.map_err(Failure::from)
    });
    let environment = match environment {
        Ok(environment) => environment,
        Err(failure) => return output::end(Err(failure)),
    };
    match cli.command.unwrap_or(Command::Run(cli.run)) {
        Command::Run(run) => ExitCode::from(runner::run(&run.resolve(environment))),
        command => output::end(answer(command, environment)),
    }
}

/// Every command but `run`.
fn answer(command: Command, environment: Options) -> Outcome {
    match command {
        Command::Run(_) => Err(Failure::usage("`run` has no answer but its run")),
        Command::List { choices, format } => list_cases(choices, environment, format),
        Command::Check { files, folders } => check::check(&files, &Found::of(folders, environment)),
        Command::Explain { case, folders } => explain_case(&case, folders, environment),
        Command::Devices { format } => devices::devices(format),
        Command::Schema { document } => Ok(schema(document)),
        Command::Kernels { command } => kernels::run(command, environment.kernels),
        Command::Mutate(arguments) => mutate::mutate(arguments, environment),
        Command::Report { command } => of_archive(command, environment),
    }
}

fn schema(document: Document) -> Answer {
    match document {
        Document::Suite => output::json(&spec::schema()),
        Document::Report => Answer::from(crate::report::schema()),
        Document::Waivers => output::json(&spec::waivers_schema()),
        Document::Mutation => Answer::from(crate::mutate::schema()),
    }
}

/// Every `report` command.
fn of_archive(command: args::Report, environment: Options) -> Outcome {
    match command {
        args::Report::List { reports, format } => {
            report::list(reports.unwrap_or(environment.reports), format)
        }
        args::Report::Close {
            run,
            filters,
            exact,
            skip,
            reports,
            folders,
            format,
        } => {
            let mut options = folders.resolve(environment);
            options.reports = reports.unwrap_or(options.reports);
            options.selection = Selection {
                filters,
                exact,
                skip,
            };
            report::close(run.as_deref(), &options, format)
        }
        args::Report::Verify {
            runs,
            reports,
            format,
        } => verify::verify(&runs, reports.unwrap_or(environment.reports), format),
        args::Report::Show {
            run,
            reports,
            format,
            redact,
            plots,
        } => {
            let reports = reports.unwrap_or(environment.reports);
            let report = report::load(run.as_deref(), reports, redact)?;
            match plots {
                Some(folder) => plots::write(&report.report, &folder),
                None => report::show(&report, format),
            }
        }
    }
}

fn list_cases(choices: Choices, environment: Options, format: Format) -> Outcome {
    let options = choices.resolve(environment);
    let planned = Planned::new(&options).map_err(Failure::usage)?;
    let heading = serde_json::json!({
        "device": planned.chosen.kind(),
        "profile": planned.profile,
        "images": planned.images,
    });
    let cases = planned.select(&options.selection);
    list::list(&cases, &planned.waivers, heading, format)
}

fn explain_case(id: &str, folders: Folders, environment: Options) -> Outcome {
    let Sources {
        suites,
        catalog,
        waivers,
        ..
    } = Found::of(folders, environment).sources()?;
    let case = case::find(&suites, id);
    let suite = case
        .as_ref()
        .and_then(|case| suites.iter().find(|suite| suite.name == case.suite));
    let (Some(case), Some(suite)) = (case, suite) else {
        return Err(Failure::usage(format!(
            "no case `{id}`: `cuda-gates list` prints their names"
        )));
    };
    let prepared = plan::build(suite, &case, &catalog, &Engine::new())
        .map_err(|fault| Failure::usage(format!("{id}: {fault}")))?;
    let mut text = explain::explain(suite, &case, &prepared, &catalog);
    text.push_str(&explain::waived(&waivers, &case));
    Ok(text.into())
}
