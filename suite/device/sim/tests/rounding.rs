//! Rounding to one side, subnormals flushed, and half precision, against exact arithmetic done here another way.

use super::check;

/// Values at the edges of single precision, and some between.
const VALUES: [u32; 16] = [
    0,
    0x8000_0000,
    1,
    0x8000_0001,
    0x007f_ffff,
    0x0080_0000,
    0x3f80_0000,
    0xbf80_0001,
    0x3f7f_ffff,
    0x4b80_0001,
    0xcb7f_ffff,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x7f80_0000,
    0x7fc0_1234,
    0x2f12_3456,
];

/// The nearest single to the exact value `sign · magnitude / 2^scale` on the wanted side, by search.
fn rounded(exact: impl Fn(f32) -> std::cmp::Ordering, nearest: f32, mode: &str) -> f32 {
    use std::cmp::Ordering::{Greater, Less};
    let toward_zero = mode == "rz";
    // `exact(v)` compares v with the exact value.
    match exact(nearest) {
        Greater if mode == "rm" || toward_zero && nearest > 0.0 => nearest.next_down(),
        Less if mode == "rp" || toward_zero && nearest < 0.0 => nearest.next_up(),
        _ => nearest,
    }
}

/// A single as a whole number of 2^-149, which needs 278 bits: high and low parts by shifts of `i128` do not hold it,
/// so only pairs whose sum does are compared.
fn whole(bits: u32) -> Option<i128> {
    let exponent = (bits >> 23 & 255).max(1) - 1;
    let fraction = i128::from(bits & 0x7f_ffff) + if bits >> 23 & 255 > 0 { 1 << 23 } else { 0 };
    if exponent > 100 {
        return None;
    }
    let size = fraction << exponent;
    Some(if bits >> 31 == 1 { -size } else { size })
}

#[test]
fn sums_and_products_round_to_one_side() {
    // Small enough for exact whole numbers; the sign of an exact zero is looked at apart.
    let values = [
        1_u32,
        0x8000_0001,
        0x007f_ffff,
        0x0080_0000,
        0x0180_0001,
        0x8180_0003,
        0x3000_0001,
        0xb000_0003,
        0x2480_0007,
        0x1880_0001,
    ];
    for mode in ["rz", "rm", "rp"] {
        let mut sums = Vec::new();
        for a in values {
            for b in values {
                let (Some(x), Some(y)) = (whole(a), whole(b)) else {
                    continue;
                };
                let sum = x + y;
                if sum == 0 {
                    continue;
                }
                let nearest = f32::from_bits(a) + f32::from_bits(b);
                let exact =
                    |v: f32| whole(v.to_bits()).map_or(std::cmp::Ordering::Equal, |v| v.cmp(&sum));
                let want = rounded(exact, nearest, mode);
                sums.push((vec![u64::from(a), u64::from(b)], u64::from(want.to_bits())));
            }
        }
        let sums: Vec<(&[u64], u64)> = sums.iter().map(|(v, w)| (&v[..], *w)).collect();
        for some in sums.chunks(32) {
            check(&format!("add.{mode}.f32 %f0, %f1, %f2"), some);
        }
        let mut products = Vec::new();
        for a in VALUES.map(f32::from_bits) {
            for b in VALUES.map(f32::from_bits) {
                let exact = f64::from(a) * f64::from(b);
                let nearest = exact as f32;
                if nearest.is_nan() {
                    continue;
                }
                let order = |v: f32| f64::from(v).total_cmp(&exact);
                let want = if f64::from(nearest) == exact {
                    nearest
                } else {
                    rounded(order, nearest, mode)
                };
                let inputs = vec![u64::from(a.to_bits()), u64::from(b.to_bits())];
                products.push((inputs, u64::from(want.to_bits())));
            }
        }
        let products: Vec<(&[u64], u64)> = products.iter().map(|(v, w)| (&v[..], *w)).collect();
        for some in products.chunks(32) {
            check(&format!("mul.{mode}.f32 %f0, %f1, %f2"), some);
        }
    }
}

