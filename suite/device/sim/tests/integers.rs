use super::check;

/// The low 32 bits, as a register holds them.
const fn w(value: i64) -> u64 {
    value as u32 as u64
}

const fn l(value: i64) -> u64 {
    value as u64
}

const MIN32: u64 = 0x8000_0000;
const MIN64: u64 = 1 << 63;
const ONES32: u64 = 0xffff_ffff;
const ONES64: u64 = u64::MAX;

#[test]
fn addition_and_subtraction() {
    check(
        "add.s32 %r0, %r1, %r2",
        &[(&[1, 2], 3), (&[ONES32, 1], 0), (&[0x7fff_ffff, 1], MIN32)],
    );
    check(
        "add.u64 %d0, %d1, %d2",
        &[(&[ONES64, 2], 1), (&[ONES32, 1], 1 << 32)],
    );
    check(
        "add.s16 %h0, %h1, %h2",
        &[(&[0xffff, 2], 1), (&[0x7fff, 1], 0x8000)],
    );
    check(
        "add.sat.s32 %r0, %r1, %r2",
        &[(&[0x7fff_ffff, 1], 0x7fff_ffff), (&[MIN32, ONES32], MIN32)],
    );
    check(
        "sub.s32 %r0, %r1, %r2",
        &[(&[1, 2], ONES32), (&[MIN32, 1], 0x7fff_ffff)],
    );
    check("sub.s64 %d0, %d1, %d2", &[(&[0, 1], ONES64)]);
    check("add.s32 %r0, %r1, -7", &[(&[3], w(-4))]);
    check("neg.s32 %r0, %r1", &[(&[5], w(-5)), (&[MIN32], MIN32)]);
    check("abs.s32 %r0, %r1", &[(&[w(-5)], 5), (&[MIN32], MIN32)]);
    check("abs.s64 %d0, %d1", &[(&[l(-5)], 5)]);
}

#[test]
fn carries_run_through_the_condition_code() {
    let add = "add.cc.u32 %r5, %r1, %r2; addc.u32 %r0, %r3, 0";
    check(add, &[(&[ONES32, 1, 4], 5), (&[ONES32, 0, 4], 4)]);
    let sub = "sub.cc.u64 %d5, %d1, %d2; subc.u64 %d0, %d3, 0";
    check(sub, &[(&[0, 1, 4], 3), (&[1, 1, 4], 4)]);
    let chain = "add.cc.u32 %r5, %r1, %r2; addc.cc.u32 %r6, %r1, %r2; addc.u32 %r0, %r3, 0";
    check(chain, &[(&[ONES32, 0, 0], 0), (&[ONES32, ONES32, 0], 1)]);
}

#[test]
fn products() {
    check(
        "mul.lo.s32 %r0, %r1, %r2",
        &[(&[0x1_0001, 0x1_0001], 0x2_0001), (&[w(-3), 5], w(-15))],
    );
    check(
        "mul.hi.u32 %r0, %r1, %r2",
        &[(&[ONES32, ONES32], 0xffff_fffe)],
    );
    check(
        "mul.hi.s32 %r0, %r1, %r2",
        &[(&[ONES32, ONES32], 0), (&[MIN32, 2], ONES32)],
    );
    check(
        "mul.hi.u64 %d0, %d1, %d2",
        &[(&[ONES64, ONES64], ONES64 - 1), (&[1 << 63, 2], 1)],
    );
    check(
        "mul.hi.s64 %d0, %d1, %d2",
        &[(&[ONES64, ONES64], 0), (&[MIN64, 2], ONES64)],
    );
    check(
        "mul.wide.s32 %d0, %r1, %r2",
        &[(&[w(-2), 3], l(-6)), (&[MIN32, MIN32], 1 << 62)],
    );
    check(
        "mul.wide.u32 %d0, %r1, %r2",
        &[(&[ONES32, ONES32], 0xffff_fffe_0000_0001)],
    );
    check(
        "mul.wide.s16 %r0, %h1, %h2",
        &[(&[0xffff, 2], w(-2)), (&[0x8000, 0x8000], 1 << 30)],
    );
    check(
        "mul.wide.u16 %r0, %h1, %h2",
        &[(&[0xffff, 0xffff], 0xfffe_0001)],
    );
    check(
        "mul.lo.s64 %d0, %d1, %d2",
        &[(&[l(-3), 5], l(-15)), (&[1 << 32, 1 << 32], 0)],
    );
    check(
        "mad.lo.s32 %r0, %r1, %r2, %r3",
        &[(&[3, 4, 5], 17), (&[ONES32, 2, 1], ONES32)],
    );
    check("mad.hi.u32 %r0, %r1, %r2, %r3", &[(&[MIN32, 4, 5], 7)]);
    check(
        "mad.wide.u32 %d0, %r1, %r2, %d3",
        &[(&[ONES32, 2, 5], 0x2_0000_0003)],
    );
    check("mad.wide.s32 %d0, %r1, %r2, %d3", &[(&[w(-1), 2, 5], 3)]);
    check(
        "sad.s32 %r0, %r1, %r2, %r3",
        &[(&[w(-3), 4, 10], 17), (&[MIN32, 0x7fff_ffff, 1], 0)],
    );
    check("sad.u32 %r0, %r1, %r2, %r3", &[(&[3, 7, 10], 14)]);
    check(
        "dp4a.u32.u32 %r0, %r1, %r2, %r3",
        &[(&[0x0403_0201, 0xff01_0102, 10], 2 + 2 + 3 + 1020 + 10)],
    );
    check(
        "dp4a.s32.s32 %r0, %r1, %r2, %r3",
        &[(&[0x0000_00ff, 0x0000_0005, 0], w(-5))],
    );
}

