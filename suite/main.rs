//! The binary: a command line, or a worker of one.

use std::process::ExitCode;

use cuda_gates::{archive, cli, worker};

fn main() -> ExitCode {
    archive::report_file_limit();
    if worker::is_asked_for() {
        worker::work()
    }
    cli::main()
}
