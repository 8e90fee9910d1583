//! Bytes and their shadow: one bit a byte, set once it has been written.

use std::hint::black_box;

use super::super::order::Shadow;
use crate::outcome::Fault;
use crate::value::POISON_BYTE;

/// A contiguous piece of memory.
#[derive(Clone, Debug, Default)]
pub struct Region {
    words: Vec<u64>,
    len: usize,
    shadow: Vec<u64>,
    /// Bytes never written; 0 switches the shadow off.
    missing: usize,
    /// Who accessed it last.
    pub accesses: Shadow,
}

impl Region {
    /// `len` zero bytes that count as never written.
    ///
    /// # Errors
    /// `setup` where the host has no room for them.
    pub fn new(len: usize) -> Result<Self, Fault> {
        Ok(Self {
            words: zeros(len.div_ceil(8), len)?,
            len,
            shadow: zeros(len.div_ceil(64), len)?,
            missing: len,
            accesses: Shadow::default(),
        })
    }

    /// Zero bytes that count as written.
    ///
    /// # Errors
    /// `setup` where the host has no room for them.
    pub fn initialised(len: usize) -> Result<Self, Fault> {
        Ok(Self {
            words: zeros(len.div_ceil(8), len)?,
            len,
            shadow: Vec::new(),
            missing: 0,
            accesses: Shadow::default(),
        })
    }

    /// Changes the size, keeping the storage; every byte is poison and counts as never written, so that what was here
    /// before shows nowhere.
    pub fn reset(&mut self, len: usize) {
        self.words.clear();
        self.words
            .resize(len.div_ceil(8), u64::from_ne_bytes([POISON_BYTE; 8]));
        self.shadow.clear();
        self.shadow.resize(len.div_ceil(64), 0);
        self.len = len;
        self.missing = len;
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.len]
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[..self.len]
    }

    /// All elements of one size, whole words: the end may reach past `len`.
    pub fn elements<T: bytemuck::AnyBitPattern>(&self) -> &[T] {
        bytemuck::cast_slice(&self.words)
    }

    pub fn elements_mut<T: bytemuck::Pod>(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(&mut self.words)
    }

    /// Whether every byte has been written; when it has, no shadow need be asked.
    pub fn is_complete(&self) -> bool {
        self.missing == 0
    }

    /// Whether all bytes of a range have been written.
    pub fn is_written(&self, at: usize, len: usize) -> bool {
        self.missing == 0 || words(at, len).all(|(word, mask)| self.shadow[word] & mask == mask)
    }

    /// As `is_written` for a power of two of bytes, at most 32, at a multiple of itself: one shadow word.
    #[inline(always)]
    pub fn is_written_aligned(&self, at: usize, len: usize) -> bool {
        let mask = (u64::MAX >> (64 - len)) << (at % 64);
        self.missing == 0 || self.shadow[at / 64] & mask == mask
    }

    /// As `mark_written`, with the bounds of `is_written_aligned`; the region must not be complete.
    #[inline(always)]
    pub fn mark_written_aligned(&mut self, at: usize, len: usize) {
        let mask = (u64::MAX >> (64 - len)) << (at % 64);
        let word = &mut self.shadow[at / 64];
        let new = mask & !*word;
        *word |= mask;
        if new != 0 {
            self.missing -= new.count_ones() as usize;
        }
    }

    pub fn mark_written(&mut self, at: usize, len: usize) {
        if self.missing == 0 {
            return;
        }
        for (word, mask) in words(at, len) {
            let new = mask & !self.shadow[word];
            if new != 0 {
                self.shadow[word] |= new;
                self.missing -= new.count_ones() as usize;
            }
        }
    }

    pub fn mark_unwritten(&mut self, at: usize, len: usize) {
        if self.missing == 0 {
            self.shadow.clear();
            self.shadow.resize(self.len.div_ceil(64), u64::MAX);
        }
        for (word, mask) in words(at, len) {
            let old = self.shadow[word];
            self.shadow[word] = old & !mask;
            self.missing += (mask & old).count_ones() as usize;
        }
    }

    /// Copies values and shadow.
    pub fn copy_from(&mut self, at: usize, from: &Self, from_at: usize, len: usize) {
        self.bytes_mut()[at..at + len].copy_from_slice(&from.bytes()[from_at..from_at + len]);
        if from.is_written(from_at, len) {
            self.mark_written(at, len);
            return;
        }
        for index in 0..len {
            if from.is_written(from_at + index, 1) {
                self.mark_written(at + index, 1);
            } else {
                self.mark_unwritten(at + index, 1);
            }
        }
    }

    /// As `copy_from` within one region, from lower to higher bytes.
    pub fn copy_within(&mut self, at: usize, from: usize, len: usize) {
        self.bytes_mut().copy_within(from..from + len, at);
        for index in 0..len {
            if self.is_written(from + index, 1) {
                self.mark_written(at + index, 1);
            } else {
                self.mark_unwritten(at + index, 1);
            }
        }
    }

    /// Little-endian value of 1, 2, 4 or 8 bytes; the caller has checked the bounds.
    pub fn read(&self, at: usize, bytes: usize) -> u64 {
        let mut value = [0; 8];
        value[..bytes].copy_from_slice(&self.bytes()[at..at + bytes]);
        u64::from_le_bytes(value)
    }

    /// Writes the low bytes of a value and marks them written.
    pub fn write(&mut self, at: usize, bytes: usize, value: u64) {
        self.bytes_mut()[at..at + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
        self.mark_written(at, bytes);
    }
}

/// Words from here on are worth asking the host for first.
const LARGE: usize = 1 << 17;

/// Words of a region of so many bytes. The host's own zeros, which cost nothing until they are used.
fn zeros(words: usize, bytes: usize) -> Result<Vec<u64>, Fault> {
    if words >= LARGE {
        let mut room = Vec::<u64>::new();
        let found = room.try_reserve_exact(words);
        // Else it is never asked for.
        black_box(&room);
        found.map_err(|_| {
            Fault::setup(format!(
                "out of memory: this machine has no {bytes} bytes for it"
            ))
        })?;
    }
    Ok(vec![0; words])
}

/// The shadow words of a byte range, with the bits of each.
fn words(at: usize, len: usize) -> impl Iterator<Item = (usize, u64)> {
    let end = at + len;
    let mut from = at;
    std::iter::from_fn(move || {
        if from >= end {
            return None;
        }
        let word = from / 64;
        let bit = from % 64;
        let count = (64 - bit).min(end - from);
        from += count;
        Some((word, u64::MAX >> (64 - count) << bit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_host_has_no_room_for_is_an_error() {
        for bytes in [1 << 60, usize::MAX - 64] {
            let fault = Region::new(bytes).expect_err("more than there is");
            assert!(fault.reason.message.contains("out of memory"), "{fault}");
            assert!(Region::initialised(bytes).is_err());
        }
        let large = Region::initialised(8 * LARGE).expect("a mebibyte");
        assert!(large.bytes().iter().all(|&byte| byte == 0));
    }
}
