//! libtest-mimic, and nothing of it outside.

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

/// Runs plain test functions under the usual arguments: the `main` of a test target that owns its process.
pub fn run_tests(tests: &[(&'static str, fn())]) -> ExitCode {
    let trial = |&(name, test): &(&'static str, fn())| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    };
    let trials = tests.iter().map(trial).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
