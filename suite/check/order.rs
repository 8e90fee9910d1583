//! Sortedness.

use super::bytes::{Places, by_size, poisoned, untouched};
use super::key::Keys;
use super::show;
use crate::outcome::Finding;
use crate::terms::{FindingKind, Order};
use crate::value::ArrayRef;

/// Each element of `got` is at least (`descending`: at most) the one before it; floats in IEEE 754's total order,
/// where −0 stands below 0 and NaNs at the ends.
///
/// Poison may be in order, so it is `unwritten`: any element of four bytes or more that holds it, and narrower ones,
/// of which it may well be a value, where all of them do. That the elements are the right ones is for `permutation`
/// to say.
pub fn sorted(got: ArrayRef<'_>, order: Order) -> Vec<Finding> {
    let wide = got.element_type().size() >= 4;
    if wide || untouched(got) {
        let places = poisoned(got);
        if !places.is_empty() {
            return show::unwritten(places, got.len()).into_iter().collect();
        }
    }
    let keys = Keys::of(got.element_type());
    let places = by_size!(got.element_type(), steps_back(keys, got.as_bytes(), order));
    if places.is_empty() {
        return Vec::new();
    }
    let Places { count, first, last } = places;
    let mut message = format!(
        "{} of {} not in {order} order, {} {first}: {} after {}",
        count,
        show::elements(got.len()),
        if count == 1 { "at" } else { "first at" },
        show::element(got, first),
        show::element(got, first - 1),
    );
    if count > 1 {
        message.push_str(&format!(", last at {last}"));
    }
    vec![Finding::new(FindingKind::Order, message)]
}

/// The elements that the one before them should follow.
fn steps_back<const N: usize>(keys: Keys, bytes: &[u8], order: Order) -> Places {
    let elements = bytes.as_chunks::<N>().0;
    let mut places = Places::default();
    for (index, pair) in elements.windows(2).enumerate() {
        let (before, after) = (keys.key(&pair[0]), keys.key(&pair[1]));
        let back = match order {
            Order::Ascending => after < before,
            Order::Descending => after > before,
        };
        if back {
            places.add(index + 1);
        }
    }
    places
}
