//! The element types as generators see them: which whole numbers each holds, and how one is made.

use std::cmp::Ordering;

pub(super) trait Number: Copy + Default + PartialEq + Send {
    /// Whole numbers from `LOW` to `HIGH` are held exactly. Floats: up to where the next one would be skipped.
    const LOW: i128;
    const HIGH: i128;
    const IS_FLOAT: bool;
    /// From a whole number in two's complement; only its low bits count for narrow integers.
    fn from_word(word: u64) -> Self;
    /// The nearest value of this type; integers drop the fraction.
    fn from_real(real: f64) -> Self;
    /// Ascending; floats in IEEE 754's total order.
    fn order(&self, other: &Self) -> Ordering;
}

macro_rules! integers {
    ($($rust:ty),*) => {
        $(impl Number for $rust {
            const LOW: i128 = <$rust>::MIN as i128;
            const HIGH: i128 = <$rust>::MAX as i128;
            const IS_FLOAT: bool = false;
            fn from_word(word: u64) -> Self {
                word as $rust
            }
            fn from_real(real: f64) -> Self {
                real as $rust
            }
            fn order(&self, other: &Self) -> Ordering {
                self.cmp(other)
            }
        })*
    };
}
integers!(i8, u8, i16, u16, i32, u32, i64, u64);

macro_rules! floats {
    ($($rust:ty),*) => {
        $(impl Number for $rust {
            const LOW: i128 = -Self::HIGH;
            const HIGH: i128 = 1 << <$rust>::MANTISSA_DIGITS;
            const IS_FLOAT: bool = true;
            fn from_word(word: u64) -> Self {
                word as i64 as $rust
            }
            fn from_real(real: f64) -> Self {
                real as $rust
            }
            fn order(&self, other: &Self) -> Ordering {
                self.total_cmp(other)
            }
        })*
    };
}
floats!(f32, f64);
