use super::check;

fn f(value: f32) -> u64 {
    u64::from(value.to_bits())
}

fn g(value: f64) -> u64 {
    value.to_bits()
}

/// A single-precision NaN with a payload, and the one that arithmetic gives.
const NAN: u64 = 0xffc1_2345;
const CANONICAL: u64 = 0x7fff_ffff;

#[test]
fn arithmetic_rounds_to_nearest_even() {
    check(
        "add.f32 %f0, %f1, %f2",
        &[
            (&[f(1.0), f(2.0)], f(3.0)),
            (&[f(16_777_216.0), f(1.0)], f(16_777_216.0)),
        ],
    );
    check(
        "add.rn.f32 %f0, %f1, %f2",
        &[
            (&[NAN, f(1.0)], CANONICAL),
            (&[f(f32::MAX), f(f32::MAX)], f(f32::INFINITY)),
        ],
    );
    check("sub.f64 %g0, %g1, %g2", &[(&[g(1.0), g(0.25)], g(0.75))]);
    check(
        "mul.f32 %f0, %f1, %f2",
        &[
            (&[f(-2.0), f(0.0)], f(-0.0)),
            (&[f(1e-30), f(1e-15)], f(1e-45)),
        ],
    );
    // The product alone rounds to 1; one rounding keeps the difference.
    let e = f32::EPSILON;
    check(
        "fma.rn.f32 %f0, %f1, %f2, %f3",
        &[(&[f(1.0 + e), f(1.0 - e), f(-1.0)], f(-e * e))],
    );
    check(
        "fma.rn.f64 %g0, %g1, %g2, %g3",
        &[(&[g(3.0), g(4.0), g(0.5)], g(12.5))],
    );
    check(
        "div.rn.f32 %f0, %f1, %f2",
        &[
            (&[f(1.0), f(3.0)], 0x3eaa_aaab),
            (&[f(0.0), f(0.0)], CANONICAL),
        ],
    );
    check(
        "sqrt.rn.f64 %g0, %g1",
        &[(&[g(2.0)], 0x3ff6_a09e_667f_3bcd)],
    );
    check(
        "rcp.rn.f32 %f0, %f1",
        &[(&[f(4.0)], f(0.25)), (&[f(-0.0)], f(f32::NEG_INFINITY))],
    );
    check("neg.f32 %f0, %f1", &[(&[f(0.0)], f(-0.0))]);
    check("abs.f64 %g0, %g1", &[(&[g(-2.5)], g(2.5))]);
}

#[test]
fn extremes_prefer_numbers_and_order_zeros() {
    check(
        "min.f32 %f0, %f1, %f2",
        &[
            (&[f(0.0), f(-0.0)], f(-0.0)),
            (&[f(-0.0), f(0.0)], f(-0.0)),
            (&[NAN, f(3.0)], f(3.0)),
        ],
    );
    check(
        "max.f32 %f0, %f1, %f2",
        &[
            (&[f(-0.0), f(0.0)], f(0.0)),
            (&[f(3.0), NAN], f(3.0)),
            (&[NAN, NAN], CANONICAL),
        ],
    );
    check("max.f64 %g0, %g1, %g2", &[(&[g(1.0), g(2.0)], g(2.0))]);
}

#[test]
fn comparisons_with_nan_are_false_unless_unordered() {
    check(
        "setp.eq.f32 %p0, %f1, %f2",
        &[(&[f(0.0), f(-0.0)], 1), (&[NAN, NAN], 0)],
    );
    check(
        "setp.ne.f32 %p0, %f1, %f2",
        &[(&[f(1.0), f(2.0)], 1), (&[NAN, f(1.0)], 0)],
    );
    check(
        "setp.neu.f32 %p0, %f1, %f2",
        &[(&[NAN, f(1.0)], 1), (&[f(1.0), f(1.0)], 0)],
    );
    check(
        "setp.lt.f64 %p0, %g1, %g2",
        &[(&[g(1.0), g(2.0)], 1), (&[g(f64::NAN), g(2.0)], 0)],
    );
    check(
        "setp.ltu.f32 %p0, %f1, %f2",
        &[(&[NAN, f(2.0)], 1), (&[f(3.0), f(2.0)], 0)],
    );
    check(
        "setp.geu.f32 %p0, %f1, %f2",
        &[(&[NAN, f(2.0)], 1), (&[f(1.0), f(2.0)], 0)],
    );
    check(
        "setp.nan.f32 %p0, %f1, %f2",
        &[(&[NAN, f(2.0)], 1), (&[f(1.0), f(2.0)], 0)],
    );
    check(
        "setp.num.f32 %p0, %f1, %f2",
        &[(&[NAN, f(2.0)], 0), (&[f(1.0), f(2.0)], 1)],
    );
}

#[test]
fn conversions_saturate_and_round_as_told() {
    check(
        "cvt.rzi.s32.f32 %r0, %f1",
        &[
            (&[f(-1.9)], 0xffff_ffff),
            (&[f(3e9)], 0x7fff_ffff),
            (&[NAN], 0),
        ],
    );
    check(
        "cvt.rzi.u32.f32 %r0, %f1",
        &[(&[f(-1.0)], 0), (&[f(4e9)], 4_000_000_000)],
    );
    check(
        "cvt.rni.s32.f32 %r0, %f1",
        &[(&[f(2.5)], 2), (&[f(3.5)], 4)],
    );
    check("cvt.rmi.s32.f64 %r0, %g1", &[(&[g(-1.5)], 0xffff_fffe)]);
    check("cvt.rpi.s64.f64 %d0, %g1", &[(&[g(1.5)], 2)]);
    check(
        "cvt.rn.f32.s32 %f0, %r1",
        &[(&[0xffff_ffff], f(-1.0)), (&[16_777_217], f(16_777_216.0))],
    );
    check(
        "cvt.rn.f32.u64 %f0, %d1",
        &[(&[1 << 63], f(9_223_372_036_854_775_808.0))],
    );
    check("cvt.rn.f64.s32 %g0, %r1", &[(&[0xffff_fffe], g(-2.0))]);
    check("cvt.f64.f32 %g0, %f1", &[(&[f(1.5)], g(1.5))]);
    check(
        "cvt.rn.f32.f64 %f0, %g1",
        &[(&[g(0.1)], f(0.1)), (&[g(1e300)], f(f32::INFINITY))],
    );
    check("cvt.rmi.f32.f32 %f0, %f1", &[(&[f(-0.5)], f(-1.0))]);
}

#[test]
fn a_nan_is_zero_only_between_single_precision_and_32_bits() {
    let quiet = f64::NAN.to_bits();
    check("cvt.rzi.u32.f32 %r0, %f1", &[(&[NAN], 0)]);
    check("cvt.rzi.s64.f32 %d0, %f1", &[(&[NAN], 1 << 63)]);
    check("cvt.rzi.u64.f32 %d0, %f1", &[(&[NAN], 1 << 63)]);
    check("cvt.rni.s32.f64 %r0, %g1", &[(&[quiet], 1 << 31)]);
    check("cvt.rzi.u32.f64 %r0, %g1", &[(&[quiet], 1 << 31)]);
    check("cvt.rmi.s64.f64 %d0, %g1", &[(&[quiet], 1 << 63)]);
    check(
        "cvt.rpi.u64.f64 %d0, %g1",
        &[(&[quiet], 1 << 63), (&[g(-1.0)], 0), (&[g(1e30)], u64::MAX)],
    );
}
