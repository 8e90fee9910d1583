//! Several results of one case, results of others, and files of a run that are none.

use std::os::unix::fs::symlink;
use std::process::Command;

use super::*;
use crate::archive::load::read;

/// A run of these results, and its folder.
fn of(store: &Store, joined: bool, outcomes: &[(i64, Outcome)]) -> std::path::PathBuf {
    let mut facts = fresh();
    (facts.run.complete, facts.run.finished) = (false, None);
    facts.run.joined = joined;
    facts.run.choices = (!joined).then(|| resumed::choices(3));
    let run = store.begin_run(facts).unwrap();
    for (keep, outcome) in outcomes {
        run.append(&case("scan_total", *keep, *outcome)).unwrap();
    }
    run.path().to_owned()
}

const TOLD: &str =
    "2 results of compaction::scan_total::keep=1::n=8387997::jit differ: error, pass";

#[test]
fn of_several_results_of_a_case_the_worst_counts_and_the_others_are_told() {
    use Outcome::{Error, Fail, Pass};
    let (_dir, store) = store();
    let retried = [(1, Error), (2, Pass), (2, Pass), (1, Pass)];
    let path = of(&store, false, &retried);
    let found = read_results(&path).unwrap();
    let outcomes: Vec<Outcome> = found.cases.iter().map(|case| case.outcome).collect();
    assert_eq!(outcomes, [Error, Pass], "in the order of their first");
    let told: Vec<String> = found.differing.iter().map(ToString::to_string).collect();
    assert_eq!(told, [TOLD], "two passes are the same");
    let name = path.to_str().unwrap();
    assert_eq!(store.load(name).unwrap().differing, found.differing);
    // No process of its own writes a case twice.
    let told = store.verify(name).unwrap().problems;
    assert_eq!(told, [format!("results.jsonl: {TOLD}")]);
    // The worst also where it comes last.
    let late = of(&store, false, &[(1, Pass), (1, Fail)]);
    assert_eq!(read_results(&late).unwrap().cases[0].outcome, Fail);
    // Processes that join one may.
    let path = of(&store, true, &retried);
    let found = store.verify(path.to_str().unwrap()).unwrap();
    assert_eq!((found.problems.len(), found.notes.len()), (0, 1));
}

#[test]
fn more_results_than_cases_are_no_results_of_the_run() {
    let (_dir, store) = store();
    let mut facts = fresh();
    (facts.run.complete, facts.run.finished) = (false, None);
    facts.run.choices = Some(resumed::choices(1));
    let run = store.begin_run(facts).unwrap();
    let name = run.path().to_str().unwrap();
    run.append(&passing(1)).unwrap();
    assert_eq!(store.verify(name).unwrap().problems, [""; 0]);
    run.append(&passing(77)).unwrap();
    let told = store.verify(name).unwrap().problems;
    assert_eq!(
        told,
        ["results.jsonl has results of 2 cases, and the run selected 1"]
    );
}

/// Each file of a run as a pipe and as a link to a device: refused with its reason, beside a run that is fine.
#[test]
fn a_pipe_or_a_device_in_a_run_is_refused_and_hides_no_other() {
    let (_dir, store) = store();
    let fine = of(&store, false, &[(1, Outcome::Pass)]);
    for file in ["results.jsonl", "run.json", "report.json"] {
        for pipe in [true, false] {
            let path = of(&store, false, &[(1, Outcome::Pass)]);
            let odd = path.join(file);
            let _ = fs::remove_file(&odd);
            match pipe {
                true => assert!(Command::new("mkfifo").arg(&odd).status().unwrap().success()),
                false => symlink("/dev/zero", &odd).unwrap(),
            }
            let name = path.to_str().unwrap();
            for told in [
                store.load(name).unwrap_err().to_string(),
                store.verify(name).unwrap().problems.join("\n"),
                store.take_up(name).unwrap_err().to_string(),
            ] {
                assert!(told.contains("not a regular file"), "{file}: {told}");
            }
            let listed = store.list().unwrap();
            assert!(listed.iter().any(|run| run.path == fine));
            let odd = listed.iter().find(|run| run.path == path).unwrap();
            assert!(matches!(odd.state, State::Unreadable(_)), "{file}");
            fs::remove_dir_all(&path).unwrap();
        }
    }
    // Nor does a process that joins a run write into one.
    let run = store.join_run("9e1f", fresh()).unwrap();
    let results = run.path().join("results.jsonl");
    fs::remove_file(&results).unwrap();
    symlink("/dev/null", &results).unwrap();
    let told = store.join_run("9e1f", fresh()).unwrap_err().to_string();
    assert!(told.contains("not a regular file"), "{told}");
}

