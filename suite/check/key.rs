//! Elements as unsigned keys that keep their order, so that one piece of code sorts and counts every type: integers
//! by value, floats in IEEE 754's total order. Elements are equal exactly if their keys are.

use crate::value::{ArrayRef, ElementType, POISON_BYTE};

#[derive(Clone, Copy)]
pub(super) struct Keys {
    element: ElementType,
    /// Bits to flip where the top bit is clear, and where it is set.
    flips: [u64; 2],
}

impl Keys {
    pub(super) fn of(element: ElementType) -> Self {
        let top = 1u64 << (8 * element.size() - 1);
        let all = top | (top - 1);
        let flips = match element {
            ElementType::U8 | ElementType::U16 | ElementType::U32 | ElementType::U64 => [0, 0],
            ElementType::I8 | ElementType::I16 | ElementType::I32 | ElementType::I64 => [top, top],
            // Sign and magnitude: a larger magnitude is a smaller negative number.
            ElementType::F32 | ElementType::F64 => [top, all],
        };
        Self { element, flips }
    }

    /// The key of an element of `N` bytes.
    #[inline(always)]
    pub(super) fn key<const N: usize>(self, element: &[u8; N]) -> u64 {
        // A choice the compiler makes, and one load: copying `N` bytes into a word was many.
        let bits = match N {
            1 => u64::from(u8::from_ne_bytes(sized(element))),
            2 => u64::from(u16::from_ne_bytes(sized(element))),
            4 => u64::from(u32::from_ne_bytes(sized(element))),
            _ => u64::from_ne_bytes(sized(element)),
        };
        let negative = ((bits >> (8 * N - 1)) & 1).wrapping_neg();
        bits ^ self.flips[0] ^ (negative & (self.flips[0] ^ self.flips[1]))
    }

    /// The keys of `bytes`.
    pub(super) fn keys<const N: usize>(self, bytes: &[u8]) -> impl Iterator<Item = u64> {
        let elements = bytes.as_chunks::<N>().0;
        elements.iter().map(move |element| self.key(element))
    }

    /// The element with this key, in words.
    pub(super) fn show(self, key: u64) -> String {
        let size = self.element.size();
        // The flip of the top bit itself tells which of the two was applied.
        let top = 1u64 << (8 * size - 1);
        let flip = self.flips[usize::from((key ^ self.flips[1]) & top != 0)];
        let bytes = (key ^ flip).to_le_bytes();
        let array = crate::value::Array::from_bytes(self.element, &bytes[..size]);
        super::show::element(array.view(), 0)
    }

    /// The key of an element that was never written.
    pub(super) fn poison(self) -> u64 {
        let bytes = [POISON_BYTE; 8];
        match self.element.size() {
            1 => self.key(&[POISON_BYTE; 1]),
            2 => self.key(&[POISON_BYTE; 2]),
            4 => self.key(&[POISON_BYTE; 4]),
            _ => self.key(&bytes),
        }
    }

    /// The first place of the element with this key.
    pub(super) fn position(self, array: ArrayRef<'_>, key: u64) -> Option<usize> {
        fn find<const N: usize>(keys: Keys, bytes: &[u8], key: u64) -> Option<usize> {
            keys.keys::<N>(bytes).position(|k| k == key)
        }
        super::bytes::by_size!(self.element, find(self, array.as_bytes(), key))
    }
}

/// `element` itself, for the compiler to see that `N` is `M`.
#[inline(always)]
fn sized<const N: usize, const M: usize>(element: &[u8; N]) -> [u8; M] {
    *element.first_chunk().unwrap_or(&[0; M])
}
