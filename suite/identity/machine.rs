//! The machine around the card: host and toolchain.
//!
//! Owns: what is read from `/proc` and `/etc`, and what the build recorded. No host name, no user, no path of the
//! build. Imports nothing of this crate.
//!
//! ```
//! let host = cuda_gates::identity::host();
//! assert!(host["cores"].as_u64() > Some(0));
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

/// Operating system, kernel, architecture, processor, cores (those this process may use) and memory. A value is null
/// where it cannot be read.
pub fn host() -> BTreeMap<String, Value> {
    host_at(Path::new("/"))
}

fn host_at(root: &Path) -> BTreeMap<String, Value> {
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_default();
    let kernel = rustix::system::uname();
    let memory_kib = value_of(&read("proc/meminfo"), "MemTotal", ':')
        .and_then(|text| text.trim_end_matches("kB").trim().parse::<u64>().ok());
    let entries = [
        (
            "os",
            json!(value_of(&read("etc/os-release"), "PRETTY_NAME", '=')),
        ),
        ("kernel", json!(kernel.release().to_string_lossy())),
        ("architecture", json!(std::env::consts::ARCH)),
        (
            "cpu",
            json!(value_of(&read("proc/cpuinfo"), "model name", ':')),
        ),
        (
            "cores",
            json!(std::thread::available_parallelism().map_or(1, usize::from)),
        ),
        ("memory_bytes", json!(memory_kib.map(|kib| kib * 1024))),
    ];
    entries
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// The value of the first line `key<separator>value`, unquoted.
fn value_of(text: &str, key: &str, separator: char) -> Option<String> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(separator)?;
        (name.trim() == key).then(|| value.trim().trim_matches('"').to_owned())
    })
}

/// What built this binary (`none` where there was no nvcc, `unknown` where the build could not tell), and the variables
/// that choose a CUDA toolkit.
pub fn toolchain() -> BTreeMap<String, Value> {
    let recorded = [
        (
            "rustc",
            option_env!("CUDA_GATES_RUSTC").unwrap_or("unknown"),
        ),
        ("nvcc", option_env!("CUDA_GATES_NVCC").unwrap_or("none")),
        ("nvcc_architectures", env!("CUDA_GATES_BUILT_ARCHS")),
        ("profile", env!("CUDA_GATES_BUILT_PROFILE")),
        ("target", env!("CUDA_GATES_BUILT_TARGET")),
    ];
    let mut toolchain: BTreeMap<String, Value> = recorded
        .into_iter()
        .map(|(name, value)| (name.to_owned(), json!(value)))
        .collect();
    let environment: BTreeMap<&str, String> =
        ["NVCC", "CUDA_HOME", "CUDA_PATH", "CUDA_GATES_ARCHS"]
            .into_iter()
            .filter_map(|name| Some((name, std::env::var(name).ok()?)))
            .collect();
    toolchain.insert("environment".to_owned(), json!(environment));
    toolchain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_read_from_its_files() {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in [
            (
                "etc/os-release",
                "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n",
            ),
            (
                "proc/cpuinfo",
                "processor\t: 0\nmodel name\t: Some CPU @ 2.00GHz\nmodel name\t: Other\n",
            ),
            ("proc/meminfo", "MemTotal:       16384 kB\nMemFree: 1 kB\n"),
        ] {
            let file = root.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let host = host_at(root.path());
        assert_eq!(host["os"], "Debian GNU/Linux 12");
        assert_eq!(host["cpu"], "Some CPU @ 2.00GHz");
        assert_eq!(host["memory_bytes"], 16_384 * 1024);
        assert!(host["kernel"].as_str().is_some_and(|text| !text.is_empty()));
    }

    #[test]
    fn what_cannot_be_read_is_null() {
        let root = tempfile::tempdir().unwrap();
        let host = host_at(root.path());
        for name in ["os", "cpu", "memory_bytes"] {
            assert_eq!(host[name], Value::Null, "{name}");
        }
    }

    #[test]
    fn a_toolchain_has_all_its_names() {
        for name in ["nvcc", "nvcc_architectures", "profile", "rustc", "target"] {
            let value = &toolchain()[name];
            assert!(
                value.as_str().is_some_and(|text| !text.is_empty()),
                "{name}: {value}"
            );
        }
        let names: Vec<String> = toolchain().into_keys().collect();
        assert_eq!(
            names,
            [
                "environment",
                "nvcc",
                "nvcc_architectures",
                "profile",
                "rustc",
                "target"
            ]
        );
    }
}
