//! Guard bands: what lies on both sides of every buffer, and how a write into it is told.
//!
//! Owns: the bands' content and the comparison, as pure functions. Imports `outcome` only. The bytes differ by place
//! and by buffer, so a kernel that copies one element too many from one band to another is seen as well.
//!
//! ```text
//! | front: 16 KiB | data, 256-byte aligned | padding to 256 bytes and 16 KiB: back |
//! ```

use crate::outcome::Finding;
use crate::terms::FindingKind;

/// Bytes before a buffer's data, and at least as many after.
pub(super) const BAND: u64 = 16 * 1024;
/// The data starts and the padding ends on a multiple of this.
pub(super) const ALIGN: u64 = 256;

/// Neighbouring bands start this many bytes apart in the source.
const SLOT_STRIDE: u64 = 64;
const SLOTS: u64 = 2048;
/// Bytes of the source all bands are cut from.
pub(super) const SOURCE: u64 = SLOTS * SLOT_STRIDE + BAND + ALIGN;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Front,
    Back,
}

/// The source of all bands' bytes: splitmix64 (Steele, Lea and Flood 2014) from a fixed seed.
pub(super) fn source() -> Vec<u8> {
    let mut state = 0x6775_6172_6462_616e_u64;
    let next = move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let words = std::iter::repeat_with(next).take((SOURCE / 8) as usize);
    words.flat_map(u64::to_le_bytes).collect()
}

/// Where in the source a buffer's band starts; different for the first 1024 buffers.
pub(super) fn slot(buffer: usize, side: Side) -> u64 {
    let index = buffer as u64 * 2 + u64::from(side == Side::Back);
    index % SLOTS * SLOT_STRIDE
}

/// Bytes of the band behind `len` bytes of data.
pub(super) fn back_len(len: u64) -> u64 {
    len.next_multiple_of(ALIGN) - len + BAND
}

/// Bytes to allocate for `len` bytes of data.
pub(super) fn total_len(len: u64) -> Option<u64> {
    len.checked_next_multiple_of(ALIGN)?.checked_add(2 * BAND)
}

/// What was written of one band. Offsets are bytes from the band's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Violation {
    pub first: u64,
    pub last: u64,
    /// Bytes that differ. A write of the byte that was there is not seen.
    pub count: u64,
}

pub(super) fn violation(want: &[u8], got: &[u8]) -> Option<Violation> {
    if want == got {
        return None;
    }
    let differ = |index: &usize| want[*index] != got[*index];
    let first = (0..want.len()).find(differ)?;
    let last = (0..want.len()).rfind(differ)?;
    Some(Violation {
        first: first as u64,
        last: last as u64,
        count: (first..=last).filter(differ).count() as u64,
    })
}

/// `band` is the band's length.
pub(super) fn finding(name: &str, side: Side, band: u64, violation: Violation) -> Finding {
    let Violation { first, last, count } = violation;
    let place = match side {
        Side::Front => format!("{} to {} bytes before its start", band - first, band - last),
        Side::Back => format!("{first} to {last} bytes past its end"),
    };
    let message = format!("the guard band of `{name}` was written: {count} bytes, {place}");
    Finding::new(FindingKind::Guard, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn band(buffer: usize, side: Side, len: u64) -> Vec<u8> {
        let start = slot(buffer, side) as usize;
        source()[start..start + len as usize].to_vec()
    }

    #[test]
    fn an_untouched_band_is_no_finding() {
        let want = band(3, Side::Back, back_len(4));
        assert_eq!(violation(&want, &want), None);
    }

    #[test]
    fn one_changed_byte_is_found_at_its_place() {
        let want = band(0, Side::Back, back_len(4));
        for at in [0, 1, want.len() - 1] {
            let mut got = want.clone();
            got[at] ^= 1;
            let place = at as u64;
            let found = Violation {
                first: place,
                last: place,
                count: 1,
            };
            assert_eq!(violation(&want, &got), Some(found));
        }
    }

    #[test]
    fn a_span_counts_only_what_differs() {
        let want = [1, 2, 3, 4, 5];
        let found = violation(&want, &[1, 9, 3, 9, 5]).unwrap();
        assert_eq!((found.first, found.last, found.count), (1, 3, 2));
        let message = finding("out", Side::Back, 5, found).message;
        assert_eq!(
            message,
            "the guard band of `out` was written: 2 bytes, 1 to 3 bytes past its end"
        );
        let message = finding("out", Side::Front, 5, found).message;
        assert!(message.ends_with("4 to 2 bytes before its start"));
    }

    #[test]
    fn copying_one_band_over_another_changes_it() {
        for (from, to) in [(0, 1), (1, 0), (5, 900)] {
            let (from, to) = (band(from, Side::Back, BAND), band(to, Side::Back, BAND));
            assert!(from[..4] != to[..4], "the first element differs");
            assert!(violation(&to, &from).is_some());
        }
        assert!(band(0, Side::Front, BAND) != band(0, Side::Back, BAND));
    }

    #[test]
    fn the_layout_keeps_data_aligned_and_bands_whole() {
        for len in [0, 1, 255, 256, 257, 33_551_988] {
            assert_eq!(BAND + len + back_len(len), total_len(len).unwrap());
            assert!(back_len(len) >= BAND && back_len(len) < BAND + ALIGN);
            assert!(slot(usize::MAX / 4, Side::Back) + back_len(len) <= SOURCE);
        }
        assert_eq!(total_len(u64::MAX), None);
        assert_eq!(BAND % ALIGN, 0);
        assert_eq!(source().len() as u64, SOURCE);
    }
}
