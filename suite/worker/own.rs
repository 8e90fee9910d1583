//! This program once more, for the processes that it starts of itself.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

/// The program that runs, whatever has its name by now.
pub(super) const RUNNING: &str = "/proc/self/exe";

/// This executable. Where the system says it is the one that runs, not the file of its name: that may be replaced
/// during a run, and what two builds judge is not one run's.
///
/// # Errors
/// When the system does not say which it is.
pub(super) fn program() -> io::Result<PathBuf> {
    let running = Path::new(RUNNING);
    match running.exists() {
        true => Ok(running.to_owned()),
        false => std::env::current_exe(),
    }
}

/// Starts `program`; this executable under the name that it has itself, so that lists of processes say it.
pub(super) fn command(program: &Path, arguments: &[OsString]) -> Command {
    let mut command = Command::new(program);
    if let (true, Some(name)) = (program == Path::new(RUNNING), std::env::args_os().next()) {
        command.arg0(name);
    }
    command.args(arguments);
    command
}

/// Gives this process, started by [`command`], the short name that lists of processes show: it would be `exe`.
pub(super) fn take_name() {
    let name = std::env::args_os().next().map(PathBuf::from);
    if let Some(name) = name.as_deref().and_then(Path::file_name) {
        // A name is for people only.
        let _ = fs::write("/proc/self/comm", name.as_encoded_bytes());
    }
}
