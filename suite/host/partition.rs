//! Stable partition: even elements in order, then the odd ones in order.

use super::count;

/// Two passes over the input, one a half. Returns the number of evens.
pub(super) fn stable(input: &[i32], output: &mut [i32]) -> i32 {
    let is_even = |value: &&i32| **value & 1 == 0;
    let evens = input.iter().filter(is_even).count();
    let (front, back) = output.split_at_mut(evens);
    for (to, &value) in front.iter_mut().zip(input.iter().filter(is_even)) {
        *to = value;
    }
    let odds = input.iter().filter(|value| !is_even(value));
    for (to, &value) in back.iter_mut().zip(odds) {
        *to = value;
    }
    count(evens)
}
