//! What a report says of the circumstances of a run: host, toolchain, suite.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::report::record::{SpecRecord, SuiteRecord};
use crate::spec::model::Suite;

/// Kernel, architecture, host name's absence: what a result may depend on, nothing that names a person's machine.
pub(super) fn host() -> BTreeMap<String, Value> {
    let system = rustix::system::uname();
    let text = |part: &std::ffi::CStr| Value::from(part.to_string_lossy().into_owned());
    let mut host = BTreeMap::from([
        ("system".to_owned(), text(system.sysname())),
        ("kernel".to_owned(), text(system.release())),
        ("architecture".to_owned(), text(system.machine())),
    ]);
    if let Some(model) = fs::read_to_string("/proc/cpuinfo")
        .ok()
        .as_deref()
        .and_then(cpu_model)
    {
        host.insert("cpu".to_owned(), model.into());
    }
    if let Ok(cores) = std::thread::available_parallelism() {
        host.insert("cores".to_owned(), cores.get().into());
    }
    host
}

fn cpu_model(cpuinfo: &str) -> Option<&str> {
    let line = cpuinfo.lines().find(|l| l.starts_with("model name"))?;
    line.split_once(':').map(|(_, model)| model.trim())
}

/// The suite's version, the commit its specs stand in, and every spec's hash.
pub(super) fn suite(suites: &[Suite], specs: Option<&Path>) -> SuiteRecord {
    let git = specs.and_then(git_state);
    SuiteRecord {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: git.as_ref().map(|(commit, _)| commit.clone()),
        dirty: git.map(|(_, dirty)| dirty),
        specs: suites
            .iter()
            .map(|suite| SpecRecord {
                path: suite.path.clone(),
                sha256: suite.sha256.clone(),
            })
            .collect(),
    }
}

/// The commit of the repository that holds `folder`, and whether its files differ from it.
fn git_state(folder: &Path) -> Option<(String, bool)> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git")
            .arg("-C")
            .arg(folder)
            // A status query must not write the index of somebody's checkout.
            .env("GIT_OPTIONAL_LOCKS", "0")
            .args(arguments)
            .output()
            .ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    let commit = git(&["rev-parse", "HEAD"])?;
    let changes = git(&["status", "--porcelain", "--untracked-files=no"])?;
    Some((commit, !changes.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_named_by_its_system_and_cpu() {
        let host = host();
        assert_eq!(host["system"], "Linux");
        assert!(host["cores"].as_u64().is_some_and(|cores| cores > 0));
        let cpuinfo = "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\n";
        assert_eq!(cpu_model(cpuinfo), Some("Some CPU @ 2 GHz"));
    }

    #[test]
    fn a_folder_outside_any_repository_has_no_commit() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(git_state(folder.path()), None);
        assert_eq!(suite(&[], None).commit, None);
    }
}
