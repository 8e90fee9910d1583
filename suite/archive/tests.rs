//! Runs on disk: whole, dying, shared and hostile.

mod changed;
mod results;
mod resumed;

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;

use super::disk::append_line;
use super::names::folder_name;
use super::results::read_results;
use super::*;
use crate::report::Facts;
use crate::report::record::{CaseRecord, Totals};
use crate::report::tests::{case, on_h200};
use crate::terms::Outcome;

fn store() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("deep/reports"));
    (dir, store)
}

fn fresh() -> Facts {
    let mut facts = on_h200();
    facts.run.id = String::new();
    facts
}

fn passing(keep: i64) -> CaseRecord {
    case("scan_total", keep, Outcome::Pass)
}

#[test]
fn a_run_is_filed_by_driver_and_card_and_read_back() {
    let (_dir, store) = store();
    let run = store.begin_run(on_h200()).unwrap();
    assert!(
        run.path()
            .ends_with("580.159.04/NVIDIA-H200/20261129T224100Z-3f2a")
    );
    let cases = vec![passing(1), case("scan_total", 2, Outcome::Fail)];
    for case in &cases {
        run.append(case).unwrap();
    }
    let report = run.facts().clone().into_report(cases, Vec::new());
    run.finish(&report).unwrap();
    let loaded = store.load("20261129T224100Z-3f2a").unwrap();
    assert_eq!((loaded.report, loaded.state), (report, State::Complete));
    let files: HashSet<String> = fs::read_dir(run.path())
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    let want = [
        "run.json",
        "results.jsonl",
        "report.json",
        "junit.xml",
        "summary.md",
    ];
    assert_eq!(files, want.map(str::to_owned).into());
}

/// A file that is none of a run's own is the report that was asked for, whatever lies beside it.
#[test]
fn a_report_beside_a_run_is_shown_for_itself() {
    let (_dir, store) = store();
    let run = store.begin_run(on_h200()).unwrap();
    let report = run
        .facts()
        .clone()
        .into_report(vec![passing(1)], Vec::new());
    run.finish(&report).unwrap();
    let mut other = report.clone();
    other.run.id = "another".into();
    let beside = run.path().join("performance.report.json");
    fs::write(&beside, crate::report::to_json(&other).unwrap()).unwrap();
    let id = |path: &Path| {
        store
            .load(&path.display().to_string())
            .map(|l| l.report.run.id)
    };
    assert_eq!(id(&beside).unwrap(), "another");
    assert_eq!(id(&run.path().join("report.json")).unwrap(), report.run.id);
    assert_eq!(id(&run.path().join("summary.md")).unwrap(), report.run.id);
    let notes = run.path().join("notes.md");
    fs::write(&notes, "mine").unwrap();
    assert!(matches!(id(&notes), Err(ArchiveError::Read { .. })));
}

#[test]
fn shelves() {
    let shelf = |change: &dyn Fn(&mut Facts)| {
        let mut facts = on_h200();
        change(&mut facts);
        Shelf::of(&facts).path().display().to_string()
    };
    assert_eq!(shelf(&|_| {}), "580.159.04/NVIDIA-H200");
    assert_eq!(shelf(&|f| f.device.info = None), "580.159.04/no-device");
    let nothing = |f: &mut Facts| {
        f.device.info = None;
        f.device.driver_version = None;
    };
    assert_eq!(shelf(&nothing), "no-driver/no-device");
    assert_eq!(
        shelf(&|f| f.device.driver_version = None),
        "unknown-driver/NVIDIA-H200"
    );
    let sim = |f: &mut Facts| f.device.info.as_mut().unwrap().kind = crate::terms::DeviceKind::Sim;
    assert_eq!(shelf(&sim), "sim/0.1.0");
}

