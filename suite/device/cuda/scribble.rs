//! What host memory holds before a copy from the device lands in it: never what an earlier copy left. A copy that the
//! driver says it did, and did not do, would else bring the case before's bytes, which may well be the right ones.
//!
//! Owns: the marks and where they stand. Imports nothing.
//!
//! ```text
//! up to 64 KiB: |mmmmmmmm|     more: |m······|m······|m··m|, a word each 64 KiB and the last one
//! ```

use std::mem::MaybeUninit;

/// Memory up to this long is overwritten, and of longer memory a word each so many bytes. A word a page costs a tenth
/// of the copy that follows, since each one waits for memory; one in sixteen pages costs less than a hundredth.
const STRIDE: usize = 64 << 10;
const WORD: usize = size_of::<u64>();

/// Marks that do not come again: eight bytes that neither a kernel nor an earlier mark left there.
#[derive(Debug, Default)]
pub(super) struct Marks {
    made: u64,
}

impl Marks {
    /// Marks memory that nothing else uses.
    pub fn scribble(&mut self, memory: &mut [MaybeUninit<u8>]) {
        self.made += 1;
        // The golden ratio's bits: neighbours differ in every byte.
        let mark = self.made.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes();
        let step = match memory.len() <= STRIDE {
            true => WORD,
            false => STRIDE,
        };
        memory
            .chunks_mut(step)
            .for_each(|chunk| write(chunk, &mark));
        if let Some(last) = memory.last_chunk_mut::<WORD>() {
            write(last, &mark);
        }
    }
}

/// As much of the mark as there is room for.
fn write(to: &mut [MaybeUninit<u8>], mark: &[u8; WORD]) {
    for (slot, &byte) in to.iter_mut().zip(mark) {
        slot.write(byte);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory that held `before`, once it is marked.
    fn marked(marks: &mut Marks, len: usize, before: u8) -> Vec<u8> {
        let mut memory = vec![MaybeUninit::new(before); len];
        marks.scribble(&mut memory);
        // SAFETY: every byte has had a value from the start.
        let value = |byte: &MaybeUninit<u8>| unsafe { byte.assume_init() };
        memory.iter().map(value).collect()
    }

    #[test]
    fn short_memory_keeps_no_word() {
        for len in [0, 1, 7, 8, 9, 4096, STRIDE] {
            for before in [0, 0xDB, 0xFF] {
                let after = marked(&mut Marks::default(), len, before);
                let mut words = after.chunks(WORD);
                assert!(
                    !words.any(|word| word.iter().all(|&b| b == before)),
                    "{len}"
                );
            }
        }
    }

    #[test]
    fn long_memory_has_a_mark_each_stride_and_at_its_end() {
        let len = 3 * STRIDE + 5;
        let after = marked(&mut Marks::default(), len, 0);
        let words = [0, STRIDE, 2 * STRIDE, 3 * STRIDE - 3];
        for at in words {
            assert_ne!(after[at..at + WORD], [0; WORD], "{at}");
        }
        let changed = after.iter().filter(|&&byte| byte != 0).count();
        assert!(changed <= 5 * WORD, "{changed}");
    }

    #[test]
    fn no_mark_comes_twice() {
        let mut marks = Marks::default();
        let one = marked(&mut marks, WORD, 0);
        assert_ne!(marked(&mut marks, WORD, 0), one);
    }
}
