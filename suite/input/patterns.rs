//! Inputs without chance: compaction's edge patterns, ramps and constants.

use super::Request;
use super::number::Number;
use crate::outcome::Fault;

/// Where `survives(i)`, a nonzero value that differs from its neighbours'; else zero.
///
/// The period is odd (255, or 127 where 255 does not fit), so that no tile of 2ᵏ elements repeats the one before:
/// an element that lands a tile too early shows.
pub(super) fn fill<T: Number>(out: &mut Vec<T>, len: usize, survives: impl Fn(usize) -> bool) {
    let period = T::HIGH.min(255) as usize;
    out.extend((0..len).map(|i| match survives(i) {
        true => T::from_word((1 + i % period) as u64),
        false => T::default(),
    }));
}

pub(super) fn iota<T: Number>(
    out: &mut Vec<T>,
    len: usize,
    request: &Request,
) -> Result<(), Fault> {
    let start = request.param("start").unwrap_or(0);
    held::<T>(request, "start", i128::from(start))?;
    let last = i128::from(start) + (len as i128 - 1).max(0);
    held::<T>(request, "the last element,", last)?;
    out.extend((0..len).map(|i| T::from_word((start as u64).wrapping_add(i as u64))));
    Ok(())
}

pub(super) fn reverse<T: Number>(
    out: &mut Vec<T>,
    len: usize,
    request: &Request,
) -> Result<(), Fault> {
    held::<T>(
        request,
        "the first element,",
        (len as i128).saturating_sub(1),
    )?;
    out.extend((0..len).rev().map(|i| T::from_word(i as u64)));
    Ok(())
}

pub(super) fn constant<T: Number>(request: &Request) -> Result<T, Fault> {
    let value = request.param("value").unwrap_or(0);
    held::<T>(request, "value", i128::from(value))?;
    Ok(T::from_word(value as u64))
}

/// Refuses what the element type does not hold exactly.
pub(super) fn held<T: Number>(request: &Request, what: &str, value: i128) -> Result<(), Fault> {
    if (T::LOW..=T::HIGH).contains(&value) {
        return Ok(());
    }
    Err(request.fault(format!(
        "{what} {value} lies outside {}: {} to {}",
        request.element.name(),
        T::LOW,
        T::HIGH
    )))
}
