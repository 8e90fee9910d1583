use std::io::{BufReader, ErrorKind};
use std::os::unix::fs::symlink;
use std::process::Command;

use super::*;

#[test]
fn what_is_no_regular_file_is_refused_unopened() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x");
    let told = || io::Error::from(read(&path, 9).unwrap_err()).to_string();
    assert!(
        Command::new("mkfifo")
            .arg(&path)
            .status()
            .unwrap()
            .success()
    );
    assert!(told().starts_with("not a regular file"), "{}", told());
    fs::remove_file(&path).unwrap();
    symlink("/dev/zero", &path).unwrap();
    assert!(told().starts_with("not a regular file"), "{}", told());
    fs::remove_file(&path).unwrap();
    symlink(dir.path(), &path).unwrap();
    assert_eq!(check(&path).unwrap_err().kind(), ErrorKind::IsADirectory);
    fs::remove_file(&path).unwrap();
    assert_eq!(check(&path).unwrap_err().kind(), ErrorKind::NotFound);
    fs::write(dir.path().join("y"), "abc").unwrap();
    symlink("y", &path).unwrap();
    assert_eq!(read(&path, 3).unwrap(), b"abc", "a link to a file is one");
}

/// Files that say they have no bytes are read to their end, and no further than the bound.
#[test]
fn a_file_that_does_not_tell_its_length_is_bounded_too() {
    let path = Path::new("/proc/self/environ");
    assert_eq!(check(path).unwrap().len(), 0);
    assert!(!read(path, 1 << 20).unwrap().is_empty());
    assert!(matches!(
        read(path, 1),
        Err(Unread::TooLarge { bytes: 2, .. })
    ));
}

#[test]
fn lines_are_bounded_and_the_next_one_is_whole() {
    let text: &[u8] = b"abc\n\nabcd\nxyz\nabcde\nend";
    // Also where a line does not fit the reader's buffer.
    for capacity in [1, 4, 64] {
        let mut from = BufReader::with_capacity(capacity, text);
        let (mut line, mut found) = (Vec::new(), Vec::new());
        loop {
            match next_line(&mut from, 3, &mut line).unwrap() {
                Line::Whole => found.push(String::from_utf8(line.clone()).unwrap()),
                Line::TooLong => found.push("…".into()),
                Line::End => break,
            }
            assert!(line.len() <= 4);
        }
        assert_eq!(found, ["abc", "", "…", "xyz", "…", "end"]);
    }
}

/// A hole of any length takes no memory beyond the bound.
#[test]
fn a_line_without_an_end_is_not_kept() {
    let hole = io::repeat(0).take(64 << 20);
    let mut from = BufReader::new(hole.chain(&b"\nnext"[..]));
    let mut line = Vec::new();
    assert_eq!(
        next_line(&mut from, 1 << 20, &mut line).unwrap(),
        Line::TooLong
    );
    assert!(line.capacity() <= 4 << 20, "{}", line.capacity());
    assert_eq!(
        next_line(&mut from, 1 << 20, &mut line).unwrap(),
        Line::Whole
    );
    assert_eq!(line, b"next");
}
