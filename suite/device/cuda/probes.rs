//! Whether poison arrives: one word of each poisoned buffer is read back. Buffers come from a pool, so that a fill that
//! the driver says it did, and did not do, would leave an earlier case's output, which may well be the right one.
//!
//! Owns: the words that are on their way, and where they land. Imports `outcome` only. They are asked for on the stream
//! and looked at after a wait that the run needs anyhow.
//!
//! ```text
//! poison out, word 5 of it → slot 0, poison rank, word 8 → slot 1, the case's steps, wait: slots 0 and 1 hold poison?
//! ```

use std::mem::MaybeUninit;

use super::driver::{Address, Driver, Result, Stream};
use super::errors::busy;
use super::scribble::Marks;
use crate::outcome::Fault;

const WORD: usize = 8;
/// Words on their way at once; what more is poisoned before a wait is not looked at.
const SLOTS: usize = 512;

pub(super) struct Probes {
    /// Page-locked, of `SLOTS` words.
    host: *mut u8,
    /// By slot.
    asked: Vec<Probe>,
    made: u64,
    marks: Marks,
}

struct Probe {
    buffer: String,
    want: [u8; WORD],
    len: usize,
    /// Its case is over.
    void: bool,
}

impl Probes {
    pub fn new(driver: &Driver) -> Result<Self> {
        Ok(Self {
            host: driver.alloc_host(SLOTS * WORD)?,
            asked: Vec::with_capacity(SLOTS),
            made: 0,
            marks: Marks::default(),
        })
    }

    /// Asks for a word of `(from, len)`, which `pattern` was filled over from its start: another one each time.
    pub fn probe(
        &mut self,
        driver: &Driver,
        buffer: &str,
        (from, len): (Address, u64),
        pattern: &[u8],
        stream: Stream,
    ) -> Result<()> {
        let slot = self.asked.len();
        if slot == SLOTS || len == 0 || pattern.is_empty() {
            return Ok(());
        }
        let probe = Probe {
            buffer: buffer.to_owned(),
            want: std::array::from_fn(|index| pattern[index % pattern.len()]),
            len: (len as usize).min(WORD),
            void: false,
        };
        let at = from.at(place(self.made, len));
        self.made += 1;
        let bytes = probe.len as u64;
        // SAFETY: a slot of its own, which no copy uses: it is given out again only after a wait for the stream.
        unsafe {
            let host = self.host.add(slot * WORD);
            let memory = std::slice::from_raw_parts_mut(host.cast::<MaybeUninit<u8>>(), WORD);
            self.marks.scribble(memory);
            self.asked.push(probe);
            driver.copy_to_host(host, at, bytes, stream)
        }
    }

    /// Call after a wait for the stream: the first buffer whose poison did not arrive.
    pub fn take_lost(&mut self) -> Option<Fault> {
        let host = self.host;
        let is_lost = |(slot, probe): &(usize, Probe)| {
            // SAFETY: marks were written over the whole slot, and the copy into it is done.
            let got = unsafe { std::slice::from_raw_parts(host.add(slot * WORD), probe.len) };
            !probe.void && got != &probe.want[..probe.len]
        };
        let lost = self.asked.drain(..).enumerate().find(is_lost);
        lost.map(|(_, probe)| {
            busy(format!(
                "`{}` was filled before the run, and a word of it does not hold what it was filled with: the driver \
                 lost a fill or a copy, without a word",
                probe.buffer
            ))
        })
    }

    /// The case is over: what is still on its way is nobody's.
    pub fn forget(&mut self) {
        for probe in &mut self.asked {
            probe.void = true;
        }
    }

    /// Call once, when the stream is idle.
    pub fn release(&mut self, driver: &Driver) -> Result<()> {
        self.asked.clear();
        // SAFETY: from `alloc_host`; the stream is idle, so no copy uses it.
        unsafe { driver.free_host(self.host) }
    }
}

/// Where the word of a probe lies in `len` bytes: on a multiple of its size, and another place each time.
fn place(made: u64, len: u64) -> u64 {
    let words = (len / WORD as u64).max(1);
    // The golden ratio's bits spread neighbours over the whole buffer.
    let spread = made.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let word = (u128::from(spread) * u128::from(words)) >> 64;
    word as u64 * WORD as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_lie_inside_and_are_spread() {
        for len in [1, 7, 8, 9, 64, 4096, (1 << 33) + 4] {
            let places: Vec<u64> = (0..64).map(|made| place(made, len)).collect();
            let read = len.min(WORD as u64);
            assert!(
                places.iter().all(|at| at + read <= len && at % 8 == 0),
                "{len}"
            );
            let quarters = |at: &u64| at * 4 / len;
            let seen: std::collections::BTreeSet<u64> = places.iter().map(quarters).collect();
            assert_eq!(seen.len(), if len < 64 { 1 } else { 4 }, "{len}");
        }
    }
}
