//! Runs that are killed, run out of disk, or are meddled with: nothing is lost, and each is finished or refused.

mod binary;
mod durable_kills;
mod durable_place;

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use cuda_gates::archive::{State, Store};
use cuda_gates::report::{Facts, case_from_line};

use durable_place::{Place, SUITE};

#[test]
fn eight_runs_killed_at_random_are_resumed_to_the_same_verdicts() {
    let figures = durable_kills::rounds(8, 0x5eed);
    assert!(figures.between >= 8, "{figures}");
}

/// The same at length: `cargo test --test durable -- --ignored --nocapture two_hundred`.
#[test]
#[ignore = "takes minutes"]
fn two_hundred_runs_killed_at_random_are_resumed_to_the_same_verdicts() {
    let figures = durable_kills::rounds(200, 0xdead_5eed);
    println!("{figures}");
    assert!(figures.between >= 200, "{figures}");
}

/// The environment variable that makes the next test the process that is killed.
const APPENDS: &str = "DURABLE_TEST_APPENDS";

#[test]
fn no_result_that_was_acknowledged_is_lost_to_a_kill() {
    if let Some(root) = std::env::var_os(APPENDS) {
        return append_for_ever(Store::open(root));
    }
    for round in 0..8 {
        let root = tempfile::tempdir().unwrap();
        let name = "no_result_that_was_acknowledged_is_lost_to_a_kill";
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name, "--nocapture"])
            .env(APPENDS, root.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut acknowledged = Vec::new();
        for line in lines {
            let line = line.unwrap();
            acknowledged.extend(line.strip_prefix("on disk: ").map(str::to_owned));
            if acknowledged.len() == 3 + 7 * round {
                child.kill().unwrap();
            }
        }
        child.wait().unwrap();
        assert!(acknowledged.len() >= 3 + 7 * round);
        let store = Store::open(root.path());
        let run = store.newest().unwrap();
        assert_eq!(run.state, State::Incomplete);
        let ids: Vec<&String> = run.report.cases.iter().map(|case| &case.id).collect();
        for id in &acknowledged {
            assert!(ids.contains(&id), "{id} was lost");
        }
    }
}

fn append_for_ever(store: Store) {
    let line = r#"{"id":"ID","suite":"s","gate":"g","check":"exact","image":"jit","params":{},
        "outcome":"pass","duration_ms":1.5,"repro":"cuda-gates"}"#;
    let run = store.begin_run(Facts::sample()).unwrap();
    for number in 0_u64.. {
        let mut case = case_from_line(line).unwrap();
        case.id = format!("s::g::n={number}::jit");
        run.append(&case).unwrap();
        println!("on disk: {}", case.id);
    }
}

#[test]
fn a_resumed_run_says_so_and_what_is_complete_is_refused() {
    let place = Place::new(SUITE);
    let run = place.died_after(3);
    let listed = place.run(&["report", "list"]).ends(0);
    let words = format!("incomplete: 3 of {} cases", place.cases());
    assert!(listed.stdout.contains(&words), "{}", listed.stdout);
    let shown = place.run(&["report", "show"]).ends(0);
    let command = format!("cuda-gates run --resume {run}");
    assert!(shown.stdout.contains(&command), "{}", shown.stdout);

    let resumed = place.run(&["run", "--resume", &run]).ends(1);
    assert!(resumed.stdout.contains(&run), "{}", resumed.stdout);
    let report = place.newest();
    assert!(report.run.complete && report.run.id == run);
    assert_eq!(report.run.resumed.len(), 1);
    assert_eq!(report.run.resumed[0].results, 3);
    place.run(&["report", "verify"]).ends(0);

    let again = place.run(&["run", "--resume", &run]).ends(2);
    assert!(again.stderr.contains("is complete"), "{}", again.stderr);
    let both = place.run(&["run", "--resume", &run, "wrong"]).ends(2);
    assert!(
        both.stderr.contains("cannot be used with"),
        "{}",
        both.stderr
    );
}

#[test]
fn a_run_has_its_own_choices_when_it_is_resumed() {
    let place = Place::new(SUITE);
    let choices = [
        "n=6",
        "--redact",
        "--schedules",
        "2",
        "--seed",
        "7",
        "--timeout",
        "9",
    ];
    let run = place.died(&choices, 2);
    place.run(&["run", "--resume", &run]).ends(1);
    let resumed = place.newest();
    assert_eq!(resumed.run.id, run);
    // 63, 64 and 65, each under two schedules.
    assert_eq!(resumed.totals.all(), 12);
    let ran = resumed.cases.iter().filter_map(|case| case.scheduled);
    assert!(ran.clone().count() == 9 && ran.clone().all(|s| s.of == 2 && s.seed == Some(7)));
    place.run(&choices).ends(1);
    let whole = place.newest();
    durable_kills::same_verdicts(&resumed, &whole);
    assert_eq!(resumed.run.choices, whole.run.choices);
    assert_eq!(resumed.run.schedules, whole.run.schedules);
    assert!(whole.run.resumed.is_empty() && whole.run.id != run);
}

