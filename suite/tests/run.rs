//! The binary from outside: exit codes, what it writes and where, and gates that need YAML only.

mod binary;
mod schedules;
mod waivers;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use binary::{Ran, prepare};

/// A suite of somebody's own over the repository's kernels: right and wrong gates of every kind of `want`.
const MINE: &str = r#"
version: 1
suite: mine
title: A suite of one's own
kernels: [compaction.cu]
axes: {n: {quick: [7, 300], full: [1000], huge: [8387997]}}
inputs: {input: {type: i32, generator: survivors, seed: 12345, keep: 128, len: n}}
buffers: {out: {type: i32, len: n}, again: {type: i32, len: n}, rank: {type: i32, len: n}}
pipelines:
  copied: [{kernel: copy, grid: 4, block: 64, args: [input, out, n]}]
  moved: [{copy: input, to: again}]
  marked: [{kernel: mark_nonzero, grid: 4, block: 64, args: [input, rank, n]}]
  marked_short: [{kernel: mark_nonzero, grid: 4, block: 64, args: [input, rank, n - 1]}]
gates:
  by_reference: {run: copied, check: exact, got: out, want: {copy: input}}
  by_pipeline: {run: copied, check: exact, got: out, want: {run: moved, buffer: again}}
  by_script:
    run: marked
    check: exact
    got: rank
    want:
      script: |
        let flags = [];
        for value in input { flags.push(if value != 0 { 1 } else { 0 }); }
        flags
  wrong: {run: marked_short, check: exact, got: rank, want: {map: nonzero}}
  on_a_card: {run: copied, check: exact, got: out, want: {copy: input}, devices: [cuda]}
"#;

struct Place {
    folder: TempDir,
}

impl Place {
    fn new(suite: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("specs")).unwrap();
        fs::write(folder.path().join("specs/mine.yaml"), suite).unwrap();
        Self { folder }
    }

    fn reports(&self) -> PathBuf {
        self.folder.path().join("reports")
    }

    /// Runs the binary in this folder, on the simulated device unless the arguments say otherwise.
    fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(&[("CUDA_GATES_DEVICE", "sim")], arguments)
    }

    fn run_with(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Ran {
        let command = Command::new(env!("CARGO_BIN_EXE_cuda-gates"));
        self.run_command(command, variables, arguments)
    }

    fn run_command(
        &self,
        mut command: Command,
        variables: &[(&str, &str)],
        arguments: &[&str],
    ) -> Ran {
        prepare(&mut command, self.folder.path());
        command.envs(variables.iter().copied()).args(arguments);
        Ran::of(command.output().unwrap())
    }

    /// The one report under a shelf.
    fn report(&self, shelf: &str) -> Value {
        let found = files(&self.reports().join(shelf), "report.json");
        assert_eq!(found.len(), 1, "{found:?}");
        serde_json::from_str(&fs::read_to_string(&found[0]).unwrap()).unwrap()
    }
}

fn files(folder: &Path, name: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path, name));
        } else if path.file_name().is_some_and(|n| n == name) {
            found.push(path);
        }
    }
    found
}

fn outcomes(report: &Value) -> Vec<(String, String)> {
    let text = |case: &Value, key: &str| case[key].as_str().unwrap().to_owned();
    let cases = report["cases"].as_array().unwrap();
    cases
        .iter()
        .map(|case| (text(case, "id"), text(case, "outcome")))
        .collect()
}

#[test]
fn gates_written_in_yaml_alone_run_by_reference_pipeline_and_script() {
    let place = Place::new(MINE);
    let ran = place.run(&["by_"]).ends(0);
    assert!(ran.stdout.contains("6 passed, 0 failed"), "{}", ran.stdout);
    let report = place.report("sim");
    let passed: Vec<_> = outcomes(&report);
    let expected = [
        "mine::by_reference::n=7::jit",
        "mine::by_pipeline::n=7::jit",
        "mine::by_script::n=7::jit",
        "mine::by_reference::n=300::jit",
        "mine::by_pipeline::n=300::jit",
        "mine::by_script::n=300::jit",
    ]
    .map(|id| (id.to_owned(), "pass".to_owned()));
    assert_eq!(passed, expected);
    assert_eq!(report["run"]["filtered"], true);
    assert_eq!(report["device"]["info"]["kind"], "sim");
}

#[test]
fn a_gate_that_fails_ends_in_1_with_its_finding_and_how_to_run_it_again() {
    let place = Place::new(MINE);
    let ran = place.run(&["wrong::n=7"]).ends(1);
    let report = place.report("sim");
    let case = &report["cases"][0];
    assert_eq!(case["outcome"], "fail");
    assert_eq!(case["findings"][0]["kind"], "unwritten");
    let again = case["repro"].as_str().unwrap();
    assert!(again.starts_with("cuda-gates run "), "{again}");
    assert!(ran.stdout.contains(again), "{}", ran.stdout);
    // The command does what it says: the same failure again.
    let words: Vec<&str> = again.split(' ').skip(1).collect();
    place.run(&words).ends(1);
}

