//! The binary on cards that misbehave: `suite/driver` stands in for libcuda and libnvidia-ml, so that everything from
//! the driver's calls to the archive runs without a GPU.

mod card_locks;
mod closed_devices;
mod faulty_driver;
mod idle_driver;
mod lost_work;
mod mixed_faults;
mod nvml_process;
mod troubled_cards;

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// Three cases, each of another kernel, in this order: a fault injected into `mark_nonzero` is the second one's alone.
const THREE: &str = r#"
version: 1
suite: three
title: Three kernels
kernels: [compaction.cu]
axes: {n: [300]}
inputs: {input: {type: i32, generator: survivors, seed: 12345, keep: 128, len: n}}
buffers: {out: {type: i32, len: n}, rank: {type: i32, len: n}}
pipelines:
  copied: [{kernel: copy, grid: 4, block: 64, args: [input, out, n]}]
  marked: [{kernel: mark_nonzero, grid: 4, block: 64, args: [input, rank, n]}]
  even: [{kernel: mark_even, grid: 4, block: 64, args: [input, rank, n]}]
gates:
  before: {run: copied, check: exact, got: out, want: {copy: input}}
  faulty: {run: marked, check: exact, got: rank, want: {map: nonzero}}
  after: {run: even, check: exact, got: rank, want: {map: even}}
"#;

/// A folder with a suite, a driver and an archive.
struct Place {
    folder: TempDir,
    tag: u32,
}

/// What a run said and did.
struct Ran {
    code: i32,
    stdout: String,
    stderr: String,
    reports: Vec<Value>,
}

impl Place {
    fn new(suite: &str) -> Self {
        static TAGS: AtomicU32 = AtomicU32::new(0);
        let folder = tempfile::tempdir().unwrap();
        for name in ["specs", "lib"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        fs::write(folder.path().join("specs/suite.yaml"), suite).unwrap();
        // Both from one file: what a kernel does to a card, NVML of the same process sees.
        for name in ["libcuda.so.1", "libnvidia-ml.so.1"] {
            std::os::unix::fs::symlink(library(), folder.path().join("lib").join(name)).unwrap();
        }
        Self {
            folder,
            tag: test_number() << 8 | TAGS.fetch_add(1, Ordering::Relaxed),
        }
    }

    fn lib(&self, name: &str) -> PathBuf {
        self.folder.path().join("lib").join(name)
    }

    fn command(&self, faults: &str) -> Command {
        self.command_of(Path::new(env!("CARGO_BIN_EXE_cuda-gates")), faults)
    }

    fn command_of(&self, program: &Path, faults: &str) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("CUDA_") {
                command.env_remove(name);
            }
        }
        // A tag of its own: tests that run at once do not wait for each other's cards.
        let state = self.folder.path().join("cards");
        let faults = format!("tag={};state={};{faults}", self.tag, state.display());
        command
            .current_dir(self.folder.path())
            .env("LD_LIBRARY_PATH", self.folder.path().join("lib"))
            .env("CUDA_GATES_TEST_DRIVER", faults);
        command
    }

    /// Runs the suite on the first card, or on what the arguments say.
    fn run_on(&self, device: &str, faults: &str, arguments: &[&str]) -> Ran {
        let output = self
            .command(faults)
            .args(["run", "--device", device, "--image", "jit"])
            .args(arguments)
            .output()
            .unwrap();
        let reports = reports(&self.folder.path().join("reports"));
        Ran {
            code: output.status.code().expect("an exit code"),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
            reports,
        }
    }

    fn run(&self, faults: &str) -> Ran {
        self.run_on("cuda", faults, &["--timeout", "1.5"])
    }
}

