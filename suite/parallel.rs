//! Work on large arrays, divided among a few threads.
//!
//! Owns: when threads pay, and how an array is divided. Imports nothing of this crate. The result never depends on
//! the number of threads: each piece is worked on by itself, and what pieces give comes back in their order.
//!
//! ```
//! use cuda_gates::parallel;
//! let mut squares = vec![0; 1000];
//! parallel::fill(&mut squares, |start, piece| {
//!     for (i, slot) in piece.iter_mut().enumerate() {
//!         *slot = (start + i) * (start + i);
//!     }
//! });
//! assert_eq!(squares[999], 998_001);
//! let sums = parallel::map(1000, |range| squares[range].iter().sum::<usize>());
//! assert_eq!(sums.iter().sum::<usize>(), 332_833_500);
//! ```

use std::hint::black_box;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Below this many elements a thread takes longer to start than the work it would take over.
const LEAST: usize = 1 << 20;

/// Elements of a piece: small enough that threads end together, and a multiple of every block that is compared.
const PIECE: usize = 1 << 18;

/// More do not help: the memory is what they wait for.
const THREADS_MAX: usize = 8;

/// A page, as far as this module cares: what becomes memory at its first touch.
const PAGE: usize = 4096;

/// Calls `work` with the index of a piece's first element and the piece, for every piece of `out`.
pub fn fill<T: Send>(out: &mut [T], work: impl Fn(usize, &mut [T]) + Sync) {
    let len = out.len();
    let pieces = out.chunks_mut(piece(len)).enumerate();
    share(len, pieces, |(index, values)| {
        work(index * piece(len), values);
    });
}

/// What `work` gives for each piece of `0..len`, in order; nothing for no elements.
pub fn map<R: Send>(len: usize, work: impl Fn(Range<usize>) -> R + Sync) -> Vec<R> {
    let size = piece(len);
    let mut results: Vec<Option<R>> = (0..len.div_ceil(size)).map(|_| None).collect();
    share(len, results.iter_mut().enumerate(), |(index, result)| {
        let start = index * size;
        *result = Some(work(start..len.min(start + size)));
    });
    results.into_iter().flatten().collect()
}

/// `len` default elements, whose memory is there: a large array's first touch is divided too, and what fills it then
/// can be one plain loop.
pub fn touched<T: Copy + Default + Send>(len: usize) -> Vec<T> {
    let mut out = vec![T::default(); len];
    if len >= LEAST {
        fill(&mut out, |_, values| {
            for page in values.chunks_mut(PAGE / size_of::<T>()) {
                page[0] = black_box(T::default());
            }
        });
    }
    out
}

/// A small array is one piece.
fn piece(len: usize) -> usize {
    if len < LEAST { LEAST } else { PIECE }
}

/// Takes pieces until none are left, on this thread and, for a large array, on others that can be started.
fn share<P: Send>(len: usize, pieces: impl Iterator<Item = P> + Send, work: impl Fn(P) + Sync) {
    if len < LEAST {
        pieces.for_each(work);
        return;
    }
    let queue = Mutex::new(pieces);
    let drain = || {
        loop {
            let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(piece) = next else { return };
            work(piece);
        }
    };
    let threads = thread::available_parallelism().map_or(1, |cores| cores.get().min(THREADS_MAX));
    thread::scope(|scope| {
        for _ in 1..threads {
            // Where no thread can be had, the ones that run do the work.
            if thread::Builder::new().spawn_scoped(scope, drain).is_err() {
                break;
            }
        }
        drain();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTHS: [usize; 6] = [0, 1, LEAST - 1, LEAST, LEAST + 1, 5 * PIECE + 7];

    #[test]
    fn every_element_is_worked_on_once_and_knows_its_place() {
        for len in LENGTHS {
            let mut out = vec![0; len];
            fill(&mut out, |start, piece| {
                for (i, slot) in piece.iter_mut().enumerate() {
                    *slot += start + i + 1;
                }
            });
            assert!(out.iter().copied().eq(1..=len), "{len}");
        }
    }

    #[test]
    fn results_come_in_the_order_of_the_pieces() {
        for len in LENGTHS {
            let ranges = map(len, |range| range);
            assert!(ranges.into_iter().flatten().eq(0..len), "{len}");
        }
    }

    #[test]
    fn touched_memory_is_default() {
        for len in LENGTHS {
            let out: Vec<f64> = touched(len);
            assert_eq!(out.len(), len);
            assert!(out.iter().all(|v| v.to_bits() == 0), "{len}");
        }
    }
}