/// A hole is no text, and takes no memory: the results around it are there.
#[test]
fn a_hole_in_the_results_is_one_broken_line() {
    let (_dir, store) = store();
    let path = of(&store, false, &[(1, Outcome::Pass)]);
    let results = path.join("results.jsonl");
    let file = OpenOptions::new().append(true).open(&results).unwrap();
    let hole = file.metadata().unwrap().len() + (256 << 20);
    file.set_len(hole).unwrap();
    append_line(
        &OpenOptions::new()
            .append(true)
            .read(true)
            .open(&results)
            .unwrap(),
        "{}",
    )
    .unwrap();
    let found = read_results(&path).unwrap();
    assert_eq!((found.cases.len(), found.broken_lines), (1, 2));
    // A report that ends in one is damaged, and read no further than to it.
    let report = path.join("report.json");
    fs::write(&report, "{\"schema\": 1, ").unwrap();
    let file = OpenOptions::new().append(true).open(&report).unwrap();
    file.set_len(256 << 20).unwrap();
    store.load(path.to_str().unwrap()).unwrap_err();
    let text = read(&report).unwrap();
    assert_eq!(text.len(), "{\"schema\": 1, ".len() + 1);
}

#[test]
fn two_runs_of_one_id_are_named_by_their_folders() {
    let (_dir, store) = store();
    let mut other = fresh();
    other.device.info.as_mut().unwrap().name = "NVIDIA T4".into();
    let paths = [fresh(), other].map(|facts| {
        let run = store.join_run("lost", facts).unwrap();
        run.path().to_str().unwrap().to_owned()
    });
    let told = store.load("nextest-lost").unwrap_err().to_string();
    let want = "`nextest-lost` names 2 runs. Name one by its folder: ";
    assert!(told.starts_with(want), "{told}");
    for path in &paths {
        assert!(told.contains(path), "{told}");
        assert_eq!(store.load(path).unwrap().report.run.id, "nextest-lost");
    }
}

/// A process that may read everything is told so by the system as well, once it has given up being root.
#[test]
fn a_run_that_may_not_be_read_does_not_vanish() {
    use std::os::unix::fs::PermissionsExt;
    const FOLDER: &str = "CUDA_GATES_TEST_UNREADABLE";
    if let Some(root) = std::env::var_os(FOLDER) {
        return what_may_not_be_read_is_told(&Store::open(root));
    }
    let (dir, store) = store();
    let open = |path: &Path| fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    open(dir.path());
    of(&store, false, &[(1, Outcome::Pass)]);
    let shut = of(&store, false, &[(1, Outcome::Pass)]);
    let file = of(&store, false, &[(1, Outcome::Pass)]).join("run.json");
    for path in [&shut, &file] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
    }
    // Root may read anything, and another user may not start what is built at root's home.
    let is_root = fs::read_dir(&shut).is_ok();
    if !is_root {
        what_may_not_be_read_is_told(&store);
        return open(&shut);
    }
    let program = dir.path().join("tests");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let name = "archive::tests::results::a_run_that_may_not_be_read_does_not_vanish";
    let ran = Command::new("setpriv")
        .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
        .arg(&program)
        .args(["--exact", name])
        .env(FOLDER, store.root())
        .current_dir(dir.path())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && told.contains("1 passed"), "{ran:?}");
}

/// Of three runs one has a folder, and one a file, that may not be read.
fn what_may_not_be_read_is_told(store: &Store) {
    let listed = store.list().unwrap();
    assert_eq!(listed.len(), 3);
    let mut unreadable = 0;
    for run in listed {
        let verified = store.verify(&run.id).unwrap();
        let State::Unreadable(told) = run.state else {
            assert_eq!(verified.problems, [""; 0]);
            continue;
        };
        unreadable += 1;
        let shown = store.load(&run.id).unwrap_err().to_string();
        for told in [told, shown, verified.problems.join("\n")] {
            let denied = told.contains("Permission denied");
            assert!(denied && told.contains("readable"), "{told}");
            assert!(!told.contains("writable"), "{told}");
        }
    }
    assert_eq!(unreadable, 2);
    assert_eq!(store.verify_all().unwrap().len(), 3);
}
