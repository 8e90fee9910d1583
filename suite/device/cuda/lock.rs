//! One lock per card, held around every case, whoever runs it: two processes that measure one card at once measure
//! each other.
//!
//! Owns: the lock files, and how a run waits for them. Imports `outcome` only. The files lie in `/tmp`, which all users
//! of a machine share, and stay there; the lock itself (`flock`) ends with the process that holds it.
//!
//! ```no_run
//! use std::time::Duration;
//! use cuda_gates::device::cuda::CardTurns;
//! let turns = CardTurns::new(Duration::from_secs(60));
//! let held = turns.take("GPU-0", |words| eprintln!("{words}"));
//! ```

use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

use super::errors::busy;
use crate::outcome::Fault;

const FOLDER: &str = "/tmp";
const PAUSE: Duration = Duration::from_millis(5);
/// A wait that is longer is told.
const SILENT: Duration = Duration::from_secs(1);

/// The turns of one run's cases at a card: how long they wait, and that a wait in vain is not waited again.
#[derive(Debug)]
pub struct CardTurns {
    folder: PathBuf,
    limit: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    told: bool,
    /// The whole wait was in vain: until the card is free once, nobody waits for it.
    in_vain: bool,
}

/// A card's lock, held until dropped.
#[derive(Debug)]
pub struct CardLock {
    _file: File,
}

impl CardTurns {
    /// Each turn waits at most `limit`.
    pub fn new(limit: Duration) -> Self {
        Self {
            folder: PathBuf::from(FOLDER),
            limit,
            state: Mutex::default(),
        }
    }

    /// Waits for the card. `uuid` is [`DeviceInfo::uuid`](crate::device::DeviceInfo::uuid). `tell` is given words for
    /// the user once a run, when the wait is no longer short.
    ///
    /// # Errors
    /// `environment`, not sticky, when another process holds the card for all that time, or has held it so long before
    /// and still does; or when the file cannot be used.
    pub fn take(&self, uuid: &str, tell: impl Fn(&str)) -> Result<CardLock, Fault> {
        let start = Instant::now();
        let limit = match self.with(|state| state.in_vain) {
            true => Duration::ZERO,
            false => self.limit,
        };
        let path = path(&self.folder, uuid);
        let file = open(&path, start + limit).map_err(|refused| refused.fault(&path))?;
        loop {
            match file.try_lock() {
                Ok(()) => {
                    self.with(|state| state.in_vain = false);
                    return Ok(CardLock { _file: file });
                }
                Err(TryLockError::Error(error)) => return Err(Refused::Io(error).fault(&path)),
                Err(TryLockError::WouldBlock) => {}
            }
            let waited = start.elapsed();
            if waited >= limit {
                self.with(|state| state.in_vain = true);
                return Err(held(uuid, &path, self.limit));
            }
            if waited >= SILENT && !self.with(|state| std::mem::replace(&mut state.told, true)) {
                tell(&waiting(uuid, &path, self.limit));
            }
            thread::sleep(PAUSE);
        }
    }

    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        // Two flags: a panic elsewhere leaves them whole.
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn waiting(uuid: &str, path: &Path, limit: Duration) -> String {
    format!(
        "waiting for card {uuid}, which another process uses: it holds {} (at most {} s; `fuser {}` names it)",
        path.display(),
        limit.as_secs(),
        path.display()
    )
}

fn held(uuid: &str, path: &Path, limit: Duration) -> Fault {
    busy(format!(
        "another process uses card {uuid}: it has held {} for {} s (`fuser {}` names it); end it, or run on another \
         card",
        path.display(),
        limit.as_secs_f64(),
        path.display()
    ))
}

fn path(folder: &Path, uuid: &str) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = uuid.chars().map(plain).collect();
    folder.join(format!("cuda-gates-{name}.lock"))
}

