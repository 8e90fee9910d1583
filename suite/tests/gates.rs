//! Every gate as a named test: `cargo test --test gates`.
//!
//! Choices come from `CUDA_GATES_DEVICE`, `_PROFILE`, `_IMAGE`, `_REPORTS`, `_TIMEOUT`, `_SPECS`, `_KERNELS`,
//! `_SCHEDULES`, `_SEED` and `_SCHEDULE`; libtest's arguments follow `--`. As a worker it is the same executable with
//! another first argument.

use std::process::ExitCode;

use cuda_gates::{runner, worker};

fn main() -> ExitCode {
    if worker::is_asked_for() {
        worker::work()
    }
    runner::gates()
}
