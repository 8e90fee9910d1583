//! A driver that dies, hangs or errs while its device is closed: no case is there to tell it, so the run does.

use super::*;

/// The rule and the words of each problem of the run.
fn problems(ran: &Ran) -> Vec<(String, String)> {
    // Left out where there are none.
    let problems = ran.report()["run"]["problems"].as_array();
    let text = |problem: &Value, key: &str| problem[key].as_str().unwrap().to_owned();
    problems
        .into_iter()
        .flatten()
        .map(|problem| (text(problem, "rule"), text(problem, "message")))
        .collect()
}

/// One case, which passes, and the one problem that the run has.
#[track_caller]
fn told(orders: &str, words: &str) {
    let place = Place::new(THREE);
    let ran = place.run_on("cuda", orders, &["--timeout", "1.5", "before"]);
    let ran = ran.ends(1);
    assert_eq!(ran.outcomes(), [("before".to_owned(), "pass".to_owned())]);
    let told = problems(&ran);
    let [(rule, message)] = told.as_slice() else {
        panic!("{orders}: {told:?}");
    };
    assert_eq!(rule, "driver", "{orders}");
    assert!(message.starts_with(words), "{orders}: {message}");
    assert!(ran.stdout.contains("RUN   driver: "), "{}", ran.stdout);
    let verify = place.command("").args(["report", "verify"]).output();
    assert!(verify.unwrap().status.success());
}

const CALLS: [&str; 6] = [
    "cuDevicePrimaryCtxRelease_v2",
    "cuMemFree_v2",
    "cuStreamDestroy_v2",
    "cuEventDestroy_v2",
    "cuModuleUnload",
    "cuMemFreeHost",
];

#[test]
fn a_call_that_fails_while_the_device_is_closed_is_told() {
    for call in CALLS {
        let words = format!("closing the device: {call} gave CUDA_ERROR_ILLEGAL_ADDRESS");
        told(&format!("{call}: error 700"), &words);
    }
}

#[test]
fn a_worker_that_dies_while_it_closes_the_device_is_told() {
    for call in CALLS {
        let words = "the worker died while it closed the device: signal 6 (SIGABRT)";
        told(&format!("{call}: abort"), words);
    }
    let words = "the worker died while it closed the device: exit code 0";
    told("cuMemFree_v2: exit 0", words);
}

#[test]
fn a_driver_that_hangs_while_the_device_is_closed_is_told() {
    let words = "the worker did not close the device within 5 s; it was killed";
    told("cuDevicePrimaryCtxRelease_v2: hang", words);
}

/// The worker that the second case broke is killed: its calls at the end fail because of what that case told.
#[test]
fn a_fault_that_a_case_told_is_not_told_again() {
    for orders in [
        "cuLaunchKernel(mark_nonzero): sticky 700",
        "cuLaunchKernel(mark_nonzero): hang",
        "cuLaunchKernel(mark_nonzero): abort",
    ] {
        let ran = Place::new(THREE).run(orders).ends(1);
        assert_eq!(ran.outcomes(), each(["pass", "error", "pass"]), "{orders}");
        assert_eq!(problems(&ran), [], "{orders}");
    }
}

/// The second size does not fit beside what is kept of the first, which is freed for it.
#[test]
fn memory_that_cannot_be_freed_for_a_case_is_its_error() {
    let suite = "version: 1
suite: sizes
title: Two sizes
kernels: [compaction.cu]
axes: {n: [4000000, 13000000]}
buffers: {out: {type: i32, len: n}}
pipelines: {zeros: [{memset: out, value: 0}]}
gates: {zeros: {run: zeros, check: sorted, got: out}}
";
    Place::new(suite).run("memory=64").ends(0);
    let ran = Place::new(suite)
        .run("memory=64; cuMemFree_v2#1: error 700")
        .ends(1);
    let outcomes: Vec<String> = ran.outcomes().into_iter().map(|of| of.1).collect();
    assert_eq!(outcomes, ["pass", "error"]);
    let reason = ran.report()["cases"][1]["reason"]["message"].as_str();
    let words = "allocating a buffer: cuMemFree_v2 gave CUDA_ERROR_ILLEGAL_ADDRESS";
    assert!(reason.unwrap().starts_with(words), "{reason:?}");
}
