//! The same elements in any order.
//!
//! Two ways, one verdict: where the wanted values span a small range, a histogram of it, and otherwise two sorted
//! copies. A value out of the range is counted as foreign before anything is indexed by it.

use super::bytes::{by_size, poisoned};
use super::exact::stray_writes;
use super::key::Keys;
use super::{comparable, show};
use crate::outcome::{Fault, Finding};
use crate::parallel;
use crate::terms::FindingKind;
use crate::value::ArrayRef;

/// The first `want.len()` elements of `got` are those of `want` in some order, bitwise; the rest still hold the
/// poison.
///
/// # Errors
/// `setup` when `got` cannot hold `want`, by type or length.
pub fn multiset(got: ArrayRef<'_>, want: ArrayRef<'_>) -> Result<Vec<Finding>, Fault> {
    let want = comparable(got, want)?;
    let mut findings = foreign(got.slice(0, want.len()), want);
    findings.extend(stray_writes(got, want.len()));
    Ok(findings)
}

/// All of `got` is `want` in some order.
///
/// # Errors
/// `setup` when the two differ in type or length.
pub fn permutation(got: ArrayRef<'_>, want: ArrayRef<'_>) -> Result<Vec<Finding>, Fault> {
    let want = comparable(got, want)?;
    if got.len() != want.len() {
        return Err(Fault::setup(format!(
            "a permutation of {} elements cannot have {}",
            want.len(),
            got.len()
        )));
    }
    Ok(foreign(got, want))
}

/// Both have the same type and length.
pub(super) fn foreign(got: ArrayRef<'_>, want: ArrayRef<'_>) -> Vec<Finding> {
    let keys = Keys::of(got.element_type());
    let tally = by_size!(
        got.element_type(),
        tally(keys, got.as_bytes(), want.as_bytes())
    );
    if tally.missing.count == 0 {
        return Vec::new(); // lengths agree, so nothing is foreign either
    }
    let mut message = format!(
        "{} of {} missing: {}",
        tally.missing.count,
        show::elements(want.len()),
        tally.missing.words(keys)
    );
    if let Some(&(key, _)) = tally.foreign.examples.first() {
        let place = keys.position(got, key).unwrap_or_default();
        message.push_str(&format!(
            "; {} foreign, {} at {place} among them",
            tally.foreign.count,
            keys.show(key)
        ));
    }
    let detail = vec![
        format!("missing: {}", tally.missing.words(keys)),
        format!("foreign: {}", tally.foreign.words(keys)),
        format!("never written: {}", tally.unwritten),
    ];
    let mut findings = vec![Finding::new(FindingKind::Multiset, message).with_detail(detail)];
    if tally.unwritten > 0 {
        // The poison may be among the wanted values; only what exceeds them was not written.
        let mut places = poisoned(got);
        places.count = tally.unwritten;
        findings.extend(show::unwritten(places, want.len()));
    }
    findings
}

/// Elements of one side that the other lacks.
#[derive(Debug, Default)]
struct Surplus {
    count: usize,
    /// Different values.
    values: usize,
    /// The smallest keys, each with its surplus.
    examples: Vec<(u64, usize)>,
}

const EXAMPLES: usize = 8;

impl Surplus {
    fn add(&mut self, key: u64, count: usize) {
        self.count += count;
        self.values += 1;
        if self.examples.len() < EXAMPLES {
            self.examples.push((key, count));
        }
    }

    fn words(&self, keys: Keys) -> String {
        let examples = self.examples.iter().map(|&(key, count)| match count {
            1 => keys.show(key),
            _ => format!("{} (×{count})", keys.show(key)),
        });
        let mut words = examples.collect::<Vec<_>>().join(", ");
        if self.values > self.examples.len() {
            words.push_str(&format!(", … {} values in all", self.values));
        }
        if words.is_empty() {
            "none".to_owned()
        } else {
            words
        }
    }
}

#[derive(Debug, Default)]
struct Tally {
    missing: Surplus,
    foreign: Surplus,
    unwritten: usize,
}

impl Tally {
    /// `surplus` is how often `got` has the value more than `want`.
    fn add(&mut self, keys: Keys, key: u64, surplus: i64) {
        let count = surplus.unsigned_abs() as usize;
        match surplus {
            0 => {}
            ..0 => self.missing.add(key, count),
            _ if key == keys.poison() => self.unwritten += count,
            _ => self.foreign.add(key, count),
        }
    }
}

fn tally<const N: usize>(keys: Keys, got: &[u8], want: &[u8]) -> Tally {
    if got == want {
        return Tally::default();
    }
    // `got` differs from `want`, so there are elements.
    let (low, high) = bounds::<N>(keys, want);
    if high - low < ((want.len() / N) as u64).max(SMALL) {
        by_histogram::<N>(keys, got, want, low, high)
    } else {
        by_sorting::<N>(keys, got, want)
    }
}

