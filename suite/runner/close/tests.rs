//! Runs of several processes, each of which wrote some results.

use std::fs;
use std::path::Path;

use super::*;
use crate::archive::{State, Store};
use crate::report::record::SpecRecord;
use crate::report::tests::on_sim;
use crate::runner::Selection;
use crate::runner::blank::blank_record;
use crate::terms::ImageKind;

const SUITE: &str = "version: 1
suite: s
kernels: [compaction.cu]
axes: {n: [1, 2]}
buffers: {out: {type: i32, len: n}}
pipelines: {main: [{memset: out, value: 1}]}
gates:
  a: {run: main, check: sorted, got: out}
  on_a_card: {run: main, check: sorted, got: out, devices: [cuda]}
must_run: [a]
";

struct Place {
    folder: tempfile::TempDir,
    options: Options,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let specs = folder.path().join("specs");
        fs::create_dir(&specs).unwrap();
        fs::write(specs.join("s.yaml"), SUITE).unwrap();
        let options = Options {
            specs: Some(specs),
            reports: folder.path().join("reports"),
            ..Options::default()
        };
        Self { folder, options }
    }

    fn store(&self) -> Store {
        Store::open(&self.options.reports)
    }

    /// A process that joins the run with one result.
    fn joins(&self, id: &str, outcome: Outcome) {
        self.joins_as(on_sim(), id, outcome);
    }

    fn joins_as(&self, mut facts: Facts, id: &str, outcome: Outcome) {
        facts.run.joined = true;
        facts.run.complete = false;
        facts.run.finished = None;
        facts.run.images = vec![ImageKind::Jit];
        let planned = Planned::new(&self.options).unwrap();
        let specs = planned.suites.iter().map(|suite| SpecRecord {
            path: suite.path.clone(),
            sha256: suite.sha256.clone(),
        });
        facts.suite.specs = specs.collect();
        let mut record = blank_record(id);
        record.gate = "a".into();
        record.outcome = outcome;
        let folder = self.store().join_run("9e1f", facts).unwrap();
        folder.append(&record).unwrap();
    }

    fn folder(&self) -> PathBuf {
        self.store().folder(None).unwrap()
    }

    fn close(&self, filters: &[&str]) -> Result<Closed, CloseError> {
        let mut options = self.options.clone();
        options.selection = Selection {
            filters: filters.iter().map(|f| (*f).to_owned()).collect(),
            ..Selection::default()
        };
        close(&self.store().folder(None).unwrap(), &options)
    }

    /// What `report verify` says of the run.
    fn wrong(&self) -> Vec<String> {
        let found = self.store().verify_all().unwrap();
        found.into_iter().flat_map(|run| run.problems).collect()
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }
}

fn outcomes(report: &Report) -> Vec<(&str, Outcome)> {
    let each = report.cases.iter();
    each.map(|case| (case.id.as_str(), case.outcome)).collect()
}

#[test]
fn a_run_of_many_processes_is_judged_with_the_cases_that_none_of_them_ran() {
    let place = Place::new();
    place.joins("s::a::n=2::jit", Outcome::Pass);
    place.joins("s::a::n=1::jit", Outcome::Pass);
    let closed = place.close(&[]).unwrap();
    assert_eq!(
        closed.verdict,
        Verdict::Passed,
        "{:?}",
        closed.report.run.problems
    );
    let want = [
        ("s::a::n=1::jit", Outcome::Pass),
        ("s::on_a_card::n=1::jit", Outcome::Skip),
        ("s::a::n=2::jit", Outcome::Pass),
        ("s::on_a_card::n=2::jit", Outcome::Skip),
    ];
    assert_eq!(outcomes(&closed.report), want);
    let skipped = &closed.report.cases[1];
    let reason = skipped.reason.as_ref().unwrap().to_string();
    assert!(
        reason.contains("the gate names devices: [cuda]"),
        "{reason}"
    );
    assert!(
        skipped.repro.ends_with("-- --exact s::on_a_card::n=1::jit"),
        "{}",
        skipped.repro
    );
    assert!(closed.report.run.complete && closed.report.run.finished.is_some());
    let loaded = place.store().newest().unwrap();
    assert_eq!(
        (loaded.state, &loaded.report),
        (State::Complete, &closed.report)
    );
    for file in ["junit.xml", "summary.md"] {
        assert!(closed.folder.join(file).is_file(), "{file}");
    }
    assert_eq!(place.wrong(), [""; 0], "also the skips are in the results");
    // Another process comes late: it is closed anew.
    place.joins("s::a::n=1::jit", Outcome::Fail);
    let again = place.close(&[]).unwrap();
    assert_eq!(again.verdict, Verdict::Failed);
    assert_eq!(again.report.cases.len(), closed.report.cases.len());
    assert_eq!(place.wrong(), [""; 0]);
    let results = fs::read_to_string(closed.folder.join("results.jsonl")).unwrap();
    assert_eq!(results.matches("s::on_a_card::n=1").count(), 2, "{results}");
}

