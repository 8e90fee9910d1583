//! A `kernels/` folder on disk: which modules it holds and where their PTX lies. Shared with `build.rs`, so it imports
//! nothing of this crate.
//!
//! ```text
//! kernels/compaction.cu              module `compaction`
//! kernels/faulty/scan.cu             module `faulty/scan`
//! kernels/ptx/faulty/scan.ptx        its PTX
//! kernels/ptx/manifest.json
//! kernels/native/…                   host-launched baselines: no modules, but the native library's sources
//! ```

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// The folder of PTX inside a kernels folder.
pub const PTX: &str = "ptx";

/// Inside a kernels folder.
pub const MANIFEST: &str = "ptx/manifest.json";

/// The folder of the native library's sources inside a kernels folder.
pub const NATIVE: &str = "native";

/// What the native library's functions take, inside that folder.
pub const NATIVE_TABLE: &str = "native.txt";

/// Folders that hold no modules.
const NO_MODULES: [&str; 2] = [PTX, NATIVE];

/// Module → its `.cu` file, in order of name.
pub fn sources(kernels: &Path) -> io::Result<BTreeMap<String, PathBuf>> {
    let mut found = BTreeMap::new();
    collect(kernels, "", "cu", &NO_MODULES, &mut found)?;
    Ok(found)
}

/// Module → its `.ptx` file, in order of name; empty where there is no such folder.
pub fn ptx_files(kernels: &Path) -> io::Result<BTreeMap<String, PathBuf>> {
    let mut found = BTreeMap::new();
    let folder = kernels.join(PTX);
    if folder.is_dir() {
        collect(&folder, "", "ptx", &[], &mut found)?;
    }
    Ok(found)
}

/// File name → the native library's source, headers and table, in order of name; empty where there is no such folder.
pub fn native_files(kernels: &Path) -> io::Result<BTreeMap<String, PathBuf>> {
    let mut found = BTreeMap::new();
    let folder = kernels.join(NATIVE);
    if folder.is_dir() {
        for ending in ["cu", "cuh"] {
            let mut files = BTreeMap::new();
            collect(&folder, "", ending, &["lib"], &mut files)?;
            let named = files.into_iter();
            found.extend(named.map(|(stem, path)| (format!("{stem}.{ending}"), path)));
        }
        let table = folder.join(NATIVE_TABLE);
        if table.is_file() {
            found.insert(NATIVE_TABLE.to_owned(), table);
        }
    }
    Ok(found)
}

/// Files that end in `.{ending}` at any depth, by their path inside `folder` without that ending.
fn collect(
    folder: &Path,
    prefix: &str,
    ending: &str,
    except: &[&str],
    found: &mut BTreeMap<String, PathBuf>,
) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        // A name that is not UTF-8 can be named by no spec.
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            continue;
        };
        if name.starts_with('.') {
            continue;
        }
        if path.is_dir() {
            if !except.contains(&name) {
                collect(&path, &format!("{prefix}{name}/"), ending, &[], found)?;
            }
        } else if let Some(stem) = name
            .strip_suffix(ending)
            .and_then(|stem| stem.strip_suffix('.'))
        {
            found.insert(format!("{prefix}{stem}"), path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_paths_without_ending_and_some_folders_hold_none() {
        let kernels = tempfile::tempdir().expect("a temporary folder");
        for file in [
            "a.cu",
            "faulty/b.cu",
            "ptx/a.ptx",
            "ptx/faulty/b.ptx",
            "native/c.cu",
            "ptx/d.cu",
            "notes.txt",
            ".hidden.cu",
            "faulty/native/e.cu",
        ] {
            let path = kernels.path().join(file);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
            std::fs::write(path, "").expect("a file");
        }
        let names = |found: BTreeMap<String, PathBuf>| found.into_keys().collect::<Vec<_>>();
        let modules = names(sources(kernels.path()).expect("readable"));
        assert_eq!(modules, ["a", "faulty/b", "faulty/native/e"]);
        let ptx = names(ptx_files(kernels.path()).expect("readable"));
        assert_eq!(ptx, ["a", "faulty/b"]);
    }
}
