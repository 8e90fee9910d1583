//! Each check: a passing control, and the smallest violation that must fail.

mod collections;
mod elements;
mod expectations;
mod numbers;
mod properties;

use crate::outcome::{Fault, Finding};
use crate::value::{ArrayRef, POISON_BYTE};

pub(super) const POISON: i32 = i32::from_ne_bytes([POISON_BYTE; 4]);

pub(super) type Found = Result<Vec<Finding>, Fault>;

pub(super) fn kinds(found: Found) -> Vec<&'static str> {
    let findings = found.unwrap();
    findings.iter().map(|finding| finding.kind.name()).collect()
}

pub(super) fn messages(found: Found) -> Vec<String> {
    found.unwrap().iter().map(Finding::to_string).collect()
}

pub(super) fn i32(values: &[i32]) -> ArrayRef<'_> {
    ArrayRef::I32(values)
}

pub(super) fn next(value: f32, steps: u32) -> f32 {
    f32::from_bits(value.to_bits() + steps)
}
