//! The sources and their table, and a library's file without loading it.

use super::*;
use crate::image::native::About;

fn sources(files: &[(&str, &str)]) -> Native {
    let files = files
        .iter()
        .map(|(n, t)| ((*n).to_owned(), (*t).to_owned()));
    Native::of(files, None)
}

fn about(native: &Native) -> About {
    About {
        sources_sha256: native.sha256.clone(),
        compiler: "nvcc 13.0.88".into(),
        architectures: vec![(7, 5), (9, 0)],
    }
}

#[test]
fn every_declared_function_has_an_entry_point_and_every_entry_point_is_declared() {
    let native = Native::embedded();
    let table = native.table.as_ref().expect("a table");
    let mut entries: Vec<&str> = Vec::new();
    for (name, text) in native.sources.iter().filter(|(n, _)| n.ends_with(".cu")) {
        let found = text
            .lines()
            .filter_map(|line| line.strip_prefix("CG_ENTRY("));
        let before = entries.len();
        entries.extend(found.filter_map(|rest| rest.strip_suffix(')')));
        assert!(
            entries.len() > before || name == "error.cu",
            "{name} has no entry point"
        );
    }
    entries.sort_unstable();
    let mut declared: Vec<&str> = table.iter().map(|f| f.name.as_str()).collect();
    declared.sort_unstable();
    assert_eq!(entries, declared);
}

#[test]
fn the_hash_is_of_names_and_texts_over_lf_endings() {
    let one = sources(&[("native.txt", "f: i32 x\n"), ("a.cu", "1\n")]);
    let crlf = sources(&[("native.txt", "f: i32 x\r\n"), ("a.cu", "1\r\n")]);
    assert_eq!(one.sha256, crlf.sha256);
    for other in [
        sources(&[("native.txt", "f: i32 x\n"), ("a.cu", "2\n")]),
        sources(&[("native.txt", "f: i32 x\n"), ("b.cu", "1\n")]),
        sources(&[("native.txt", "f: i32 x\n")]),
    ] {
        assert_ne!(one.sha256, other.sha256);
    }
}

#[test]
fn a_folder_wins_as_a_whole_and_its_library_lies_beside_its_sources() {
    let kernels = tempfile::tempdir().expect("a folder");
    assert!(Native::open(kernels.path()).expect("readable").is_none());
    let folder = kernels.path().join("native");
    std::fs::create_dir_all(folder.join("lib")).expect("folders");
    std::fs::write(folder.join("native.txt"), "mine: u32* x\n").expect("a file");
    std::fs::write(folder.join("mine.cu"), "").expect("a file");
    std::fs::write(folder.join("lib/old.cu"), "").expect("a file");
    let native = Native::open(kernels.path())
        .expect("readable")
        .expect("one");
    let names: Vec<&String> = native.sources.keys().collect();
    assert_eq!(names, ["mine.cu", "native.txt"]);
    assert!(native.function("mine").is_ok());
    let none = |_: &str| None;
    assert_eq!(native.path_with(&none), Ok(folder.join("lib").join(FILE)));
    let named = |name: &str| (name == VARIABLE).then(|| "/opt/mine.so".into());
    assert_eq!(native.path_with(&named), Ok("/opt/mine.so".into()));
    let embedded = Native::embedded();
    let cache = |name: &str| (name == "XDG_CACHE_HOME").then(|| "/c".into());
    let wanted = Path::new("/c/cuda-gates/native").join(&embedded.sha256[..16]);
    assert_eq!(embedded.path_with(&cache), Ok(wanted.join(FILE)));
}

#[test]
fn without_a_folder_of_the_users_own_there_is_no_place() {
    let embedded = Native::embedded();
    let with = |home: &str| {
        let home = home.to_owned();
        embedded.path_with(&move |name| (name == "HOME").then(|| home.clone().into()))
    };
    assert!(with("/h").expect("a place").starts_with("/h/.cache"));
    for refused in [with("relative"), embedded.path_with(&|_| None)] {
        let words = refused.expect_err("no place");
        assert!(
            words.contains("set HOME or XDG_CACHE_HOME") && words.contains(VARIABLE),
            "{words}"
        );
    }
}

