//! Instructions that compilers write seldom, against the PTX ISA's definition of each, computed here.

use super::{check, run};

/// Words that meet carries, signs and the edges of fields.
const WORDS: [u32; 8] = [
    0,
    1,
    31,
    0x7fff_ffff,
    0x8000_0000,
    0x00ff_ffff,
    0x0180_ff80,
    u32::MAX,
];

fn signed(word: u32) -> i64 {
    i64::from(word.cast_signed())
}

/// Checks an instruction of three words, `%r0` from `%r1` to `%r3`, on all pairs of words.
fn check_words(op: &str, want: impl Fn(u32, u32, u32) -> u32) {
    for c in [0, 7, u32::MAX] {
        let pairs = WORDS.iter().flat_map(|&a| WORDS.map(|b| (a, b)));
        let inputs: Vec<[u64; 3]> = pairs
            .map(|(a, b)| [u64::from(a), u64::from(b), u64::from(c)])
            .collect();
        let vectors: Vec<(&[u64], u64)> = inputs
            .iter()
            .map(|v| (&v[..], u64::from(want(v[0] as u32, v[1] as u32, c))))
            .collect();
        for some in vectors.chunks(32) {
            check(op, some);
        }
    }
}

#[test]
fn products_of_24_bits() {
    let u = |a: u32, b: u32| u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff);
    let extend = |v: u32| i64::from(v << 8) << 32 >> 40;
    let s = |a: u32, b: u32| extend(a) * extend(b);
    check_words("mul24.lo.u32 %r0, %r1, %r2", |a, b, _| u(a, b) as u32);
    check_words("mul24.hi.u32 %r0, %r1, %r2", |a, b, _| {
        (u(a, b) >> 16) as u32
    });
    check_words("mul24.hi.s32 %r0, %r1, %r2", |a, b, _| {
        (s(a, b) >> 16) as u32
    });
    check_words("mad24.lo.s32 %r0, %r1, %r2, %r3", |a, b, c| {
        (s(a, b) as u32).wrapping_add(c)
    });
    check_words("mad24.hi.u32 %r0, %r1, %r2, %r3", |a, b, c| {
        ((u(a, b) >> 16) as u32).wrapping_add(c)
    });
    check_words("mad24.hi.sat.s32 %r0, %r1, %r2, %r3", |a, b, c| {
        let sum = i64::from((s(a, b) >> 16) as i32) + signed(c);
        sum.clamp(i32::MIN.into(), i32::MAX.into()) as u32
    });
}

#[test]
fn dot_products_of_bytes_and_halves() {
    let byte = |v: u32, k: u32, s: bool| match s {
        true => i64::from((v >> (8 * k)) as u8 as i8),
        false => i64::from((v >> (8 * k)) as u8),
    };
    let half = |v: u32, k: u32, s: bool| match s {
        true => i64::from((v >> (16 * k)) as u16 as i16),
        false => i64::from((v >> (16 * k)) as u16),
    };
    for (ty, x, y) in [
        ("u32.u32", false, false),
        ("u32.s32", false, true),
        ("s32.u32", true, false),
        ("s32.s32", true, true),
    ] {
        check_words(&format!("dp4a.{ty} %r0, %r1, %r2, %r3"), |a, b, c| {
            let sum: i64 = (0..4).map(|k| byte(a, k, x) * byte(b, k, y)).sum();
            (sum + i64::from(c)) as u32
        });
        for (part, first) in [("lo", 0), ("hi", 2)] {
            let op = format!("dp2a.{part}.{ty} %r0, %r1, %r2, %r3");
            check_words(&op, |a, b, c| {
                let sum: i64 = (0..2).map(|k| half(a, k, x) * byte(b, first + k, y)).sum();
                (sum + i64::from(c)) as u32
            });
        }
    }
}