#[test]
fn cases_without_a_result_fail_the_run_unless_they_were_not_selected() {
    let place = Place::new();
    place.joins("s::a::n=2::jit", Outcome::Pass);
    let closed = place.close(&[]).unwrap();
    assert_eq!(closed.verdict, Verdict::Failed);
    assert!(!closed.report.run.complete);
    let [problem] = &closed.report.run.problems[..] else {
        panic!("{:?}", closed.report.run.problems)
    };
    assert_eq!(problem.rule, RunRule::Incomplete);
    assert!(
        problem
            .message
            .starts_with("1 cases have no result (s::a::n=1::jit)"),
        "{problem}"
    );
    let closed = place.close(&["n=2"]).unwrap();
    assert_eq!(
        closed.verdict,
        Verdict::Passed,
        "{:?}",
        closed.report.run.problems
    );
    assert!(closed.report.run.filtered);
}

#[test]
fn a_report_that_cannot_be_read_is_written_again() {
    let place = Place::new();
    place.joins("s::a::n=1::jit", Outcome::Pass);
    place.joins("s::a::n=2::jit", Outcome::Pass);
    let folder = place.close(&[]).unwrap().folder;
    let report = folder.join("report.json");
    let text = fs::read_to_string(&report).unwrap();
    let id = folder.file_name().unwrap().to_str().unwrap();
    for broken in ["", &text[..text.len() / 2], "[1]"] {
        fs::write(&report, broken).unwrap();
        let told = place.store().load(id).unwrap_err().to_string();
        assert!(
            told.contains(&format!("`cuda-gates report close {id}` writes it again")),
            "{told}"
        );
        let refused = place.store().take_up(id).unwrap_err().to_string();
        assert!(
            refused.contains(&format!("cuda-gates report close {id}")),
            "{refused}"
        );
        assert_eq!(place.close(&[]).unwrap().verdict, Verdict::Passed);
        let kept = fs::read_to_string(folder.join("report.json.damaged")).unwrap();
        assert_eq!(kept, broken, "nothing is thrown away");
        assert_eq!(place.wrong(), [""; 0]);
        assert_eq!(place.store().load(id).unwrap().report.cases.len(), 4);
    }
    let newer = r#"{"schema": "cuda-gates.report/9.0"}"#;
    fs::write(&report, newer).unwrap();
    let told = place.close(&[]).err().expect("a newer report").to_string();
    assert!(told.contains("newer cuda-gates"), "{told}");
    assert_eq!(fs::read_to_string(&report).unwrap(), newer, "left as it is");
}