impl Ran {
    #[track_caller]
    fn ends(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}\n{}", self.stdout, self.stderr);
        self
    }

    /// The one report.
    #[track_caller]
    fn report(&self) -> &Value {
        assert_eq!(self.reports.len(), 1, "{}\n{}", self.stdout, self.stderr);
        &self.reports[0]
    }

    /// The outcome of each case by its gate, in order.
    fn outcomes(&self) -> Vec<(String, String)> {
        outcomes(self.report())
    }

    /// The first case of a gate.
    #[track_caller]
    fn case(&self, gate: &str) -> &Value {
        let cases = self.report()["cases"].as_array().unwrap();
        cases.iter().find(|case| case["gate"] == gate).unwrap()
    }

    /// `kind: message` of a gate's case.
    #[track_caller]
    fn reason(&self, gate: &str) -> String {
        let case = self.case(gate);
        let text = |key: &str| case["reason"][key].as_str().unwrap_or_default().to_owned();
        format!("{}: {}", text("kind"), text("message"))
    }
}

fn outcomes(report: &Value) -> Vec<(String, String)> {
    let text = |case: &Value, key: &str| case[key].as_str().unwrap().to_owned();
    let cases = report["cases"].as_array().unwrap();
    cases
        .iter()
        .map(|case| (text(case, "gate"), text(case, "outcome")))
        .collect()
}

/// As Cargo builds it for this target: a development dependency's library lies beside the test's executable.
fn library() -> PathBuf {
    let deps = std::env::current_exe().unwrap();
    let library = deps.parent().unwrap().join("libcuda_gates_test_driver.so");
    assert!(library.is_file(), "{} is missing", library.display());
    library
}

/// The test's own number: the same in each run, so that the locks of its cards in `/tmp` are too.
fn test_number() -> u32 {
    let mut hasher = DefaultHasher::new();
    thread::current().name().hash(&mut hasher);
    hasher.finish() as u32 & 0xffff
}

/// Every report under a folder, oldest first.
fn reports(folder: &Path) -> Vec<Value> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(reports(&path));
        } else if path.file_name().is_some_and(|name| name == "report.json") {
            found.push(serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap());
        }
    }
    found.sort_by_key(|report: &Value| report["device"]["info"]["uuid"].to_string());
    found
}

fn each(outcomes: [&str; 3]) -> Vec<(String, String)> {
    let gates = ["before", "faulty", "after"];
    let pairs = gates.into_iter().zip(outcomes);
    pairs
        .map(|(gate, outcome)| (gate.to_owned(), outcome.to_owned()))
        .collect()
}

#[test]
fn a_healthy_card_passes_and_is_identified() {
    let ran = Place::new(THREE)
        .run("driver=535.104.05; cuda=12.2")
        .ends(0);
    assert_eq!(ran.outcomes(), each(["pass"; 3]));
    let device = &ran.report()["device"];
    assert_eq!(device["info"]["kind"], "cuda");
    assert_eq!(device["info"]["cuda_driver_version"], 12_020);
    assert_eq!(device["driver_version"], "535.104.05");
    let identity = &device["identity"];
    assert_eq!(identity["uuid"]["value"], device["info"]["uuid"]);
    assert_eq!(identity["name"]["value"], "Test card 0");
    assert_eq!(identity["mig_uuid"]["unavailable"], "a whole card");
    assert_eq!(
        device["after"]["xid_events"]["value"],
        serde_json::json!([])
    );
    for part in ["identity", "before", "after"] {
        for (name, field) in device[part].as_object().unwrap() {
            assert!(
                name == "mig_uuid" || field["unavailable"].is_null(),
                "{name}: {field}"
            );
        }
    }
}

/// The suites' own gates with the driver's memory, modules and events: right ones pass, faulty kernels are found.
#[test]
fn the_suites_run_through_the_drivers_calls() {
    let place = Place::new(THREE);
    let specs = Path::new(env!("CARGO_MANIFEST_DIR")).join("specs");
    let specs = specs.to_str().unwrap();
    for filter in ["reduce::", "controls::", "compaction::multiset::keep=128"] {
        let ran = place.run_on(
            "cuda",
            "",
            &["--profile", "quick", "--specs", specs, filter],
        );
        let ran = ran.ends(0);
        assert!(ran.stdout.contains(" 0 failed"), "{}", ran.stdout);
    }
}