/// 64 by 64 bits to 128 in 32-bit pieces, as the ISA's example of `madc` does it.
#[test]
fn a_long_product_by_carries() {
    let op = "{ .reg .u32 a0, a1, b0, b1, p0, p1, p2, p3; .reg .u64 low, high;
        mov.b64 {a0, a1}, %d1; mov.b64 {b0, b1}, %d2;
        mul.lo.u32 p0, a0, b0; mul.hi.u32 p1, a0, b0;
        mad.lo.cc.u32 p1, a0, b1, p1; madc.hi.u32 p2, a0, b1, 0;
        mad.lo.cc.u32 p1, a1, b0, p1; madc.hi.cc.u32 p2, a1, b0, p2; addc.u32 p3, 0, 0;
        mad.lo.cc.u32 p2, a1, b1, p2; madc.hi.u32 p3, a1, b1, p3;
        mov.b64 low, {p0, p1}; mov.b64 high, {p2, p3}; xor.b64 %d0, low, high; }";
    let values = [
        0,
        1,
        3,
        1 << 63,
        u64::MAX,
        0xffff_ffff,
        0x1234_5678_9abc_def0,
    ];
    let pairs: Vec<[u64; 2]> = values
        .iter()
        .flat_map(|&a| values.map(|b| [a, b]))
        .collect();
    let vectors: Vec<(&[u64], u64)> = pairs
        .iter()
        .map(|v| {
            let product = u128::from(v[0]) * u128::from(v[1]);
            (&v[..], product as u64 ^ (product >> 64) as u64)
        })
        .collect();
    for some in vectors.chunks(32) {
        check(op, some);
    }
    let high = |a: u64, b: u64| (i128::from(a as i64) * i128::from(b as i64)) >> 64;
    let vectors: Vec<(&[u64], u64)> = pairs
        .iter()
        .map(|v| (&v[..], (high(v[0], v[1]) as u64).wrapping_add(u64::MAX)))
        .collect();
    for some in vectors.chunks(32) {
        check("mad.hi.cc.s64 %d0, %d1, %d2, -1", some);
    }
}

#[test]
fn the_nth_set_bit() {
    // As the ISA's loop writes it.
    fn want(mask: u32, base: i64, offset: i64) -> u32 {
        let set = |at: i64| (0..32).contains(&at) && mask >> at & 1 == 1;
        if offset == 0 {
            return if set(base) { base as u32 } else { u32::MAX };
        }
        let (mut at, mut count) = (base, offset.abs() - 1);
        while (0..32).contains(&at) {
            if set(at) {
                if count == 0 {
                    return at as u32;
                }
                count -= 1;
            }
            at += offset.signum();
        }
        u32::MAX
    }
    for mask in [0, 1, 0x8000_0001, 0xf0f0_1234, u32::MAX] {
        for offset in [-33, -2, -1, 0, 1, 2, 5, 32] {
            let inputs: Vec<[u64; 3]> = (0..32)
                .map(|base| [u64::from(mask), base, i64::cast_unsigned(offset)])
                .collect();
            let vectors: Vec<(&[u64], u64)> = inputs
                .iter()
                .map(|v| (&v[..], want(mask, v[1] as i64, offset).into()))
                .collect();
            check("fns.b32 %r0, %r1, %r2, %r3", &vectors);
        }
    }
}

#[test]
fn extensions_from_any_width() {
    // As the ISA's statements write it.
    let want = |a: u32, b: u32, clamp: bool, signed: bool| {
        let low = b & 31;
        let too_large = b >= 32 && clamp;
        let mask = if too_large { 0 } else { u32::MAX << low };
        let at = low.wrapping_sub(1) & 31;
        let negative = low != 0 && !too_large && signed && a >> at & 1 == 1;
        a & !mask | if negative { mask } else { 0 }
    };
    for (mode, clamp) in [("clamp", true), ("wrap", false)] {
        for (ty, signed) in [("u32", false), ("s32", true)] {
            let op = format!("szext.{mode}.{ty} %r0, %r1, %r2");
            check_words(&op, |a, b, _| want(a, b, clamp, signed));
        }
    }
}

#[test]
fn absolute_differences_of_bytes_and_halves() {
    let of = |word: u32, at: u32, bits: u32, signed: bool| {
        let field = i64::from(word >> (at * bits) & ((1 << bits) - 1));
        let negative = signed && field >> (bits - 1) == 1;
        field - if negative { 1 << bits } else { 0 }
    };
    for (name, bits) in [("vabsdiff2", 16), ("vabsdiff4", 8)] {
        for (ty, signed) in [("u32", false), ("s32", true)] {
            let each = |a: u32, b: u32| {
                (0..32 / bits).map(move |at| {
                    (of(a, at, bits, signed) - of(b, at, bits, signed)).unsigned_abs() as u32
                })
            };
            check_words(
                &format!("{name}.u32.{ty}.{ty} %r0, %r1, %r2, %r3"),
                |a, b, _| {
                    (0..)
                        .zip(each(a, b))
                        .fold(0, |all, (at, v)| all | v << (at * bits))
                },
            );
            check_words(
                &format!("{name}.u32.{ty}.{ty}.add %r0, %r1, %r2, %r3"),
                |a, b, c| each(a, b).fold(c, u32::wrapping_add),
            );
        }
    }
}

#[test]
fn a_lookup_that_also_gives_a_predicate() {
    let word = |a: u32, b: u32, c: u32| (a & b) | (c & (a ^ b));
    for (join, third) in [("and", true), ("or", false)] {
        let op = format!(
            "setp.eq.u32 %p5, %r3, 7; lop3.{join}.b32 %r0|%p6, %r1, %r2, %r3, 0xe8, %p5;
            lop3.{join}.b32 _|%p7, %r1, %r2, %r3, 0xe8, !%p5; @%p6 add.u32 %r0, %r0, 1; @%p7 add.u32 %r0, %r0, 2"
        );
        check_words(&op, |a, b, c| {
            let joined = |q: bool| match third {
                true => word(a, b, c) != 0 && q,
                false => word(a, b, c) != 0 || q,
            };
            let sum = u32::from(joined(c == 7)) + 2 * u32::from(joined(c != 7));
            word(a, b, c).wrapping_add(sum)
        });
    }
}

