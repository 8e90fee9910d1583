//! Writing that outlives a crash, and the locks that keep writers apart.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;

use super::ArchiveError;
use crate::regular_file;

/// Ends the name of a file, or of a run's folder, that is still being written.
pub(super) const PART: &str = ".part";

pub(super) fn open_results(path: &Path) -> Result<File, ArchiveError> {
    let there = match regular_file::check(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    };
    let open = |()| {
        let mut options = OpenOptions::new();
        options.create(true).append(true).read(true).open(path)
    };
    there
        .and_then(open)
        .map_err(|e| ArchiveError::io("open", path, e))
}

/// Appends a line, closing first one that a dying writer left open. A line that does not fit is taken back.
pub(super) fn append_line(mut file: &File, line: &str) -> io::Result<()> {
    let len = file.seek(SeekFrom::End(0))?;
    let mut last = [b'\n'];
    if len > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    let text = if last == *b"\n" {
        line.to_owned()
    } else {
        format!("\n{line}")
    };
    file.write_all(text.as_bytes())
        .and_then(|()| file.flush())
        .inspect_err(|_| {
            // Best effort: a broken last line is tolerated by every reader.
            let _ = file.set_len(len);
        })
}

/// Waits until the disk has the file's bytes: only then do they outlive a loss of power.
pub(super) fn sync(file: &File) -> io::Result<()> {
    supported(file.sync_data())
}

/// Waits until the disk has a folder's entries.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    supported(File::open(folder)?.sync_all())
}

/// Some file systems cannot be waited for.
fn supported(synced: io::Result<()>) -> io::Result<()> {
    match synced {
        Err(e)
            if matches!(
                e.kind(),
                io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported
            ) =>
        {
            Ok(())
        }
        other => other,
    }
}

/// Writes a file beside its place and moves it there; afterwards the disk has it.
pub(super) fn replace(path: &Path, text: &str) -> Result<(), ArchiveError> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}{PART}", std::process::id()));
    let part = path.with_file_name(name);
    let written = File::create(&part)
        .and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            supported(file.sync_all())
        })
        .and_then(|()| fs::rename(&part, path))
        .and_then(|()| path.parent().map_or(Ok(()), sync_folder));
    written.map_err(|e| {
        let _ = fs::remove_file(&part);
        ArchiveError::io("write", path, e)
    })
}

/// Takes away what a writer that died left half written. Only for the folder's owner.
pub(super) fn remove_parts(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry
            .file_name()
            .as_encoded_bytes()
            .ends_with(PART.as_bytes())
        {
            // One that stays is in nobody's way.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The lock of one append, held on the results file: against other processes, and other handles of this one.
pub(super) struct FileLock<'a>(&'a File);

impl<'a> FileLock<'a> {
    pub(super) fn take(file: &'a File, path: &Path) -> Result<Self, ArchiveError> {
        match file.lock() {
            Ok(()) => Ok(Self(file)),
            // A file system without locks: appends of one line are still whole on it.
            Err(e) if e.kind() == io::ErrorKind::Unsupported => Ok(Self(file)),
            Err(e) => Err(ArchiveError::io("lock", path, e)),
        }
    }
}

impl Drop for FileLock<'_> {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// Between looks at a folder's lock.
const WAITS: [Duration; 5] = [Duration::from_millis(20); 5];

/// A run's folder is one process' alone while this lives, and as long as that process does. It goes with the folder
/// when that is renamed.
#[derive(Debug)]
pub(super) struct Owner {
    _folder: File,
}

impl Owner {
    /// # Errors
    /// `InUse` when another process, or another run of this one, has the folder.
    pub(super) fn take(folder: &Path) -> Result<Self, ArchiveError> {
        let file = File::open(folder).map_err(|e| ArchiveError::io("open", folder, e))?;
        for wait in WAITS {
            match file.try_lock() {
                // Somebody may only be looking whether there is an owner.
                Err(TryLockError::WouldBlock) => std::thread::sleep(wait),
                // A file system without locks on folders keeps no two processes apart; all else works on it.
                Ok(()) | Err(TryLockError::Error(_)) => return Ok(Self { _folder: file }),
            }
        }
        Err(ArchiveError::InUse(folder.to_owned()))
    }

    /// Whether a run's folder has an owner now.
    pub(super) fn is_there(folder: &Path) -> bool {
        File::open(folder)
            .is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }
}
