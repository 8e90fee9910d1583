//! What a schedule decides: the order of blocks, who goes on when, and that it replays.

use super::bench::{Bench, schedules};
use super::{kernel, pointer};
use crate::device::Device;
use crate::device::sim::{Policy, Schedule};

/// Each block takes a number at its start and one at its end, and works between.
fn starts_and_ends(schedule: Schedule, grid: usize) -> (Vec<u32>, u64) {
    let text = kernel(
        ".param .u64 next, .param .u64 out",
        "ld.param.u64 %d1, [next]; ld.param.u64 %d2, [out]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x;
        setp.ne.u32 %p1, %r2, 0; mul.wide.u32 %d3, %r1, 8; add.u64 %d3, %d3, %d2; mov.u32 %r5, 20;
        @!%p1 atom.global.add.u32 %r3, [%d1], 1; @!%p1 st.global.u32 [%d3], %r3;
        WORK: ld.global.u32 %r4, [%d3]; sub.u32 %r5, %r5, 1; setp.ne.u32 %p2, %r5, 0; @%p2 bra WORK; bar.sync 0;
        @!%p1 atom.global.add.u32 %r3, [%d1], 1; @!%p1 st.global.u32 [%d3+4], %r3;",
    );
    let mut bench = Bench::undetected(schedule);
    let (next, out) = (bench.zeros(1), bench.zeros(2 * grid));
    bench.launch(&text, "k", (grid, 64, 0), &[pointer(next), pointer(out)]);
    (bench.words(out, 2 * grid), bench.device.executed())
}

#[test]
fn blocks_start_in_the_order_asked_for() {
    let of = |text: &str| starts_and_ends(text.parse().expect("is a schedule"), 8).0;
    let forward: Vec<u32> = (0..16).collect();
    let reversed: Vec<u32> = (0..8)
        .flat_map(|block| [14 - 2 * block, 15 - 2 * block])
        .collect();
    for policy in ["fair", "random:1", "pct:1"] {
        assert_eq!(of(&format!("{policy},resident=1")), forward, "{policy}");
        assert_eq!(
            of(&format!("{policy},reversed,resident=1")),
            reversed,
            "{policy}"
        );
    }
    assert_eq!(of("fair"), forward);
    assert_eq!(of("fair,reversed"), reversed);
}

/// Also those that never wait for each other; and no two seeds alike.
#[test]
fn blocks_interleave_where_a_policy_decides() {
    for policy in [|seed| Policy::Random { seed }, |seed| Policy::Pct { seed }] {
        let of = |seed| {
            let schedule = Schedule {
                policy: policy(seed),
                ..Schedule::default()
            };
            starts_and_ends(schedule, 24)
        };
        let all: Vec<_> = (0..8).map(of).collect();
        let overlaps = |order: &[u32]| order.chunks(2).any(|own| own[1] != own[0] + 1);
        assert!(all.iter().all(|(order, _)| overlaps(order)), "{all:?}");
        assert!(all.iter().any(|other| other.0 != all[0].0), "{all:?}");
        assert_eq!(all, (0..8).map(of).collect::<Vec<_>>());
        let mut all: Vec<_> = all.into_iter().map(|(order, _)| order).collect();
        all.sort();
        all.dedup();
        assert!(all.len() >= 6, "{} differ", all.len());
    }
}

/// Byte for byte: results, findings and counts, of several launches, also of racy ones.
#[test]
fn a_schedule_replays() {
    let run = |schedule: Schedule| {
        let mut bench = Bench::new(schedule);
        let racy = kernel(
            ".param .u64 out",
            "ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r1, %r2, 64, %r1;
            and.b32 %r3, %r1, 7; mul.wide.u32 %d2, %r3, 4; add.u64 %d2, %d2, %d1; setp.lt.u32 %p1, %r3, 3;
            @%p1 bra A; st.global.u32 [%d2], %r1; bra B; A: ld.volatile.global.u32 %r4, [%d2+8];
            add.u32 %r4, %r4, %r1; st.global.u32 [%d2], %r4; B: ld.global.u32 %r5, [%d2+4];
            st.global.u32 [%d2], %r5; ld.global.u32 %r6, [%d2+8];",
        );
        let out = bench.zeros(8);
        let mut all = Vec::new();
        for _ in 0..3 {
            let ran = bench.try_launch(&racy, "k", (9, 64, 0), &[pointer(out)]);
            let findings = bench.device.take_findings();
            all.push((ran, findings, bench.words(out, 8), bench.device.executed()));
        }
        all
    };
    let mut results = std::collections::HashSet::new();
    for schedule in schedules() {
        let first = run(schedule);
        assert_eq!(first, run(schedule), "{schedule}");
        results.insert(first[2].2.clone());
    }
    assert!(results.len() > 5, "{} results", results.len());
}

/// A device that is told to start anew does what it did at first, and its launches differ from each other.
#[test]
fn a_schedule_starts_again_with_the_next_case() {
    let schedule: Schedule = "random:11".parse().expect("is one");
    let text = kernel(
        ".param .u64 out",
        "ld.param.u64 %d1, [out]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, 9; A: ld.global.u32 %r3, [%d1];
        sub.u32 %r2, %r2, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra A; mad.lo.u32 %r3, %r3, 3, %r1;
        st.global.u32 [%d1], %r3;",
    );
    let mut bench = Bench::undetected(schedule);
    let mut once = || {
        let mut launch = || {
            let out = bench.zeros(1);
            bench.launch(&text, "k", (12, 32, 0), &[pointer(out)]);
            bench.words(out, 1)
        };
        let all: Vec<_> = (0..6).map(|_| launch()).collect();
        bench.device.free_all();
        all
    };
    let first = once();
    assert_eq!(first, once());
    assert!(first.iter().any(|other| *other != first[0]), "{first:?}");
}

#[test]
fn decisions_end_where_the_schedule_says() {
    let with = |switches| Schedule {
        policy: Policy::Random { seed: 9 },
        switches,
        ..Schedule::default()
    };
    let fair = starts_and_ends(Schedule::default(), 24);
    assert_eq!(starts_and_ends(with(Some(0)), 24), fair);
    let (all, some) = (
        starts_and_ends(with(None), 24),
        starts_and_ends(with(Some(40)), 24),
    );
    assert_eq!(starts_and_ends(with(Some(1_000_000)), 24), all);
    assert_ne!(some, all);
    assert_ne!(some, fair);
    // After forty decisions blocks run one after another.
    let tail = |order: &[u32]| {
        order
            .chunks(2)
            .rev()
            .take_while(|own| own[1] == own[0] + 1)
            .count()
    };
    assert!(tail(&some.0) > tail(&all.0), "{some:?} {all:?}");
}
