//! Patterns of 1, 2, 4 or 8 bytes over device memory.
//!
//! Owns: the choice of the widest memset that fits, and the doubling copy where none does. Imports the driver's calls
//! only.
//!
//! ```text
//! [0xDB]  → 32-bit memset    [1, 2] → 16-bit memset    8 different bytes → 8 one-byte memsets, then 8 → 16 → 32 → …
//! ```

use super::driver::{Address, Driver, Result, Stream};

/// How to fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Set8(u8),
    Set16(u16),
    Set32(u32),
    Double,
}

/// The widest memset that repeats `pattern` from `address` on for `len` bytes.
fn way(pattern: &[u8], address: u64, len: u64) -> Way {
    let fits = |width: u64| address.is_multiple_of(width) && len.is_multiple_of(width);
    let [a, b, c, d] = [0, 1, 2, 3].map(|index| pattern[index % pattern.len()]);
    match () {
        () if fits(4) && cycle(pattern, 4) => Way::Set32(u32::from_le_bytes([a, b, c, d])),
        () if fits(2) && cycle(pattern, 2) => Way::Set16(u16::from_le_bytes([a, b])),
        () if cycle(pattern, 1) => Way::Set8(a),
        () => Way::Double,
    }
}

/// Whether copies of `pattern` side by side are copies of `width` bytes side by side. Both are powers of two.
fn cycle(pattern: &[u8], width: usize) -> bool {
    width.is_multiple_of(pattern.len())
        || pattern
            .chunks(width)
            .all(|chunk| chunk == &pattern[..width])
}

/// Fills `len` bytes from `to` on with copies of `pattern`, the last one cut short where it does not fit.
pub(super) fn fill(
    driver: &Driver,
    to: Address,
    len: u64,
    pattern: &[u8],
    stream: Stream,
) -> Result<()> {
    assert!(!pattern.is_empty(), "an empty pattern");
    if len == 0 {
        return Ok(());
    }
    match way(pattern, to.get(), len) {
        Way::Set8(value) => driver.set_8(to, value, len, stream),
        Way::Set16(value) => driver.set_16(to, value, len / 2, stream),
        Way::Set32(value) => driver.set_32(to, value, len / 4, stream),
        Way::Double => {
            let mut filled = len.min(pattern.len() as u64);
            for (offset, &byte) in (0..filled).zip(pattern) {
                driver.set_8(to.at(offset), byte, 1, stream)?;
            }
            while filled < len {
                let bytes = filled.min(len - filled);
                driver.copy_on_device(to.at(filled), to, bytes, stream)?;
                filled += bytes;
            }
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widest_memset_that_fits_is_taken() {
        let poison = 0xDB_u8;
        assert_eq!(way(&[poison], 256, 32), Way::Set32(0xDBDB_DBDB));
        assert_eq!(way(&[poison], 256, 30), Way::Set16(0xDBDB));
        assert_eq!(way(&[poison], 256, 31), Way::Set8(poison));
        assert_eq!(way(&[poison], 257, 32), Way::Set8(poison));
        assert_eq!(way(&[1, 2], 256, 8), Way::Set32(0x0201_0201));
        assert_eq!(way(&[1, 2], 258, 8), Way::Set16(0x0201));
        assert_eq!(way(&[1, 2, 3, 4], 256, 8), Way::Set32(0x0403_0201));
    }

    #[test]
    fn a_wide_pattern_with_a_narrow_period_is_narrow() {
        assert_eq!(way(&[0; 8], 256, 8), Way::Set32(0));
        assert_eq!(
            way(&[1, 2, 3, 4, 1, 2, 3, 4], 256, 16),
            Way::Set32(0x0403_0201)
        );
        assert_eq!(way(&[7; 8], 256, 9), Way::Set8(7));
    }

    #[test]
    fn other_patterns_double() {
        assert_eq!(way(&1.0_f64.to_le_bytes(), 256, 16), Way::Double);
        assert_eq!(way(&[1, 2], 257, 4), Way::Double);
        assert_eq!(way(&[1, 2, 3, 4], 258, 4), Way::Double);
    }
}
