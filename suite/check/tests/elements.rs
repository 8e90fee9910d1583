//! Element by element: `exact`, `partition`, `order_differences`, and what cannot be compared.

use super::super::{exact, multiset, order_differences, partition};
use super::{POISON, i32, kinds, messages};
use crate::terms::ReasonKind;
use crate::value::ArrayRef;

#[test]
fn exact_passes_what_is_exact() {
    assert!(kinds(exact(i32(&[1, 2]), i32(&[1, 2]))).is_empty());
    assert!(kinds(exact(i32(&[1, POISON]), i32(&[1]))).is_empty());
    assert!(kinds(exact(i32(&[]), i32(&[]))).is_empty());
    assert!(kinds(exact(i32(&[POISON]), i32(&[]))).is_empty());
    let nan = [f32::NAN, -0.0];
    assert!(kinds(exact(ArrayRef::F32(&nan), ArrayRef::F32(&nan))).is_empty());
    assert!(
        kinds(exact(i32(&[POISON]), i32(&[POISON]))).is_empty(),
        "a wanted poison"
    );
}

#[test]
fn exact_finds_each_smallest_violation() {
    let swapped = exact(i32(&[1, 3, 2]), i32(&[1, 2, 3]));
    assert_eq!(
        messages(swapped),
        ["mismatch: 2 of 3 elements differ (67 %), first at 1: got 3, want 2"]
    );
    let lost = exact(i32(&[1, POISON]), i32(&[1, 2]));
    assert_eq!(
        messages(lost),
        ["unwritten: 1 of 2 elements was never written, at 1"]
    );
    let stray = exact(i32(&[1, POISON, 0]), i32(&[1]));
    assert_eq!(
        messages(stray),
        ["stray_write: 1 element past the 1 wanted was written, at 2: got 0"]
    );
    let stray_where_nothing_is_wanted = exact(i32(&[POISON, POISON + 1]), i32(&[]));
    assert_eq!(kinds(stray_where_nothing_is_wanted), ["stray_write"]);
    let all = exact(i32(&[9, POISON, 3, 4]), i32(&[1, 2, 3]));
    assert_eq!(kinds(all), ["mismatch", "unwritten", "stray_write"]);
}

#[test]
fn exact_tells_zeros_and_nans_apart() {
    let zeros = exact(ArrayRef::F64(&[-0.0]), ArrayRef::F64(&[0.0]));
    assert_eq!(
        messages(zeros),
        ["mismatch: 1 of 1 element differs (100 %), at 0: got -0.0, want 0.0"]
    );
    let payload = f32::from_bits(f32::NAN.to_bits() + 1);
    let nans = exact(ArrayRef::F32(&[payload]), ArrayRef::F32(&[f32::NAN]));
    assert_eq!(
        messages(nans),
        [
            "mismatch: 1 of 1 element differs (100 %), at 0: got NaN (0x7fc00001), want NaN (0x7fc00000)"
        ]
    );
}

#[test]
fn exact_shows_where() {
    let want: Vec<i32> = (0..100).collect();
    let mut got = want.clone();
    (got[40], got[99]) = (-1, 7);
    let findings = exact(i32(&got), i32(&want)).unwrap();
    let known = [
        "index  got  want",
        "   38   38    38",
        "   39   39    39",
        "   40   -1    40 <",
        "   41   41    41",
        "   42   42    42",
        "   43   43    43",
        "   44   44    44",
        "   45   45    45",
        "   99    7    99 <",
    ];
    assert_eq!(findings[0].detail, known);
}

/// Blocks are compared whole; the places found must not depend on where a block ends.
#[test]
fn exact_finds_the_one_wrong_element_wherever_it_is() {
    let want = vec![7i32; 10_000];
    for place in [0, 4095, 4096, 8191, 8192, 9_999] {
        let mut got = want.clone();
        got[place] = 8;
        let found = messages(exact(i32(&got), i32(&want)));
        assert!(
            found[0].contains(&format!("(0.01 %), at {place}: got 8, want 7")),
            "{found:?}"
        );
        let mut got = vec![POISON; 10_001];
        got[place + 1] = 0;
        let found = messages(exact(i32(&got), i32(&[])));
        assert!(
            found[0].contains(&format!("at {}: got 0", place + 1)),
            "{found:?}"
        );
    }
}

#[test]
fn what_cannot_be_compared_is_a_fault_and_no_finding() {
    let short = exact(i32(&[1]), i32(&[1, 2])).unwrap_err();
    assert_eq!(short.reason.kind, ReasonKind::Setup);
    assert_eq!(
        short.reason.message,
        "2 elements are wanted, and only 1 are read"
    );
    let float = exact(i32(&[1]), ArrayRef::F32(&[1.0])).unwrap_err();
    assert_eq!(
        float.reason.message,
        "the output is of i32, and what is wanted of f32"
    );
    assert!(exact(i32(&[1]), ArrayRef::I64(&[1])).is_err());
    assert!(multiset(i32(&[1]), i32(&[1, 2])).is_err());
    assert!(order_differences(i32(&[1]), i32(&[1, 2])).is_err());
}

#[test]
fn integers_of_one_size_compare_by_their_bits() {
    assert!(kinds(exact(ArrayRef::U32(&[1, u32::MAX]), i32(&[1, -1]))).is_empty());
    assert!(kinds(multiset(ArrayRef::U32(&[u32::MAX, 1]), i32(&[1, -1]))).is_empty());
    assert_eq!(
        kinds(exact(ArrayRef::U8(&[1]), ArrayRef::I8(&[2]))),
        ["mismatch"]
    );
}

#[test]
fn partition_wants_both_halves_and_the_split() {
    let want = [0, 2, 4, 1, 3];
    let check = |got: &[i32], split: i32| partition(i32(got), i32(&want), Some(i32(&[split])), 3);
    assert!(kinds(check(&want, 3)).is_empty());
    assert!(kinds(partition(i32(&want), i32(&want), None, 3)).is_empty());
    assert!(kinds(partition(i32(&[]), i32(&[]), Some(i32(&[0])), 0)).is_empty());
    assert_eq!(messages(check(&want, 2)), ["split: got 2, want 3"]);
    // An odd element one slot early: both places are wrong, one in each half.
    assert_eq!(
        messages(check(&[0, 2, 1, 4, 3], 3)),
        [
            "mismatch: 2 of 5 elements differ (40 %), first at 2: got 1, want 4; 1 before the split at 3, \
          1 from there; the same elements in another order"
        ]
    );
    assert_eq!(kinds(check(&[0, 2, 4, 3, 1], 3)), ["mismatch"]);
    assert_eq!(kinds(check(&[0, 2, 4, 1, 5], 4)), ["mismatch", "split"]);
    assert_eq!(kinds(check(&[0, 2, 4, 1, POISON], POISON)), ["unwritten"]);
}

#[test]
fn order_differences_count_places() {
    let differences = |got: &[i32], against: &[i32]| order_differences(i32(got), i32(against));
    assert_eq!(differences(&[1, 2, 3], &[1, 2, 3]), Ok(0));
    assert_eq!(differences(&[2, 1, 3], &[1, 2, 3]), Ok(2));
    assert_eq!(differences(&[2, POISON, 9, 9], &[1, 2]), Ok(2));
    assert_eq!(differences(&[], &[]), Ok(0));
}
