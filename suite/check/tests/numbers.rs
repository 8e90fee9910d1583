//! `count`, `near` and the checks of timings.

use super::super::{count, near, no_work, times};
use super::{POISON, i32, kinds, messages, next};
use crate::terms::{FindingKind, Tolerance};
use crate::value::{ArrayRef, POISON_BYTE, Scalar};

#[test]
fn count_compares_one_number() {
    assert!(kinds(count(i32(&[3]), Scalar::Int(3))).is_empty());
    assert!(
        kinds(count(
            ArrayRef::U64(&[u64::MAX]),
            Scalar::Int(u64::MAX.into())
        ))
        .is_empty()
    );
    assert!(kinds(count(i32(&[3]), Scalar::Float(3.0))).is_empty());
    assert!(kinds(count(ArrayRef::F32(&[0.1]), Scalar::Float(0.1))).is_empty());
    assert_eq!(
        messages(count(i32(&[3]), Scalar::Int(4))),
        ["count: got 3, want 4"]
    );
    assert_eq!(kinds(count(i32(&[3]), Scalar::Float(3.5))), ["count"]);
    // A total that wrapped around is not the count.
    assert_eq!(
        kinds(count(i32(&[1]), Scalar::Int((1 << 32) + 1))),
        ["count"]
    );
    assert_eq!(
        kinds(count(ArrayRef::F64(&[-0.0]), Scalar::Int(0))),
        ["count"]
    );
    assert_eq!(
        messages(count(i32(&[POISON]), Scalar::Int(4))),
        ["unwritten: the number was never written, want 4"]
    );
    assert!(kinds(count(i32(&[POISON]), Scalar::Int(POISON.into()))).is_empty());
    assert!(count(i32(&[3, 3]), Scalar::Int(3)).is_err());
    assert!(count(i32(&[]), Scalar::Int(0)).is_err());
}

#[test]
fn near_by_units_in_the_last_place() {
    let check = |got: f32, want: f32, ulps| {
        near(
            ArrayRef::F32(&[got]),
            ArrayRef::F32(&[want]),
            Tolerance::Ulps(ulps),
        )
    };
    assert!(kinds(check(next(1.5, 2), 1.5, 2)).is_empty());
    assert_eq!(kinds(check(next(1.5, 3), 1.5, 2)), ["mismatch"]);
    assert!(kinds(check(-0.0, 0.0, 0)).is_empty());
    // The smallest floats on both sides of zero are two steps apart.
    assert!(kinds(check(-next(0.0, 1), next(0.0, 1), 2)).is_empty());
    assert_eq!(kinds(check(-next(0.0, 1), next(0.0, 1), 1)), ["mismatch"]);
    let payload = next(f32::NAN, 1);
    assert!(kinds(check(payload, f32::NAN, 0)).is_empty());
    assert_eq!(kinds(check(f32::NAN, 1.0, u64::MAX)), ["mismatch"]);
    assert_eq!(kinds(check(1.0, f32::NAN, u64::MAX)), ["mismatch"]);
    assert!(kinds(check(f32::INFINITY, f32::INFINITY, 0)).is_empty());
    assert_eq!(kinds(check(f32::MAX, f32::INFINITY, 9)), ["mismatch"]);
}

#[test]
fn near_by_relative_difference() {
    let check = |got: f64, want: f64, relative| {
        let tolerance = Tolerance::Relative(relative);
        near(ArrayRef::F64(&[got]), ArrayRef::F64(&[want]), tolerance)
    };
    assert!(kinds(check(101.0, 100.0, 0.01)).is_empty());
    assert!(kinds(check(-99.0, -100.0, 0.01)).is_empty());
    assert_eq!(
        messages(check(102.0, 100.0, 0.01)),
        [
            "mismatch: 1 of 1 element is not near (100 %), at 0: got 102.0, want 100.0; \
          allowed 1e-2 relative, worst 2.000e-2 relative at 0"
        ]
    );
    assert_eq!(kinds(check(1e-300, 0.0, 0.5)), ["mismatch"]);
    assert!(kinds(check(-0.0, 0.0, 0.0)).is_empty());
    for bad in [-0.1, f64::NAN, f64::INFINITY] {
        assert!(check(1.0, 1.0, bad).is_err());
    }
}

#[test]
fn near_shares_the_poison_rules_and_refuses_integers() {
    let poison = f32::from_ne_bytes([POISON_BYTE; 4]);
    let tolerance = Tolerance::Ulps(1);
    let lost = near(
        ArrayRef::F32(&[1.0, poison]),
        ArrayRef::F32(&[1.0, 2.0]),
        tolerance,
    );
    assert_eq!(kinds(lost), ["unwritten"]);
    let stray = near(ArrayRef::F32(&[1.0, 2.0]), ArrayRef::F32(&[1.0]), tolerance);
    assert_eq!(kinds(stray), ["stray_write"]);
    assert!(kinds(near(ArrayRef::F32(&[]), ArrayRef::F32(&[]), tolerance)).is_empty());
    assert!(near(i32(&[1]), i32(&[1]), tolerance).is_err());
}

#[test]
fn times_are_positive_and_there_are_some() {
    assert!(times("copy", &[0.1, 1e-9]).is_empty());
    for bad in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY] {
        let found = times("copy", &[1.0, bad]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].kind, FindingKind::Time);
        assert!(
            found[0]
                .message
                .contains("1 of 2 times not positive, first in run 1")
        );
    }
    assert_eq!(
        times("copy", &[])[0].to_string(),
        "time: row `copy` has no times"
    );
    assert_eq!(no_work("row `copy`").kind, FindingKind::NoWork);
}
