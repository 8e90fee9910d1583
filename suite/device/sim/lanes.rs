//! The registers of one warp as rows of 32 lanes, and the macros that turn a scalar expression into a row operation.
//!
//! A register of up to 32 bits is a narrow row, one of 64 bits a wide row, a predicate one mask. A value narrower than
//! its row leaves the row's upper bits unspecified: whoever reads it truncates to the instruction's type.

use super::formats::{Flushed, Half};

pub const LANES: usize = 32;
pub const FULL: u32 = u32::MAX;

/// Index of a row within its class.
pub type Row = u16;

/// Predicate rows every kernel has.
pub const TRUE: Row = 0;
pub const FALSE: Row = 1;
/// Where `_` writes go; the same number serves narrow and wide rows as [`SINK_DATA`].
pub const SINK: Row = 2;
/// The condition code of `add.cc` and its kin.
pub const CARRY: Row = 3;
pub const FIRST_PREDICATE: Row = 4;
/// Where `_` writes go, in the narrow and wide classes.
pub const SINK_DATA: Row = 0;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    Narrow,
    Wide,
    Predicate,
}

/// The registers of the warp that runs.
pub struct Frame<'a> {
    pub narrow: &'a mut [[u32; LANES]],
    pub wide: &'a mut [[u64; LANES]],
    pub predicates: &'a mut [u32],
}

/// Rows an ALU operation works on: destination, then sources.
#[derive(Clone, Copy, Debug, Default)]
pub struct Operands {
    pub d: Row,
    pub a: Row,
    pub b: Row,
    pub c: Row,
    pub e: Row,
}

/// Runs one operation on the lanes of a mask.
pub type Run = fn(&mut Frame<'_>, Operands, u32);

/// A row operation and the register classes it wants.
#[derive(Clone, Copy)]
pub struct Operation {
    pub run: Run,
    pub d: Class,
    pub sources: &'static [Class],
}

/// A comparison: the mask of lanes where it holds.
#[derive(Clone, Copy)]
pub struct Comparison {
    pub run: fn(&Frame<'_>, Row, Row) -> u32,
    pub class: Class,
}

/// `BITS[lane]` is the lane's bit in a mask.
pub const BITS: [u32; LANES] = {
    let mut bits = [0; LANES];
    let mut lane = 0;
    while lane < LANES {
        bits[lane] = 1 << lane;
        lane += 1;
    }
    bits
};

/// A scalar type as a lane of a row.
pub trait Lane: Copy {
    type Bits: Copy + Default;
    const CLASS: Class;
    fn of(bits: Self::Bits) -> Self;
    fn bits(self) -> Self::Bits;
    fn row<'f>(frame: &'f Frame<'_>, row: Row) -> &'f [Self::Bits; LANES];
    fn put(frame: &mut Frame<'_>, row: Row, mask: u32, values: &[Self::Bits; LANES]);
}

macro_rules! lane {
    ($rows:ident, $class:ident, $bits:ty; $($ty:ty: $of:expr, $to:expr;)*) => { $(
        impl Lane for $ty {
            type Bits = $bits;
            const CLASS: Class = Class::$class;
            #[inline(always)]
            fn of(bits: $bits) -> Self { $of(bits) }
            #[inline(always)]
            fn bits(self) -> $bits { $to(self) }
            #[inline(always)]
            fn row<'f>(frame: &'f Frame<'_>, row: Row) -> &'f [$bits; LANES] { &frame.$rows[usize::from(row)] }
            #[inline(always)]
            fn put(frame: &mut Frame<'_>, row: Row, mask: u32, values: &[$bits; LANES]) {
                blend(&mut frame.$rows[usize::from(row)], values, mask);
            }
        }
    )* };
}
lane! { narrow, Narrow, u32;
    u8: |b| b as u8, u32::from;
    i8: |b| b as i8, |v| i32::from(v) as u32;
    u16: |b| b as u16, u32::from;
    i16: |b| b as i16, |v| i32::from(v) as u32;
    u32: |b| b, |v| v;
    i32: |b: u32| b.cast_signed(), i32::cast_unsigned;
    f32: f32::from_bits, f32::to_bits;
    Flushed: Flushed::from_bits, Flushed::to_bits;
    Half: Half::from_bits, Half::to_bits;
}
lane! { wide, Wide, u64;
    u64: |b| b, |v| v;
    i64: |b: u64| b.cast_signed(), i64::cast_unsigned;
    f64: f64::from_bits, f64::to_bits;
}

/// Writes the lanes of `mask`.
#[inline(always)]
pub fn blend<T: Copy>(row: &mut [T; LANES], values: &[T; LANES], mask: u32) {
    if mask == FULL {
        *row = *values;
        return;
    }
    for lane in 0..LANES {
        row[lane] = if mask & BITS[lane] != 0 {
            values[lane]
        } else {
            row[lane]
        };
    }
}

/// The lanes of a mask, lowest first.
pub fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let lane = rest.trailing_zeros();
        rest &= rest.wrapping_sub(1);
        (lane < 32).then_some(lane as usize)
    })
}

