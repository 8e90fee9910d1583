//! `multiset`, `permutation`, `sorted` and `repeatable`.

use super::super::{Repeatable, multiset, permutation, sorted};
use super::{Found, POISON, i32, kinds, messages};
use crate::terms::{FindingKind, Order};
use crate::value::{ArrayRef, POISON_BYTE};

#[test]
fn multiset_passes_any_order_and_no_other_elements() {
    let want = [5, 1, 1, 9];
    assert!(kinds(multiset(i32(&[1, 9, 5, 1]), i32(&want))).is_empty());
    assert!(kinds(multiset(i32(&[1, 9, 5, 1, POISON]), i32(&want))).is_empty());
    assert!(kinds(multiset(i32(&[]), i32(&[]))).is_empty());
    let one_replaced = multiset(i32(&[1, 9, 5, 5]), i32(&want));
    assert_eq!(
        messages(one_replaced),
        ["multiset: 1 of 4 elements missing: 1; 1 foreign, 5 at 2 among them"]
    );
    let one_past_the_end = multiset(i32(&[1, 9, 5, 1, POISON, 1]), i32(&want));
    assert_eq!(kinds(one_past_the_end), ["stray_write"]);
}

#[test]
fn multiset_tells_the_never_written_from_the_foreign() {
    let lost = multiset(i32(&[1, POISON, 5, POISON]), i32(&[5, 1, 1, 9]));
    assert_eq!(
        messages(lost),
        [
            "multiset: 2 of 4 elements missing: 1, 9",
            "unwritten: 2 of 4 elements were never written, first at 1, last at 3"
        ]
    );
    let wanted_poison = multiset(i32(&[POISON, POISON]), i32(&[POISON, 1]));
    assert_eq!(kinds(wanted_poison), ["multiset", "unwritten"]);
    assert!(kinds(multiset(i32(&[1, POISON]), i32(&[POISON, 1]))).is_empty());
}

#[test]
fn multiset_never_indexes_by_a_foreign_value() {
    for foreign in [i32::MIN, i32::MAX, -1, 0, 4, 1 << 20] {
        let found = multiset(i32(&[2, foreign, 1]), i32(&[1, 2, 3]));
        let known =
            format!("multiset: 1 of 3 elements missing: 3; 1 foreign, {foreign} at 1 among them");
        assert_eq!(messages(found), [known]);
    }
    // Wide wanted values take the other way, by sorting.
    let wide = multiset(i32(&[i32::MIN, 0, 0]), i32(&[i32::MIN, i32::MAX, 0]));
    assert_eq!(
        messages(wide),
        ["multiset: 1 of 3 elements missing: 2147483647; 1 foreign, 0 at 1 among them"]
    );
}

#[test]
fn multiset_of_floats_is_bitwise() {
    let zeros = multiset(ArrayRef::F32(&[-0.0, 1.0]), ArrayRef::F32(&[1.0, 0.0]));
    assert_eq!(
        messages(zeros),
        ["multiset: 1 of 2 elements missing: 0.0; 1 foreign, -0.0 at 0 among them"]
    );
    let nans = [f64::NAN, -f64::NAN, -1.5];
    let turned = [-1.5, f64::NAN, -f64::NAN];
    assert!(kinds(multiset(ArrayRef::F64(&turned), ArrayRef::F64(&nans))).is_empty());
    let negative = multiset(ArrayRef::F64(&[-2.5]), ArrayRef::F64(&[-1.5]));
    assert!(messages(negative)[0].contains("missing: -1.5; 1 foreign, -2.5"));
}

#[test]
fn multiset_examples_are_few() {
    let want: Vec<i32> = (0..100).collect();
    let found = messages(multiset(i32(&[7; 100]), i32(&want)));
    let known = "missing: 0, 1, 2, 3, 4, 5, 6, 8, … 99 values in all; 99 foreign, 7 at 0";
    assert!(found[0].contains(known), "{found:?}");
}

