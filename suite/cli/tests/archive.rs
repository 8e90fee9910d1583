//! `report list` and `report show`: runs in the archive, and their plots.

use super::*;

#[test]
fn the_archive_is_listed_and_shown() {
    let dir = tempfile::tempdir().unwrap();
    let reports = dir.path().display();
    let empty = answer(&format!("report list --reports {reports}")).unwrap();
    assert_eq!(
        (empty.code, empty.text),
        (0, format!("no runs in {reports}\n"))
    );

    let store = Store::open(dir.path());
    let died = store.begin_run(on_h200()).unwrap();
    died.append(&case("scan_total", 26, Outcome::Fail)).unwrap();
    let list = || {
        let told = answer(&format!("report list --reports {reports}"));
        told.unwrap().text
    };
    assert!(list().trim_end().ends_with("running"), "{}", list());
    let id = died.id().to_owned();
    drop(died);
    let whole = store.begin_run(on_h200()).unwrap();
    let report = whole
        .facts()
        .clone()
        .into_report(vec![case("scan_total", 26, Outcome::Pass)], Vec::new());
    whole.finish(&report).unwrap();

    let list = list();
    let line = list.lines().find(|l| l.contains(&id)).unwrap();
    assert!(
        line.contains("580.159.04") && line.contains("1 failed") && line.ends_with("incomplete"),
        "{list}"
    );
    let json = answer(&format!("report list --reports {reports} --format json"))
        .unwrap()
        .text;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let states: Vec<&str> = json["runs"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|r| r["state"].as_str())
        .collect();
    assert_eq!(states.len(), 2);
    assert!(states.contains(&"complete") && states.contains(&"incomplete"));

    let show = |id: &str, format: &str| {
        answer(&format!(
            "report show {id} --reports {reports} --format {format}"
        ))
        .unwrap()
        .text
    };
    let text = show(&id, "text");
    assert!(
        text.contains("FAIL  compaction::scan_total") && text.contains("did not reach its end"),
        "{text}"
    );
    assert!(!show(whole.id(), "text").contains("did not reach its end"));
    assert_eq!(
        crate::report::from_json(&show(whole.id(), "json")).unwrap(),
        report
    );
    assert!(show(whole.id(), "markdown").starts_with("## 1 passed"));
    let redacted = show(whole.id(), "json --redact");
    assert!(!redacted.contains(UUID) && redacted.contains("redacted:"));
}

#[test]
fn plots_are_files_and_their_names_the_answer() {
    let dir = tempfile::tempdir().unwrap();
    let evidence = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/docs/evidence/h200-580.159.04/report.json"
    );
    let mut report = crate::report::from_json(&std::fs::read_to_string(evidence).unwrap()).unwrap();
    let run = dir.path().join("report.json");
    let folder = dir.path().join("new/plots");
    let show = |report: &crate::report::record::Report, folder: &std::path::Path| {
        std::fs::write(&run, crate::report::to_json(report).unwrap()).unwrap();
        answer(&format!(
            "report show {} --plots {}",
            run.display(),
            folder.display()
        ))
    };
    let none = show(&report, &folder).unwrap();
    assert_eq!((none.code, folder.exists()), (0, false));
    assert!(
        none.text.starts_with("no plots: no table of run"),
        "{}",
        none.text
    );

    for table in &mut report.tables {
        table.plot = serde_json::from_value(serde_json::json!({
            "x": "kept_percent", "along": "keep", "y": ["scan_ms", "atomic_ms"],
            "x_scale": "linear", "y_scale": "linear", "x_label": "kept, %",
        }))
        .unwrap();
    }
    report.tables[1].rows.clear();
    let svg = folder.join("compaction.survival_sweep.sass.svg");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(&svg, "of an earlier run").unwrap();
    let answer = show(&report, &folder).unwrap();
    assert_eq!(
        answer.text,
        format!(
            "wrote {}\nleft out compaction.survival_sweep.jit.svg: scan_ms, atomic_ms: no row has a value\n",
            svg.display()
        )
    );
    assert!(std::fs::read_to_string(&svg).unwrap().starts_with("<svg "));
    assert_eq!((answer.code, answer.trouble.as_str()), (0, ""));
    // What cannot be written stands in nobody's way, neither before nor after it.
    report.tables[1].rows = report.tables[0].rows.clone();
    std::fs::remove_file(&svg).unwrap();
    std::fs::create_dir(&svg).unwrap();
    let answer = show(&report, &folder).unwrap();
    let jit = folder.join("compaction.survival_sweep.jit.svg");
    assert_eq!(answer.text, format!("wrote {}\n", jit.display()));
    let trouble = format!("error: cannot write {}: ", svg.display());
    assert!(answer.trouble.starts_with(&trouble), "{}", answer.trouble);
    assert_eq!((answer.code, answer.trouble.lines().count()), (2, 1));
    assert!(std::fs::read_to_string(&jit).unwrap().starts_with("<svg "));
    report.tables[0].suite = "long".repeat(100);
    let answer = show(&report, &folder).unwrap();
    assert_eq!(
        (answer.code, answer.text.lines().count()),
        (0, 2),
        "{answer:?}"
    );
    let failure = show(&report, &run.join("below_a_file")).unwrap_err();
    assert_eq!(failure.code, 2);
    assert!(failure.text.contains("below_a_file"), "{}", failure.text);
    let both = parse("report show --plots here --format json").unwrap_err();
    assert_eq!(both.exit_code(), 2);
}

