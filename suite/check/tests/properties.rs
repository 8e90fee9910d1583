//! Verdicts against naive definitions, on generated arrays.

use super::super::{exact, multiset, near, order_differences, permutation, sorted};
use super::{POISON, i32, kinds, messages, next};
use crate::terms::{Order, Tolerance};
use crate::value::{Array, ArrayRef, ElementType};
use proptest::prelude::*;

/// A value now and then poison, so that the rules of poison meet those of the check.
fn values(len: impl Into<proptest::collection::SizeRange>) -> impl Strategy<Value = Vec<i32>> {
    let value = prop_oneof![4 => -3..3i32, 1 => Just(POISON), 1 => any::<i32>()];
    proptest::collection::vec(value, len)
}

proptest! {
    #[test]
    fn exact_is_equality_and_a_poisoned_rest(
        (got, want) in (0..20usize).prop_flat_map(|n| (values(n..40), values(n)))
    ) {
        let (head, rest) = got.split_at(want.len());
        let wrong = head.iter().zip(&want).filter(|(g, w)| g != w && **g != POISON).count();
        let lost = head.iter().zip(&want).filter(|(g, w)| g != w && **g == POISON).count();
        let stray = rest.iter().filter(|v| **v != POISON).count();
        let mut known = Vec::new();
        for (count, kind) in [(wrong, "mismatch"), (lost, "unwritten"), (stray, "stray_write")] {
            known.extend((count > 0).then(|| format!("{kind}: {count} ")));
        }
        let found = messages(exact(i32(&got), i32(&want)));
        prop_assert_eq!(found.len(), known.len());
        for (found, known) in found.iter().zip(known) {
            prop_assert!(found.starts_with(&known), "{found} {known}");
        }
        prop_assert_eq!(order_differences(i32(&got), i32(&want)), Ok((wrong + lost) as u64));
    }

    #[test]
    fn multiset_is_equality_of_sorted_copies(
        (got, want) in (0..12usize).prop_flat_map(|n| (values(n), values(n)))
    ) {
        let sorted = |values: &[i32]| { let mut all = values.to_vec(); all.sort(); all };
        let same = sorted(&got) == sorted(&want);
        prop_assert_eq!(kinds(multiset(i32(&got), i32(&want))).is_empty(), same);
        let mut shuffled = want.clone();
        shuffled.reverse();
        prop_assert!(kinds(permutation(i32(&shuffled), i32(&want))).is_empty());
    }

    #[test]
    fn multiset_agrees_for_every_type(bytes: Vec<u8>, swap: (usize, usize)) {
        for element in ElementType::ALL {
            let want = Array::from_bytes(element, &bytes);
            let len = want.len();
            if len == 0 { continue; }
            let mut order: Vec<usize> = (0..len).collect();
            order.swap(swap.0 % len, swap.1 % len);
            let size = element.size();
            let moved: Vec<u8> =
                order.iter().flat_map(|i| want.as_bytes()[i * size..][..size].to_vec()).collect();
            let got = Array::from_bytes(element, &moved);
            prop_assert!(kinds(multiset(got.view(), want.view())).is_empty());
            let mut broken = moved.clone();
            broken[0] ^= 1;
            let got = Array::from_bytes(element, &broken);
            prop_assert!(!kinds(multiset(got.view(), want.view())).is_empty());
        }
    }

    #[test]
    fn sorted_is_the_standard_librarys(values: Vec<i16>, reals: Vec<f32>) {
        let ascending = sorted(ArrayRef::I16(&values), Order::Ascending).is_empty();
        prop_assert_eq!(ascending, values.is_sorted());
        let ascending = sorted(ArrayRef::F32(&reals), Order::Ascending).is_empty();
        prop_assert_eq!(ascending, reals.is_sorted_by(|a, b| a.total_cmp(b).is_le()));
        let mut ordered = reals;
        ordered.sort_by(|a, b| b.total_cmp(a));
        prop_assert!(sorted(ArrayRef::F32(&ordered), Order::Descending).is_empty());
    }

    #[test]
    fn near_is_the_distance_of_its_definition(got: f32, want: f32, ulps in 0..4u64, step in 0..8u32) {
        let check = |got: f32, want: f32| {
            kinds(near(ArrayRef::F32(&[got]), ArrayRef::F32(&[want]), Tolerance::Ulps(ulps))).is_empty()
        };
        let line = |v: f32| if v < 0.0 { -i64::from(v.abs().to_bits()) } else { i64::from(v.abs().to_bits()) };
        if got.is_finite() && want.is_finite() {
            prop_assert_eq!(check(got, want), line(got).abs_diff(line(want)) <= ulps);
        }
        let neighbour = next(want.abs().min(1e30), step);
        prop_assert_eq!(check(neighbour, want.abs().min(1e30)), u64::from(step) <= ulps);
    }
}