#[test]
fn permutation_is_all_of_it() {
    assert!(kinds(permutation(i32(&[3, 1, 2]), i32(&[1, 2, 3]))).is_empty());
    assert_eq!(
        kinds(permutation(i32(&[3, 3, 2]), i32(&[1, 2, 3]))),
        ["multiset"]
    );
    let longer = permutation(i32(&[3, 1, 2, POISON]), i32(&[1, 2, 3])).unwrap_err();
    assert_eq!(
        longer.reason.message,
        "a permutation of 3 elements cannot have 4"
    );
}

#[test]
fn sorted_allows_equals_and_no_step_back() {
    let up = |got: &[i32]| Ok(sorted(i32(got), Order::Ascending));
    let down = |got: &[i32]| Ok(sorted(i32(got), Order::Descending));
    assert!(kinds(up(&[-1, 0, 0, 5])).is_empty());
    assert!(kinds(down(&[5, 0, 0, -1])).is_empty());
    assert!(kinds(up(&[])).is_empty());
    assert!(kinds(up(&[3])).is_empty());
    assert_eq!(
        messages(up(&[-1, 0, -1, 5])),
        ["order: 1 of 4 elements not in ascending order, at 2: -1 after 0"]
    );
    assert_eq!(kinds(down(&[1, 2])), ["order"]);
    assert_eq!(
        messages(up(&[POISON; 3])),
        ["unwritten: 3 of 3 elements were never written, first at 0, last at 2"]
    );
    let unsigned = [1u32, u32::MAX];
    assert!(sorted(ArrayRef::U32(&unsigned), Order::Ascending).is_empty());
    let zeros = sorted(ArrayRef::F32(&[0.0, -0.0]), Order::Ascending);
    assert_eq!(zeros[0].kind, FindingKind::Order);
    let ends = [
        -f32::INFINITY,
        -1.0,
        -0.0,
        0.0,
        2.0,
        f32::INFINITY,
        f32::NAN,
    ];
    assert!(sorted(ArrayRef::F32(&ends), Order::Ascending).is_empty());
}

fn repeated(runs: &[&[i32]]) -> Found {
    let mut repeatable = Repeatable::new();
    for run in runs {
        repeatable.run(i32(run))?;
    }
    Ok(repeatable.findings())
}

#[test]
fn repeatable_wants_every_run_alike() {
    assert!(kinds(repeated(&[&[1, 2], &[1, 2], &[1, 2]])).is_empty());
    assert!(kinds(repeated(&[&[], &[]])).is_empty());
    let one = repeated(&[&[1, 2], &[1, 2], &[1, 3], &[1, 4]]).unwrap();
    assert_eq!(
        one[0].to_string(),
        "not_repeatable: run 2 differs from run 0: 1 of 2 elements, at 1: 3, before 2"
    );
    assert_eq!(one[0].detail.last().unwrap(), "runs that differ: 2 of 4");
    assert_eq!(
        kinds(repeated(&[&[1, 2], &[POISON, 2]])),
        ["not_repeatable"]
    );
    assert_eq!(kinds(repeated(&[&[1, 2]])), ["no_work"]);
    assert_eq!(kinds(repeated(&[])), ["no_work"]);
    assert_eq!(
        kinds(repeated(&[&[POISON, POISON], &[POISON, POISON]])),
        ["unwritten"]
    );
    assert!(repeated(&[&[1, 2], &[1]]).is_err());
}

/// Poison is a very small `i32`: a prefix that no thread wrote would stand in order.
#[test]
fn an_unwritten_prefix_is_not_sorted() {
    let poison = i32::from_ne_bytes([POISON_BYTE; 4]);
    let findings = sorted(i32(&[poison, 1, 2]), Order::Ascending);
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].kind, FindingKind::Unwritten);
    let byte = [i8::from_ne_bytes([POISON_BYTE]), 0];
    assert!(
        sorted(ArrayRef::I8(&byte), Order::Ascending).is_empty(),
        "a byte may well be -37"
    );
}
