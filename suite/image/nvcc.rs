//! The CUDA toolkit's nvcc: where it is, which one it is, what it can target. Shared with `build.rs`, so it imports
//! nothing of this crate.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Environment variables that choose nvcc or change what it makes.
pub const ENVIRONMENT: [&str; 7] = [
    "NVCC",
    "CUDA_HOME",
    "CUDA_PATH",
    "PATH",
    "NVCC_CCBIN",
    "NVCC_PREPEND_FLAGS",
    "NVCC_APPEND_FLAGS",
];

/// An nvcc that answered `--version`.
#[derive(Clone, Debug)]
pub struct Nvcc {
    pub path: PathBuf,
    /// `13.0.88`
    pub version: String,
}

impl Nvcc {
    /// The first that runs of `NVCC`, `CUDA_HOME` and `CUDA_PATH`, `PATH`, `/usr/local/cuda`.
    pub fn find() -> Option<Self> {
        candidates(&|name| env::var_os(name))
            .into_iter()
            .find_map(|path| {
                let output = Command::new(&path).arg("--version").output().ok()?;
                let version = parse_version(&String::from_utf8_lossy(&output.stdout))?;
                Some(Self { path, version })
            })
    }

    /// `nvcc 13.0.88`
    pub fn name(&self) -> String {
        format!("nvcc {}", self.version)
    }

    /// Runs nvcc in `folder`, so that the names it records are relative to it.
    pub fn run(&self, folder: &Path, arguments: &[OsString]) -> std::io::Result<Output> {
        Command::new(&self.path)
            .args(arguments)
            .current_dir(folder)
            .output()
    }
}

/// Why [`Nvcc::find`] found none, and what mends it.
pub fn missing() -> String {
    missing_as(env::var_os("NVCC"))
}

fn missing_as(named: Option<OsString>) -> String {
    match named.filter(|value| !value.is_empty()) {
        Some(path) => format!(
            "NVCC names `{}`, which does not run as nvcc does",
            Path::new(&path).display()
        ),
        None => "no nvcc: set NVCC or CUDA_HOME, or put nvcc on PATH".to_owned(),
    }
}

fn candidates(variable: &dyn Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let set = |name| variable(name).filter(|value| !value.is_empty());
    if let Some(path) = set("NVCC") {
        return vec![PathBuf::from(path)];
    }
    let homes = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(set);
    let mut paths: Vec<PathBuf> = homes
        .map(|home| Path::new(&home).join("bin/nvcc"))
        .collect();
    if let Some(path) = set("PATH") {
        paths.extend(env::split_paths(&path).map(|folder| folder.join("nvcc")));
    }
    paths.push(PathBuf::from("/usr/local/cuda/bin/nvcc"));
    paths.retain(|path| path.is_file());
    paths
}

/// `Cuda compilation tools, release 13.0, V13.0.88` → `13.0.88`
fn parse_version(text: &str) -> Option<String> {
    let line = text.lines().find(|line| line.contains("release "))?;
    let version = line.split(", V").nth(1)?.trim();
    Some(version.to_owned()).filter(|version| version.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_full_one() {
        let text = "nvcc: NVIDIA (R) Cuda compiler driver\nCuda compilation tools, release 13.0, V13.0.88\nBuild x\n";
        assert_eq!(parse_version(text).as_deref(), Some("13.0.88"));
        assert_eq!(parse_version("clang version 18"), None);
    }

    #[test]
    fn an_explicit_nvcc_is_the_only_candidate() {
        let variable = |name: &str| match name {
            "NVCC" => Some(OsString::from("/opt/none/nvcc")),
            "PATH" => env::var_os("PATH"),
            _ => None,
        };
        assert_eq!(candidates(&variable), [PathBuf::from("/opt/none/nvcc")]);
    }

    #[test]
    fn homes_come_before_the_path() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let path = tempfile::tempdir().expect("a temporary folder");
        std::fs::create_dir(home.path().join("bin")).expect("bin");
        std::fs::write(home.path().join("bin/nvcc"), "").expect("nvcc");
        std::fs::write(path.path().join("nvcc"), "").expect("nvcc");
        let variable = |name: &str| match name {
            "CUDA_HOME" => Some(home.path().into()),
            "PATH" => Some(path.path().into()),
            _ => None,
        };
        let found = candidates(&variable);
        assert_eq!(
            found[..2],
            [home.path().join("bin/nvcc"), path.path().join("nvcc")]
        );
    }

    #[test]
    fn a_variable_that_names_no_nvcc_is_told_with_its_value() {
        let told = missing_as(Some("/nonexistent".into()));
        assert_eq!(
            told,
            "NVCC names `/nonexistent`, which does not run as nvcc does"
        );
        for unset in [None, Some(OsString::new())] {
            assert!(missing_as(unset).starts_with("no nvcc: set NVCC"));
        }
    }
}