#[test]
fn a_run_over_something_else_is_not_resumed() {
    let place = Place::new(SUITE);
    let run = place.died_after(3);
    let spec = place.path("specs/mine.yaml");
    fs::write(&spec, format!("{SUITE}# changed\n")).unwrap();
    let refused = place.run(&["run", "--resume", &run]).ends(2);
    for words in ["specs/mine.yaml has changed", "begin a new run"] {
        assert!(refused.stderr.contains(words), "{}", refused.stderr);
    }
    fs::write(&spec, SUITE).unwrap();
    let kernels = place.path("other/ptx");
    fs::create_dir_all(&kernels).unwrap();
    fs::write(place.path("other/compaction.cu"), "// nothing\n").unwrap();
    let with = ["run", "--resume", &run, "--kernels", "other"];
    let refused = place.run(&with).ends(2);
    assert!(refused.stderr.contains("kernels"), "{}", refused.stderr);
    let refused = place.run(&["run", "--resume", "no such run"]).ends(2);
    assert!(refused.stderr.contains("report list"), "{}", refused.stderr);
    // None of them touched it.
    assert_eq!(place.newest().cases.len(), 3);
    place.run(&["run", "--resume", &run]).ends(1);
}

#[test]
fn a_run_with_results_that_are_not_its_own_or_differ_does_not_pass() {
    let place = Place::new(SUITE);
    // All of them pass.
    place.run(&["by_reference"]).ends(0);
    let folder = Store::open(place.reports()).newest().unwrap().path;
    fs::remove_file(folder.join("report.json")).unwrap();
    let run = place.newest().run.id;
    let results = folder.join("results.jsonl");
    let text = fs::read_to_string(&results).unwrap();
    let first = text.lines().next().unwrap();
    let id = &place.newest().cases[0].id;
    let foreign = first.replace(
        &format!("\"id\":\"{id}\""),
        "\"id\":\"mine::by_map::n=77::jit\"",
    );
    assert_ne!(foreign, first);
    fs::write(&results, format!("{text}{foreign}\n")).unwrap();
    let refused = place.run(&["run", "--resume", &run]).ends(2);
    let words = "did not select (first mine::by_map::n=77::jit). Take their lines out";
    assert!(refused.stderr.contains(words), "{}", refused.stderr);
    // The first case passed, and now has failed before.
    let fails = first.replacen("\"outcome\":\"pass\"", "\"outcome\":\"fail\"", 1);
    assert_ne!(fails, first);
    fs::write(&results, format!("{fails}\n{text}")).unwrap();
    place.run(&["report", "verify"]).ends(1);
    let resumed = place.run(&["run", "--resume", &run]).ends(1);
    let words = format!("results: 2 results of {id} differ: fail, pass");
    assert!(resumed.stdout.contains(&words), "{}", resumed.stdout);
    place.run(&["report", "verify"]).ends(0);
}

#[test]
fn a_run_that_hides_its_folders_is_resumed_with_their_names() {
    let place = Place::new(SUITE);
    let specs = place.path("specs");
    let specs = specs.to_str().unwrap();
    let run = place.died(&["n=6", "--redact", "--specs", specs], 2);
    let began = place.newest();
    assert_eq!(began.suite.specs[0].path, "~/specs/mine.yaml");
    let refused = place.run(&["run", "--resume", &run]).ends(2);
    for words in ["`~/specs`", "name it with --specs"] {
        assert!(refused.stderr.contains(words), "{}", refused.stderr);
    }
    place
        .run(&["run", "--resume", &run, "--specs", specs])
        .ends(1);
    let resumed = place.newest();
    assert!(resumed.run.complete && resumed.run.id == run);
    assert_eq!(resumed.suite.specs, began.suite.specs);
    place.run(&["report", "verify"]).ends(0);
}

#[test]
fn a_file_that_a_spec_names_is_a_part_of_what_is_resumed() {
    let place = Place::new(&SUITE.replace("want: {map: nonzero}", "want: {file: w.json}"));
    let wanted = place.path("specs/w.json");
    fs::write(&wanted, "[1]").unwrap();
    let run = place.died_after(3);
    fs::write(&wanted, "[2]").unwrap();
    let refused = place.run(&["run", "--resume", &run]).ends(2);
    let words = "specs/mine.yaml has changed";
    assert!(refused.stderr.contains(words), "{}", refused.stderr);
    fs::write(&wanted, "[1]").unwrap();
    place.run(&["run", "--resume", &run]).ends(1);
}

#[test]
fn a_run_is_not_resumed_on_another_device() {
    let place = Place::new(SUITE);
    let run = place.died_after(3);
    let with = ["run", "--resume", &run, "--device", "GPU-00000000-0000"];
    let refused = place.run(&with).ends(2);
    for words in [
        "it was on a device of kind sim",
        "Name its device with --device",
    ] {
        assert!(refused.stderr.contains(words), "{}", refused.stderr);
    }
    assert!(place.newest().run.resumed.is_empty());
    place
        .run(&["run", "--resume", &run, "--device", "sim"])
        .ends(1);
}

