//! What the file system holds for specs: regular files of bounded length, found in a folder or named by a spec.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::problem::Problem;
use super::waivers;

/// Bytes of a file that a spec names: tens of millions of numbers.
const BESIDE_BYTES_MAX: u64 = 256 << 20;

/// Why there are no bytes.
#[derive(Debug)]
pub(super) enum Unread {
    Io(io::Error),
    TooLarge(u64),
}

/// A regular file's bytes. A pipe would wait for its writer, and a device may never end: both are refused unopened.
pub(super) fn read(path: &Path, bytes_max: u64) -> Result<Vec<u8>, Unread> {
    let kind = fs::metadata(path).map_err(Unread::Io)?;
    if kind.is_dir() {
        return Err(Unread::Io(io::ErrorKind::IsADirectory.into()));
    }
    if !kind.is_file() {
        let words = "not a regular file (a pipe, a socket or a device)";
        return Err(Unread::Io(io::Error::other(words)));
    }
    if kind.len() > bytes_max {
        return Err(Unread::TooLarge(kind.len()));
    }
    let file = File::open(path).map_err(Unread::Io)?;
    let mut bytes = Vec::new();
    // One byte more than is allowed, for a file that grew meanwhile.
    let mut file = file.take(bytes_max.saturating_add(1));
    file.read_to_end(&mut bytes).map_err(Unread::Io)?;
    match bytes.len() as u64 {
        len if len > bytes_max => Err(Unread::TooLarge(len)),
        _ => Ok(bytes),
    }
}

/// A file that a spec names.
pub(super) fn read_beside(path: &Path) -> io::Result<Vec<u8>> {
    read(path, BESIDE_BYTES_MAX).map_err(|why| match why {
        Unread::Io(error) => error,
        Unread::TooLarge(bytes) => {
            let words = format!("it has {bytes} bytes, at most {BESIDE_BYTES_MAX} are read");
            io::Error::other(words)
        }
    })
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