/// Advice that would be refused is none.
#[test]
fn a_damaged_report_whose_start_is_damaged_too_has_no_mend() {
    let place = Place::new();
    place.joins("s::a::n=1::jit", Outcome::Pass);
    let folder = place.close(&["n=1"]).unwrap().folder;
    fs::write(folder.join("report.json"), "{").unwrap();
    let start = folder.join("run.json");
    let text = fs::read_to_string(&start).unwrap();
    let changed = text.replace("simulated device", "another device");
    assert_ne!(changed, text);
    for start_text in [&text[..text.len() / 2], &changed] {
        fs::write(&start, start_text).unwrap();
        let told = place.store().folder(None).map(|f| f.display().to_string());
        let told = place.store().load(&told.unwrap()).unwrap_err().to_string();
        assert!(told.contains("cut short"), "{told}");
        assert!(!told.contains("writes it again"), "{told}");
        place.close(&["n=1"]).err().expect("no start");
    }
}

#[test]
fn a_broken_line_is_a_case_that_was_lost() {
    let place = Place::new();
    place.joins("s::a::n=1::jit", Outcome::Pass);
    place.joins("s::a::n=2::jit", Outcome::Pass);
    let folder = place.store().newest().unwrap().path;
    let results = folder.join("results.jsonl");
    let text = fs::read_to_string(&results).unwrap();
    fs::write(&results, format!("{text}{{\"id\": \"s::a")).unwrap();
    let closed = place.close(&[]).unwrap();
    assert_eq!(closed.verdict, Verdict::Failed);
    let told = closed.report.run.problems[0].to_string();
    assert!(
        told.contains("1 lines of results.jsonl are broken"),
        "{told}"
    );
}

#[test]
fn other_specs_and_a_run_with_an_end_of_its_own_are_refused() {
    let place = Place::new();
    place.joins("s::a::n=1::jit", Outcome::Pass);
    let changed = SUITE.replace("n: [1, 2]", "n: [1]");
    fs::write(place.path().join("specs/s.yaml"), changed).unwrap();
    let told = place.close(&[]).err().expect("other specs").to_string();
    assert!(
        told.contains("s.yaml is not what it was") && told.contains("--specs DIR"),
        "{told}"
    );

    let place = Place::new();
    let run = place.store().begin_run(on_sim()).unwrap();
    let report = run.facts().clone().into_report(Vec::new(), Vec::new());
    run.finish(&report).unwrap();
    let told = place.close(&[]).err().expect("it is over").to_string();
    assert!(told.contains("came to its end by itself"), "{told}");
}

#[test]
fn a_run_of_one_process_that_died_is_not_closed_but_resumed() {
    let place = Place::new();
    let mut facts = on_sim();
    (facts.run.complete, facts.run.finished) = (false, None);
    let run = place.store().begin_run(facts).unwrap();
    run.append(&blank_record("s::a::n=1::jit")).unwrap();
    let told = place.close(&[]).err().expect("it can go on").to_string();
    assert!(
        told.contains(&format!("`cuda-gates run --resume {}`", run.id())),
        "{told}"
    );
    assert!(!run.path().join("report.json").exists());
}

#[test]
fn a_run_that_was_changed_is_not_closed() {
    let place = Place::new();
    place.joins("s::a::n=2::jit", Outcome::Pass);
    let folder = place.close(&["n=2"]).unwrap().folder;
    for file in ["report.json", "run.json"] {
        let path = folder.join(file);
        let text = fs::read_to_string(&path).unwrap();
        for (from, to, words) in [
            (
                "simulated device",
                "another device",
                "changed after it was written",
            ),
            ("\"seal\"", "\"unsealed\"", "its seal was taken away"),
        ] {
            let changed = text.replace(from, to);
            assert_ne!(changed, text);
            fs::write(&path, changed).unwrap();
            let told = place.close(&["n=2"]).err().expect(file).to_string();
            assert!(told.contains(words), "{told}");
        }
        fs::write(&path, text).unwrap();
    }
    place.close(&["n=2"]).unwrap();
}

const WAIVERS: &str = "version: 1
waivers:
  - {cases: 's::a::*', cards: simulated*, reason: known, link: 'https://a.b/1', expires: 9999-12-31}
";