#[test]
fn a_library_named_by_a_folder_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let there = folder.path().to_str().expect("UTF-8").to_owned();
    let slash = format!("{there}/new/");
    for path in [".", "..", "/", "x/..", "x/.", "x/", &there, &slash] {
        for native in [Native::embedded(), sources(&[("native.txt", "")])] {
            let named = |name: &str| (name == VARIABLE).then(|| path.into());
            let words = native.path_with(&named).expect_err(path);
            let wanted = format!("CUDA_GATES_NATIVE: `{path}` is a folder: name the native");
            assert!(words.starts_with(&wanted), "{words}");
            let reason = native.read(Err(words.clone())).expect_err("no library");
            assert_eq!(
                (reason.kind, reason.message),
                (ReasonKind::BuiltWithout, words)
            );
        }
    }
}

#[test]
fn the_name_of_the_description_is_taken() {
    let native = sources(&[("native.txt", "f: i32 x\n"), ("about.cu", "")]);
    let words = native.function("f").expect_err("taken");
    assert!(
        words.starts_with("kernels/native/about.cu: ") && words.ends_with("rename it"),
        "{words}"
    );
    let deep = sources(&[("native.txt", "f: i32 x\n"), ("x/about.cu", "")]);
    assert!(deep.function("f").is_ok());
}

#[test]
fn a_library_is_taken_only_if_it_is_that_of_the_sources() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("library.so");
    let native = sources(&[("native.txt", "f: const i32* x, u64 n\n")]);
    let refused = |bytes: Option<Vec<u8>>| {
        if let Some(bytes) = bytes {
            std::fs::write(&path, bytes).expect("a file");
        }
        let reason = native.read(Ok(path.clone())).expect_err("no library");
        assert_eq!(reason.kind, ReasonKind::BuiltWithout);
        let end = "run `cuda-gates kernels native`";
        assert!(reason.message.ends_with(end), "{reason}");
        reason.message
    };
    let file = |about: &About| [b"\x7fELF\0", about.text("").as_bytes(), b"\0more"].concat();
    assert!(refused(None).contains("is not built"));
    assert!(refused(Some(b"\x7fELF".to_vec())).contains("does not describe itself"));
    let other = About {
        sources_sha256: "00".into(),
        ..about(&native)
    };
    assert!(refused(Some(file(&other))).contains("is stale"));
    std::fs::write(&path, file(&about(&native))).expect("a file");
    let library = native.read(Ok(path.clone())).expect("a library");
    assert_eq!(library.about, about(&native));
    assert_eq!(library.functions.len(), 1);
    assert_eq!(library.supports((9, 0)), Ok(()));
    assert_eq!(library.supports((7, 5)), Ok(()));
    let message = library.supports((8, 9)).expect_err("no code").message;
    assert!(
        message.contains("sm_75, sm_90") && message.contains("CUDA_GATES_ARCHS=89 cuda-gates"),
        "{message}"
    );
}

#[test]
fn a_description_lacks_nothing() {
    let about = about(&Native::embedded());
    let text = about.text("f: i32 x\n");
    assert_eq!(About::parse(&text), Ok(about));
    let without = |line: &str| {
        let lines = text.lines().filter(|l| !l.starts_with(line));
        let text: Vec<&str> = lines.collect();
        About::parse(&(text.join("\n") + "\n")).expect_err("incomplete")
    };
    assert_eq!(without("sources"), "does not tell its sources");
    assert_eq!(without("compiler"), "does not tell its compiler");
    assert_eq!(without("architectures"), "does not tell its architectures");
    assert!(without("cuda-gates").starts_with("does not describe itself"));
    let odd = text.replace("75,90", "75,x");
    assert_eq!(
        About::parse(&odd).expect_err("odd"),
        "names architectures `75,x`"
    );
}

#[test]
fn a_broken_table_is_told_with_its_line() {
    let native = sources(&[("native.txt", "f: int x\n")]);
    let words = "kernels/native/native.txt: line 1: `int x` is no parameter";
    assert!(native.function("f").expect_err("broken").starts_with(words));
    let reason = native.read(Ok("/nowhere".into())).expect_err("broken");
    assert!(reason.message.contains(words), "{reason}");
}

/// This test's own executable is an ELF file as good as any.
#[test]
fn an_elf_file_that_was_cut_is_told_from_a_whole_one() {
    let whole = std::fs::read(std::env::current_exe().expect("a path")).expect("readable");
    assert!(!is_cut_short(&whole));
    assert!(is_cut_short(&whole[..whole.len() / 2]));
    assert!(is_cut_short(&whole[..16]));
    assert!(!is_cut_short(b"no library at all"));
}

#[test]
fn a_pipe_is_not_waited_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo runs").success());
    let error = read_file(&pipe).expect_err("it is no file");
    assert!(error.to_string().starts_with("not a regular file"));
}