#[test]
fn the_newest_run_is_shown_where_none_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let show = format!("report show --reports {}", dir.path().display());
    let none = answer(&show).unwrap_err();
    assert!(
        none.code == 2 && none.text.contains("no runs in"),
        "{none:?}"
    );
    let store = Store::open(dir.path());
    let at = |started: &str| {
        let mut facts = on_h200();
        facts.run.id = String::new();
        facts.run.started = started.to_owned();
        facts
    };
    let first = store.begin_run(at("2026-11-29T22:41:00Z")).unwrap();
    // Its name sorts after the others, its time between them.
    let joined = store.join_run("x", at("2026-11-29T22:41:01Z")).unwrap();
    assert!(answer(&show).unwrap().text.contains(joined.id()));
    let last = store.begin_run(at("2026-11-29T22:41:02Z")).unwrap();
    let text = answer(&show).unwrap().text;
    assert!(
        text.contains(last.id()) && !text.contains(first.id()),
        "{text}"
    );
}

#[test]
fn a_run_of_many_processes_is_listed_and_shown_as_one() {
    let dir = tempfile::tempdir().unwrap();
    let reports = dir.path().display();
    let mut facts = on_h200();
    facts.run.joined = true;
    facts.run.complete = false;
    let store = Store::open(dir.path());
    for keep in [26, 128] {
        let run = store.join_run("x", facts.clone()).unwrap();
        run.append(&case("scan_total", keep, Outcome::Pass))
            .unwrap();
    }
    let list = answer(&format!("report list --reports {reports}"));
    let list = list.unwrap().text;
    assert!(
        list.contains("2 passed") && list.trim_end().ends_with("of many processes"),
        "{list}"
    );
    let text = answer(&format!("report show --reports {reports}"))
        .unwrap()
        .text;
    assert!(text.contains("nextest-x, of many processes"), "{text}");
    assert!(
        text.contains("2 passed") && !text.contains("incomplete"),
        "{text}"
    );
}

/// A misspelt folder must not look like one whose runs are all right.
#[test]
fn an_archive_without_runs_is_not_verified() {
    let dir = tempfile::tempdir().unwrap();
    for (folder, words) in [
        (
            dir.path().join("nowhere"),
            "is not there: nothing was verified. Name the archive",
        ),
        (dir.path().to_owned(), "nothing was verified"),
    ] {
        for (format, text) in [("text", ""), ("json", "\"runs\": []")] {
            let command = format!(
                "report verify --reports {} --format {format}",
                folder.display()
            );
            let told = answer(&command).unwrap();
            assert_eq!(told.code, 4, "{command}");
            assert!(
                told.text.contains(text) && told.trouble.contains(words),
                "{told:?}"
            );
            assert!(told.trouble.contains(folder.to_str().unwrap()), "{told:?}");
        }
    }
    Store::open(dir.path()).begin_run(on_h200()).unwrap();
    let told = answer(&format!("report verify --reports {}", dir.path().display())).unwrap();
    assert_eq!((told.code, told.trouble), (0, String::new()));
}

#[test]
fn a_run_that_is_not_there_is_wrong_usage() {
    let dir = tempfile::tempdir().unwrap();
    let failure = answer(&format!(
        "report show nope --reports {}",
        dir.path().display()
    ))
    .unwrap_err();
    assert_eq!(failure.code, 2);
    assert!(failure.text.contains("no run `nope`"), "{}", failure.text);
    let file = dir.path().join("file");
    std::fs::write(&file, "").unwrap();
    let failure = answer(&format!("report list --reports {}", file.display())).unwrap_err();
    assert_eq!(failure.code, 2, "{}", failure.text);
}
