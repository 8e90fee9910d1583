//! Accesses in every form that compilers write: orderings, scopes, cache operators, vectors and atomics.

use super::run;
use crate::terms::FindingKind;

#[test]
fn orderings_scopes_and_cache_operators_are_one() {
    let loads = [
        "ld.relaxed.gpu.global.u32",
        "ld.acquire.sys.global.u32",
        "ld.relaxed.cta.u32",
        "ld.volatile.global.u32",
        "ld.global.ca.u32",
        "ld.global.cg.u32",
        "ld.global.cs.u32",
        "ld.global.lu.u32",
        "ld.global.cv.u32",
        "ld.global.nc.u32",
        "ld.global.nc.L1::no_allocate.L2::128B.u32",
        "ld.global.L1::evict_first.u32",
        "ld.global.L2::64B.u32",
        "ld.weak.global.u32",
    ];
    let stores = [
        "st.relaxed.gpu.global.u32",
        "st.release.sys.global.u32",
        "st.volatile.global.u32",
        "st.global.wb.u32",
        "st.global.cg.u32",
        "st.global.cs.u32",
        "st.global.wt.u32",
        "st.global.L1::no_allocate.u32",
    ];
    let fences = [
        "membar.cta",
        "membar.gl",
        "membar.sys",
        "fence.acq_rel.gpu",
        "fence.sc.cta",
        "fence.sc.sys",
        "prefetch.global.L2 [%d30]",
    ];
    for (index, load) in loads.iter().enumerate() {
        let store = stores[index % stores.len()];
        let fence = fences[index % fences.len()];
        let body = format!(
            "{store} [%d30], %r31; {fence}; {load} %r1, [%d30]; add.u32 %r1, %r1, 1; st.u32 [%d30], %r1;"
        );
        let (got, findings) = run(&body, 32, 32);
        assert_eq!(got, (1..33).collect::<Vec<u32>>(), "{body}");
        // The read-only cache need not see what the launch has written.
        let stale = findings.iter().all(|f| f.kind == FindingKind::Stale);
        assert_eq!(findings.is_empty(), !load.contains(".nc."), "{body}");
        assert!(stale, "{findings:?}");
    }
}

#[test]
fn vectors_of_every_shape_keep_their_order() {
    let (got, findings) = run(
        "mul.lo.u32 %r1, %r31, 16; cvt.u64.u32 %d1, %r1; add.u64 %d1, %d31, %d1;
        add.u32 %r2, %r31, 100; add.u32 %r3, %r31, 200; add.u32 %r4, %r31, 300;
        st.relaxed.gpu.global.v4.u32 [%d1], {%r31, %r2, %r3, %r4};
        ld.relaxed.gpu.global.v2.u64 {%d2, %d3}, [%d1]; st.global.v2.b64 [%d1], {%d3, %d2};
        ld.acquire.gpu.global.v2.u32 {%r5, _}, [%d1]; st.global.u32 [%d1+4], %r5;",
        32,
        128,
    );
    let want = (0..32).flat_map(|lane| [200 + lane, 200 + lane, lane, 100 + lane]);
    assert_eq!(got, want.collect::<Vec<u32>>());
    assert_eq!(findings, []);
}

#[test]
fn atomics_of_every_kind_and_scope() {
    // Old value, operands, new value; 32 lanes on words of their own, then the word is read back.
    let cases: [(&str, u64, &str, u64); 15] = [
        ("add.relaxed.gpu.global.u32", 5, "7", 12),
        ("add.acq_rel.sys.global.s32", 5, "-7", 0xffff_fffe),
        ("add.global.u64", 1 << 40, "1", (1 << 40) + 1),
        ("min.global.s32", 5, "-1", 0xffff_ffff),
        ("max.release.cta.global.u32", 5, "-1", 0xffff_ffff),
        ("min.global.u64", 1 << 40, "3", 3),
        ("max.global.s64", u64::MAX, "3", 3),
        ("and.global.b32", 0xff, "0xf0f", 0x0f),
        ("or.global.b64", 1 << 40, "1", (1 << 40) | 1),
        ("xor.acquire.gpu.global.b32", 0xff, "1", 0xfe),
        ("exch.global.b64", 3, "9", 9),
        ("cas.global.b32", 3, "3, 8", 8),
        ("cas.global.b64", 4, "3, 8", 4),
        ("inc.global.u32", 4, "4", 0),
        ("dec.global.u32", 0, "4", 4),
    ];
    for (op, old, operands, new) in cases {
        let wide = op.ends_with("64");
        let (letter, ty) = if wide { ('d', "b64") } else { ('r', "b32") };
        let atom = format!(
            "mul.wide.u32 %d29, %r31, 16; add.u64 %d29, %d29, %d31; mov.u64 %d1, {old};
            st.global.u64 [%d29], %d1; atom.{op} %{letter}2, [%d29], {operands}; st.global.{ty} [%d29+8], %{letter}2;"
        );
        let (got, findings) = run(&atom, 32, 128);
        let word = |at: usize| u64::from(got[at]) | u64::from(got[at + 1]) << 32;
        for lane in 0..32 {
            assert_eq!((word(4 * lane), word(4 * lane + 2)), (new, old), "{op}");
        }
        assert_eq!(findings, [], "{op}");
        let red = atom
            .replace("atom.", "red.")
            .replace(&format!("%{letter}2, [%d29]"), "[%d29]");
        if !op.starts_with("exch") && !op.starts_with("cas") {
            let red = red.replace(&format!("st.global.{ty} [%d29+8], %{letter}2;"), "");
            assert_eq!(
                u64::from(run(&red, 32, 128).0[0]),
                new & 0xffff_ffff,
                "{op}"
            );
        }
    }
}
