//! References that move elements or count them.

use super::number::Number;
use crate::outcome::Fault;
use crate::terms::Order;

pub(super) fn count(flags: &[u8]) -> usize {
    // Sums of 255 flags fit in a byte, which keeps the inner loop in vector registers.
    let chunks = flags.chunks(255);
    chunks.map(|c| usize::from(c.iter().sum::<u8>())).sum()
}

/// The flagged elements, in order.
pub(super) fn compact<T: Number>(values: &[T], flags: &[u8]) -> Vec<T> {
    let kept = count(flags);
    // Every element is stored and only the flagged advance, so there is no branch to mispredict; the place behind
    // the last takes the stores after it.
    let mut out = vec![T::ZERO; kept + 1];
    let mut next = 0;
    for (&value, &flag) in values.iter().zip(flags) {
        out[next] = value;
        next += usize::from(flag);
    }
    out.truncate(kept);
    out
}

/// The flagged elements in order, then the others in order; and the number of the flagged.
pub(super) fn partition<T: Number>(values: &[T], flags: &[u8]) -> (Vec<T>, u64) {
    let split = count(flags);
    let mut out = vec![T::ZERO; values.len()];
    let (mut front, mut back) = (0, split);
    for (&value, &flag) in values.iter().zip(flags) {
        let flag = usize::from(flag);
        out[[back, front][flag]] = value;
        front += flag;
        back += 1 - flag;
    }
    (out, split as u64)
}

pub(super) fn sort<T: Number>(values: &[T], order: Order) -> Vec<T> {
    let mut out = values.to_vec();
    // Elements that compare equal are the same bits, so stability cannot show.
    match order {
        Order::Ascending => out.sort_unstable_by(|a, b| a.order(*b)),
        Order::Descending => out.sort_unstable_by(|a, b| b.order(*a)),
    }
    out
}

pub(super) fn histogram<T: Number>(values: &[T], bins: usize) -> Result<Vec<i32>, Fault> {
    if T::ZERO.bin().is_none() {
        return Err(Fault::setup("a histogram of floats has no bins"));
    }
    let mut out = vec![0i32; bins];
    for value in values {
        if let Some(bin) = value.bin().and_then(|bin| out.get_mut(bin)) {
            *bin = bin.wrapping_add(1);
        }
    }
    Ok(out)
}