#[test]
fn hostile_names_stay_inside() {
    for (text, want) in [
        ("NVIDIA GeForce RTX 4090", "NVIDIA-GeForce-RTX-4090"),
        ("../../etc/passwd", "etc-passwd"),
        ("..", "otherwise"),
        (".hidden", "hidden"),
        ("", "otherwise"),
        (" \n\t/", "otherwise"),
        ("C:\\nul\0", "C-nul"),
        ("карта 7", "7"),
        ("-rf", "rf"),
    ] {
        assert_eq!(folder_name(text, "otherwise"), want, "{text:?}");
    }
    assert_eq!(folder_name(&"x".repeat(5000), "otherwise").len(), 80);

    let (dir, store) = store();
    let mut facts = on_h200();
    facts.device.driver_version = Some("../../..".to_owned());
    facts.device.info.as_mut().unwrap().name = "/".to_owned();
    facts.run.id = "../../escape".to_owned();
    let run = store.begin_run(facts).unwrap();
    assert!(run.path().starts_with(store.root()));
    assert!(!run.path().display().to_string().contains(".."));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn runs_never_share_a_folder() {
    let (_dir, store) = store();
    let ids: HashSet<String> = std::thread::scope(|scope| {
        let begin = || {
            (0..20)
                .map(|_| store.begin_run(fresh()).unwrap().id().to_owned())
                .collect::<Vec<_>>()
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(begin)).collect();
        threads
            .into_iter()
            .flat_map(|t| t.join().unwrap())
            .collect()
    });
    assert_eq!(ids.len(), 80);
    // A name that is taken gives way.
    let first = store.begin_run(on_h200()).unwrap();
    let second = store.begin_run(on_h200()).unwrap();
    assert_ne!(first.id(), second.id());
    assert_eq!(
        second.facts().run.id,
        second.path().file_name().unwrap().to_str().unwrap()
    );
}

#[test]
fn run_ids_sort_by_time_and_name_it() {
    let id = new_run_id();
    let (time, random) = id.split_once('-').unwrap();
    assert_eq!((time.len(), random.len()), (16, 4), "{id}");
    assert!(time.starts_with("20") && time.ends_with('Z') && time.contains('T'));
}

#[test]
fn a_run_that_died_is_listed_and_loaded() {
    let (_dir, store) = store();
    let run = store.begin_run(on_h200()).unwrap();
    run.append(&passing(1)).unwrap();
    run.append(&case("scan_total", 2, Outcome::Error)).unwrap();
    let results = run.path().join("results.jsonl");
    let mut file = OpenOptions::new().append(true).open(&results).unwrap();
    file.write_all(b"{\"id\": \"cut of").unwrap();

    let listed = &store.list().unwrap()[0];
    assert_eq!(listed.state, State::Incomplete);
    assert_eq!(
        listed.totals,
        Totals {
            pass: 1,
            error: 1,
            ..Totals::default()
        }
    );
    assert_eq!(listed.broken_lines, 1);
    let loaded = store.load(run.id()).unwrap();
    assert!(!loaded.report.run.complete && loaded.report.run.finished.is_none());
    assert_eq!(loaded.report.cases.len(), 2);

    // The next result closes the broken line instead of joining it.
    run.append(&passing(3)).unwrap();
    assert_eq!(store.load(run.id()).unwrap().report.cases.len(), 3);
    assert_eq!(store.load(run.id()).unwrap().broken_lines, 1);
}

#[test]
fn the_list_is_in_order_of_time_and_keeps_the_unreadable() {
    let (_dir, store) = store();
    assert_eq!(store.list().unwrap(), Vec::new(), "no root yet");
    for (id, started) in [
        ("b", "2026-01-02T00:00:00Z"),
        ("c", "2026-01-03T00:00:00Z"),
        ("a", "2026-01-01T00:00:00Z"),
    ] {
        let mut facts = on_h200();
        facts.run.id = id.to_owned();
        facts.run.started = started.to_owned();
        store.begin_run(facts).unwrap();
    }
    let mut facts = on_h200();
    facts.run.id = "newer".to_owned();
    let run = store.begin_run(facts).unwrap();
    fs::write(
        run.path().join("report.json"),
        r#"{"schema": "cuda-gates.report/9.0"}"#,
    )
    .unwrap();
    run.append(&passing(1)).unwrap();
    fs::create_dir_all(store.root().join("580.159.04/NVIDIA-H200/empty")).unwrap();
    fs::write(store.root().join("stray.txt"), "not a run").unwrap();

    let list = store.list().unwrap();
    let ids: Vec<&str> = list.iter().map(|l| l.id.as_str()).collect();
    assert_eq!(ids, ["newer", "a", "b", "c"]);
    assert!(matches!(&list[0].state, State::Unreadable(why) if why.contains("newer cuda-gates")));
    assert_eq!(list[0].totals.pass, 1, "its results still count");
}

#[test]
fn loading_by_folder_file_and_prefix() {
    let (_dir, store) = store();
    for id in [
        "20260101T000000Z-aaaa",
        "20260101T000000Z-aabb",
        "20260102T000000Z-aaaa",
    ] {
        let mut facts = on_h200();
        facts.run.id = id.to_owned();
        let run = store.begin_run(facts).unwrap();
        run.finish(&run.facts().clone().into_report(Vec::new(), Vec::new()))
            .unwrap();
    }
    let id = |name: &str| store.load(name).map(|l| l.report.run.id);
    assert_eq!(id("20260102").unwrap(), "20260102T000000Z-aaaa");
    assert_eq!(
        id("20260101T000000Z-aaaa").unwrap(),
        "20260101T000000Z-aaaa"
    );
    let folder = store.load("20260102").unwrap().path;
    for path in [
        folder.clone(),
        folder.join("report.json"),
        folder.join("summary.md"),
    ] {
        assert_eq!(id(path.to_str().unwrap()).unwrap(), "20260102T000000Z-aaaa");
    }
    let copy = store.root().join("elsewhere.json");
    fs::copy(folder.join("report.json"), &copy).unwrap();
    assert_eq!(id(copy.to_str().unwrap()).unwrap(), "20260102T000000Z-aaaa");
    let ambiguous = id("20260101").unwrap_err().to_string();
    assert!(
        ambiguous.contains("aaaa") && ambiguous.contains("aabb"),
        "{ambiguous}"
    );
    assert!(matches!(id("1999"), Err(ArchiveError::NoSuchRun { .. })));
    assert!(matches!(id(""), Err(ArchiveError::NoSuchRun { .. })));
}

#[test]
fn a_joined_run_has_every_result_of_every_writer() {
    let (_dir, store) = store();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let store = &store;
            scope.spawn(move || {
                for i in 0..25 {
                    // Each opens the run anew, as a process of its own does.
                    let run = store.join_run("0f1e-2d3c", fresh()).unwrap();
                    run.append(&passing(writer * 100 + i)).unwrap();
                }
            });
        }
    });
    let runs = store.list().unwrap();
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0].id, "nextest-0f1e-2d3c");
    assert_eq!((runs[0].totals.pass, runs[0].broken_lines), (100, 0));
    let loaded = store.load(&runs[0].id).unwrap();
    assert_eq!(loaded.report.cases.len(), 100);
    let parts = fs::read_dir(&runs[0].path).unwrap().count();
    assert_eq!(parts, 2, "no temporary file is left");
}

