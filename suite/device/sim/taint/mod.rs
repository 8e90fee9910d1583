//! Reads of memory that nothing wrote, followed to where they matter.
//!
//! A load of bytes never written is no fault by itself: its value may go unused. It taints its register, and what is
//! computed from a tainted value is tainted, in registers, shared and local memory. A finding is where such a value
//! decides an address, where lanes go, what a barrier gives, or what is stored to global memory (as Valgrind's
//! Memcheck does; Seward and Nethercote, 2005). Taint is of a register's lane, not of single bits. A warp without any
//! pays nothing.

mod flow;
mod follow;

pub use flow::{Flow, flows};

use super::lanes::{Class, Row};
use super::program::{Pc, RowCounts};

/// The load a tainted value comes from, or the shuffle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Source {
    pub pc: Pc,
    pub address: u64,
    /// As it was loaded, with some of its bytes written: a struct with padding is copied so.
    pub part: bool,
}

/// The tainted lanes of one warp's registers.
#[derive(Clone, Debug, Default)]
pub struct Taint {
    /// By the number that `flow` gives a row; empty until there is a taint.
    rows: Vec<u32>,
    sources: Vec<Source>,
    /// Rows that have a tainted lane.
    count: usize,
}

/// The number of a row among all classes.
pub fn number(counts: RowCounts, class: Class, row: Row) -> usize {
    usize::from(row)
        + match class {
            Class::Narrow => 0,
            Class::Wide => counts.narrow,
            Class::Predicate => counts.narrow + counts.wide,
        }
}

impl Taint {
    /// Whether any register is tainted.
    #[inline(always)]
    pub fn any(&self) -> bool {
        self.count != 0
    }

    /// As a block starts.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.count = 0;
    }

    pub fn of(&self, row: usize) -> u32 {
        self.rows.get(row).copied().unwrap_or(0)
    }

    /// All lanes tainted in some of the rows, and where the first of them comes from.
    fn among(&self, rows: &[usize]) -> (u32, Source) {
        let all = rows.iter().fold(0, |sum, &row| sum | self.of(row));
        let first = rows.iter().find(|&&row| self.of(row) != 0);
        (
            all,
            first.map_or(Source::default(), |&row| Source {
                part: false,
                ..self.sources[row]
            }),
        )
    }

    /// Whether a row holds what was loaded, of which a part had been written.
    fn is_part(&self, row: usize) -> bool {
        self.sources.get(row).is_some_and(|source| source.part)
    }

    /// Of the lanes `mask` of a row those of `tainted` are tainted.
    pub fn set(&mut self, row: usize, mask: u32, tainted: u32, source: Source) {
        if self.rows.len() <= row {
            if tainted & mask == 0 {
                return;
            }
            self.rows.resize(row + 1, 0);
            self.sources.resize(row + 1, Source::default());
        }
        let old = self.rows[row];
        let new = old & !mask | tainted & mask;
        self.rows[row] = new;
        self.count += usize::from(new != 0);
        self.count -= usize::from(old != 0);
        if tainted & mask != 0 {
            self.sources[row] = source;
        }
    }
}
