//! References that move elements or count them.

use super::map::Predicate;
use super::number::Number;
use crate::outcome::Fault;
use crate::parallel;
use crate::terms::Order;

pub(super) fn count<T: Number>(values: &[T], predicate: Predicate) -> Result<usize, Fault> {
    let mut count = 0;
    predicate.flagged(values, |_, flags| {
        // Sums of 255 flags fit in a byte, which keeps the inner loop in vector registers.
        let chunks = flags.chunks(255);
        count += chunks
            .map(|c| usize::from(c.iter().sum::<u8>()))
            .sum::<usize>();
    })?;
    Ok(count)
}

/// The elements that `predicate` holds for, in order.
pub(super) fn compact<T: Number>(values: &[T], predicate: Predicate) -> Result<Vec<T>, Fault> {
    let kept = count(values, predicate)?;
    // Every element is stored and only the flagged advance, so there is no branch to mispredict; the place behind
    // the last takes the stores after it.
    let mut out = parallel::touched(kept + 1);
    let mut next = 0;
    predicate.flagged(values, |values, flags| {
        for (&value, &flag) in values.iter().zip(flags) {
            out[next] = value;
            next += usize::from(flag);
        }
    })?;
    out.truncate(kept);
    Ok(out)
}

/// The elements that `predicate` holds for in order, then the others in order; and the number of the first.
pub(super) fn partition<T: Number>(
    values: &[T],
    predicate: Predicate,
) -> Result<(Vec<T>, u64), Fault> {
    let split = count(values, predicate)?;
    let mut out = parallel::touched(values.len());
    let (mut front, mut back) = (0, split);
    predicate.flagged(values, |values, flags| {
        for (&value, &flag) in values.iter().zip(flags) {
            let flag = usize::from(flag);
            out[if flag == 1 { front } else { back }] = value;
            front += flag;
            back += 1 - flag;
        }
    })?;
    Ok((out, split as u64))
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
