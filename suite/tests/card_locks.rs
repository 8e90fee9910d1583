//! The lock file of a card, which lies where everybody can put something of its name.

use std::fs::File;

use super::*;

/// Removes the file when the test is over.
struct LockFile(PathBuf);

impl LockFile {
    /// Of the place's first card.
    fn of(place: &Place) -> Self {
        let listed = place.command("").arg("devices").output().unwrap();
        let text = String::from_utf8(listed.stdout).unwrap();
        let mut words = text.split_whitespace();
        let uuid = words.find(|word| word.starts_with("GPU-")).expect("a card");
        let file = Self(PathBuf::from(format!("/tmp/cuda-gates-{uuid}.lock")));
        file.remove();
        file
    }

    fn remove(&self) {
        // It need not be there.
        let _ = fs::remove_file(&self.0);
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        self.remove();
    }
}

#[test]
fn what_is_no_file_is_refused_with_its_path() {
    let place = Place::new(THREE);
    let lock = LockFile::of(&place);
    let refused = |what: &str| {
        let ran = place.run("").ends(3);
        let reason = ran.reason("before");
        let words = format!("environment: card lock {}: it is {what}", lock.0.display());
        assert!(reason.starts_with(&words), "{reason}");
        assert!(reason.contains("remove it"), "{reason}");
        fs::remove_dir_all(place.folder.path().join("reports")).unwrap();
        lock.remove();
    };
    std::os::unix::fs::symlink("/nowhere", &lock.0).unwrap();
    refused("a symbolic link");
    let made = Command::new("mkfifo").arg(&lock.0).status();
    assert!(made.unwrap().success());
    refused("a pipe or a device");
    place.run("").ends(0);
}

#[test]
fn a_wait_for_a_card_is_told() {
    let place = Place::new(THREE);
    let lock = LockFile::of(&place);
    place.run("").ends(0);
    let held = File::open(&lock.0).unwrap();
    held.lock().unwrap();
    let ran = thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_secs(5));
            held.unlock().unwrap();
        });
        place.run("").ends(0)
    });
    let path = lock.0.display();
    let words = format!("which another process uses: it holds {path} (at most 600 s");
    assert!(
        ran.stderr.contains("waiting for card GPU-"),
        "{}",
        ran.stderr
    );
    assert_eq!(
        ran.stderr.matches("waiting for card").count(),
        1,
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains(&words), "{}", ran.stderr);
}