#[test]
fn division_by_zero_gives_all_ones() {
    check(
        "div.u32 %r0, %r1, %r2",
        &[(&[7, 2], 3), (&[7, 0], ONES32), (&[ONES32, 1], ONES32)],
    );
    check(
        "div.s32 %r0, %r1, %r2",
        &[
            (&[w(-7), 2], w(-3)),
            (&[7, 0], ONES32),
            (&[MIN32, ONES32], MIN32),
        ],
    );
    check(
        "rem.s32 %r0, %r1, %r2",
        &[
            (&[w(-7), 2], w(-1)),
            (&[7, w(-2)], 1),
            (&[MIN32, ONES32], 0),
        ],
    );
    check("rem.u32 %r0, %r1, %r2", &[(&[7, 4], 3), (&[7, 0], ONES32)]);
    check(
        "div.u64 %d0, %d1, %d2",
        &[(&[1 << 40, 1 << 8], 1 << 32), (&[1, 0], ONES64)],
    );
    check(
        "div.s64 %d0, %d1, %d2",
        &[(&[l(-9), 4], l(-2)), (&[MIN64, ONES64], MIN64)],
    );
    check("rem.s64 %d0, %d1, %d2", &[(&[l(-9), 4], l(-1))]);
    check("div.s16 %h0, %h1, %h2", &[(&[0xfff9, 2], 0xfffd)]);
}

#[test]
fn extremes_respect_the_sign() {
    check("min.s32 %r0, %r1, %r2", &[(&[ONES32, 1], ONES32)]);
    check("min.u32 %r0, %r1, %r2", &[(&[ONES32, 1], 1)]);
    check("max.s32 %r0, %r1, %r2", &[(&[MIN32, 1], 1)]);
    check("max.u64 %d0, %d1, %d2", &[(&[MIN64, 1], MIN64)]);
    check("max.s64 %d0, %d1, %d2", &[(&[MIN64, 1], 1)]);
}

#[test]
fn comparisons_by_sign_and_combination() {
    check(
        "setp.lt.s32 %p0, %r1, %r2",
        &[(&[ONES32, 0], 1), (&[0, 0], 0)],
    );
    check(
        "setp.lt.u32 %p0, %r1, %r2",
        &[(&[ONES32, 0], 0), (&[0, 1], 1)],
    );
    check(
        "setp.ge.s64 %p0, %d1, %d2",
        &[(&[MIN64, 0], 0), (&[0, 0], 1)],
    );
    check(
        "setp.hi.u64 %p0, %d1, %d2",
        &[(&[MIN64, 0], 1), (&[0, 0], 0)],
    );
    check(
        "setp.gt.s16 %p0, %h1, %h2",
        &[(&[0xffff, 0], 0), (&[1, 0], 1)],
    );
    check("setp.eq.b32 %p0, %r1, 5", &[(&[5], 1), (&[6], 0)]);
    check(
        "setp.eq.and.s32 %p0, %r1, 5, %p2",
        &[(&[5, 1], 1), (&[5, 0], 0)],
    );
    check(
        "setp.eq.or.s32 %p0, %r1, 5, %p2",
        &[(&[6, 1], 1), (&[6, 0], 0)],
    );
    check(
        "setp.eq.xor.s32 %p0, %r1, 5, !%p2",
        &[(&[5, 1], 1), (&[5, 0], 0)],
    );
    check(
        "setp.eq.and.s32 %p5|%p0, %r1, 5, %p2",
        &[(&[6, 1], 1), (&[6, 0], 0), (&[5, 1], 0)],
    );
    check(
        "selp.b32 %r0, %r1, %r2, %p3",
        &[(&[1, 2, 1], 1), (&[1, 2, 0], 2)],
    );
    check(
        "selp.b64 %d0, %d1, -1, %p2",
        &[(&[1 << 40, 1], 1 << 40), (&[1, 0], ONES64)],
    );
    check(
        "slct.b32.s32 %r0, %r1, %r2, %r3",
        &[(&[1, 2, 0], 1), (&[1, 2, ONES32], 2)],
    );
}

