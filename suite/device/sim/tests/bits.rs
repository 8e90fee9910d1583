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
fn logic() {
    check("and.b32 %r0, %r1, %r2", &[(&[0b1100, 0b1010], 0b1000)]);
    check("or.b64 %d0, %d1, %d2", &[(&[1 << 63, 1], 1 << 63 | 1)]);
    check("xor.b32 %r0, %r1, %r2", &[(&[0b1100, 0b1010], 0b0110)]);
    check("not.b32 %r0, %r1", &[(&[1], 0xffff_fffe)]);
    check("not.b16 %h0, %h1", &[(&[1], 0xfffe)]);
    check("cnot.b32 %r0, %r1", &[(&[0], 1), (&[9], 0)]);
    check("and.pred %p0, %p1, %p2", &[(&[1, 1], 1), (&[1, 0], 0)]);
    check("or.pred %p0, %p1, %p2", &[(&[0, 0], 0), (&[1, 0], 1)]);
    check("xor.pred %p0, %p1, %p2", &[(&[1, 1], 0), (&[1, 0], 1)]);
    check("not.pred %p0, %p1", &[(&[0], 1), (&[1], 0)]);
    check("mov.pred %p0, -1", &[(&[], 1)]);
    // For a = 0xf0, b = 0xcc, c = 0xaa the table of a function is its own value.
    check(
        "lop3.b32 %r0, %r1, %r2, %r3, 0x96",
        &[(&[0xf0, 0xcc, 0xaa], 0x96), (&[0xff, 0, 0], 0xff)],
    );
    check(
        "lop3.b32 %r0, %r1, %r2, %r3, 0xe8",
        &[(&[0xf0, 0xcc, 0xaa], 0xe8)],
    );
}

#[test]
fn shifts_past_the_width_clamp() {
    check(
        "shl.b32 %r0, %r1, %r2",
        &[
            (&[1, 31], MIN32),
            (&[1, 32], 0),
            (&[1, ONES32], 0),
            (&[5, 0], 5),
        ],
    );
    check("shl.b64 %d0, %d1, %r2", &[(&[1, 63], MIN64), (&[1, 64], 0)]);
    check(
        "shl.b16 %h0, %h1, %r2",
        &[(&[1, 15], 0x8000), (&[1, 16], 0)],
    );
    check(
        "shr.u32 %r0, %r1, %r2",
        &[(&[MIN32, 31], 1), (&[MIN32, 32], 0)],
    );
    check(
        "shr.s32 %r0, %r1, %r2",
        &[
            (&[MIN32, 31], ONES32),
            (&[MIN32, 99], ONES32),
            (&[64, 3], 8),
        ],
    );
    check(
        "shr.b64 %d0, %d1, %r2",
        &[(&[MIN64, 63], 1), (&[MIN64, 64], 0)],
    );
    check("shr.s64 %d0, %d1, %r2", &[(&[MIN64, 200], ONES64)]);
    check(
        "shf.l.wrap.b32 %r0, %r1, %r2, %r3",
        &[(&[MIN32, 1, 1], 3), (&[7, 9, 32], 9)],
    );
    check(
        "shf.l.clamp.b32 %r0, %r1, %r2, %r3",
        &[(&[7, 9, 32], 7), (&[7, 9, 77], 7)],
    );
    check(
        "shf.r.wrap.b32 %r0, %r1, %r2, %r3",
        &[(&[2, 1, 1], MIN32 | 1), (&[7, 9, 32], 7)],
    );
    check("shf.r.clamp.b32 %r0, %r1, %r2, %r3", &[(&[7, 9, 32], 9)]);
}

#[test]
fn bit_counts_and_fields() {
    check(
        "popc.b32 %r0, %r1",
        &[(&[0], 0), (&[ONES32], 32), (&[0x8001], 2)],
    );
    check("popc.b64 %r0, %d1", &[(&[ONES64], 64)]);
    check("clz.b32 %r0, %r1", &[(&[0], 32), (&[1], 31), (&[MIN32], 0)]);
    check("clz.b64 %r0, %d1", &[(&[0], 64), (&[1], 63)]);
    check("brev.b32 %r0, %r1", &[(&[1], MIN32), (&[0xb], 0xd000_0000)]);
    check("brev.b64 %d0, %d1", &[(&[1], MIN64)]);
    check(
        "bfind.u32 %r0, %r1",
        &[(&[0], ONES32), (&[1], 0), (&[0x90], 7)],
    );
    check(
        "bfind.s32 %r0, %r1",
        &[(&[ONES32], ONES32), (&[w(-2)], 0), (&[4], 2)],
    );
    check(
        "bfind.shiftamt.u32 %r0, %r1",
        &[(&[1], 31), (&[MIN32], 0), (&[0], ONES32)],
    );
    check("bfind.u64 %r0, %d1", &[(&[1 << 40], 40)]);
    check(
        "bfe.u32 %r0, %r1, %r2, %r3",
        &[
            (&[0xabcd_1234, 8, 8], 0x12),
            (&[ONES32, 28, 8], 15),
            (&[7, 0, 0], 0),
        ],
    );
    let signed: &[(&[u64], u64)] = &[
        (&[0x0000_0f00, 8, 4], ONES32),
        (&[0x0700, 8, 4], 7),
        (&[MIN32, 28, 8], 0xffff_fff8),
    ];
    check("bfe.s32 %r0, %r1, %r2, %r3", signed);
    check(
        "bfe.s32 %r0, %r1, %r2, %r3",
        &[(&[MIN32, 40, 4], ONES32), (&[MIN32, 0, 0], 0)],
    );
    check(
        "bfe.u64 %d0, %d1, %r2, %r3",
        &[(&[0xabcd << 40, 40, 16], 0xabcd)],
    );
    check(
        "bfi.b32 %r0, %r1, %r2, %r3, %r4",
        &[
            (&[0xff, 0, 4, 4], 0xf0),
            (&[0xff, 1, 40, 4], 1),
            (&[0xff, 1, 3, 0], 1),
        ],
    );
    check(
        "bfi.b32 %r0, %r1, %r2, %r3, %r4",
        &[(&[ONES32, 0, 28, 99], 0xf000_0000)],
    );
    check(
        "bfi.b64 %d0, %d1, %d2, %r3, %r4",
        &[(&[0xff, 0, 60, 8], 0xf << 60)],
    );
    check(
        "bmsk.clamp.b32 %r0, %r1, %r2",
        &[
            (&[4, 8], 0xff0),
            (&[30, 8], 0xc000_0000),
            (&[32, 1], 0),
            (&[0, 99], ONES32),
        ],
    );
}