#[test]
fn an_exact_zero_is_negative_only_when_rounding_down() {
    let (one, minus, zero) = (0x3f80_0000, 0xbf80_0000, 0x8000_0000);
    check(
        "add.rm.f32 %f0, %f1, %f2",
        &[(&[one, minus], zero), (&[0, zero], zero), (&[0, 0], 0)],
    );
    check(
        "add.rz.f32 %f0, %f1, %f2",
        &[(&[one, minus], 0), (&[zero, zero], zero)],
    );
    check("sub.rp.f32 %f0, %f1, %f2", &[(&[one, one], 0)]);
    // 1 + 2^-24 + 2^-60: just above the middle between two singles.
    let (third, tiny) = (0x3380_0000, 0x2180_0000);
    check(
        "fma.rp.f32 %f0, %f1, %f2, %f3",
        &[(&[one, one, tiny], 0x3f80_0001)],
    );
    check(
        "fma.rm.f32 %f0, %f1, %f2, %f3",
        &[(&[one, third, one], one)],
    );
}

#[test]
fn quotients_and_roots_round_to_one_side() {
    let (one, two, three) = (0x3f80_0000, 0x4000_0000, 0x4040_0000);
    // 1/3 = 0.0101… and its neighbours; the root of 2 lies above 0x3fb504f3.
    for (mode, third, root) in [
        ("rz", 0x3eaa_aaaa, 0x3fb5_04f3),
        ("rm", 0x3eaa_aaaa, 0x3fb5_04f3),
        ("rp", 0x3eaa_aaab, 0x3fb5_04f4),
    ] {
        check(
            &format!("div.{mode}.f32 %f0, %f1, %f2"),
            &[(&[one, three], third), (&[two, two], one)],
        );
        check(
            &format!("rcp.{mode}.f32 %f0, %f1"),
            &[(&[three], third), (&[one], one)],
        );
        check(
            &format!("sqrt.{mode}.f32 %f0, %f1"),
            &[(&[two], root), (&[one], one)],
        );
    }
    let negative = 0xbeaa_aaab;
    check(
        "div.rm.f32 %f0, %f1, %f2",
        &[(&[0xbf80_0000, three], negative)],
    );
}

#[test]
fn flushed_operations_know_no_subnormals() {
    let (normal, subnormal, one) = (0x0080_0000, 0x0000_0001, 0x3f80_0000);
    check(
        "add.ftz.f32 %f0, %f1, %f2",
        &[(&[normal, subnormal], normal), (&[subnormal, subnormal], 0)],
    );
    check(
        "mul.rn.ftz.f32 %f0, %f1, %f2",
        &[(&[normal, 0xbf00_0000], 0x8000_0000)],
    );
    check(
        "fma.rn.ftz.f32 %f0, %f1, %f2, %f3",
        &[(&[one, subnormal, 0x8000_0000], 0)],
    );
    check(
        "setp.eq.ftz.f32 %p0, %f1, %f2",
        &[(&[subnormal, 0], 1), (&[normal, 0], 0)],
    );
    check("setp.eq.f32 %p0, %f1, %f2", &[(&[subnormal, 0], 0)]);
    check(
        "cvt.rpi.ftz.s32.f32 %r0, %f1",
        &[(&[subnormal], 0), (&[normal], 1)],
    );
    check(
        "max.ftz.f32 %f0, %f1, %f2",
        &[(&[subnormal, 0x8000_0000], 0)],
    );
}

