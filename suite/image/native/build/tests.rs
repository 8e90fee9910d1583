//! The build with a shell script in nvcc's place, which copies each source to its object and joins them to a library.

use super::*;

/// `codes` beside it is what it lists; a source that holds `broken` is refused.
const SCRIPT: &str = r#"#!/bin/sh
case "$*" in
  *--list-gpu-code*) cat "${0%/*}/codes" ;;
  *-shared*) find . -name '*.o' | sort | xargs cat > library.so && echo link >> "${0%/*}/log" ;;
  *) for object; do :; done
     if grep -q broken "${object%.o}"; then echo "${object%.o}(1): error"; exit 1; fi
     echo "$*" >> "${0%/*}/log"; cp "${object%.o}" "$object" ;;
esac
"#;

const TABLE: (&str, &str) = ("native.txt", "f: i32 x\n");

struct Place {
    folder: tempfile::TempDir,
    nvcc: Nvcc,
}

impl Place {
    fn new(codes: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (text, path) = (folder.path().join("script"), folder.path().join("nvcc"));
        fs::write(&text, SCRIPT).expect("a script");
        fs::write(folder.path().join("codes"), codes).expect("a list");
        // By another process: a file that this one still has open, in whatever fork of it, cannot be executed.
        let mut install = Command::new("install");
        let made = install.args(["-m", "755"]).arg(&text).arg(&path).status();
        assert!(made.expect("coreutils").success());
        let version = "13.0.88".to_owned();
        Self {
            folder,
            nvcc: Nvcc { path, version },
        }
    }

    fn library(&self) -> PathBuf {
        self.folder.path().join("lib/library.so")
    }

    fn build(&self, native: &Native, architectures: &[(u32, u32)]) -> Result<Built, NativeError> {
        refresh(native, &self.nvcc, architectures.to_vec(), self.library())
    }

    /// What nvcc made since the last time.
    fn log(&self) -> Vec<String> {
        let path = self.folder.path().join("log");
        let text = fs::read_to_string(&path).unwrap_or_default();
        drop(fs::remove_file(&path));
        text.lines().map(str::to_owned).collect()
    }

    /// What lies beside the library, it included.
    fn beside(&self) -> Vec<OsString> {
        let entries = fs::read_dir(self.folder.path().join("lib")).expect("a folder");
        entries.map(|e| e.expect("an entry").file_name()).collect()
    }
}

fn sources(files: &[(&str, &str)]) -> Native {
    let files = [&[TABLE], files].concat();
    let owned = files.into_iter().map(|(n, t)| (n.to_owned(), t.to_owned()));
    Native::of(owned, None)
}

#[test]
fn a_library_is_built_once_and_again_when_anything_of_it_changes() {
    let place = Place::new("");
    let native = sources(&[("a.cu", "one\n"), ("b.cuh", "")]);
    let built = place.build(&native, &[(7, 5), (9, 0)]).expect("built");
    assert!(!built.was_fresh);
    let log = place.log();
    assert_eq!(
        log.len(),
        3,
        "a.cu, what describes it, and the link: {log:?}"
    );
    let codes = "-gencode arch=compute_75,code=sm_75 -gencode arch=compute_90,code=sm_90 -c";
    assert!(log[..2].iter().all(|line| line.contains(codes)), "{log:?}");
    let library = native.read(Ok(place.library())).expect("a library");
    assert_eq!(library.about, built.about);
    assert!(
        place
            .build(&native, &[(7, 5), (9, 0)])
            .expect("fresh")
            .was_fresh
    );
    assert_eq!(place.log(), [""; 0]);
    assert!(!place.build(&native, &[(9, 0)]).expect("built").was_fresh);
    let other = sources(&[("a.cu", "two\n")]);
    assert!(!place.build(&other, &[(9, 0)]).expect("built").was_fresh);
    assert!(
        native.read(Ok(place.library())).is_err(),
        "of other sources"
    );
    assert_eq!(place.beside(), ["library.so"]);
}

