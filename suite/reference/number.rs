//! The element types as references see them: each operation as the device's own instruction defines it.

use std::cmp::Ordering;

use crate::value::{Array, Scalar};

pub(super) trait Number: Copy + Default + Send + Into<Scalar> {
    const ZERO: Self;
    /// The identity of `min`, and of `max`.
    const TOP: Self;
    const BOTTOM: Self;

    fn array(values: Vec<Self>) -> Array;
    fn is_zero(self) -> bool;
    fn is_positive(self) -> bool;
    fn is_negative(self) -> bool;
    /// The lowest bit, in two's complement; none for floats.
    fn is_odd(self) -> Option<bool>;
    /// The bin of a histogram; none for floats, and for what no index holds.
    fn bin(self) -> Option<usize>;
    fn plus(self, other: Self) -> Self;
    fn negated(self) -> Self;
    fn absolute(self) -> Self;
    fn squared(self) -> Self;
    /// A total order.
    fn order(self, other: Self) -> Ordering;
    /// `true` for what `min` and `max` pass over.
    fn is_nan(self) -> bool;
}

macro_rules! integers {
    ($($variant:ident $rust:ty: $absolute:expr;)*) => {
        $(impl Number for $rust {
            const ZERO: Self = 0;
            const TOP: Self = <$rust>::MAX;
            const BOTTOM: Self = <$rust>::MIN;

            fn array(values: Vec<Self>) -> Array {
                Array::$variant(values)
            }
            fn is_zero(self) -> bool {
                self == 0
            }
            fn is_positive(self) -> bool {
                self > 0
            }
            fn is_negative(self) -> bool {
                self < Self::ZERO
            }
            fn is_odd(self) -> Option<bool> {
                Some(self & 1 == 1)
            }
            fn bin(self) -> Option<usize> {
                usize::try_from(self).ok()
            }
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            fn negated(self) -> Self {
                self.wrapping_neg()
            }
            fn absolute(self) -> Self {
                let absolute: fn($rust) -> $rust = $absolute;
                absolute(self)
            }
            fn squared(self) -> Self {
                self.wrapping_mul(self)
            }
            fn order(self, other: Self) -> Ordering {
                self.cmp(&other)
            }
            fn is_nan(self) -> bool {
                false
            }
        })*
    };
}
integers! {
    I8 i8: i8::wrapping_abs;
    U8 u8: |v| v;
    I16 i16: i16::wrapping_abs;
    U16 u16: |v| v;
    I32 i32: i32::wrapping_abs;
    U32 u32: |v| v;
    I64 i64: i64::wrapping_abs;
    U64 u64: |v| v;
}

macro_rules! floats {
    ($($variant:ident $rust:ty;)*) => {
        $(impl Number for $rust {
            const ZERO: Self = 0.0;
            const TOP: Self = <$rust>::INFINITY;
            const BOTTOM: Self = <$rust>::NEG_INFINITY;

            fn array(values: Vec<Self>) -> Array {
                Array::$variant(values)
            }
            fn is_zero(self) -> bool {
                self == 0.0
            }
            fn is_positive(self) -> bool {
                self > 0.0
            }
            fn is_negative(self) -> bool {
                self < 0.0
            }
            fn is_odd(self) -> Option<bool> {
                None
            }
            fn bin(self) -> Option<usize> {
                None
            }
            fn plus(self, other: Self) -> Self {
                self + other
            }
            fn negated(self) -> Self {
                -self
            }
            fn absolute(self) -> Self {
                self.abs()
            }
            fn squared(self) -> Self {
                self * self
            }
            fn order(self, other: Self) -> Ordering {
                self.total_cmp(&other)
            }
            fn is_nan(self) -> bool {
                <$rust>::is_nan(self)
            }
        })*
    };
}
floats! { F32 f32; F64 f64; }
