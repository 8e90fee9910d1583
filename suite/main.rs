//! The binary: a command line, or a worker of one.

use std::process::ExitCode;

use cuda_gates::{cli, worker};

fn main() -> ExitCode {
    if worker::is_asked_for() {
        worker::work()
    }
    cli::main()
}