#[test]
fn a_refused_source_leaves_the_library_that_was_there() {
    let place = Place::new("");
    let native = sources(&[("a.cu", "fine\n")]);
    place.build(&native, &[(9, 0)]).expect("built");
    let before = fs::read(place.library()).expect("a library");
    let broken = sources(&[("a.cu", "fine\n"), ("b.cu", "broken\n"), ("c.cu", "broken")]);
    let error = place.build(&broken, &[(9, 0)]).expect_err("refused");
    assert_eq!(
        error.to_string(),
        "nvcc 13.0.88 refuses kernels/native/b.cu:\nb.cu(1): error"
    );
    assert_eq!(fs::read(place.library()).expect("a library"), before);
    assert_eq!(place.beside(), ["library.so"]);
}

#[test]
fn a_source_in_a_folder_is_built_too() {
    let place = Place::new("");
    let native = sources(&[("a.cu", ""), ("deep/er/a.cu", "deep\n"), ("deep/h.cuh", "")]);
    place.build(&native, &[(9, 0)]).expect("built");
    let library = fs::read_to_string(place.library()).expect("a library");
    assert!(library.contains("deep\n"), "{library}");
}

#[test]
fn what_the_build_did_not_make_it_does_not_remove() {
    let place = Place::new("");
    let native = sources(&[("a.cu", "")]);
    let name = format!(".library.so.{}.building", std::process::id());
    let theirs = place.folder.path().join("lib").join(name);
    fs::create_dir_all(&theirs).expect("a folder");
    fs::write(theirs.join("theirs"), "").expect("a file");
    let error = place.build(&native, &[(9, 0)]).expect_err("in the way");
    assert!(
        error.to_string().ends_with("was stopped: remove it"),
        "{error}"
    );
    assert!(theirs.join("theirs").is_file());
    // A path that names no file reaches no folder, whoever asks.
    for path in [".", "..", "/", "x/.."] {
        let made = refresh(&native, &place.nvcc, vec![(9, 0)], path.into());
        assert!(matches!(made, Err(NativeError::Place(_))), "{made:?}");
    }
    assert_eq!(place.log(), [""; 0]);
}

#[test]
fn architectures_are_chosen_or_those_of_the_cards_or_a_default() {
    let place = Place::new("sm_75\nsm_80\nsm_90\nsm_90a\nsm_100\nsm_120\n");
    let numbers = |chosen: &str, cards: &[(u32, u32)]| {
        let chosen = architectures(&place.nvcc, chosen, cards);
        chosen.map_err(|error| error.to_string())
    };
    let of = |numbers: &[(u32, u32)]| Ok(numbers.to_vec());
    for chosen in ["90,75", "sm_75, sm_90", "7.5,9.0,,90", "none,75,90"] {
        assert_eq!(
            numbers(chosen, &[(8, 0)]),
            of(&[(7, 5), (9, 0)]),
            "{chosen}"
        );
    }
    assert_eq!(numbers("120", &[]), of(&[(12, 0)]));
    for chosen in ["", " ", "none", ","] {
        assert_eq!(numbers(chosen, &[]), of(&DEFAULT), "`{chosen}`");
        // An 8.9 runs what was built for 8.0.
        let cards = [(8, 9), (9, 0), (9, 0)];
        assert_eq!(numbers(chosen, &cards), of(&[(8, 0), (9, 0)]), "`{chosen}`");
    }
    for (chosen, word) in [("70", "70"), ("90, x", "x"), ("9", "9"), ("90;75", "90;75")] {
        let words = format!("CUDA_GATES_ARCHS: nvcc 13.0.88 has no architecture `{word}`");
        assert_eq!(numbers(chosen, &[(9, 0)]), Err(words));
    }
    let words = numbers("", &[(7, 0)]).expect_err("too old");
    assert!(words.contains("for the cards here (sm_70)"), "{words}");
}

#[test]
fn an_nvcc_that_lists_nothing_is_told_as_that() {
    let place = Place::new("");
    for chosen in ["", "90"] {
        let error = architectures(&place.nvcc, chosen, &[(9, 0)]).expect_err("none");
        let words = "nvcc 13.0.88 tells no architectures";
        assert!(error.to_string().starts_with(words), "{error}");
    }
    let absent = Nvcc {
        path: place.folder.path().join("absent"),
        version: "13.0.88".into(),
    };
    assert!(architectures(&absent, "90", &[]).is_err());
}