/// Why a lock file cannot be used.
enum Refused {
    /// What lies there is of another kind.
    NoFile(&'static str),
    Io(io::Error),
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Self {
        Refused::Io(error)
    }
}

impl Refused {
    fn fault(&self, path: &Path) -> Fault {
        let path = path.display();
        busy(match self {
            Refused::NoFile(what) => format!(
                "card lock {path}: it is {what}, and must be a file: remove it, and the next run makes one"
            ),
            Refused::Io(error) if error.kind() == io::ErrorKind::PermissionDenied => format!(
                "card lock {path}: {error}: every user must be able to read it (`chmod 666 {path}`)"
            ),
            Refused::Io(error) => format!("card lock {path}: {error}"),
        })
    }
}

/// Opens for reading, which is enough to lock, and creates only what is not there: a sticky folder refuses to
/// "create" another user's file. Everybody can put something of this name there, so no link is followed and no pipe
/// is waited for.
fn open(path: &Path, deadline: Instant) -> Result<File, Refused> {
    // The bits as `open` takes them.
    let careful = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    loop {
        let opened = OpenOptions::new()
            .read(true)
            .custom_flags(careful)
            .open(path);
        match opened {
            Ok(file) => return regular(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(of_another_kind(path).map_or(error.into(), Refused::NoFile)),
        }
        let created = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o666)
            .open(path);
        match created {
            Ok(file) => {
                // The umask may have taken the rights that other users need.
                file.set_permissions(Permissions::from_mode(0o666))?;
                return Ok(file);
            }
            // Made and removed by others, over and over.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if Instant::now() >= deadline {
                    return Err(error.into());
                }
                thread::sleep(PAUSE);
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn regular(file: File) -> Result<File, Refused> {
    let kind = file.metadata()?.file_type();
    match kind.is_file() {
        true => Ok(file),
        false if kind.is_dir() => Err(Refused::NoFile("a folder")),
        false => Err(Refused::NoFile("a pipe or a device")),
    }
}

/// What cannot be opened because it is no file: a link by `NOFOLLOW`, a socket at all times.
fn of_another_kind(path: &Path) -> Option<&'static str> {
    let kind = path.symlink_metadata().ok()?.file_type();
    match kind.is_file() {
        true => None,
        false if kind.is_symlink() => Some("a symbolic link"),
        false => Some("a socket or a device"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::terms::ReasonKind;

    fn turns(folder: &Path, limit: Duration) -> CardTurns {
        CardTurns {
            folder: folder.to_owned(),
            ..CardTurns::new(limit)
        }
    }

    fn take(folder: &Path, uuid: &str) -> Result<CardLock, Fault> {
        turns(folder, Duration::ZERO).take(uuid, |_| {})
    }

    #[test]
    fn a_held_card_is_refused_at_the_deadline_and_free_after() {
        let folder = tempfile::tempdir().unwrap();
        let held = take(folder.path(), "GPU-1/2").unwrap();
        let again = take(folder.path(), "GPU-1/2").unwrap_err();
        assert_eq!(again.reason.kind, ReasonKind::Environment);
        assert!(!again.sticky);
        assert!(again.reason.message.contains("GPU-1/2"), "{again}");
        drop(held);
        take(folder.path(), "GPU-1/2").unwrap();
    }

    #[test]
    fn a_waiter_gets_the_card_when_it_is_given_back() {
        let folder = tempfile::tempdir().unwrap();
        let held = take(folder.path(), "GPU-1").unwrap();
        thread::scope(|scope| {
            let waiter = scope.spawn(|| {
                let turns = turns(folder.path(), Duration::from_secs(20));
                turns.take("GPU-1", |words| panic!("a short wait is told: {words}"))
            });
            thread::sleep(Duration::from_millis(20));
            drop(held);
            waiter.join().unwrap().unwrap();
        });
    }

    #[test]
    fn a_long_wait_is_told_once_and_waited_once() {
        let folder = tempfile::tempdir().unwrap();
        let held = take(folder.path(), "GPU-1").unwrap();
        let (told, limit) = (AtomicUsize::new(0), SILENT + Duration::from_millis(300));
        let turns = turns(folder.path(), limit);
        let tell = |words: &str| {
            assert!(words.starts_with("waiting for card GPU-1"), "{words}");
            assert!(
                words.contains("/cuda-gates-GPU-1.lock (at most 1 s;"),
                "{words}"
            );
            told.fetch_add(1, Ordering::Relaxed);
        };
        let clock = Instant::now();
        let first = turns.take("GPU-1", tell).unwrap_err();
        assert!(clock.elapsed() >= limit);
        let clock = Instant::now();
        let reasons = [(); 3].map(|()| turns.take("GPU-1", tell).unwrap_err().reason);
        assert_eq!(reasons, [(); 3].map(|()| first.reason.clone()));
        assert!(clock.elapsed() < SILENT, "nobody waits again");
        assert_eq!(told.load(Ordering::Relaxed), 1);
        // Given back, it is waited for as before.
        drop(held);
        drop(turns.take("GPU-1", tell).unwrap());
        let _held = take(folder.path(), "GPU-1").unwrap();
        let clock = Instant::now();
        turns.take("GPU-1", tell).unwrap_err();
        assert!(clock.elapsed() >= limit);
    }

    #[test]
    fn what_is_no_file_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cuda-gates-GPU-1.lock");
        let refused = |what: &str| {
            let turns = turns(folder.path(), Duration::from_secs(600));
            let clock = Instant::now();
            let fault = turns.take("GPU-1", |_| {}).unwrap_err();
            assert!(clock.elapsed() < Duration::from_secs(60), "{what}");
            assert_eq!(fault.reason.kind, ReasonKind::Environment);
            let message = &fault.reason.message;
            assert!(
                message.contains(&format!(": it is {what}, and must be")),
                "{message}"
            );
        };
        std::os::unix::fs::symlink("/nowhere", &path).unwrap();
        refused("a symbolic link");
        std::fs::remove_file(&path).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).unwrap();
        refused("a pipe or a device");
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        refused("a folder");
        std::fs::remove_dir(&path).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
        refused("a socket or a device");
    }

    #[test]
    fn other_cards_are_not_held_up_and_files_are_for_everyone() {
        let folder = tempfile::tempdir().unwrap();
        let _one = take(folder.path(), "GPU-1").unwrap();
        let _two = take(folder.path(), "GPU-2").unwrap();
        let file = folder.path().join("cuda-gates-GPU-1.lock");
        let mode = file.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o666);
    }

    #[test]
    fn a_missing_folder_is_named() {
        let fault = take(Path::new("/nowhere"), "GPU-1");
        let message = fault.unwrap_err().reason.message;
        assert!(
            message.contains("/nowhere/cuda-gates-GPU-1.lock"),
            "{message}"
        );
    }
}