#[test]
fn waivers_that_came_after_the_run_are_not_its_own() {
    let place = Place::new();
    place.joins("s::a::n=1::jit", Outcome::Pass);
    place.joins("s::a::n=2::jit", Outcome::Pass);
    let waivers = place.path().join("specs/waivers.yaml");
    fs::write(&waivers, WAIVERS).unwrap();
    let told = place.close(&[]).err().expect("new waivers").to_string();
    assert!(
        told.contains("waivers.yaml was not among the run's specs"),
        "{told}"
    );
    fs::remove_file(&waivers).unwrap();
    assert_eq!(place.close(&[]).unwrap().verdict, Verdict::Passed);
}

#[test]
fn a_file_that_a_spec_names_is_a_part_of_it() {
    let place = Place::new();
    let suite = SUITE.replace(
        "check: sorted, got: out}",
        "check: exact, got: out, want: {file: w.json}}",
    );
    fs::write(place.path().join("specs/s.yaml"), suite).unwrap();
    let wanted = place.path().join("specs/w.json");
    fs::write(&wanted, "[1]").unwrap();
    place.joins("s::a::n=1::jit", Outcome::Pass);
    place.joins("s::a::n=2::jit", Outcome::Pass);
    fs::write(&wanted, "[2]").unwrap();
    let told = place.close(&[]).err().expect("another file").to_string();
    assert!(told.contains("s.yaml is not what it was"), "{told}");
    fs::write(&wanted, "[1]").unwrap();
    assert_eq!(place.close(&[]).unwrap().verdict, Verdict::Passed);
}

#[test]
fn a_case_that_failed_and_then_passed_is_none_that_passes() {
    let place = Place::new();
    place.joins("s::a::n=1::jit", Outcome::Error);
    place.joins("s::a::n=1::jit", Outcome::Pass);
    place.joins("s::a::n=2::jit", Outcome::Pass);
    place.joins("s::a::n=2::jit", Outcome::Pass);
    for filters in [&[][..], &["n=1"]] {
        let closed = place.close(filters).unwrap();
        assert_eq!(closed.verdict, Verdict::Failed);
        assert_eq!(closed.report.cases[0].outcome, Outcome::Error);
        let [problem] = &closed.report.run.problems[..] else {
            panic!("{:?}", closed.report.run.problems)
        };
        assert_eq!(problem.rule, RunRule::Results);
        let words = "2 results of s::a::n=1::jit differ: error, pass: the worst counts";
        assert!(problem.message.starts_with(words), "{problem}");
    }
    let found = place.store().verify_all().unwrap();
    assert_eq!((&found[0].problems[..], found[0].notes.len()), (&[][..], 1));
}

#[test]
fn results_of_cases_that_the_specs_do_not_have_are_refused() {
    let place = Place::new();
    place.joins("s::a::n=1::jit", Outcome::Pass);
    place.joins("s::a::n=77::jit", Outcome::Pass);
    let told = place.close(&["n=1"]).err().expect("foreign").to_string();
    let words =
        "results of 1 cases that it did not select (first s::a::n=77::jit). Take their lines out";
    assert!(told.contains(words), "{told}");
    assert!(!place.folder().join("report.json").exists());
}

/// A card that was there when the run began, on this machine and on another.
#[test]
fn a_card_that_is_gone_when_its_run_is_closed_breaks_the_rule_identity() {
    for (here, broken) in [(true, true), (false, false)] {
        let place = Place::new();
        let mut facts = crate::report::tests::on_h200();
        facts.host = identity::host();
        if !here {
            facts.host.insert("kernel".into(), "another".into());
        }
        place.joins_as(facts, "s::a::n=1::jit", Outcome::Pass);
        let closed = place.close(&["s::a::n=1"]).unwrap();
        let problems = closed.report.run.problems.iter();
        let told: Vec<String> = problems.map(ToString::to_string).collect();
        let lost = told.iter().any(|told| told.contains("uuid was "));
        assert_eq!(lost, broken, "{told:?}");
        assert_eq!(closed.verdict == Verdict::Passed, !broken);
    }
}
