//! The registers that decide what a warp does: a slice of the kernel (Weiser, "Program Slicing", 1981).
//!
//! While no memory changes, a warp whose decisive registers are what they were does the same again, whatever it has
//! counted in others.

use std::collections::HashSet;

use super::flow::Usage;
use super::lanes::{Class, Row};
use super::program::{Instruction, Kind};

/// The rows from which follow, over any number of steps: where lanes go, whether they store, and what they wait for.
/// In order, none twice.
pub fn rows(code: &[Instruction], usage: &[Usage]) -> Vec<(Class, Row)> {
    let mut found = HashSet::new();
    for (instruction, usage) in code.iter().zip(usage) {
        match instruction.kind {
            // What it would store and where is of no account: a store is a change.
            Kind::Branch { .. } | Kind::Exit | Kind::Trap | Kind::Store(_) => {
                found.insert((Class::Predicate, instruction.guard));
            }
            Kind::Poll(_) | Kind::Atomic(_) | Kind::Barrier(_) => {
                found.insert((Class::Predicate, instruction.guard));
                found.extend(usage.reads.iter().copied());
            }
            _ => {}
        }
    }
    let mut before = 0;
    while before < found.len() {
        before = found.len();
        // Backwards, as most rows are written before they are read.
        for (instruction, usage) in code.iter().zip(usage).rev() {
            if usage.writes.iter().any(|row| found.contains(row)) {
                found.insert((Class::Predicate, instruction.guard));
                found.extend(usage.reads.iter().copied());
            }
        }
    }
    let mut rows: Vec<_> = found.into_iter().collect();
    rows.sort_unstable_by_key(|&(class, row)| (class as u8, row));
    rows
}
