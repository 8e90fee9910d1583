//! What was changed after it was written.

use super::*;
use crate::report::Seal;

/// A whole run of two results, and its folder.
fn whole(store: &Store) -> std::path::PathBuf {
    let run = store.begin_run(on_h200()).unwrap();
    let cases = vec![case("scan_total", 2, Outcome::Fail), passing(1)];
    // In another order than the report's.
    for case in cases.iter().rev() {
        run.append(case).unwrap();
    }
    let report = run.facts().clone().into_report(cases, Vec::new());
    run.finish(&report).unwrap();
    run.path().to_owned()
}

#[test]
fn what_is_as_it_was_written_has_no_problem() {
    let (_dir, store) = store();
    let path = whole(&store);
    let found = store.verify_all().unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].problems, [""; 0]);
    assert_eq!((&found[0].state, found[0].results), (&State::Complete, 2));
    assert_eq!(found[0].id, path.file_name().unwrap().to_str().unwrap());
    assert_eq!(store.list().unwrap()[0].seal, Seal::Whole);
    let copy = store.root().join("copy.json");
    fs::copy(path.join("report.json"), &copy).unwrap();
    let copied = store.verify(copy.to_str().unwrap()).unwrap();
    assert_eq!((copied.problems.len(), copied.results), (0, 2));
}

/// None: the file goes.
type Change<'c> = dyn Fn(&str) -> Option<String> + 'c;

#[test]
fn every_file_that_was_changed_is_named() {
    let (_dir, store) = store();
    let path = whole(&store);
    let name = path.to_str().unwrap();
    let fail = (r#""outcome": "fail""#, r#""outcome": "pass""#);
    let line = (r#""outcome":"fail""#, r#""outcome":"pass""#);
    let cases: [(&str, &Change<'_>, &str); 10] = [
        (
            "report.json",
            &|t| Some(t.replace(fail.0, fail.1)),
            "report.json was changed",
        ),
        (
            "report.json",
            &|t| Some(t.replace("NVIDIA H200", "NVIDIA T4")),
            "report.json was changed",
        ),
        (
            "report.json",
            &|t| Some(t[..t.len() - 3].to_owned()),
            "cut short",
        ),
        (
            "report.json",
            &|t| Some(t.replace("report/1.0", "report/2.0")),
            "newer cuda-gates",
        ),
        (
            "report.json",
            &|t| Some(t.replace("\"seal\"", "\"unsealed\"")),
            "has no seal",
        ),
        (
            "run.json",
            &|t| Some(t.replace("full", "quick")),
            "run.json was changed",
        ),
        (
            "results.jsonl",
            &|t| Some(t.replace(line.0, line.1)),
            "1 not the same (first compaction::scan_total::keep=2",
        ),
        (
            "results.jsonl",
            &|t| t.lines().next().map(|l| l.to_owned() + "\n"),
            "1 missing in results.jsonl",
        ),
        (
            "results.jsonl",
            &|t| Some(t.replace("keep=1:", "keep=7:")),
            "1 missing in report.json",
        ),
        ("junit.xml", &|_| None, "junit.xml is missing"),
    ];
    for (file, change, words) in cases {
        let file = path.join(file);
        let text = fs::read_to_string(&file).unwrap();
        match change(&text) {
            Some(changed) => {
                assert_ne!(changed, text, "{words}");
                fs::write(&file, changed).unwrap();
            }
            None => fs::remove_file(&file).unwrap(),
        }
        let found = store.verify(name).unwrap();
        let told = found.problems.join("\n");
        assert!(told.contains(words), "{words}: {told}");
        fs::write(&file, text).unwrap();
        assert_eq!(store.verify(name).unwrap().problems, [""; 0]);
    }
    fs::remove_file(path.join("results.jsonl")).unwrap();
    let told = store.verify(name).unwrap().problems;
    assert_eq!(told, ["results.jsonl is missing"]);
}

/// A run of many processes is closed while some of its cases have no result.
#[test]
fn the_file_that_was_changed_is_named_of_an_incomplete_run_too() {
    let (_dir, store) = store();
    let mut facts = fresh();
    (facts.run.complete, facts.run.finished) = (false, None);
    let run = store.begin_run(facts).unwrap();
    let cases = vec![case("scan_total", 2, Outcome::Fail)];
    run.append(&cases[0]).unwrap();
    run.finish(&run.facts().clone().into_report(cases, Vec::new()))
        .unwrap();
    let name = run.path().to_str().unwrap();
    assert_eq!(store.verify(name).unwrap().problems, [""; 0]);
    for (file, other) in [("report.json", "run.json"), ("run.json", "report.json")] {
        let path = run.path().join(file);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace("NVIDIA H200", "NVIDIA T4")).unwrap();
        let found = store.verify(name).unwrap();
        assert_eq!(found.state, State::Incomplete);
        let told = found.problems.join("\n");
        assert!(told.contains(&format!("{file} was changed")), "{told}");
        assert!(!told.contains(other), "{told}");
        fs::write(&path, text).unwrap();
    }
}

#[test]
fn a_changed_report_is_listed_and_loaded_as_such() {
    let (_dir, store) = store();
    let path = whole(&store);
    let report = path.join("report.json");
    let text = fs::read_to_string(&report).unwrap();
    fs::write(&report, text.replace("\"fail\": 1", "\"fail\": 0")).unwrap();
    let told = store.list().unwrap()[0].seal.broken().unwrap();
    assert!(told.starts_with("changed after it was written"), "{told}");
    assert!(store.newest().unwrap().seal.broken().is_some());
}

/// A file of a run that is no file at all stands in the way of that run alone.
#[test]
fn one_broken_run_hides_no_other() {
    let (_dir, store) = store();
    let (broken, fine) = (whole(&store), whole(&store));
    for file in ["report.json", "results.jsonl", "run.json"] {
        let file = broken.join(file);
        fs::remove_file(&file).unwrap();
        fs::create_dir(&file).unwrap();
        let ids: Vec<String> = store
            .list()
            .unwrap()
            .into_iter()
            .map(|run| run.id)
            .collect();
        assert!(ids.iter().any(|id| fine.ends_with(id)), "{ids:?}");
        store.verify_all().unwrap();
    }
    let newest = store.newest().unwrap();
    assert_eq!(newest.path, fine);
}

/// A file with a hole: larger than anything that is read, and nothing on the disk.
#[test]
fn a_file_beyond_reason_is_not_read() {
    let (_dir, store) = store();
    let path = whole(&store);
    for file in ["results.jsonl", "report.json"] {
        let file = OpenOptions::new().append(true).open(path.join(file));
        file.unwrap().set_len(5 << 30).unwrap();
        let told = store.verify_all().unwrap()[0].problems.join("\n");
        assert!(
            told.contains("5368709120 bytes, at most 4294967296 are read"),
            "{told}"
        );
    }
    assert!(matches!(
        &store.list().unwrap()[0].state,
        State::Unreadable(_)
    ));
}
