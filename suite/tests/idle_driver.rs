//! Drivers that say a call succeeded and do nothing, or fail where a gate waits for another failure: no gate passes by
//! them.

use super::*;

/// Gates that another run's output or a clock judges, on kernel `copy`.
const SUITE: &str = r#"
version: 1
suite: idle
title: Gates that a driver which does nothing might pass
kernels: [compaction.cu]
axes: {n: [300, 301]}
inputs: {input: {type: i32, generator: survivors, seed: 12345, keep: 128, len: n}}
buffers: {out: {type: i32, len: n}, other: {type: i32, len: n}}
pipelines:
  one: [{kernel: copy, grid: 4, block: 64, args: [input, out, n]}]
  two: [{kernel: copy, grid: 4, block: 64, args: [input, other, n]}]
  dtod: [{copy: input, to: out}]
gates:
  agrees: {run: two, check: exact, got: other, want: {run: one, buffer: out}}
  same_multiset: {run: two, check: multiset, got: other, want: {run: one, buffer: out}}
  same_element: {run: two, check: count, got: "other[3]", want: {run: one, buffer: "out[3]"}}
  permuted: {run: two, check: permutation, got: other, want: {run: one, buffer: out}}
  times:
    check: timings
    warmups: 1
    runs: 3
    baseline: dtod
    rows:
      dtod: {run: dtod, verify: {check: exact, got: out, want: {copy: input}}}
      kernel: {run: one, verify: {check: exact, got: out, want: {copy: input}}}
"#;

/// Controls of the right kernel `copy`: none of them meets what it expects.
const EXPECTING: &str = r#"
version: 1
suite: expecting
title: Controls on a machine that is broken for another reason
kernels: [compaction.cu]
axes: {n: [300]}
inputs: {input: {type: i32, generator: survivors, seed: 12345, keep: 128, len: n}}
buffers: {out: {type: i32, len: n}}
pipelines:
  copied: [{kernel: copy, grid: 4, block: 64, args: [input, out, n]}]
gates:
  hang: {run: copied, check: exact, got: out, want: {copy: input}, expect: {error: hang}}
  fault: {run: copied, check: exact, got: out, want: {copy: input}, expect: {error: kernel fault}}
  setup: {run: copied, check: exact, got: out, want: {copy: input}, expect: {error: setup}}
"#;

#[test]
fn launches_that_are_lost_pass_no_gate() {
    let place = Place::new(SUITE);
    for (_, outcome) in place.run("").ends(0).outcomes() {
        assert_eq!(outcome, "pass");
    }
    let ran = Place::new(SUITE).run("cuLaunchKernel: error 0").ends(1);
    for (gate, outcome) in ran.outcomes() {
        assert_eq!(outcome, "fail", "{gate}\n{}", ran.stdout);
    }
}

#[test]
fn timed_launches_that_are_lost_have_no_time() {
    // The warm-up is the first launch of its worker.
    let arguments = ["--timeout", "5", "--exact", "idle::times::n=300::jit"];
    let place = Place::new(SUITE);
    place.run_on("cuda", "", &arguments).ends(0);
    let place = Place::new(SUITE);
    let lost = place.run_on("cuda", "cuLaunchKernel#2+: error 0", &arguments);
    let lost = lost.ends(1);
    let findings = lost.case("times")["findings"].to_string();
    assert!(findings.contains("row `kernel`"), "{findings}");
}

#[test]
fn events_that_are_not_recorded_give_no_time() {
    let place = Place::new(SUITE);
    let arguments = ["--timeout", "5", "idle::times"];
    let cases = |ran: &Ran| ran.report()["cases"].as_array().unwrap().clone();
    let ran = place.run_on("cuda", "", &arguments).ends(0);
    assert_eq!(cases(&ran).len(), 2);
    // From the second case on: no time of the first one stands in for its own.
    let place = Place::new(SUITE);
    let ran = place
        .run_on("cuda", "cuEventRecord#20+: error 0", &arguments)
        .ends(1);
    let outcomes: Vec<Value> = cases(&ran)
        .iter()
        .map(|case| case["outcome"].clone())
        .collect();
    assert_eq!(outcomes, ["pass", "error"], "{}", ran.stdout);
}

#[test]
fn an_expected_error_elsewhere_is_another_error() {
    for (faults, gate, kind) in [
        ("cuModuleLoadDataEx: hang", "hang", "hang"),
        ("cuModuleLoadDataEx: abort", "fault", "kernel fault"),
        ("cuMemAlloc_v2#3+: kill", "fault", "kernel fault"),
        ("cuMemAlloc_v2#2+: error 2", "setup", "setup"),
    ] {
        let filter = format!("expecting::{gate}");
        let place = Place::new(EXPECTING);
        let ran = place
            .run_on("cuda", faults, &["--timeout", "1.5", &filter])
            .ends(1);
        assert_eq!(
            ran.outcomes(),
            [(gate.to_owned(), "error".to_owned())],
            "{faults}"
        );
        assert!(
            ran.reason(gate).starts_with(kind),
            "{faults}: {}",
            ran.reason(gate)
        );
    }
    // What is expected, at its place.
    for (faults, gate) in [
        ("cuLaunchKernel: hang", "hang"),
        ("cuLaunchKernel: sticky 700", "fault"),
    ] {
        let filter = format!("expecting::{gate}");
        let place = Place::new(EXPECTING);
        let ran = place.run_on("cuda", faults, &["--timeout", "1.5", &filter]);
        assert_eq!(
            ran.ends(0).outcomes(),
            [(gate.to_owned(), "pass".to_owned())],
            "{faults}"
        );
    }
}

#[test]
fn a_card_that_breaks_while_cases_pass_fails_the_run() {
    for (faults, words) in [
        (
            "cuLaunchKernel(copy)#1: xid 79",
            "RUN   health: during idle::agrees::n=300::jit: Xid 79",
        ),
        (
            "cuLaunchKernel(copy)#1: ecc 3",
            "ecc_uncorrected_volatile 0 → 3",
        ),
    ] {
        let place = Place::new(SUITE);
        let arguments = ["--timeout", "5", "idle::agrees"];
        let ran = place.run_on("cuda", faults, &arguments).ends(1);
        assert_eq!(ran.outcomes()[0].1, "pass");
        let problems = &ran.report()["run"]["problems"];
        assert_eq!(problems[0]["rule"], "health", "{}", ran.stdout);
        assert!(ran.stdout.contains(words), "{words}\n{}", ran.stdout);
    }
    // A program's own fault is none of the card's.
    let place = Place::new(SUITE);
    let arguments = ["--timeout", "5", "idle::agrees"];
    place
        .run_on("cuda", "cuLaunchKernel(copy)#1: xid 31", &arguments)
        .ends(0);
}