#[test]
fn integer_conversions() {
    check("cvt.s64.s32 %d0, %r1", &[(&[w(-2)], l(-2))]);
    check("cvt.u64.u32 %d0, %r1", &[(&[w(-2)], w(-2))]);
    check("cvt.u32.u64 %r0, %d1", &[(&[0x1_2345_6789], 0x2345_6789)]);
    check(
        "cvt.s32.s8 %r0, %r1",
        &[(&[0x1280], w(-128)), (&[0x7f], 0x7f)],
    );
    check("cvt.u32.u8 %r0, %r1", &[(&[0x1280], 0x80)]);
    check("cvt.u16.u32 %h0, %r1", &[(&[0x1_2345], 0x2345)]);
    check("cvt.s32.s16 %r0, %h1", &[(&[0x8000], w(-32768))]);
    check("cvt.u32.u16 %r0, %h1", &[(&[0x8000], 0x8000)]);
    check(
        "cvt.sat.u8.s32 %r0, %r1",
        &[(&[300], 255), (&[w(-4)], 0), (&[7], 7)],
    );
    check(
        "cvt.sat.s32.s64 %r0, %d1",
        &[(&[l(-1) << 40], MIN32), (&[1 << 40], 0x7fff_ffff)],
    );
}

#[test]
fn a_conversion_takes_the_low_part_of_a_wide_register() {
    check("cvt.s64.s8 %d0, %d1", &[(&[0x1280], l(-128))]);
    check("cvt.s64.s16 %d0, %d1", &[(&[0x1_8000], l(-32768))]);
    check("cvt.s64.s32 %d0, %d1", &[(&[0x7_8000_0000], l(-1) << 31)]);
    check("cvt.u64.u32 %d0, %d1", &[(&[ONES64], ONES32)]);
    check("cvt.u32.u8 %r0, %d1", &[(&[0x1280], 0x80)]);
}

#[test]
fn narrow_integers_wrap_and_extend() {
    check("mul.lo.s16 %h0, %h1, %h2", &[(&[0x100, 0x101], 0x100)]);
    check("mul.hi.u16 %h0, %h1, %h2", &[(&[0xffff, 0xffff], 0xfffe)]);
    check("mul.hi.s16 %h0, %h1, %h2", &[(&[0x8000, 2], 0xffff)]);
    check(
        "mad.lo.s16 %h0, %h1, %h2, %h3",
        &[(&[3, 0xfffe, 1], 0xfffb)],
    );
    check("neg.s16 %h0, %h1", &[(&[0x8000], 0x8000)]);
    check("abs.s16 %h0, %h1", &[(&[0x8000], 0x8000), (&[0xffff], 1)]);
    check("min.s16 %h0, %h1, %h2", &[(&[0xffff, 1], 0xffff)]);
    check("max.u16 %h0, %h1, %h2", &[(&[0xffff, 1], 0xffff)]);
    check("neg.s64 %d0, %d1", &[(&[MIN64], MIN64)]);
    check("abs.s64 %d0, %d1", &[(&[MIN64], MIN64)]);
    check(
        "mul24.lo.s32 %r0, %r1, %r2",
        &[(&[0x80_0000, 2], w(-0x100_0000)), (&[0x100_0003, 5], 15)],
    );
    check(
        "mul24.lo.u32 %r0, %r1, %r2",
        &[(&[0xff80_0000, 2], 0x100_0000)],
    );
}

#[test]
fn the_second_predicate_of_a_comparison_may_be_the_only_one() {
    check("setp.lt.s32 _|%p0, %r1, %r2", &[(&[1, 2], 0), (&[2, 1], 1)]);
    check("setp.lt.s32 %p0|_, %r1, %r2", &[(&[1, 2], 1), (&[2, 1], 0)]);
    // The second is the negated comparison, joined with the same third predicate.
    check(
        "setp.lt.or.s32 %p5|%p0, %r1, %r2, !%p3",
        &[(&[1, 2, 1], 0), (&[1, 2, 0], 1), (&[2, 1, 1], 1)],
    );
}
