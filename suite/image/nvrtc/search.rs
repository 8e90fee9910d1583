//! Where an NVRTC may lie on this machine.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Names an NVRTC library has, the preferred release's first. CUDA 11.2 to 11.8 share one name.
const FILE_NAMES: [&str; 4] = [
    "libnvrtc.so.11.2",
    "libnvrtc.so.12",
    "libnvrtc.so.13",
    "libnvrtc.so",
];

/// Where an NVRTC may be: every file name in every usual folder, the preferred release's name first, and at last the
/// bare names, which the loader looks up itself.
pub(super) fn candidates(variable: &dyn Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for home in ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(variable) {
        folders.push(Path::new(&home).join("lib64"));
        folders.push(Path::new(&home).join("lib"));
    }
    for (root, packages) in python_roots(variable) {
        for python in matching(&root, "python3") {
            for package in ["cuda_nvrtc", "cu13"] {
                folders.push(
                    python
                        .join(packages)
                        .join("nvidia")
                        .join(package)
                        .join("lib"),
                );
            }
        }
    }
    for cuda in matching(Path::new("/usr/local"), "cuda") {
        folders.push(cuda.join("lib64"));
    }

    let in_folders = |name: &'static str| {
        let paths = folders.iter().map(move |folder| folder.join(name));
        paths
            .filter(|path| path.is_file())
            .chain([PathBuf::from(name)])
            .collect::<Vec<_>>()
    };
    FILE_NAMES.into_iter().flat_map(in_folders).collect()
}

/// Folders that hold `python3.N` folders, and where packages lie inside those.
fn python_roots(variable: &dyn Fn(&str) -> Option<OsString>) -> Vec<(PathBuf, &'static str)> {
    let under = |name: &str, inside: &str| variable(name).map(|root| Path::new(&root).join(inside));
    let mut roots = Vec::new();
    for environment in ["VIRTUAL_ENV", "CONDA_PREFIX"] {
        roots.extend(under(environment, "lib").map(|root| (root, "site-packages")));
    }
    roots.extend(under("HOME", ".local/lib").map(|root| (root, "site-packages")));
    for packages in ["dist-packages", "site-packages"] {
        roots.push((PathBuf::from("/usr/local/lib"), packages));
    }
    roots
}

/// Entries of `folder` whose name begins with `prefix`, in order of name.
fn matching(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            path.file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with(prefix))
        })
        .collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn python_environments_are_searched_and_the_preferred_name_comes_first() {
        let environment = tempfile::tempdir().expect("a temporary folder");
        let folder = environment
            .path()
            .join("lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib");
        std::fs::create_dir_all(&folder).expect("folders");
        for name in ["libnvrtc.so.12", "libnvrtc.so.11.2"] {
            std::fs::write(folder.join(name), "").expect("a file");
        }
        let variable =
            |name: &str| (name == "VIRTUAL_ENV").then(|| environment.path().as_os_str().to_owned());
        let found = candidates(&variable);
        let place = |path: &Path| found.iter().position(|candidate| candidate == path);
        let preferred = place(&folder.join("libnvrtc.so.11.2"));
        assert!(preferred.is_some() && preferred < place(&folder.join("libnvrtc.so.12")));
        assert_eq!(found.last(), Some(&PathBuf::from("libnvrtc.so")));
    }
}
