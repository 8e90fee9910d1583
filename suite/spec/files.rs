//! What the file system holds for specs: files found in a folder or named by a spec.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::problem::Problem;
use super::waivers;
use crate::regular_file;

/// Bytes of a file that a spec names: tens of millions of numbers.
const BESIDE_BYTES_MAX: u64 = 256 << 20;

/// A file that a spec names.
pub(super) fn read_beside(path: &Path) -> io::Result<Vec<u8>> {
    Ok(regular_file::read(path, BESIDE_BYTES_MAX)?)
}

/// The suites of a folder, by name. Whatever is named `*.yaml` and no folder is one, so that a link to nowhere is a
/// problem and not a suite less; hidden files (an editor's) and the waivers are none.
pub(super) fn suites(dir: &Path) -> Result<Vec<PathBuf>, Vec<Problem>> {
    let shown = dir.display().to_string();
    let unreadable = |error: io::Error| {
        let words = format!("the folder cannot be read: {error}");
        vec![Problem::of_file(&shown, words, None)]
    };
    let mut paths = Vec::new();
    let mut problems = Vec::new();
    for entry in fs::read_dir(dir).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let name = path.file_name().unwrap_or_default();
        if name.as_encoded_bytes().starts_with(b".") || name == waivers::FILE || path.is_dir() {
            continue;
        }
        match path.extension() {
            Some(ending) if ending == "yaml" => paths.push(path),
            Some(ending) if nearly(ending) => problems.push(misnamed(&path)),
            _ => {}
        }
    }
    if !problems.is_empty() {
        problems.sort_by_key(Problem::to_string);
        return Err(problems);
    }
    if paths.is_empty() {
        let mend = Some("add a suite: NAME.yaml".to_string());
        let words = "no suite stands in this folder".to_string();
        return Err(vec![Problem::of_file(&shown, words, mend)]);
    }
    paths.sort();
    Ok(paths)
}

fn nearly(ending: &OsStr) -> bool {
    ending.eq_ignore_ascii_case("yaml") || ending.eq_ignore_ascii_case("yml")
}

/// Its gates would silently be no tests.
fn misnamed(path: &Path) -> Problem {
    let words = "this would not be read: a suite's file ends in .yaml".to_string();
    let name = path.with_extension("yaml");
    let name = name.file_name().unwrap_or_default().to_string_lossy();
    let mend = Some(format!(
        "rename it to {name}, or move it out of this folder"
    ));
    Problem::of_file(&path.display().to_string(), words, mend)
}
