//! The binary as a test runs it, and how it ended.

use std::path::Path;
use std::process::{Command, Output};

/// What a run said and did.
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// A command in a folder, without the choices that this process was given.
pub fn prepare(command: &mut Command, folder: &Path) {
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CUDA_GATES_") {
            command.env_remove(name);
        }
    }
    command.current_dir(folder);
}

impl Ran {
    pub fn of(output: Output) -> Self {
        Self {
            code: output.status.code().expect("an exit code"),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    #[track_caller]
    pub fn ends(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}\n{}", self.stdout, self.stderr);
        self
    }
}