#[test]
fn byte_permutations() {
    let (a, b) = (0x3322_1100, 0x7766_5584);
    check("prmt.b32 %r0, %r1, %r2, 0x7531", &[(&[a, b], 0x7755_3311)]);
    check("prmt.b32 %r0, %r1, %r2, 0x00c4", &[(&[a, b], 0x0000_ff84)]);
    check(
        "prmt.b32.f4e %r0, %r1, %r2, %r3",
        &[(&[a, b, 1], 0x8433_2211)],
    );
    check(
        "prmt.b32.b4e %r0, %r1, %r2, %r3",
        &[(&[a, b, 0], 0x5566_7700)],
    );
    check(
        "prmt.b32.rc8 %r0, %r1, %r2, %r3",
        &[(&[a, b, 2], 0x2222_2222)],
    );
    check(
        "prmt.b32.ecl %r0, %r1, %r2, %r3",
        &[(&[a, b, 1], 0x3322_1111)],
    );
    check(
        "prmt.b32.ecr %r0, %r1, %r2, %r3",
        &[(&[a, b, 2], 0x2222_1100)],
    );
    check(
        "prmt.b32.rc16 %r0, %r1, %r2, %r3",
        &[(&[a, b, 1], 0x3322_3322)],
    );
}

#[test]
fn moves_pack_and_unpack() {
    check("mov.b64 %d0, {%r1, %r2}", &[(&[1, 2], 0x2_0000_0001)]);
    check("mov.b64 {%r5, %r0}, %d1", &[(&[0x2_0000_0001], 2)]);
    check("mov.b64 {%r0, _}, %d1", &[(&[0x2_0000_0001], 1)]);
    check("mov.b32 %r0, {%h1, %h2}", &[(&[0xffff, 2], 0x2_ffff)]);
    check("mov.b32 {%h5, %h0}, %r1", &[(&[0x8123_4567], 0x8123)]);
    check("mov.u32 %r0, 0xFFFFFFFFU", &[(&[], ONES32)]);
    check("mov.u64 %d0, -2", &[(&[], l(-2))]);
    check("mov.f32 %f0, 0f3F800000", &[(&[], 0x3f80_0000)]);
    check(
        "mov.f64 %g0, 0dBFF0000000000000",
        &[(&[], (-1.0_f64).to_bits())],
    );
    check("mov.u32 %r0, WARP_SZ", &[(&[], 32)]);
}

#[test]
fn fields_at_the_edges_of_64_bits() {
    check(
        "bfe.s64 %d0, %d1, %r2, %r3",
        &[
            (&[MIN64, 63, 1], ONES64),
            (&[MIN64, 70, 4], ONES64),
            (&[0xf0, 4, 4], ONES64),
            (&[MIN64, 0, 0], 0),
            (&[5, 0, 64], 5),
            (&[MIN64 | 1, 0, 200], MIN64 | 1),
        ],
    );
    check(
        "bfe.u32 %r0, %r1, %r2, %r3",
        &[(&[ONES32, 256, 4], 15), (&[ONES32, 4, 256], 0)],
    );
    check(
        "bfi.b64 %d0, %d1, %d2, %r3, %r4",
        &[(&[1, 0, 63, 1], MIN64), (&[1, 7, 64, 1], 7)],
    );
    check("bfind.s64 %r0, %d1", &[(&[l(-1)], ONES32), (&[MIN64], 62)]);
    check("bfind.shiftamt.s64 %r0, %d1", &[(&[1], 63), (&[MIN64], 1)]);
    check("shl.b32 %r0, %r1, %r2", &[(&[3, 64], 0)]);
    check("shr.s16 %h0, %h1, %r2", &[(&[0x8000, 40], 0xffff)]);
}
