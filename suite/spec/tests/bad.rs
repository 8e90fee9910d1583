//! Bad files, each with all its problems beside it (`NAME.txt`).
//!
//! `CUDA_GATES_BLESS=1 cargo test bad_files` writes what is found; read the difference before committing it.

use std::path::Path;
use std::time::{Duration, Instant};

use super::*;

#[test]
fn bad_files_have_all_their_problems_at_once() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("suite/spec/testdata/bad");
    let entries = std::fs::read_dir(&dir).expect("the folder of bad files");
    let mut paths: Vec<_> = entries.map(|e| e.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "yaml"));
    paths.sort();
    assert!(paths.len() >= 20, "{paths:?}");
    let mut wrong = Vec::new();
    for path in paths {
        let bytes = std::fs::read(&path).expect("a bad file");
        let started = Instant::now();
        let found = load_bytes(&bytes).err().unwrap_or_default();
        assert!(started.elapsed() < Duration::from_secs(1), "{path:?}");
        assert!(!found.is_empty(), "{path:?} loads");
        let lines: String = found.iter().map(|p| format!("{p}\n")).collect();
        let beside = path.with_extension("txt");
        if std::env::var_os("CUDA_GATES_BLESS").is_some() {
            std::fs::write(&beside, &lines).expect("a writable folder");
        }
        let want = std::fs::read_to_string(&beside).unwrap_or_default();
        if lines != want {
            wrong.push(format!("{path:?}\nfound:\n{lines}wanted:\n{want}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
