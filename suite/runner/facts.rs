//! What a report says of the circumstances of a run: host, toolchain, suite.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::report::record::{SpecRecord, SuiteRecord};
use crate::spec::model::Suite;

/// What a result may depend on: system, kernel, CPU. Nothing that names somebody's machine.
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

/// What built this executable, as far as the build could tell.
pub(super) fn toolchain() -> BTreeMap<String, Value> {
    [
        ("rustc", option_env!("CUDA_GATES_RUSTC")),
        ("nvcc", option_env!("CUDA_GATES_NVCC")),
    ]
    .into_iter()
    .filter_map(|(name, version)| Some((name.to_owned(), version?.into())))
    .collect()
}

/// The suite's version, the commit it was built from, and every spec's hash.
pub(super) fn suite(suites: &[Suite]) -> SuiteRecord {
    SuiteRecord {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("CUDA_GATES_COMMIT").map(str::to_owned),
        dirty: option_env!("CUDA_GATES_DIRTY").map(|dirty| dirty == "true"),
        specs: suites
            .iter()
            .map(|suite| SpecRecord {
                path: suite.path.clone(),
                sha256: suite.sha256.clone(),
            })
            .collect(),
    }
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
}
