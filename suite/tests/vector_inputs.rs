//! Inputs of vectors: edges of each kind of operand first, then values at random; the same ones every time.

/// Whole numbers at the edges of 8, 16, 24 and 32 bits, and what shifts and fields care for.
const WORDS: [u32; 32] = [
    0,
    1,
    2,
    3,
    7,
    8,
    15,
    16,
    31,
    32,
    33,
    64,
    0x7f,
    0x80,
    0xff,
    0x100,
    0x7fff,
    0x8000,
    0xffff,
    0x1_0000,
    0x7f_ffff,
    0x80_0000,
    0xff_ffff,
    0x100_0000,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xffff_ff80,
    0xffff_fffe,
    0xffff_ffff,
    0xaaaa_aaaa,
    0x1234_5678,
];

const LONG_WORDS: [u64; 24] = [
    0,
    1,
    2,
    31,
    32,
    63,
    64,
    0xff,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x1_0000_0000,
    0x1_ffff_ffff,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0x8000_0000_0000_0001,
    0xffff_ffff_0000_0000,
    0xffff_ffff_8000_0000,
    0xffff_ffff_7fff_ffff,
    0xffff_ffff_ffff_fffe,
    0xffff_ffff_ffff_ffff,
    0x20_0000_0000_0001,
    0x0123_4567_89ab_cdef,
];

/// Zeros, subnormals, halves that tie, the ends of integers and of half precision, infinities and NaNs.
const SINGLES: [u32; 40] = [
    0,
    0x8000_0000,
    1,
    0x8000_0001,
    0x007f_ffff,
    0x807f_ffff,
    0x0080_0000,
    0x8080_0000,
    0x0100_0001,
    0x3f80_0000,
    0xbf80_0000,
    0x3f80_0001,
    0x3f7f_ffff,
    0x3f00_0000,
    0xbf00_0000,
    0x3eff_ffff,
    0x3fc0_0000,
    0x4020_0000,
    0xc020_0000,
    0x4040_0000,
    0x4b00_0001,
    0x4b80_0000,
    0x4eff_ffff,
    0x4f00_0000,
    0xcf00_0000,
    0xcf00_0001,
    0x4f80_0000,
    0x5f00_0000,
    0xdf00_0000,
    0x5f80_0000,
    0x477f_e000,
    0x477f_f000,
    0x3380_0000,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0x7f80_0001,
    0xffc1_2345,
];

const DOUBLES: [u64; 32] = [
    0,
    0x8000_0000_0000_0000,
    1,
    0x800f_ffff_ffff_ffff,
    0x0010_0000_0000_0000,
    0x3ff0_0000_0000_0000,
    0xbff0_0000_0000_0000,
    0x3ff0_0000_0000_0001,
    0x3fef_ffff_ffff_ffff,
    0x3fe0_0000_0000_0000,
    0xbfe0_0000_0000_0000,
    0x3ff8_0000_0000_0000,
    0x4004_0000_0000_0000,
    0xc004_0000_0000_0000,
    0x41df_ffff_ffc0_0000,
    0x41e0_0000_0000_0000,
    0xc1e0_0000_0000_0000,
    0x41f0_0000_0000_0000,
    0x43e0_0000_0000_0000,
    0xc3e0_0000_0000_0000,
    0x43f0_0000_0000_0000,
    0x3ff0_0000_1000_0000,
    0x3ff0_0000_3000_0000,
    0x380f_ffff_f000_0000,
    0x3690_0000_0000_0000,
    0x47ef_ffff_f000_0000,
    0x7fef_ffff_ffff_ffff,
    0x7ff0_0000_0000_0000,
    0xfff0_0000_0000_0000,
    0x7ff8_0000_0000_0000,
    0x7ff0_0000_0000_0001,
    0xfff8_1234_5678_9abc,
];

const HALVES: [u32; 24] = [
    0, 0x8000, 1, 0x8001, 0x03ff, 0x0400, 0x8400, 0x3c00, 0xbc00, 0x3c01, 0x3bff, 0x3800, 0x3e00,
    0x4100, 0xc100, 0x6400, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x7c01, 0xfe55, 0x1000,
];

/// Around the least normal single, 2⁻¹²⁶, and around twice of it.
const TINY: [u32; 12] = [
    0x0080_0000,
    0x0080_0001,
    0x0080_0002,
    0x00ff_ffff,
    0x00ff_fffe,
    0x0100_0000,
    0x8080_0000,
    0x8080_0001,
    0x80ff_ffff,
    0x007f_ffff,
    0x0100_0001,
    0x00c0_0000,
];

