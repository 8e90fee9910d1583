//! A driver that says it did a thing, and did not: what earlier cases left in memory must not pass for it.

use super::*;

/// Two gates of one pipeline: what the first one leaves behind is what the second one should write.
const TWICE: &str = r#"
version: 1
suite: twice
title: One kernel, two cases
kernels: [compaction.cu]
axes: {n: [300]}
inputs: {input: {type: i32, generator: survivors, seed: 12345, keep: 128, len: n}}
buffers: {out: {type: i32, len: n}}
pipelines: {copied: [{kernel: copy, grid: 4, block: 64, args: [input, out, n]}]}
gates:
  one: {run: copied, check: exact, got: out, want: {copy: input}}
  two: {run: copied, check: exact, got: out, want: {copy: input}}
"#;

#[test]
fn no_copy_to_the_host_can_be_lost() {
    let mut lost = 0;
    loop {
        let orders = format!("cuMemcpyDtoHAsync_v2#{}: error 0", lost + 1);
        let ran = Place::new(TWICE).run(&orders);
        if ran.code == 0 {
            break;
        }
        let ran = ran.ends(1);
        let outcomes = ran.outcomes().into_iter().map(|of| of.1);
        let passed = outcomes.filter(|outcome| outcome == "pass").count();
        assert_eq!(passed, 1, "{orders}: {}", ran.stdout);
        lost += 1;
    }
    // Of each case: poison, four guard bands, the output, the input.
    assert_eq!(
        lost,
        2 * 7,
        "the first that was not there, or that nobody missed"
    );
}

#[test]
fn a_queue_that_does_nothing_does_not_pass_by_the_case_before() {
    let orders = "cuMemsetD32Async#2+: error 0; cuLaunchKernel#2+: error 0";
    let ran = Place::new(TWICE).run(orders).ends(1);
    let outcomes: Vec<String> = ran.outcomes().into_iter().map(|of| of.1).collect();
    assert_eq!(outcomes, ["pass", "error"]);
    let reason = ran.reason("two");
    let words = "environment: `out` was filled before the run, and a word of it does not hold";
    assert!(reason.starts_with(words), "{reason}");
}