/// Results just under the least normal number, by where rounding with unbounded exponents leaves them. The steps of
/// subnormals, twice as wide, carry the first two up to that number.
#[test]
fn results_under_the_least_normal_number_are_flushed() {
    let (least, under_one) = (0x0080_0000, 0x3f7f_ffff);
    // One less 2^-24 is itself a single.
    check("mul.ftz.f32 %f0, %f1, %f2", &[(&[least, under_one], 0)]);
    check("mul.f32 %f0, %f1, %f2", &[(&[least, under_one], least)]);
    check(
        "div.rn.ftz.f32 %f0, %f1, %f2",
        &[(&[0x00ff_ffff, 0x4000_0000], 0)],
    );
    check(
        "div.rp.ftz.f32 %f0, %f1, %f2",
        &[(&[0x0080_0000, 0x3f80_0001], 0)],
    );
    check(
        "div.rm.ftz.f32 %f0, %f1, %f2",
        &[(&[0x8080_0000, 0x3f80_0001], 0x8000_0000)],
    );
    check(
        "fma.rn.ftz.f32 %f0, %f1, %f2, %f3",
        &[(&[least, under_one, 0], 0)],
    );
    check(
        "cvt.rn.ftz.f32.f64 %f0, %g1",
        &[(&[0x380f_ffff_e000_0000], 0)],
    );
    // One less 2^-46, and less 2^-25, round to one.
    check(
        "mul.ftz.f32 %f0, %f1, %f2",
        &[(&[0x0080_0001, 0x3f7f_fffe], least)],
    );
    check(
        "mul.rz.ftz.f32 %f0, %f1, %f2",
        &[(&[0x0080_0001, 0x3f7f_fffe], 0)],
    );
    check(
        "mul.rp.ftz.f32 %f0, %f1, %f2",
        &[(&[0x0080_0001, 0x3f7f_fffe], least)],
    );
    check(
        "cvt.rn.ftz.f32.f64 %f0, %g1",
        &[(&[0x380f_ffff_f000_0000], least)],
    );
}

#[test]
fn every_half_survives_a_trip_through_single_precision() {
    for first in (0..0x1_0000_u64).step_by(512) {
        let all: Vec<[u64; 1]> = (first..first + 512).map(|bits| [bits]).collect();
        let want = |bits: u64| if bits & 0x7fff > 0x7c00 { 0x7fff } else { bits };
        let vectors: Vec<(&[u64], u64)> = all.iter().map(|v| (&v[..], want(v[0]))).collect();
        check("cvt.f32.f16 %f5, %h1; cvt.rn.f16.f32 %h0, %f5", &vectors);
    }
}

#[test]
fn halves_round_to_nearest_even() {
    let (one, step) = (0x3c00, 0x1000);
    check(
        "add.f16 %h0, %h1, %h2",
        &[
            (&[one, step], one),
            (&[one + 1, step], one + 2),
            (&[0x7bff, 0x5000], 0x7c00),
        ],
    );
    // 1 · 2^-11 is the middle; the smallest subnormal beyond decides.
    check("fma.rn.f16 %h0, %h1, %h2, %h3", &[(&[one, step, one], one)]);
    check(
        "fma.rn.f16 %h0, %h1, %h2, %h3",
        &[(&[0x1001, one, one], one + 1)],
    );
    check(
        "mul.f16x2 %r0, %r1, %r2",
        &[(&[0x4000_3c00, 0x4200_c000], 0x4600_c000)],
    );
    check("neg.f16 %h0, %h1", &[(&[one], 0xbc00)]);
    check(
        "cvt.rni.s32.f16 %r0, %h1",
        &[(&[0x4100], 2), (&[0x4300], 4)],
    );
    check(
        "cvt.rn.f16.f64 %h0, %g1",
        &[(&[1.000_488_281_25_f64.next_up().to_bits()], one + 1)],
    );
    check(
        "setp.lt.f16 %p0, %h1, %h2",
        &[(&[0xbc00, one], 1), (&[one, one], 0)],
    );
}

#[test]
fn kinds_of_numbers() {
    let kinds = [
        "finite",
        "infinite",
        "number",
        "notanumber",
        "normal",
        "subnormal",
    ];
    for (bits, want) in [
        (0_u64, "101010"),
        (1, "101001"),
        (0x3f80_0000, "101010"),
        (0xff80_0000, "011000"),
        (0x7fc0_0000, "000100"),
    ] {
        for (kind, held) in kinds.iter().zip(want.bytes()) {
            let want = u64::from(held == b'1');
            check(&format!("testp.{kind}.f32 %p0, %f1"), &[(&[bits], want)]);
        }
    }
}

#[test]
fn doubles_are_flushed_in_every_rounding() {
    let below = 0x380f_ffff_f000_0000; // the least normal single less a quarter of its step
    for (rounding, single) in [("rz", 0), ("rm", 0), ("rp", 0x0080_0000)] {
        let narrow = format!("cvt.{rounding}.ftz.f32.f64 %f0, %g1");
        check(&narrow, &[(&[below], single)]);
    }
}
