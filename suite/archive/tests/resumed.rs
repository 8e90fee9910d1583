//! Runs that died and are taken up again.

use super::*;
use crate::report::record::{ChoicesRecord, ResumedRecord};

/// Of a run of so many cases.
pub(super) fn choices(cases: usize) -> ChoicesRecord {
    ChoicesRecord {
        device: "cuda:0".to_owned(),
        profile: None,
        images: None,
        filters: Vec::new(),
        exact: false,
        skip: Vec::new(),
        specs: None,
        kernels: None,
        timeout_s: 120.0,
        redact: false,
        cases,
        cases_sha256: String::new(),
        kernels_sha256: String::new(),
    }
}

fn resumable() -> Facts {
    let mut facts = on_h200();
    facts.run.choices = Some(choices(3));
    facts
}

/// A run that died in the middle of its third result.
fn died(store: &Store) -> std::path::PathBuf {
    let run = store.begin_run(resumable()).unwrap();
    run.append(&passing(1)).unwrap();
    run.append(&case("scan_total", 2, Outcome::Fail)).unwrap();
    let results = run.path().join("results.jsonl");
    let mut file = OpenOptions::new().append(true).open(results).unwrap();
    file.write_all(b"{\"id\": \"cut of").unwrap();
    fs::write(run.path().join("report.json.77.part"), "half a rep").unwrap();
    run.path().to_owned()
}

fn refused(store: &Store, name: &str) -> String {
    store.take_up(name).unwrap_err().to_string()
}

#[test]
fn a_run_that_died_is_taken_up_with_its_results_and_finished() {
    let (_dir, store) = store();
    let path = died(&store);
    let listed = &store.list().unwrap()[0];
    assert_eq!((listed.selected, listed.totals.all()), (Some(3), 2));
    let before = fs::read(path.join("results.jsonl")).unwrap();

    let Unfinished {
        mut folder, cases, ..
    } = store.take_up("20261129").unwrap();
    assert_eq!(cases.len(), 2);
    assert!(!path.join("report.json.77.part").exists());
    let at = now();
    let record = ResumedRecord {
        at,
        results: cases.len(),
    };
    folder.resumed(record.clone()).unwrap();
    folder.append(&passing(3)).unwrap();
    let mut all = cases;
    all.push(passing(3));
    let report = folder.facts().clone().into_report(all, Vec::new());
    folder.finish(&report).unwrap();

    let loaded = store.load(folder.id()).unwrap();
    assert_eq!(loaded.report.run.resumed, [record]);
    assert_eq!(
        (loaded.report.cases.len(), loaded.state),
        (3, State::Complete)
    );
    let after = fs::read(path.join("results.jsonl")).unwrap();
    assert!(after.starts_with(&before), "what was there stays");
    let verified = store.verify(folder.id()).unwrap();
    assert_eq!(verified.problems, [""; 0]);
    assert_eq!(verified.notes.len(), 1, "the broken line: {verified:?}");
    drop(folder);
    let told = refused(&store, "20261129");
    assert!(told.contains("is complete"), "{told}");
}

#[test]
fn a_run_is_one_process_own() {
    let (_dir, store) = store();
    let running = store.begin_run(resumable()).unwrap();
    running.append(&passing(1)).unwrap();
    let told = refused(&store, running.id());
    assert!(
        told.contains("another process is writing this run"),
        "{told}"
    );
    let id = running.id().to_owned();
    drop(running);
    let taken = store.take_up(&id).unwrap();
    assert!(refused(&store, &id).contains("another process"));
    assert!(store.list().unwrap()[0].running);
    drop(taken);
    assert!(!store.list().unwrap()[0].running);
    assert!(store.take_up(&id).is_ok(), "a refusal leaves all as it was");
}

