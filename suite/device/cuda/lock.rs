//! One lock per card, held around every case, whoever runs it: two processes that measure one card at once measure
//! each other.
//!
//! Owns: the lock files. Imports `outcome` only. The files lie in `/tmp`, which all users of a machine share, and
//! stay there; the lock itself (`flock`) ends with the process that holds it.
//!
//! ```no_run
//! use std::time::{Duration, Instant};
//! use cuda_gates::device::cuda::CardLock;
//! let held = CardLock::acquire("GPU-0", Instant::now() + Duration::from_secs(60));
//! ```

use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::errors::busy;
use crate::outcome::Fault;

const FOLDER: &str = "/tmp";
const PAUSE: Duration = Duration::from_millis(5);

/// A card's lock, held until dropped.
#[derive(Debug)]
pub struct CardLock {
    _file: File,
}

impl CardLock {
    /// Waits for the card until `deadline`. `uuid` is [`DeviceInfo::uuid`](crate::device::DeviceInfo::uuid).
    ///
    /// # Errors
    /// `environment`, not sticky, when another process holds the card until then or the file cannot be used.
    pub fn acquire(uuid: &str, deadline: Instant) -> Result<Self, Fault> {
        Self::acquire_in(Path::new(FOLDER), uuid, deadline)
    }

    fn acquire_in(folder: &Path, uuid: &str, deadline: Instant) -> Result<Self, Fault> {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let name: String = uuid.chars().map(plain).collect();
        let path = folder.join(format!("cuda-gates-{name}.lock"));
        let failed = |error: io::Error| busy(format!("card lock {}: {error}", path.display()));
        let file = open(&path).map_err(failed)?;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::Error(error)) => return Err(failed(error)),
                Err(TryLockError::WouldBlock) if Instant::now() >= deadline => {
                    return Err(busy(format!(
                        "another process holds card {uuid}: its lock {} was not free in time",
                        path.display()
                    )));
                }
                Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
            }
        }
    }
}

/// Opens for reading, which is enough to lock, and creates only what is not there: a sticky folder refuses to
/// "create" another user's file.
fn open(path: &Path) -> io::Result<File> {
    loop {
        match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            opened => return opened,
        }
        let created = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o666)
            .open(path);
        match created {
            Ok(file) => {
                // The umask may have taken the rights that other users need.
                fs::set_permissions(path, Permissions::from_mode(0o666))?;
                return Ok(file);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::ReasonKind;

    #[test]
    fn a_held_card_is_refused_at_the_deadline_and_free_after() {
        let folder = tempfile::tempdir().unwrap();
        let held = CardLock::acquire_in(folder.path(), "GPU-1/2", Instant::now()).unwrap();
        let again = CardLock::acquire_in(folder.path(), "GPU-1/2", Instant::now()).unwrap_err();
        assert_eq!(again.reason.kind, ReasonKind::Environment);
        assert!(!again.sticky);
        assert!(again.reason.message.contains("GPU-1/2"), "{again}");
        drop(held);
        CardLock::acquire_in(folder.path(), "GPU-1/2", Instant::now()).unwrap();
    }

    #[test]
    fn a_waiter_gets_the_card_when_it_is_given_back() {
        let folder = tempfile::tempdir().unwrap();
        let held = CardLock::acquire_in(folder.path(), "GPU-1", Instant::now()).unwrap();
        thread::scope(|scope| {
            let waiter = scope.spawn(|| {
                let deadline = Instant::now() + Duration::from_secs(20);
                CardLock::acquire_in(folder.path(), "GPU-1", deadline)
            });
            thread::sleep(Duration::from_millis(20));
            drop(held);
            waiter.join().unwrap().unwrap();
        });
    }

    #[test]
    fn other_cards_are_not_held_up_and_files_are_for_everyone() {
        let folder = tempfile::tempdir().unwrap();
        let _one = CardLock::acquire_in(folder.path(), "GPU-1", Instant::now()).unwrap();
        let _two = CardLock::acquire_in(folder.path(), "GPU-2", Instant::now()).unwrap();
        let file = folder.path().join("cuda-gates-GPU-1.lock");
        assert_eq!(
            fs::metadata(file).unwrap().permissions().mode() & 0o777,
            0o666
        );
    }

    #[test]
    fn a_missing_folder_is_named() {
        let fault = CardLock::acquire_in(Path::new("/nowhere"), "GPU-1", Instant::now());
        let message = fault.unwrap_err().reason.message;
        assert!(
            message.contains("/nowhere/cuda-gates-GPU-1.lock"),
            "{message}"
        );
    }
}