#[test]
fn two_cards_are_joined_by_uuid_whatever_nvmls_order() {
    let place = Place::new(THREE);
    let ran = place
        .run_on("cuda:1", "cards=2; nvml_order=reversed", &[])
        .ends(0);
    let device = &ran.report()["device"];
    assert_eq!(device["info"]["name"], "Test card 1");
    assert_eq!(device["identity"]["serial"]["value"], "TEST-1");
    assert_eq!(device["identity"]["uuid"]["value"], device["info"]["uuid"]);
}

#[test]
fn a_mig_slice_has_its_cards_identity_and_its_own_uuid() {
    let ran = Place::new(THREE).run("mig=on").ends(0);
    let device = &ran.report()["device"];
    let own = device["info"]["uuid"].as_str().unwrap();
    let identity = &device["identity"];
    assert_eq!(identity["mig_uuid"]["value"], own.replace("GPU-", "MIG-"));
    assert_ne!(identity["uuid"]["value"], own);
    assert_eq!(identity["serial"]["value"], "TEST-0");
    assert_eq!(identity["mig_mode"]["value"]["current"], true);
}

#[test]
fn all_cards_run_side_by_side_with_a_report_each() {
    let place = Place::new(THREE);
    let ran = place
        .run_on("all", "cards=2; nvml_order=reversed", &[])
        .ends(0);
    assert_eq!(ran.reports.len(), 2, "{}", ran.stdout);
    for (index, report) in ran.reports.iter().enumerate() {
        assert_eq!(outcomes(report), each(["pass"; 3]));
        let device = &report["device"];
        assert_eq!(device["info"]["name"], format!("Test card {index}"));
        assert_eq!(
            device["identity"]["serial"]["value"],
            format!("TEST-{index}")
        );
        let repro = report["cases"][0]["repro"].as_str().unwrap();
        let uuid = device["info"]["uuid"].as_str().unwrap();
        assert!(repro.contains(&format!("--device {uuid} ")), "{repro}");
        assert_eq!(report["run"]["choices"]["device"], uuid);
    }
    let hidden = Place::new(THREE)
        .run_on("all", "cards=2", &["--redact"])
        .ends(0);
    for report in &hidden.reports {
        let repro = report["cases"][0]["repro"].as_str().unwrap();
        assert!(repro.contains("--device all "), "{repro}");
    }
    // Each case is one trial.
    assert_eq!(
        ran.stderr.matches("three::faulty").count(),
        1,
        "{}",
        ran.stderr
    );
}

#[test]
fn one_bad_card_of_two_fails_the_run_and_leaves_the_other_alone() {
    let place = Place::new(THREE);
    let ran = place.run_on(
        "all",
        "cards=2; cuLaunchKernel(mark_nonzero)@1: sticky 700",
        &[],
    );
    let ran = ran.ends(1);
    assert_eq!(outcomes(&ran.reports[0]), each(["pass"; 3]));
    assert_eq!(outcomes(&ran.reports[1]), each(["pass", "error", "pass"]));
    assert!(ran.stderr.contains("error three::faulty"), "{}", ran.stderr);
}

#[test]
fn all_of_no_cards_is_the_environments() {
    for (faults, words) in [
        ("cards=0", "CUDA sees no device"),
        ("stub=on", "lib64/stubs"),
        (
            "cuInit: kill",
            "cannot list the CUDA devices: the process that asked the driver ended",
        ),
    ] {
        let ran = Place::new(THREE).run_on("all", faults, &[]).ends(3);
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
    }
}

#[test]
fn devices_lists_the_cards_in_cudas_order() {
    let output = Place::new(THREE)
        .command("cards=2; nvml_order=reversed")
        .arg("devices")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[1].starts_with("cuda:0  Test card 0"), "{text}");
    assert!(lines[2].starts_with("cuda:1  Test card 1"), "{text}");
}
