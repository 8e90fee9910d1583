use super::run;

/// Runs one warp; each lane stores `%r1`.
fn warp(body: &str) -> Vec<u32> {
    let (got, findings) = run(&format!("{body}\nst.global.u32 [%d30], %r1;"), 32, 32);
    assert_eq!(findings, []);
    got
}

fn lanes(value: impl Fn(u32) -> u32) -> Vec<u32> {
    (0..32).map(value).collect()
}

#[test]
fn shuffles_by_mode_and_segment() {
    let up = warp("shfl.sync.up.b32 %r1|%p1, %r31, 3, 0, -1; @!%p1 add.u32 %r1, %r1, 100;");
    assert_eq!(up, lanes(|l| if l >= 3 { l - 3 } else { l + 100 }));
    let down = warp("shfl.sync.down.b32 %r1|%p1, %r31, 2, 31, -1; @!%p1 add.u32 %r1, %r1, 100;");
    assert_eq!(down, lanes(|l| if l < 30 { l + 2 } else { l + 100 }));
    assert_eq!(
        warp("shfl.sync.bfly.b32 %r1, %r31, 5, 31, -1;"),
        lanes(|l| l ^ 5)
    );
    assert_eq!(warp("shfl.sync.idx.b32 %r1, %r31, 9, 31, -1;"), [9; 32]);
    // Segments of eight: c = (32 - 8) << 8, with the clamp of the mode.
    assert_eq!(
        warp("shfl.sync.idx.b32 %r1, %r31, 2, 0x181f, -1;"),
        lanes(|l| l / 8 * 8 + 2)
    );
    let up = warp("shfl.sync.up.b32 %r1, %r31, 1, 0x1800, -1;");
    assert_eq!(up, lanes(|l| if l % 8 == 0 { l } else { l - 1 }));
    let down = warp("shfl.sync.down.b32 %r1, %r31, 1, 0x181f, -1;");
    assert_eq!(down, lanes(|l| if l % 8 == 7 { l } else { l + 1 }));
}

#[test]
fn votes() {
    let prepare = "setp.lt.u32 %p1, %r31, 5;";
    assert_eq!(
        warp(&format!("{prepare} vote.sync.ballot.b32 %r1, %p1, -1;")),
        [31; 32]
    );
    assert_eq!(
        warp(&format!("{prepare} vote.sync.ballot.b32 %r1, !%p1, -1;")),
        [!31; 32]
    );
    let word = |op: &str| {
        warp(&format!(
            "{prepare} vote.sync.{op}.pred %p2, %p1, -1; selp.u32 %r1, 1, 0, %p2;"
        ))[0]
    };
    assert_eq!((word("all"), word("any"), word("uni")), (0, 1, 0));
    let prepare = "setp.lt.u32 %p1, %r31, 32;";
    let word = |op: &str| {
        warp(&format!(
            "{prepare} vote.sync.{op}.pred %p2, %p1, -1; selp.u32 %r1, 1, 0, %p2;"
        ))[0]
    };
    assert_eq!((word("all"), word("any"), word("uni")), (1, 1, 1));
}

#[test]
fn matches() {
    let any = warp("and.b32 %r2, %r31, 1; match.any.sync.b32 %r1, %r2, -1;");
    assert_eq!(
        any,
        lanes(|l| if l % 2 == 0 { 0x5555_5555 } else { 0xaaaa_aaaa })
    );
    let all =
        warp("mov.u64 %d1, 7; match.all.sync.b64 %r1|%p1, %d1, -1; @%p1 add.u32 %r1, %r1, 3;");
    assert_eq!(all, [2; 32]);
    assert_eq!(
        warp("match.all.sync.b32 %r1|%p1, %r31, -1; @%p1 add.u32 %r1, %r1, 3;"),
        [0; 32]
    );
}

#[test]
fn special_registers() {
    assert_eq!(warp("mov.u32 %r1, %laneid;"), lanes(|l| l));
    assert_eq!(warp("mov.u32 %r1, %lanemask_lt;"), lanes(|l| (1 << l) - 1));
    assert_eq!(warp("mov.u32 %r1, %lanemask_ge;"), lanes(|l| u32::MAX << l));
    assert_eq!(
        warp("mov.u32 %r1, %lanemask_gt;"),
        lanes(|l| if l == 31 { 0 } else { u32::MAX << (l + 1) })
    );
    assert_eq!(warp("mov.u32 %r1, %ntid.x;"), [32; 32]);
    let (got, _) = run(
        "mov.u32 %r1, %warpid; mov.u32 %r2, %nwarpid; mad.lo.u32 %r1, %r2, 10, %r1; st.global.u32 [%d30], %r1;",
        40,
        40,
    );
    assert_eq!((got[31], got[32]), (20, 21));
}

#[test]
fn barrier_reductions_count_the_block() {
    let (got, findings) = run(
        "setp.lt.u32 %p1, %r31, 40;
        bar.red.popc.u32 %r1, 0, %p1;
        bar.red.or.pred %p2, 0, %p1;
        bar.red.and.pred %p3, 1, !%p1;
        @%p2 add.u32 %r1, %r1, 1000;
        @%p3 add.u32 %r1, %r1, 1000;
        st.global.u32 [%d30], %r1;",
        96,
        96,
    );
    assert_eq!(got, [1040; 96]);
    assert_eq!(findings, []);
}

#[test]
fn a_named_barrier_takes_the_threads_it_counts() {
    // Warp 1 produces and goes on; warp 0 waits for it.
    let (got, findings) = run(
        ".shared .u32 box;
        setp.ge.u32 %p1, %r31, 32;
        @%p1 bra PRODUCE;
        bar.sync 3, 64;
        ld.shared.u32 %r1, [box];
        st.global.u32 [%d30], %r1;
        bra DONE;
        PRODUCE: mov.u32 %r2, 77; setp.eq.u32 %p2, %r31, 32; @%p2 st.shared.u32 [box], %r2;
        bar.arrive 3, 64;
        DONE: nanosleep.u32 1;",
        64,
        64,
    );
    assert_eq!(got[..32], [77; 32]);
    assert_eq!(findings, []);
}

#[test]
fn groups_with_masks_of_their_own_talk_among_themselves() {
    // Odd and even lanes, as `match.any` finds them, each take the value of their leader, all at one instruction.
    let got = warp(
        "and.b32 %r2, %r31, 1; match.any.sync.b32 %r3, %r2, -1; brev.b32 %r4, %r3; bfind.shiftamt.u32 %r4, %r4;
        add.u32 %r5, %r31, 100; shfl.sync.idx.b32 %r1, %r5, %r4, 31, %r3;
        setp.gt.u32 %p1, %r31, 15; vote.sync.ballot.b32 %r6, %p1, %r3; add.u32 %r1, %r1, %r6; bar.warp.sync %r3;",
    );
    let group = |l: u32| {
        if l.is_multiple_of(2) {
            0x5555_0000
        } else {
            0xaaaa_0000
        }
    };
    assert_eq!(got, lanes(|l| group(l) + 100 + l % 2));
}

#[test]
fn a_vote_over_some_lanes_counts_only_them() {
    let got = warp(
        "mov.u32 %r1, 7; setp.ge.u32 %p1, %r31, 8; @%p1 bra OUT;
        setp.lt.u32 %p2, %r31, 8; vote.sync.all.pred %p3, %p2, 255; vote.sync.uni.pred %p4, %p2, 255;
        selp.u32 %r1, 1, 0, %p3; @%p4 add.u32 %r1, %r1, 2; OUT:",
    );
    assert_eq!(got, lanes(|l| if l < 8 { 3 } else { 7 }));
}
