//! Kernels that fault, hang and compute wrongly among fifty good cases (`data/mixed`), over the driver library and on
//! the simulated device; a card takes the same suite.

use super::*;

fn data(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("suite/tests/data/mixed");
    folder.join(name).to_str().unwrap().to_owned()
}

fn run(device: &str, faults: &str, suite: &str) -> Ran {
    let (specs, kernels) = (data("specs"), data("kernels"));
    let choices = ["--timeout", "3", "--specs", &specs, "--kernels", &kernels];
    Place::new(THREE).run_on(device, faults, &[&choices[..], &[suite]].concat())
}

/// `outcome`, or `outcome kind`, of each case that is no good one, by its gate.
fn faults(ran: &Ran) -> Vec<(String, String)> {
    let cases = ran.report()["cases"].as_array().unwrap();
    let bad = cases.iter().filter(|case| case["gate"] != "good");
    bad.map(|case| {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let kind = text(&case["reason"]["kind"]);
        let outcome = format!("{} {kind}", text(&case["outcome"]));
        (text(&case["gate"]), outcome.trim_end().to_owned())
    })
    .collect()
}

#[track_caller]
fn holds(ran: &Ran, expected: &[(&str, &str)]) {
    let good = ran
        .outcomes()
        .into_iter()
        .filter(|(gate, _)| gate == "good");
    let good: Vec<String> = good.map(|(_, outcome)| outcome).collect();
    assert_eq!(good, ["pass"; 50], "{}", ran.stdout);
    let pair = |(gate, outcome): &(&str, &str)| ((*gate).to_owned(), (*outcome).to_owned());
    let expected: Vec<_> = expected.iter().map(pair).collect();
    assert_eq!(faults(ran), expected, "{}", ran.stdout);
    assert_eq!(ran.report()["run"]["complete"], true);
}

#[test]
fn fifty_good_cases_pass_around_faulty_kernels_of_a_card() {
    let clock = Instant::now();
    let ran = run("cuda", "", "mixed::").ends(1);
    holds(
        &ran,
        &[
            ("hangs", "error hang"),
            ("wrong", "fail"),
            ("beyond", "error kernel fault"),
            ("traps", "error kernel fault"),
            ("misaligned", "error kernel fault"),
            ("asserts", "error kernel fault"),
        ],
    );
    let reason = ran.reason("asserts");
    let gave = "cuStreamSynchronize gave CUDA_ERROR_ASSERT";
    assert!(reason.contains(gave), "{reason}");
    let words = "mixed.cu:59: copy_asserts: block: [1,0,0], thread: [248,0,0] Assertion `first() != n / 2` failed.";
    let said = &ran.case("asserts")["reported"]["stderr"];
    assert!(said.as_str().is_some_and(|s| s.contains(words)), "{said}");
    assert!(ran.reason("traps").contains("CUDA_ERROR_LAUNCH_FAILED"));
    // One deadline, and as much as a busy machine needs for all the rest.
    assert!(clock.elapsed() < Duration::from_secs(60));
}

#[test]
fn and_of_the_simulated_device_which_names_the_accesses() {
    let ran = run("sim", "", "mixed::").ends(1);
    holds(
        &ran,
        &[
            ("hangs", "error hang"),
            ("wrong", "fail"),
            ("beyond", "fail"),
            ("traps", "error kernel fault"),
            ("misaligned", "fail"),
            ("asserts", "error kernel fault"),
        ],
    );
    for words in [
        "out_of_bounds: access out of bounds: 4 bytes in no buffer",
        "misaligned: misaligned access: 4 bytes at byte 1 of buffer out",
        "(kernels/mixed.cu:33",
        "hang: kernel copy_never does not end",
        "mixed.cu:59: copy_asserts: assertion failed: first() != n / 2",
    ] {
        assert!(ran.stdout.contains(words), "{words}\n{}", ran.stdout);
    }
}

#[test]
fn a_case_that_finds_no_memory_leaves_the_next_one_its_own() {
    let ran = run("cuda", "memory=81920; taken=40960", "mixed_memory::").ends(1);
    assert!(
        ran.reason("large")
            .starts_with("setup: a buffer of 61441 MiB does not fit"),
        "{}",
        ran.reason("large")
    );
    let small = ran.outcomes().into_iter().find(|(gate, _)| gate == "small");
    assert_eq!(small.unwrap().1, "pass");
}