#[test]
fn comparisons_that_give_words() {
    check_words("set.lt.u32.s32 %r0, %r1, %r2", |a, b, _| {
        if signed(a) < signed(b) { u32::MAX } else { 0 }
    });
    check_words("set.hs.s32.u32 %r0, %r1, %r2", |a, b, _| {
        if a >= b { u32::MAX } else { 0 }
    });
    let op = "setp.eq.u32 %p5, %r3, 7; set.ne.or.u32.u32 %r0, %r1, %r2, %p5";
    check_words(op, |a, b, c| if a != b || c == 7 { u32::MAX } else { 0 });
    let one = u64::from(1.0_f32.to_bits());
    check(
        "set.gt.f32.s32 %f0, %r1, %r2",
        &[(&[2, 1], one), (&[1, 2], 0), (&[u64::MAX, 0], 0)],
    );
}

#[test]
fn a_choice_by_the_sign_of_a_float() {
    let bits = |value: f32| u64::from(value.to_bits());
    check(
        "slct.u32.f32 %r0, %r1, %r2, %f3",
        &[
            (&[5, 6, bits(1.0)], 5),
            (&[5, 6, bits(-0.0)], 5),
            (&[5, 6, bits(-1.0)], 6),
            (&[5, 6, bits(f32::NAN)], 6),
        ],
    );
}

#[test]
fn conversions_rounded_to_one_side() {
    let bits = |value: f32| u64::from(value.to_bits());
    let odd = (1 << 24) + 1_u64;
    for (mode, want) in [("rz", 0), ("rm", 0), ("rp", 2), ("rn", 0)] {
        let want = bits(((1 << 24) + want) as f32);
        check(&format!("cvt.{mode}.f32.u32 %f0, %r1"), &[(&[odd], want)]);
        check(&format!("cvt.{mode}.f32.s64 %f0, %d1"), &[(&[odd], want)]);
    }
    let minus = (-(odd as i64)).cast_unsigned();
    for (mode, want) in [("rz", 0), ("rm", 2), ("rp", 0)] {
        let want = bits(-(((1 << 24) + want) as f32));
        check(&format!("cvt.{mode}.f32.s32 %f0, %r1"), &[(&[minus], want)]);
    }
    // The largest word rounds up to 2^64 to nearest.
    check(
        "cvt.rz.f64.u64 %g0, %d1",
        &[(&[u64::MAX], 18_446_744_073_709_549_568.0_f64.to_bits())],
    );
    let third = (1.0_f64 / 3.0).to_bits();
    let nearest = (1.0_f64 / 3.0) as f32;
    assert!(f64::from(nearest) > 1.0 / 3.0);
    check(
        "cvt.rz.f32.f64 %f0, %g1",
        &[(&[third], bits(nearest.next_down()))],
    );
    check("cvt.rp.f32.f64 %f0, %g1", &[(&[third], bits(nearest))]);
}

#[test]
fn conversions_that_saturate() {
    let bits = |value: f32| u64::from(value.to_bits());
    check(
        "cvt.sat.f32.f32 %f0, %f1",
        &[
            (&[bits(1.5)], bits(1.0)),
            (&[bits(-0.5)], 0),
            (&[bits(0.25)], bits(0.25)),
            (&[bits(f32::NAN)], 0),
        ],
    );
    check(
        "cvt.rni.sat.u8.f32 %r0, %f1",
        &[(&[bits(300.0)], 255), (&[bits(-3.0)], 0), (&[bits(2.5)], 2)],
    );
}

#[test]
fn clocks_go_on_and_have_two_halves() {
    let (got, _) = run(
        "mov.u64 %d1, %clock64; mov.u64 %d2, %globaltimer; mov.u32 %r1, %clock; mov.u32 %r2, %clock_hi;
        mov.u32 %r3, %globaltimer_lo; mov.u32 %r4, %globaltimer_hi;
        setp.lt.u64 %p1, %d1, %d2; cvt.u32.u64 %r5, %d2; setp.lt.and.u32 %p1, %r5, %r1, %p1;
        setp.lt.and.u32 %p1, %r1, %r3, %p1; or.b32 %r2, %r2, %r4; setp.eq.and.u32 %p1, %r2, 0, %p1;
        selp.u32 %r1, 1, 0, %p1; st.global.u32 [%d30], %r1;",
        32,
        32,
    );
    assert_eq!(got, [1; 32]);
}