#[test]
fn a_whole_run_skips_what_is_not_for_this_device_and_says_why() {
    let place = Place::new(MINE);
    place.run(&["--skip", "wrong"]).ends(0);
    let report = place.report("sim");
    let skipped: Vec<&Value> = report["cases"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|case| case["outcome"] == "skip")
        .collect();
    assert_eq!(skipped.len(), 2);
    assert_eq!(skipped[0]["reason"]["kind"], "unsupported by this device");
    assert_eq!(report["run"]["complete"], true);
}

#[test]
fn nothing_selected_and_all_skipped_end_in_4_and_write_nothing() {
    let place = Place::new(MINE);
    let ran = place.run(&["no such gate"]).ends(4);
    assert!(ran.stderr.contains("no case is selected"), "{}", ran.stderr);
    let ran = place.run(&["on_a_card"]).ends(4);
    assert_eq!(
        ran.stderr,
        "2 skipped: unsupported by this device: the gate names devices: [cuda], this one is sim\n\
         error: every selected case is skipped\n"
    );
    assert!(!place.reports().exists());
}

#[test]
fn a_table_has_a_results_length_and_a_line_whose_cell_cannot_be_computed() {
    let tables = r#"
tables:
  lengths: {over: n, columns: {got: by_reference.got_len, want: by_reference.want_len}}
  shares: {over: n, columns: {share: "choose(n > 7, 10 / (n - 7), 0)"}}
"#;
    let place = Place::new(&format!("{MINE}{tables}"));
    place.run(&["check", "specs"]).ends(0);
    place.run(&["by_reference"]).ends(0);
    let report = place.report("sim");
    let rows = |table: usize| report["tables"][table]["rows"].to_string();
    assert_eq!(rows(0), "[[7,7,7],[300,300,300]]");
    assert_eq!(rows(1), "[[7,null],[300,0]]");
    let notes = report["tables"][1]["notes"].as_array().unwrap();
    assert_eq!(notes.len(), 1, "{notes:?}");
    let summary = &files(&place.reports(), "summary.md")[0];
    let summary = fs::read_to_string(summary).unwrap();
    assert!(summary.contains("| 7 | – |"), "{summary}");
}

/// A gate that calls the library and nothing else.
const BY_LIBRARY: &str = r#"
version: 1
suite: mine
title: The library's scan
kernels: [compaction.cu]
axes: {n: [7, 300]}
inputs: {input: {type: i32, generator: all, len: n}}
buffers: {out: {type: i32, len: n}}
pipelines:
  scan: [{native: cub_exclusive_scan_i32, args: [input, out, n]}]
gates:
  by_library: {run: scan, check: exact, got: out, want: {exclusive_scan: sum}}
  on_sim: {run: scan, check: exact, got: out, want: {exclusive_scan: sum}, devices: [sim]}
"#;