/// A histogram of fewer bins than this pays however few the elements are.
const SMALL: u64 = 1 << 16;

/// So few bins are counted piece by piece: a piece's own histogram is nothing against its elements.
const FEW: usize = 1 << 12;

/// The smallest and the largest key.
fn bounds<const N: usize>(keys: Keys, bytes: &[u8]) -> (u64, u64) {
    let pieces = parallel::map(bytes.len() / N, |range| {
        bounds_of::<N>(keys, &bytes[range.start * N..range.end * N])
    });
    let wider = |(low, high): (u64, u64), next: (u64, u64)| (low.min(next.0), high.max(next.1));
    pieces.into_iter().fold((u64::MAX, 0), wider)
}

fn bounds_of<const N: usize>(keys: Keys, bytes: &[u8]) -> (u64, u64) {
    let all = keys.keys::<N>(bytes);
    if N == 8 {
        return all.fold((u64::MAX, 0), |(low, high), key| {
            (low.min(key), high.max(key))
        });
    }
    // Keys of up to four bytes, kept narrow: twice as many fit in a vector register.
    let narrow = all.map(|key| key as u32);
    let (low, high) = narrow.fold((u32::MAX, 0), |(low, high), key| {
        (low.min(key), high.max(key))
    });
    (low.into(), high.into())
}

fn by_histogram<const N: usize>(keys: Keys, got: &[u8], want: &[u8], low: u64, high: u64) -> Tally {
    let bins = (high - low) as usize + 1;
    let both = |got: &[u8], want: &[u8]| {
        let (mut surplus, mut outside) = (vec![0i64; bins], Vec::new());
        count::<N>(keys, want, low, -1, &mut surplus, &mut outside);
        count::<N>(keys, got, low, 1, &mut surplus, &mut outside);
        (surplus, outside)
    };
    let (mut surplus, mut outside) = (vec![0i64; bins], Vec::new());
    let pieces = match bins {
        0..=FEW => parallel::map(want.len() / N, |range| {
            let [got, want] = [got, want].map(|all| &all[range.start * N..range.end * N]);
            both(got, want)
        }),
        _ => vec![both(got, want)],
    };
    for (more, others) in pieces {
        for (surplus, more) in surplus.iter_mut().zip(more) {
            *surplus += more;
        }
        outside.extend(others);
    }
    let mut tally = Tally::default();
    for (bin, surplus) in surplus.iter().enumerate() {
        tally.add(keys, low + bin as u64, *surplus);
    }
    outside.sort_unstable();
    for run in outside.chunk_by(|a, b| a == b) {
        tally.add(keys, run[0], run.len() as i64);
    }
    tally
}

/// Adds `one` to each element's bin; the keys without a bin go `outside`.
fn count<const N: usize>(
    keys: Keys,
    bytes: &[u8],
    low: u64,
    one: i64,
    surplus: &mut [i64],
    outside: &mut Vec<u64>,
) {
    for key in keys.keys::<N>(bytes) {
        // Below `low` the difference wraps around, and is no bin either.
        let bin = usize::try_from(key.wrapping_sub(low));
        match bin.ok().and_then(|bin| surplus.get_mut(bin)) {
            Some(surplus) => *surplus += one,
            None => outside.push(key),
        }
    }
}

fn by_sorting<const N: usize>(keys: Keys, got: &[u8], want: &[u8]) -> Tally {
    let sorted = |bytes| {
        let mut all: Vec<u64> = keys.keys::<N>(bytes).collect();
        all.sort_unstable();
        all
    };
    let (got, want) = (sorted(got), sorted(want));
    let mut tally = Tally::default();
    let (mut g, mut w) = (0, 0);
    while let Some(key) = [got.get(g), want.get(w)].into_iter().flatten().min() {
        let run = |all: &[u64]| all.iter().take_while(|k| *k == key).count();
        let (gots, wants) = (run(&got[g..]), run(&want[w..]));
        tally.add(keys, *key, gots as i64 - wants as i64);
        g += gots;
        w += wants;
    }
    tally
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histogram_and_sorting_agree() {
        let keys = Keys::of(crate::value::ElementType::I32);
        let want = [-3i32, 0, 5, 5, 7].map(i32::to_le_bytes).concat();
        let got = [5i32, i32::MIN, 0, i32::MAX, -3]
            .map(i32::to_le_bytes)
            .concat();
        let low = keys.key(&(-3i32).to_le_bytes());
        let one = by_histogram::<4>(keys, &got, &want, low, low + 10);
        let other = by_sorting::<4>(keys, &got, &want);
        for tally in [one, other] {
            assert_eq!(tally.missing.words(keys), "5, 7");
            assert_eq!(tally.foreign.words(keys), "-2147483648, 2147483647");
        }
    }
}
