//! Each function against what it should be, on the lengths around its loops' edges; and what is refused.

use super::Operand::{I32, I32Mut, Number, U32, U32Mut};
use super::*;

fn values(n: usize) -> Vec<i32> {
    let next = |i: usize| (i as i32).wrapping_mul(-1_640_531_527) >> 7;
    let sparse = |(i, v): (usize, i32)| if i % 3 == 1 { 0 } else { v };
    (0..n).map(next).enumerate().map(sparse).collect()
}

fn run(name: &str, input: &[i32]) -> (Vec<i32>, i32) {
    let (mut output, mut kept) = (vec![-7; input.len()], [-7]);
    let mut operands = vec![I32(input), I32Mut(&mut output)];
    if name != "scan_exclusive" {
        operands.push(I32Mut(&mut kept));
    }
    operands.push(Number(input.len() as u64));
    call(name, operands, &mut Scratch::default()).unwrap();
    (output, kept[0])
}

const LENGTHS: [usize; 6] = [0, 1, 2, 255, 256, 1000];

#[test]
fn the_table_has_every_function_once() {
    let table = Function::table(TABLE).unwrap();
    assert_eq!(table, functions());
    assert_eq!(table.len(), 6);
    assert!(function("sort").unwrap_err().contains("sort_radix"));
}

#[test]
fn a_scan_is_the_sum_of_those_before() {
    for n in LENGTHS {
        let input = values(n);
        let (output, _) = run("scan_exclusive", &input);
        for (at, sum) in output.iter().enumerate() {
            let wanted = input[..at].iter().fold(0_i32, |a, &b| a.wrapping_add(b));
            assert_eq!(*sum, wanted, "n = {n}, element {at}");
        }
    }
    assert_eq!(
        run("scan_exclusive", &[i32::MAX, 1, 5]).0,
        [0, i32::MAX, i32::MIN]
    );
}

#[test]
fn both_compactions_keep_what_is_not_zero_and_touch_no_more() {
    for n in LENGTHS {
        let input = values(n);
        let kept: Vec<i32> = input.iter().copied().filter(|v| *v != 0).collect();
        for name in ["compact_without_scan", "compact_with_scan"] {
            let (output, count) = run(name, &input);
            assert_eq!(output[..kept.len()], kept, "{name}, n = {n}");
            assert!(
                output[kept.len()..].iter().all(|v| *v == -7),
                "{name}, n = {n}"
            );
            assert_eq!(count as usize, kept.len(), "{name}, n = {n}");
        }
    }
}

#[test]
fn a_partition_keeps_the_order_of_both_halves() {
    for n in LENGTHS {
        let input = values(n);
        let (mut wanted, odds): (Vec<i32>, Vec<i32>) = input.iter().partition(|v| *v % 2 == 0);
        let evens = wanted.len();
        wanted.extend(odds);
        assert_eq!(
            run("partition_stable", &input),
            (wanted, evens as i32),
            "n = {n}"
        );
    }
}

#[test]
fn both_sorts_sort_and_a_kept_scratch_changes_nothing() {
    let mut scratch = Scratch::default();
    for n in LENGTHS.into_iter().chain([3, 300]) {
        let input: Vec<u32> = values(n).iter().map(|v| v.cast_unsigned()).collect();
        let mut wanted = input.clone();
        wanted.sort_unstable();
        for name in ["sort_radix", "sort_std"] {
            let mut output = vec![7; n];
            let operands = vec![U32(&input), U32Mut(&mut output), Number(n as u64)];
            call(name, operands, &mut scratch).unwrap();
            assert_eq!(output, wanted, "{name}, n = {n}");
        }
    }
}

#[test]
fn short_arrays_and_other_operands_are_refused() {
    let refused = |name: &str, operands: Vec<Operand<'_>>| {
        call(name, operands, &mut Scratch::default()).unwrap_err()
    };
    let input = [1, 2, 3];
    let (mut output, mut count) = ([0; 2], [0; 1]);
    let short = "an array of 2 elements is given where 3 are needed";
    let operands = vec![I32(&input), I32Mut(&mut output), Number(3)];
    assert_eq!(refused("scan_exclusive", operands), short);
    let operands = vec![
        I32(&input),
        I32Mut(&mut output),
        I32Mut(&mut count),
        Number(3),
    ];
    assert_eq!(refused("compact_with_scan", operands), short);
    let operands = vec![
        I32(&input),
        I32Mut(&mut output),
        I32Mut(&mut count),
        Number(3),
    ];
    assert_eq!(
        refused("compact_without_scan", operands),
        "the output has room for 2 elements only"
    );
    let called = "`sort_std` is called as sort_std(const u32* input, u32* output, u64 n)";
    assert_eq!(refused("sort_std", vec![I32(&input), Number(3)]), called);
    assert_eq!(refused("sort_std", vec![]), called);
    assert!(refused("sort", vec![]).starts_with("no host rung `sort`"));
}
