//! Arrays as bytes: where two differ, and where one still holds the poison. Whole blocks are compared at once, so
//! that arrays that agree cost one pass at memory speed.

use crate::parallel;
use crate::value::{ArrayRef, POISON_BYTE};

/// Elements are looked at one by one only in a block of this many bytes that differs.
const BLOCK: usize = 16 << 10;

static POISON: [u8; BLOCK] = [POISON_BYTE; BLOCK];

/// Calls `$function::<N>($args)` with the element size as `N`.
macro_rules! by_size {
    ($element:expr, $function:ident($($argument:expr),*)) => {
        match $element.size() {
            1 => $function::<1>($($argument),*),
            2 => $function::<2>($($argument),*),
            4 => $function::<4>($($argument),*),
            _ => $function::<8>($($argument),*),
        }
    };
}
pub(super) use by_size;

/// Places in an array: how many, the first and the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Places {
    pub count: usize,
    pub first: usize,
    pub last: usize,
}

impl Places {
    pub(super) fn add(&mut self, index: usize) {
        if self.count == 0 {
            self.first = index;
        }
        self.last = index;
        self.count += 1;
    }

    pub(super) fn is_empty(self) -> bool {
        self.count == 0
    }

    /// These, and those of the array's next piece, which starts at `start`.
    fn followed_by(self, next: Self, start: usize) -> Self {
        match (self.count, next.count) {
            (_, 0) => self,
            (0, _) => Self {
                count: next.count,
                first: start + next.first,
                last: start + next.last,
            },
            _ => Self {
                count: self.count + next.count,
                first: self.first,
                last: start + next.last,
            },
        }
    }
}

/// Where `got` differs from `want`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Differences {
    /// Written, with another value.
    pub wrong: Places,
    /// Still all poison.
    pub unwritten: Places,
}

/// Over the length of the shorter; both have elements of one size.
pub(super) fn differences(got: ArrayRef<'_>, want: ArrayRef<'_>) -> Differences {
    let element = want.element_type();
    let pieces = parallel::map(got.len().min(want.len()), |range| {
        let [got, want] = [got, want].map(|all| all.slice(range.start, range.end).as_bytes());
        let found = by_size!(element, differences_of(got, want));
        (range.start, found)
    });
    let none = Differences::default();
    pieces
        .into_iter()
        .fold(none, |all, (start, next)| Differences {
            wrong: all.wrong.followed_by(next.wrong, start),
            unwritten: all.unwritten.followed_by(next.unwritten, start),
        })
}

fn differences_of<const N: usize>(got: &[u8], want: &[u8]) -> Differences {
    let len = got.len().min(want.len());
    let blocks = got[..len].chunks(BLOCK).zip(want[..len].chunks(BLOCK));
    let mut found = Differences::default();
    for (block, (got, want)) in blocks.enumerate() {
        if got == want {
            continue;
        }
        let pairs = got.as_chunks::<N>().0.iter().zip(want.as_chunks::<N>().0);
        for (index, (got, want)) in pairs.enumerate() {
            if got != want {
                let places = match *got == [POISON_BYTE; N] {
                    true => &mut found.unwritten,
                    false => &mut found.wrong,
                };
                places.add(block * (BLOCK / N) + index);
            }
        }
    }
    found
}

/// The elements from `from` on that were written.
pub(super) fn written(got: ArrayRef<'_>, from: usize) -> Places {
    let element = got.element_type();
    let rest = got.slice(from, got.len());
    let pieces = parallel::map(rest.len(), |range| {
        let bytes = rest.slice(range.start, range.end).as_bytes();
        (from + range.start, by_size!(element, written_of(bytes)))
    });
    let none = Places::default();
    pieces
        .into_iter()
        .fold(none, |all, (start, next)| all.followed_by(next, start))
}

fn written_of<const N: usize>(bytes: &[u8]) -> Places {
    let mut places = Places::default();
    for (block, bytes) in bytes.chunks(BLOCK).enumerate() {
        if *bytes == POISON[..bytes.len()] {
            continue;
        }
        for (index, element) in bytes.as_chunks::<N>().0.iter().enumerate() {
            if *element != [POISON_BYTE; N] {
                places.add(block * (BLOCK / N) + index);
            }
        }
    }
    places
}

/// The elements that still hold the poison.
pub(super) fn poisoned(got: ArrayRef<'_>) -> Places {
    by_size!(got.element_type(), poisoned_of(got.as_bytes()))
}

fn poisoned_of<const N: usize>(bytes: &[u8]) -> Places {
    let mut places = Places::default();
    for (index, element) in bytes.as_chunks::<N>().0.iter().enumerate() {
        if *element == [POISON_BYTE; N] {
            places.add(index);
        }
    }
    places
}

/// Nothing of `got` was written, as far as can be told: every byte is poison. Fewer than four such bytes may well be
/// a result.
pub(super) fn untouched(got: ArrayRef<'_>) -> bool {
    let mut blocks = got.as_bytes().chunks(BLOCK);
    got.as_bytes().len() >= 4 && blocks.all(|bytes| *bytes == POISON[..bytes.len()])
}