#[test]
fn what_was_changed_is_told_by_list_show_and_verify() {
    let place = Place::new(SUITE);
    place.run(&["by_reference"]).ends(0);
    place.run(&["report", "verify"]).ends(0);
    let run = Store::open(place.reports()).newest().unwrap().path;
    let report = run.join("report.json");
    let text = fs::read_to_string(&report).unwrap();
    fs::write(
        &report,
        text.replacen("\"outcome\": \"pass\"", "\"outcome\": \"fail\"", 1),
    )
    .unwrap();
    let verified = place.run(&["report", "verify"]).ends(1);
    assert!(
        verified.stdout.contains("changed after it was written"),
        "{}",
        verified.stdout
    );
    let json = place.run(&["report", "verify", "--format", "json"]).ends(1);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert!(json["runs"][0]["problems"][0].is_string(), "{json}");
    let listed = place.run(&["report", "list"]).ends(0);
    assert!(
        listed.stdout.contains("changed after it was written"),
        "{}",
        listed.stdout
    );
    let shown = place.run(&["report", "show"]).ends(1);
    assert!(
        shown.stderr.contains("changed after it was written"),
        "{}",
        shown.stderr
    );
    fs::write(&report, &text[..text.len() / 2]).unwrap();
    let listed = place.run(&["report", "list"]).ends(0);
    assert!(listed.stdout.contains("cut short"), "{}", listed.stdout);
    let shown = place.run(&["report", "show"]).ends(2);
    assert!(shown.stderr.contains("--resume"), "{}", shown.stderr);
    // As it says: the report is written again from the results.
    let id = run.file_name().unwrap().to_str().unwrap();
    place.run(&["run", "--resume", id]).ends(0);
    place.run(&["report", "verify"]).ends(0);
}

/// A file may grow to a limit only: what the kernel says at a full disk, without filling one.
#[test]
fn a_disk_that_fills_up_ends_in_an_error_that_loses_nothing() {
    let place = Place::new(SUITE);
    place.run(&[]).ends(1);
    let needed = place.run_bytes();
    let whole = place.newest();
    fs::remove_dir_all(place.reports()).unwrap();
    let limited = |blocks: u64| {
        let mut command = Command::new("sh");
        let script = format!("ulimit -f {blocks}; exec \"$0\" \"$@\"");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_cuda-gates")]);
        command
    };
    // Blocks of 512 bytes: half of the results fit.
    let ran = place.run_command(limited(needed / 2 / 512), &[]);
    assert_eq!(ran.code, 1, "{}\n{}", ran.stdout, ran.stderr);
    for words in [
        "cannot append to",
        "results.jsonl",
        "Free some space",
        "what was written before is kept",
    ] {
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
    }
    let run = Store::open(place.reports()).newest().unwrap();
    let kept = run.report.cases.len();
    assert_eq!(run.state, State::Incomplete);
    assert!(kept > 3 && kept < whole.cases.len(), "{kept}");
    assert_eq!(
        run.broken_lines, 0,
        "a line that does not fit is taken back"
    );
    // With room again the run is finished.
    place.run(&["run", "--resume", &run.report.run.id]).ends(1);
    durable_kills::same_verdicts(&place.newest(), &whole);
    place.run(&["report", "verify"]).ends(0);
}

#[test]
fn two_runs_at_once_have_a_folder_each() {
    let place = Place::new(SUITE);
    let mut both = [(); 2].map(|()| place.command().arg("by_reference").spawn().unwrap());
    for run in &mut both {
        assert_eq!(run.wait().unwrap().code(), Some(0));
    }
    let runs = Store::open(place.reports()).list().unwrap();
    assert_eq!(runs.len(), 2);
    assert_ne!(runs[0].id, runs[1].id);
    assert!(runs.iter().all(|run| run.state == State::Complete));
    place.run(&["report", "verify"]).ends(0);
}

#[test]
fn a_script_that_never_ends_is_stopped_and_the_next_case_runs() {
    for (body, timeout, words) in [
        (
            "loop { }",
            "60",
            "setup: specs/mine.yaml:21:30: stopped: too many operations",
        ),
        ("loop { pow(2, 3); }", "2", "hang: no answer within 2 s"),
    ] {
        let text = SUITE.replace("let flags = [];", &format!("let flags = []; {body}"));
        assert_ne!(text, SUITE);
        let place = Place::new(&text);
        let filters = ["n=7::", "--skip", "wrong", "--skip", "on_a_card"];
        let ran = place.run(&[&filters[..], &["--timeout", timeout]].concat());
        assert_eq!(ran.code, 1, "{}", ran.stdout);
        assert!(ran.stdout.contains(words), "{}", ran.stdout);
        for case in place.newest().cases {
            let wanted = if case.gate == "by_script" {
                "error"
            } else {
                "pass"
            };
            assert_eq!(case.outcome.name(), wanted, "{}", case.id);
        }
    }
}