#[test]
fn without_the_library_all_skipped_says_why() {
    let place = Place::new(BY_LIBRARY);
    let ran = place.run(&["by_library"]).ends(4);
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert_eq!(lines.len(), 2, "{}", ran.stderr);
    assert!(
        lines[0].starts_with("2 skipped: built without: "),
        "{}",
        ran.stderr
    );
    assert_eq!(lines[1], "error: every selected case is skipped");
    let variables = [
        ("CUDA_GATES_DEVICE", "cuda"),
        ("CUDA_VISIBLE_DEVICES", ""),
        ("CUDA_GATES_NATIVE", "/nothing/here"),
    ];
    let ran = place.run_with(&variables, &["--image", "jit"]).ends(4);
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert_eq!(lines.len(), 3, "{}", ran.stderr);
    assert!(
        lines[0].starts_with("2 skipped: built without: "),
        "{}",
        ran.stderr
    );
    assert!(lines[0].contains("/nothing/here"), "{}", ran.stderr);
    assert!(
        lines[1].starts_with("2 skipped: unsupported by this device: "),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_named_card_that_is_not_there_ends_in_3_and_is_filed_under_no_driver() {
    let place = Place::new(MINE);
    // Hides the cards of a machine that has some.
    let variables = [("CUDA_GATES_DEVICE", "cuda"), ("CUDA_VISIBLE_DEVICES", "")];
    let ran = place
        .run_with(&variables, &["by_", "--image", "jit"])
        .ends(3);
    assert!(ran.stdout.contains("environment"), "{}", ran.stdout);
    // A driver without a card to give has a shelf of its own.
    let report = place.report("");
    let has_driver = !report["device"]["driver_version"].is_null();
    assert_ne!(has_driver, place.reports().join("no-driver").exists());
    assert_eq!(report["device"]["unavailable"]["kind"], "environment");
    let cases = report["cases"].as_array().unwrap();
    assert!(!cases.is_empty());
    for case in cases {
        assert_eq!(case["outcome"], "error");
        assert_eq!(case["reason"], report["device"]["unavailable"]);
    }
}

#[test]
fn wrong_arguments_variables_and_specs_end_in_2_before_anything_runs() {
    let place = Place::new(MINE);
    place.run(&["--profile", "fast"]).ends(2);
    place.run(&["--device", "gpu"]).ends(2);
    place.run(&["--timeout", "0"]).ends(2);
    place.run_with(&[("CUDA_GATES_IMAGE", "ptx")], &[]).ends(2);
    place.run(&["--specs", "nowhere"]).ends(2);

    let broken = MINE.replace("got: rank, want: {map", "got: rang, wand: {map");
    let place = Place::new(&broken);
    let ran = place.run(&[]).ends(2);
    for word in ["mine.yaml", "rang", "wand"] {
        assert!(ran.stderr.contains(word), "{word}: {}", ran.stderr);
    }
    assert!(!place.reports().exists());
}

#[test]
fn a_printed_id_runs_in_whatever_profile_it_came_from() {
    let place = Place::new(MINE);
    let id = "mine::by_reference::n=1000::jit";
    place.run(&["--exact", id]).ends(0);
    assert_eq!(
        outcomes(&place.report("sim")),
        [(id.to_owned(), "pass".to_owned())]
    );
}

#[test]
fn a_case_beyond_its_deadline_is_a_hang_and_ends_in_1() {
    let place = Place::new(MINE);
    let id = "mine::by_script::n=8387997::jit";
    let start = Instant::now();
    place.run(&["--exact", id, "--timeout", "0.05"]).ends(1);
    assert!(start.elapsed() < Duration::from_secs(20));
    let report = place.report("sim");
    assert_eq!(report["cases"][0]["reason"]["kind"], "hang");
}

/// The documents of a quick run over the repository's own suites, in a folder of its own: every byte that is no time,
/// no run's id and no folder.
fn documents_of_a_run(arguments: &[&str]) -> Vec<(&'static str, String)> {
    let place = Place::new(MINE);
    let specs = place.folder.path().join("whole");
    fs::create_dir(&specs).unwrap();
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("specs")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            fs::copy(&path, specs.join(path.file_name().unwrap())).unwrap();
        }
    }
    let specs = specs.to_str().unwrap();
    let all = ["--specs", specs, "--profile", "quick", "--image", "jit"];
    place.run(&[&all, arguments].concat()).ends(0);
    let report = place.report("sim");
    assert_eq!(report["run"]["complete"], true);
    let run = files(&place.reports(), "report.json").remove(0);
    let read = |name| fs::read_to_string(run.with_file_name(name)).unwrap();

    let mut records: Vec<Value> = read("results.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    records.sort_by_key(|record| record["id"].to_string());
    let records: Vec<String> = records.iter().map(|record| format!("{record}\n")).collect();

    let mut documents = vec![
        ("report.json", read("report.json")),
        ("results.jsonl", records.concat()),
        ("junit.xml", read("junit.xml")),
        ("summary.md", read("summary.md")),
    ];
    for (name, text) in &mut documents {
        for key in ["id", "started"] {
            *text = text.replace(report["run"][key].as_str().unwrap(), "<run>");
        }
        *text = text.replace(place.folder.path().to_str().unwrap(), "<folder>");
        let spans: &[(&str, &str)] = match *name {
            "report.json" => &[
                ("\"finished\": ", ","),
                ("\"work_ms\": ", ","),
                ("\"wall_ms\": ", "\n"),
                ("\"duration_ms\": ", ",\n"),
                // Of all of the above.
                ("\"results_sha256\": ", ","),
                ("\"report_sha256\": ", "\n"),
            ],
            "results.jsonl" => &[("\"duration_ms\":", ",")],
            "junit.xml" => &[(" time=\"", "\"")],
            "summary.md" => &[(" skipped in ", "from the first allocation")],
            other => unreachable!("{other}"),
        };
        for (before, after) in spans {
            *text = masked(text, before, after);
        }
    }
    documents
}

/// A text without what stands between `before` and the next `after`, which must occur.
fn masked(text: &str, before: &str, after: &str) -> String {
    let mut pieces = text.split(before);
    let mut out = pieces.next().unwrap().to_owned();
    assert_ne!(out, text, "no {before:?}");
    for piece in pieces {
        let end = piece.find(after).expect("the end of what is masked");
        out.push_str(before);
        out.push_str(&piece[end..]);
    }
    out
}

#[test]
fn two_whole_runs_are_equal_apart_from_times_ids_and_folders() {
    two_runs_are_equal(&[]);
}

fn two_runs_are_equal(arguments: &[&str]) {
    let runs = [documents_of_a_run(arguments), documents_of_a_run(arguments)];
    for ((name, first), (_, second)) in runs[0].iter().zip(&runs[1]) {
        assert!(first.lines().count() > 10, "{name}: {first}");
        assert_eq!(first.lines().count(), second.lines().count(), "{name}");
        for (one, other) in first.lines().zip(second.lines()) {
            assert_eq!(one, other, "{name}");
        }
        assert_eq!(first, second, "{name}");
    }
}

#[test]
fn a_list_is_names_alone_and_leaves_no_trace() {
    let place = Place::new(MINE);
    let ran = place.run(&["list", "by_script"]).ends(0);
    assert_eq!(
        ran.stdout,
        "mine::by_script::n=7::jit\nmine::by_script::n=300::jit\n"
    );
    assert_eq!(ran.stderr, "");
    let ran = place
        .run(&["list", "by_script", "--format", "json"])
        .ends(0);
    let list: Value = serde_json::from_str(&ran.stdout).unwrap();
    let title = MINE.lines().find_map(|line| line.strip_prefix("title: "));
    assert_eq!(list["cases"][0]["subject"].as_str(), title);
    assert!(!place.reports().exists());
}

#[test]
fn results_that_cannot_be_archived_stop_the_run() {
    let place = Place::new(MINE);
    fs::write(place.reports(), "a file, not a folder").unwrap();
    let ran = place.run(&["by_"]).ends(2);
    assert!(ran.stderr.contains("--reports DIR"), "{}", ran.stderr);
}

#[test]
fn a_script_that_grows_without_end_is_setup_and_the_next_case_runs() {
    let flags = "let flags = [];";
    let grows = MINE.replace(flags, "let flags = [1]; loop { flags.append(flags); }");
    assert_ne!(grows, MINE);
    let place = Place::new(&grows);
    // A gigabyte, so that the machine's own memory is left alone.
    let mut command = Command::new("sh");
    command.args(["-c", r#"ulimit -d 1048576; exec "$0" "$@""#]);
    command.arg(env!("CARGO_BIN_EXE_cuda-gates"));
    let sim = [("CUDA_GATES_DEVICE", "sim")];
    place
        .run_command(command, &sim, &["by_", "--timeout", "60"])
        .ends(1);
    let report = place.report("sim");
    for case in report["cases"].as_array().unwrap() {
        if case["gate"] == "by_script" {
            assert_eq!(case["reason"]["kind"], "setup", "{case}");
            let message = case["reason"]["message"].as_str().unwrap();
            assert!(message.contains("out of memory"), "{message}");
        } else {
            assert_eq!(case["outcome"], "pass", "{case}");
        }
    }
}

#[test]
fn folders_whose_names_are_no_utf8_are_folders() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new(MINE);
    let name = OsStr::from_bytes(b"specs\xff");
    fs::rename(
        place.folder.path().join("specs"),
        place.folder.path().join(name),
    )
    .unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cuda-gates"));
    command.arg("--specs").arg(name);
    let sim = [("CUDA_GATES_DEVICE", "sim")];
    place.run_command(command, &sim, &["by_"]).ends(0);
}

#[test]
fn a_native_library_that_is_a_folder_or_has_no_place_is_wrong_usage_and_nothing_is_lost() {
    let place = Place::new(MINE);
    let precious = place.folder.path().join("precious");
    fs::write(&precious, "").unwrap();
    fs::create_dir(place.folder.path().join("x")).unwrap();
    for path in [".", "..", "/", "x/..", "x", "x/", "new/"] {
        let ran = place.run_with(&[("CUDA_GATES_NATIVE", path)], &["kernels", "native"]);
        let ran = ran.ends(2);
        let words = format!("CUDA_GATES_NATIVE: `{path}` is a folder: name the native library's");
        assert!(ran.stderr.contains(&words), "{}", ran.stderr);
    }
    let homeless = [("HOME", ""), ("XDG_CACHE_HOME", "")];
    let ran = place.run_with(&homeless, &["kernels", "native"]).ends(2);
    assert!(
        ran.stderr.contains("set HOME or XDG_CACHE_HOME"),
        "{}",
        ran.stderr
    );
    assert!(precious.is_file());
}