/// What takes such a single to both sides of 2⁻¹²⁶, as a factor or as a divisor.
const NEAR_ONE: [u32; 13] = [
    0x3f7f_ffff,
    0x3f7f_fffe,
    0x3f80_0000,
    0x3f80_0001,
    0x3f00_0000,
    0x3f00_0001,
    0x3eff_ffff,
    0x4000_0000,
    0xbf7f_ffff,
    0x3f7f_fffd,
    0x3fff_ffff,
    0xbf80_0001,
    0x3f40_0000,
];

/// What a sum with such a single ends near 2⁻¹²⁶ with.
const SPECKS: [u32; 7] = [
    0,
    0x8000_0000,
    0x0080_0000,
    0x8080_0000,
    0x0080_0001,
    0x8100_0000,
    0x0100_0001,
];

/// Doubles that round to 2⁻¹²⁶, to the single before or to the one behind it.
const TINY_DOUBLES: [u64; 9] = [
    0x3810_0000_0000_0000,
    0x380f_ffff_ffff_ffff,
    0x380f_ffff_f000_0000,
    0x380f_ffff_efff_ffff,
    0x380f_ffff_e000_0000,
    0x380f_ffff_d000_0000,
    0x380f_ffff_c000_0000,
    0xb80f_ffff_f000_0000,
    0xb80f_ffff_e000_0001,
];

const SHIFTS: [u32; 16] = [
    0,
    1,
    7,
    8,
    15,
    16,
    17,
    31,
    32,
    33,
    63,
    64,
    65,
    255,
    256,
    0xffff_ffff,
];

/// Of shuffles: clamp in the low five bits, segments from bit 8 on.
const CLAMPS: [u32; 8] = [0x1f, 0, 0x181f, 0x1800, 0x1c1f, 0x1c03, 0x1007, 0x1e1f];

/// Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators" (2014): the mixing of SplitMix64.
fn mixed(value: u64) -> u64 {
    let mut x = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// A thread's bits for the input register number `operand`.
pub fn value(generator: &str, letter: char, operand: u32, thread: usize) -> u64 {
    let random = mixed(thread as u64 * 8 + u64::from(operand));
    // Strides without a common divisor with any length above bring each edge together with many others.
    let stride = [1, 7, 11, 13, 17][operand as usize % 5];
    let edge = thread * stride + thread / 24 * operand as usize;
    let is_edge = thread % 8 < 6;
    let words = |all: &[u32]| u64::from(all[edge % all.len()]);
    match (generator, letter) {
        ("int", 'h') if is_edge => words(&WORDS) & 0xffff,
        ("int", 'h') => random & 0xffff,
        ("int", 'r') if is_edge => words(&WORDS),
        ("int", 'r') => random & 0xffff_ffff,
        ("int", _) if is_edge => LONG_WORDS[edge % LONG_WORDS.len()],
        ("float", 'f') if is_edge => words(&SINGLES),
        // Moderate exponents, so that sums and products round.
        ("float", 'f') => (random & 0x807f_ffff) | (120 + (random >> 40 & 15)) << 23,
        ("float", 'g') if is_edge => DOUBLES[edge % DOUBLES.len()],
        ("float", 'g') => (random & 0x800f_ffff_ffff_ffff) | (1016 + (random >> 11 & 15)) << 52,
        ("half", _) if is_edge => words(&HALVES),
        ("half", _) => (random & 0x83ff) | (12 + (random >> 40 & 7)) << 10,
        ("halves", _) if is_edge => words(&HALVES) << 16 | u64::from(HALVES[thread % 24]),
        ("halves", _) => (random & 0x83ff_83ff) | 0x3800_3c00,
        // 12, 13 and 7 values have no common divisor: threads bring each together with each.
        ("tiny", 'g') => TINY_DOUBLES[thread % TINY_DOUBLES.len()],
        ("tiny", _) => u64::from(TINY[thread % TINY.len()]),
        ("near_one", _) => u64::from(NEAR_ONE[thread % NEAR_ONE.len()]),
        ("speck", _) => u64::from(SPECKS[thread % SPECKS.len()]),
        ("shift", _) => words(&SHIFTS),
        ("byte", _) => random >> 20 & 0xff,
        ("lane", _) => random >> 20 & 31,
        ("clamp", _) => u64::from(CLAMPS[thread / 8 % CLAMPS.len()]),
        ("few", _) => random >> 20 & 3,
        ("bit", _) => random >> 20 & 1,
        // The same for all threads of a warp but one in two warps.
        ("same", _) => u64::from(thread != 40) * 77,
        _ => random,
    }
}

/// Tells inputs from others, for results that were recorded with them.
pub fn checksum(values: &[u64]) -> u32 {
    let sum = values.iter().fold(0, |sum, &value| mixed(sum ^ value));
    (sum >> 32) as u32 | 1
}

/// What memory holds before an instruction.
pub fn byte(at: usize) -> u8 {
    (mixed(at as u64 / 8 + 1000) >> (8 * (at % 8))) as u8
}
