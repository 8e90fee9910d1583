//! The environment variables that change how the driver compiles and launches.
//!
//! Workers run without them, whatever the shell says, and the report names those that were set.

use std::collections::BTreeMap;
use std::process::Command;

/// Cleared for every worker: they replace the code under test or its timing.
const CLEARED: [&str; 3] = [
    "CUDA_FORCE_PTX_JIT",
    "CUDA_DISABLE_PTX_JIT",
    "CUDA_LAUNCH_BLOCKING",
];

/// Those variables that were set here and are not for the workers, with their values.
pub fn cleared() -> BTreeMap<String, String> {
    CLEARED
        .iter()
        .filter_map(|name| Some((name, std::env::var_os(name)?)))
        .map(|(name, value)| ((*name).to_owned(), value.to_string_lossy().into_owned()))
        .collect()
}

/// Gives a worker's command its environment. The compute cache is off so that `jit` compiles every time.
pub(super) fn prepare(command: &mut Command) {
    command.env("CUDA_CACHE_DISABLE", "1");
    for name in CLEARED {
        command.env_remove(name);
    }
}