impl Frame<'_> {
    #[inline(always)]
    pub fn put_predicate(&mut self, row: Row, mask: u32, value: u32) {
        let old = &mut self.predicates[usize::from(row)];
        *old = *old & !mask | value & mask;
    }
}

/// `lanewise!(u32 = |a: u32, b: u32| a & b)` is the [`Operation`] that computes it in every lane.
macro_rules! lanewise {
    ($d:ty = |$($a:ident: $t:ty),+| $e:expr) => { lanewise!(@ $d, [a b c e], [$($a: $t),+], [], $e) };
    (@ $d:ty, [$slot:ident $($slots:ident)*], [$a:ident: $t:ty $(, $($more:tt)+)?], [$($done:tt)*], $e:expr) => {
        lanewise!(@ $d, [$($slots)*], [$($($more)+)?], [$($done)* ($slot $a $t)], $e)
    };
    (@ $d:ty, [$($slots:ident)*], [], [$(($slot:ident $a:ident $t:ty))+], $e:expr) => {{
        fn run(frame: &mut $crate::device::sim::lanes::Frame<'_>, o: $crate::device::sim::lanes::Operands, mask: u32) {
            use $crate::device::sim::lanes::{LANES, Lane};
            $(let $a = <$t as Lane>::row(frame, o.$slot);)+
            let mut out = [<$d as Lane>::Bits::default(); LANES];
            for lane in 0..LANES {
                $(let $a = <$t as Lane>::of($a[lane]);)+
                out[lane] = <$d as Lane>::bits($e);
            }
            <$d as Lane>::put(frame, o.d, mask, &out);
        }
        $crate::device::sim::lanes::Operation {
            run,
            d: <$d as $crate::device::sim::lanes::Lane>::CLASS,
            sources: &[$(<$t as $crate::device::sim::lanes::Lane>::CLASS),+],
        }
    }};
}
pub(super) use lanewise;

/// `comparison!(i32, |a, b| a < b)`.
macro_rules! comparison {
    ($t:ty, |$a:ident, $b:ident| $e:expr) => {{
        fn run(
            frame: &$crate::device::sim::lanes::Frame<'_>,
            a: $crate::device::sim::lanes::Row,
            b: $crate::device::sim::lanes::Row,
        ) -> u32 {
            use $crate::device::sim::lanes::{BITS, LANES, Lane};
            let (a, b) = (<$t as Lane>::row(frame, a), <$t as Lane>::row(frame, b));
            let mut held = 0;
            for lane in 0..LANES {
                let ($a, $b) = (<$t as Lane>::of(a[lane]), <$t as Lane>::of(b[lane]));
                held |= if $e { BITS[lane] } else { 0 };
            }
            held
        }
        $crate::device::sim::lanes::Comparison {
            run,
            class: <$t as $crate::device::sim::lanes::Lane>::CLASS,
        }
    }};
}
pub(super) use comparison;
