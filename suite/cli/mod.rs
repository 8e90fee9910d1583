//! The command line: arguments, commands, what is printed where, and exit codes.
//!
//! Owns: every command of the binary but what `run` does, which is the runner's. The only place that names clap. May
//! import everything. An answer goes to stdout, whole or as one JSON document; complaints go to stderr.
//!
//! ```
//! assert_eq!(cuda_gates::cli::run(["cuda-gates", "schema", "report"]), std::process::ExitCode::SUCCESS);
//! ```

mod args;
mod devices;
mod explain;
mod list;
mod output;
mod report;
mod table;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command, Document};
use output::{Answer, Failure, Outcome};

/// The binary's main function, beside the worker's.
pub fn main() -> ExitCode {
    run(std::env::args_os())
}

/// Runs a command line, program name first.
pub fn run<A: Into<OsString> + Clone>(arguments: impl IntoIterator<Item = A>) -> ExitCode {
    match Cli::try_parse_from(arguments) {
        Ok(cli) => output::end(dispatch(cli)),
        Err(error) => {
            // Help and version come this way too, with exit code 0. A closed pipe is the reader's choice.
            let _ = error.print();
            ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
        }
    }
}

fn dispatch(cli: Cli) -> Outcome {
    let environment = args::environment()?;
    match cli.command.unwrap_or(Command::Run(cli.run)) {
        Command::Devices { format } => devices::devices(format),
        Command::Schema {
            document: Document::Report,
        } => Ok(Answer::from(crate::report::schema())),
        Command::Report { command } => match command {
            args::Report::List { reports, format } => {
                report::list(reports.unwrap_or(environment.reports), format)
            }
            args::Report::Show {
                run,
                reports,
                format,
            } => report::show(&run, reports.unwrap_or(environment.reports), format),
        },
        _ => Err(Failure::usage("not wired")),
    }
}
