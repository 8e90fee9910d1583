//! Inputs without chance: compaction's edge patterns, ramps and constants.

use super::Request;
use super::number::Number;
use crate::outcome::Fault;

/// Where `survives(i)`, a nonzero value that differs from its neighbours'; else zero.
///
/// The period is odd (255, or 127 where 255 does not fit), so that no tile of 2ᵏ elements repeats the one before:
/// an element that lands a tile too early shows.
pub(super) fn fill<T: Number>(out: &mut [T], survives: impl Fn(usize) -> bool) {
    let period = T::HIGH.min(255) as usize;
    for (turn, slots) in out.chunks_mut(period).enumerate() {
        for (place, slot) in slots.iter_mut().enumerate() {
            if survives(turn * period + place) {
                *slot = T::from_word(1 + place as u64);
            }
        }
    }
}

/// Full and empty stretches of `width` elements by turns, a full one first.
pub(super) fn stripes<T: Number>(out: &mut [T], request: &Request) -> Result<(), Fault> {
    let width = width(request)?;
    fill(out, |i| i / width % 2 == 0);
    Ok(())
}

pub(super) fn width(request: &Request) -> Result<usize, Fault> {
    let width = request.param("width").unwrap_or(0);
    let usable = usize::try_from(width).ok().filter(|width| *width > 0);
    usable.ok_or_else(|| request.fault(format!("width {width} is not at least 1")))
}

pub(super) fn iota<T: Number>(out: &mut [T], request: &Request) -> Result<(), Fault> {
    let start = start::<T>(request)?;
    for (i, slot) in out.iter_mut().enumerate() {
        *slot = T::from_word((start as u64).wrapping_add(i as u64));
    }
    Ok(())
}

/// Where every element to the last has its value.
pub(super) fn start<T: Number>(request: &Request) -> Result<i64, Fault> {
    let start = request.param("start").unwrap_or(0);
    held::<T>(request, "start", i128::from(start))?;
    let last = i128::from(start) + last_index(request);
    held::<T>(request, "the last element,", last)?;
    Ok(start)
}

pub(super) fn reverse<T: Number>(out: &mut [T], request: &Request) -> Result<(), Fault> {
    reversible::<T>(request)?;
    for (i, slot) in out.iter_mut().rev().enumerate() {
        *slot = T::from_word(i as u64);
    }
    Ok(())
}

pub(super) fn reversible<T: Number>(request: &Request) -> Result<(), Fault> {
    held::<T>(request, "the first element,", last_index(request))
}

pub(super) fn constant<T: Number>(out: &mut [T], request: &Request) -> Result<(), Fault> {
    out.fill(T::from_word(value::<T>(request)? as u64));
    Ok(())
}

pub(super) fn value<T: Number>(request: &Request) -> Result<i64, Fault> {
    let value = request.param("value").unwrap_or(0);
    held::<T>(request, "value", i128::from(value))?;
    Ok(value)
}

/// 0 for no elements.
fn last_index(request: &Request) -> i128 {
    i128::from(request.len.saturating_sub(1))
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