#[test]
fn what_cannot_be_taken_up_says_why() {
    let (dir, store) = store();
    assert!(refused(&store, "nothing").contains("no run `nothing`"));
    let old = store.begin_run(on_h200()).unwrap().id().to_owned();
    assert!(refused(&store, &old).contains("does not say what it was to run"));
    let joined = {
        let mut facts = resumable();
        facts.run.joined = true;
        store.join_run("key", facts).unwrap().id().to_owned()
    };
    assert!(refused(&store, &joined).contains("many processes"));
    let loose = dir.path().join("loose.json");
    let text = crate::report::to_json(&resumable().into_report(Vec::new(), Vec::new())).unwrap();
    fs::write(&loose, &text).unwrap();
    assert!(refused(&store, loose.to_str().unwrap()).contains("not a run's folder"));

    let path = died(&store);
    let name = path.to_str().unwrap();
    let start = fs::read_to_string(path.join("run.json")).unwrap();
    for (text, words) in [
        (
            start.replace("cuda:0", "cuda:1"),
            "changed after it was written",
        ),
        (
            start.replace("\"seal\"", "\"unsealed\""),
            "changed after it was written: it lacks its seal",
        ),
        (start[..start.len() / 2].to_owned(), "cut short"),
        ("[]".to_owned(), "not a cuda-gates report"),
        (
            start.replace("report/1.0", "report/9.0"),
            "newer cuda-gates",
        ),
    ] {
        fs::write(path.join("run.json"), text).unwrap();
        let told = refused(&store, name);
        assert!(told.contains(words), "{words}: {told}");
    }
    fs::remove_file(path.join("run.json")).unwrap();
    assert!(refused(&store, name).contains("run.json"));
    assert_eq!(read_results(&path).unwrap().cases.len(), 2, "all is there");
}

#[test]
fn a_report_that_cannot_be_read_is_written_again() {
    let (_dir, store) = store();
    let path = died(&store);
    let name = path.to_str().unwrap();
    for broken in [&b""[..], b"{\"schema\": \"cuda-gates.rep", b"{\xff", b"[1]"] {
        fs::write(path.join("report.json"), broken).unwrap();
        let told = store.load(name).unwrap_err().to_string();
        assert!(told.contains("--resume 20261129T224100Z-3f2a"), "{told}");
        let listed = &store.list().unwrap()[0];
        assert!(matches!(&listed.state, State::Unreadable(_)));
        assert_eq!(listed.totals.all(), 2, "its results still count");
        let taken = store.take_up(name).unwrap();
        assert_eq!(taken.cases.len(), 2);
        assert_eq!(
            fs::read(path.join("report.json.damaged")).unwrap(),
            broken,
            "nothing is thrown away"
        );
    }
    fs::write(
        path.join("report.json"),
        r#"{"schema": "cuda-gates.report/9.0"}"#,
    )
    .unwrap();
    assert!(refused(&store, name).contains("newer cuda-gates"));
}

/// A run is there with what it runs on, or not at all.
#[test]
fn a_folder_has_its_name_when_it_is_whole() {
    let (_dir, store) = store();
    let run = store.begin_run(on_h200()).unwrap();
    let shelf = run.path().parent().unwrap();
    // As left by a process that died before it had a run.
    let stage = shelf.join(".20261129T224100Z-aaaa.77.part");
    fs::create_dir(&stage).unwrap();
    fs::write(stage.join("results.jsonl"), "").unwrap();
    let listed = store.list().unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].state, State::Incomplete);
    let hidden = fs::read_dir(shelf).unwrap().count();
    store.begin_run(on_h200()).unwrap();
    assert_eq!(fs::read_dir(shelf).unwrap().count(), hidden + 1);
    // A file of that name is in the way.
    let mut facts = on_h200();
    facts.run.id = "taken".into();
    fs::write(shelf.join("taken"), "mine").unwrap();
    assert_ne!(store.begin_run(facts).unwrap().id(), "taken");
    assert_eq!(fs::read_to_string(shelf.join("taken")).unwrap(), "mine");
}