#[test]
fn a_case_run_again_counts_once_with_its_worst_result() {
    let (_dir, store) = store();
    let run = store.join_run("key", fresh()).unwrap();
    run.append(&case("scan_total", 1, Outcome::Error)).unwrap();
    run.append(&passing(2)).unwrap();
    run.append(&passing(1)).unwrap();
    let cases = store.load(run.id()).unwrap().report.cases;
    let outcomes: Vec<Outcome> = cases.iter().map(|c| c.outcome).collect();
    assert_eq!(outcomes, [Outcome::Error, Outcome::Pass]);
    let other = store.join_run("another key", fresh()).unwrap();
    assert_ne!(other.path(), run.path());
}

#[test]
fn a_place_that_cannot_be_written_is_told_with_its_path_and_mend() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    for root in [file.as_path(), Path::new("/proc/cuda-gates")] {
        let error = Store::open(root)
            .begin_run(on_h200())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains(root.to_str().unwrap()) && error.contains("--reports DIR"),
            "{error}"
        );
    }
    assert!(!file.is_dir());
}

#[test]
fn a_read_only_folder_is_refused_with_the_right_words() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o555)).unwrap();
    // Root may write anywhere: the words are then those of the other test.
    if File::create(dir.path().join("probe")).is_ok() {
        return;
    }
    let error = Store::open(dir.path())
        .begin_run(on_h200())
        .unwrap_err()
        .to_string();
    assert!(error.contains("Make it writable"), "{error}");
}

#[test]
fn a_full_disk_is_an_error_and_loses_nothing() {
    let full = OpenOptions::new()
        .append(true)
        .read(true)
        .open("/dev/full")
        .unwrap();
    let error = append_line(&full, "{}\n").unwrap_err();
    let told = ArchiveError::io("append to", Path::new("results.jsonl"), error).to_string();
    assert!(
        told.contains("Free some space") && told.contains("results.jsonl"),
        "{told}"
    );

    let (_dir, store) = store();
    let run = store.begin_run(on_h200()).unwrap();
    run.append(&passing(1)).unwrap();
    // The report cannot take its place: the results stay, and the other files are still written.
    fs::create_dir(run.path().join("report.json")).unwrap();
    let report = run
        .facts()
        .clone()
        .into_report(vec![passing(1)], Vec::new());
    let error = run.finish(&report).unwrap_err().to_string();
    assert!(error.contains("report.json"), "{error}");
    assert!(run.path().join("summary.md").is_file() && run.path().join("junit.xml").is_file());
    assert_eq!(read_results(run.path()).unwrap().cases.len(), 1);
    let state = &store.list().unwrap()[0].state;
    assert!(matches!(state, State::Unreadable(_)), "{state:?}");
}

/// The fastest of several batches, so that a busy machine does not decide. Waiting for the disk takes what the disk
/// takes: that is printed, and judged nowhere.
#[test]
fn a_result_is_handed_over_within_a_fifth_of_a_millisecond() {
    const BATCH: u32 = 64;
    let (_dir, store) = store();
    let run = store.begin_run(fresh()).unwrap();
    let record = passing(1);
    let batch = |each: &dyn Fn()| {
        let clock = std::time::Instant::now();
        for _ in 0..BATCH {
            each();
        }
        clock.elapsed() / BATCH
    };
    let fastest = |each: &dyn Fn()| (0..10).map(|_| batch(each)).min().unwrap();
    let handed = fastest(&|| run.write(&record).unwrap());
    assert!(handed.as_micros() < 200, "{handed:?}");
    println!("handed over: {handed:?}");
    println!("on disk: {:?}", fastest(&|| run.append(&record).unwrap()));
}
