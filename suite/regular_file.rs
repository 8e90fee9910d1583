//! Regular files of bounded length.
//!
//! Owns: reading what somebody else put there. A pipe would wait for its writer, a device may never end, and a file may
//! be a hole of any length: none of them may hang a command or fill its memory. Imports nothing of this crate.
//!
//! ```
//! use cuda_gates::regular_file::{Unread, read};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let dir = tempfile::tempdir()?;
//! let path = dir.path().join("three");
//! std::fs::write(&path, "abc")?;
//! assert_eq!(read(&path, 3).ok(), Some(b"abc".to_vec()));
//! assert!(matches!(read(&path, 2), Err(Unread::TooLarge { bytes: 3, bytes_max: 2 })));
//! # Ok(())
//! # }
//! ```

#[cfg(test)]
mod tests;

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufRead, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// Why there are no bytes.
#[derive(Debug)]
pub enum Unread {
    Io(io::Error),
    TooLarge { bytes: u64, bytes_max: u64 },
}

impl From<io::Error> for Unread {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Unread> for io::Error {
    fn from(why: Unread) -> Self {
        match why {
            Unread::Io(error) => error,
            Unread::TooLarge { bytes, bytes_max } => {
                let words = format!("it has {bytes} bytes, at most {bytes_max} are read");
                io::Error::other(words)
            }
        }
    }
}

/// That it is a regular file, or a link to one.
///
/// # Errors
/// What it is instead; a file that is not there.
pub fn check(path: &Path) -> io::Result<Metadata> {
    judged(fs::metadata(path)?)
}

fn judged(found: Metadata) -> io::Result<Metadata> {
    if found.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !found.is_file() {
        let words = "not a regular file (a pipe, a socket or a device)";
        return Err(io::Error::other(words));
    }
    Ok(found)
}

/// Opens a file of at most `bytes_max` bytes. What is no regular file is refused unopened.
///
/// # Errors
/// What it is instead; a file that cannot be opened, or is longer.
pub fn open(path: &Path, bytes_max: u64) -> Result<File, Unread> {
    check(path)?;
    // What took its place meanwhile is not waited for either.
    let nonblocking = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(nonblocking)
        .open(path)?;
    let bytes = judged(file.metadata()?)?.len();
    match bytes > bytes_max {
        true => Err(Unread::TooLarge { bytes, bytes_max }),
        false => Ok(file),
    }
}

/// The bytes of a file of at most `bytes_max`.
///
/// # Errors
/// As for [`open`]; a file that cannot be read, or grew meanwhile.
pub fn read(path: &Path, bytes_max: u64) -> Result<Vec<u8>, Unread> {
    let mut bytes = Vec::new();
    let mut file = open(path, bytes_max)?.take(bytes_max.saturating_add(1));
    file.read_to_end(&mut bytes)?;
    match bytes.len() as u64 {
        bytes if bytes > bytes_max => Err(Unread::TooLarge { bytes, bytes_max }),
        _ => Ok(bytes),
    }
}

/// A line, as [`next_line`] finds it.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// It is in the buffer, without its newline.
    Whole,
    /// It was longer than the bound, and is left out.
    TooLong,
    End,
}

/// Reads the next line into `line`, of which it keeps at most `bytes_max` bytes and the newline.
///
/// # Errors
/// When it cannot be read.
pub fn next_line(
    from: &mut impl BufRead,
    bytes_max: usize,
    line: &mut Vec<u8>,
) -> io::Result<Line> {
    line.clear();
    let mut bounded = from.by_ref().take(bytes_max as u64 + 1);
    let count = bounded.read_until(b'\n', line)?;
    if line.pop_if(|last| *last == b'\n').is_some() {
        return Ok(Line::Whole);
    }
    match count {
        0 => Ok(Line::End),
        count if count > bytes_max => {
            from.skip_until(b'\n')?;
            Ok(Line::TooLong)
        }
        _ => Ok(Line::Whole),
    }
}
