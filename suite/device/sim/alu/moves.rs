//! Moves, selections, and packing of halves into wholes.

use super::super::lanes::{BITS, Class, Frame, LANES, Lane, Operands, Operation, Row, lanewise};

macro_rules! selection {
    ($t:ty) => {{
        fn run(frame: &mut Frame<'_>, o: Operands, mask: u32) {
            let chosen = frame.predicates[usize::from(o.c)];
            let (a, b) = (<$t as Lane>::row(frame, o.a), <$t as Lane>::row(frame, o.b));
            let mut out = [0; LANES];
            for lane in 0..LANES {
                out[lane] = if chosen & BITS[lane] != 0 {
                    a[lane]
                } else {
                    b[lane]
                };
            }
            <$t as Lane>::put(frame, o.d, mask, &out);
        }
        Operation {
            run,
            d: <$t as Lane>::CLASS,
            sources: &[<$t as Lane>::CLASS, <$t as Lane>::CLASS, Class::Predicate],
        }
    }};
}

pub(super) fn select(opcode: &str, modifiers: &str) -> Option<Operation> {
    Some(match (opcode, modifiers) {
        ("mov", "b16" | "u16" | "s16" | "b32" | "u32" | "s32" | "f32") => {
            lanewise!(u32 = |a: u32| a)
        }
        ("mov", "b64" | "u64" | "s64" | "f64") => lanewise!(u64 = |a: u64| a),
        ("selp", "b16" | "u16" | "s16" | "b32" | "u32" | "s32" | "f32") => selection!(u32),
        ("selp", "b64" | "u64" | "s64" | "f64") => selection!(u64),
        ("slct", "b32.s32" | "u32.s32" | "s32.s32" | "f32.s32") => {
            lanewise!(u32 = |a: u32, b: u32, c: i32| if c >= 0 { a } else { b })
        }
        ("slct", "b64.s32" | "u64.s32" | "s64.s32" | "f64.s32") => {
            lanewise!(u64 = |a: u64, b: u64, c: i32| if c >= 0 { a } else { b })
        }
        // -0 counts as 0, a NaN as less.
        ("slct", "b32.f32" | "u32.f32" | "s32.f32" | "f32.f32") => {
            lanewise!(u32 = |a: u32, b: u32, c: f32| if c >= 0.0 { a } else { b })
        }
        ("slct", "b64.f32" | "u64.f32" | "s64.f32" | "f64.f32") => {
            lanewise!(u64 = |a: u64, b: u64, c: f32| if c >= 0.0 { a } else { b })
        }
        _ => return None,
    })
}

/// What a vector `mov` joins or splits: the class of the whole and of its parts, and how many parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub whole: Class,
    pub parts: usize,
    pub part_bits: u32,
}

impl Shape {
    /// From the type of the `mov` and the number of parts.
    pub fn new(ty: &str, parts: usize) -> Option<Self> {
        let (whole, bits) = match ty {
            "b16" if parts == 2 => (Class::Narrow, 16),
            "b32" => (Class::Narrow, 32),
            "b64" => (Class::Wide, 64),
            _ => return None,
        };
        let part_bits = bits / u32::try_from(parts).ok().filter(|&n| n == 2 || n == 4)?;
        Some(Self {
            whole,
            parts,
            part_bits,
        })
    }
}

/// Joins (`split` false: `whole` = {parts}) or splits, low part first. Parts are always narrow.
pub fn pack(
    frame: &mut Frame<'_>,
    shape: Shape,
    whole: Row,
    parts: &[Row; 4],
    split: bool,
    mask: u32,
) {
    let low = u64::MAX >> (64 - shape.part_bits);
    let parts = &parts[..shape.parts];
    if split {
        let mut value = [0; LANES];
        for (lane, value) in value.iter_mut().enumerate() {
            *value = match shape.whole {
                Class::Wide => frame.wide[usize::from(whole)][lane],
                _ => u64::from(frame.narrow[usize::from(whole)][lane]),
            };
        }
        for (index, &part) in parts.iter().enumerate() {
            let out = value.map(|v| (v >> (index as u32 * shape.part_bits) & low) as u32);
            u32::put(frame, part, mask, &out);
        }
        return;
    }
    let mut value = [0; LANES];
    for (index, &part) in parts.iter().enumerate() {
        let row = u32::row(frame, part);
        for lane in 0..LANES {
            value[lane] |= (u64::from(row[lane]) & low) << (index as u32 * shape.part_bits);
        }
    }
    match shape.whole {
        Class::Wide => u64::put(frame, whole, mask, &value),
        _ => u32::put(frame, whole, mask, &value.map(|v| v as u32)),
    }
}
