//! What schedules change, and what they must not: committed kernels under many of them, replays, and orders of blocks.

use super::{kernel, pointer};
use crate::device::sim::{BlockOrder, Policy, Schedule, SimDevice};
use crate::device::{Access, Argument, BufferId, Device, Launch};
use crate::outcome::{Fault, Finding};
use crate::terms::ReasonKind;

const COMPACTION: &str = include_str!("../../../../kernels/ptx/compaction.ptx");
const LOOKBACK: &str = include_str!("../../../../kernels/ptx/lookback.ptx");
const WIDE: &str = include_str!("../../../../kernels/ptx/lookback_wide.ptx");
const ONESWEEP: &str = include_str!("../../../../kernels/ptx/onesweep.ptx");
const HISTOGRAM: &str = include_str!("../../../../kernels/ptx/histogram.ptx");
const AGGREGATED: &str = include_str!("../../../../kernels/ptx/aggregated.ptx");
const FAULTY: &str = include_str!("../../../../kernels/ptx/faulty/lookback.ptx");

/// A device, with what its launches need.
struct Bench {
    device: SimDevice,
    schedule: Schedule,
}

/// A number as an argument.
fn word(value: usize) -> Argument {
    Argument::Scalar {
        bytes: (value as u64).to_le_bytes(),
        size: 4,
    }
}

fn part(buffer: BufferId, words: usize) -> Argument {
    Argument::Pointer {
        buffer,
        offset: 4 * words as u64,
    }
}

impl Bench {
    fn new(schedule: Schedule) -> Self {
        let mut device = SimDevice::new().with_budget(1 << 26);
        device.set_schedule(schedule);
        Self { device, schedule }
    }

    /// For kernels that race so that the order of their threads shows.
    fn undetected(schedule: Schedule) -> Self {
        let mut bench = Self::new(schedule);
        bench.device.set_detectors(false);
        bench
    }

    fn buffer(&mut self, values: &[u32]) -> BufferId {
        let bytes = 4 * values.len() as u64;
        let buffer = self.device.alloc(bytes, Access::ReadWrite).unwrap();
        let values = bytemuck::cast_slice(values);
        self.device.upload(buffer, 0, values).unwrap();
        buffer
    }

    fn zeros(&mut self, words: usize) -> BufferId {
        self.buffer(&vec![0; words])
    }

    /// Words nobody has written.
    fn output(&mut self, words: usize) -> BufferId {
        let bytes = 4 * words as u64;
        self.device.alloc(bytes, Access::ReadWrite).unwrap()
    }

    fn try_launch(
        &mut self,
        text: &str,
        kernel: &str,
        (grid, block, shared): (usize, u32, usize),
        args: &[Argument],
    ) -> Result<(), Fault> {
        let module = self.device.load(&super::image(text))?.module;
        self.device.launch(&Launch {
            module,
            kernel,
            grid: [grid as u32, 1, 1],
            block: [block, 1, 1],
            shared: shared as u32,
            args,
        })
    }

    /// Launches, and nothing is found.
    fn launch(&mut self, text: &str, kernel: &str, shape: (usize, u32, usize), args: &[Argument]) {
        let schedule = self.schedule;
        self.try_launch(text, kernel, shape, args)
            .unwrap_or_else(|e| panic!("{schedule}: {e}"));
        let findings = self.device.take_findings().unwrap();
        assert_eq!(findings, [], "{schedule}: {kernel}");
    }

    fn words(&mut self, buffer: BufferId, len: usize) -> Vec<u32> {
        bytemuck::cast_slice(self.device.download(buffer, 0, 4 * len as u64).unwrap()).to_vec()
    }
}

fn numbers(len: usize) -> Vec<u32> {
    let mut state = 12_345_u32;
    let next = |_| {
        state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        state >> 9
    };
    (0..len).map(next).collect()
}

fn exclusive_scan(values: &[u32]) -> Vec<u32> {
    let mut sum = 0_u32;
    let before = |value: &u32| {
        let before = sum;
        sum = sum.wrapping_add(*value);
        before
    };
    values.iter().map(before).collect()
}

/// Thirty of an exploration, and lanes apart in the fair order.
fn schedules() -> impl Iterator<Item = Schedule> {
    let apart = Schedule {
        apart: true,
        ..Schedule::default()
    };
    (0..30)
        .map(|number| Schedule::nth(1, number))
        .chain([apart])
}

#[test]
fn scans_that_look_back_are_right_in_every_schedule() {
    let n = 4 * 128 * 40 + 77;
    let values = numbers(n);
    let want = exclusive_scan(&values);
    for schedule in schedules() {
        let mut bench = Bench::new(schedule);
        let tiles = n.div_ceil(128 * 40);
        let (input, out) = (bench.buffer(&values), bench.output(n));
        let state = bench.zeros(2 * (tiles + 1));
        let args = [
            pointer(input),
            pointer(out),
            pointer(state),
            word(8),
            word(n),
        ];
        bench.launch(LOOKBACK, "scan_exclusive", (tiles, 128, 0), &args);
        assert_eq!(bench.words(out, n), want, "{schedule}");
    }
}

#[test]
fn compactions_that_look_back_are_right_in_every_schedule() {
    let n = 5 * 64 * 32 + 3;
    let values = numbers(n);
    let want: Vec<u32> = values.iter().copied().filter(|v| v % 2 == 1).collect();
    for schedule in schedules() {
        let mut bench = Bench::new(schedule);
        let (tiles, stage) = (n.div_ceil(64 * 32), 64 * 32);
        let (input, out) = (bench.buffer(&values), bench.output(n));
        let (count, state) = (bench.output(1), bench.zeros(2 * (tiles + 1)));
        let pointers = [input, out, count, state].map(pointer);
        let args = [&pointers[..], &[word(stage), word(8), word(n)]].concat();
        bench.launch(LOOKBACK, "compact_odd", (tiles, 64, 4 * stage), &args);
        assert_eq!(bench.words(count, 1), [want.len() as u32], "{schedule}");
        assert_eq!(bench.words(out, want.len()), want, "{schedule}");
    }
}

/// The scan of 64-bit values, with a fence between sum and status; `kernel` is it or one of its faulty twins.
fn wide_scan(
    schedule: Schedule,
    text: &str,
    kernel: &str,
    tiles: usize,
) -> Result<Vec<Finding>, Fault> {
    let n = 64 * 8 * tiles - 5;
    let values: Vec<u64> = numbers(n).into_iter().map(|v| u64::from(v) << 20).collect();
    let mut bench = Bench::new(schedule);
    let input = bench.buffer(bytemuck::cast_slice(&values));
    let (out, state) = (bench.output(2 * n), bench.zeros(2 * (3 * tiles + 1)));
    bench.device.name_buffer(state, "state");
    let args = [pointer(input), pointer(out), pointer(state), word(n)];
    bench.try_launch(text, kernel, (tiles, 64, 0), &args)?;
    let got = bench.words(out, 2 * n);
    let mut sum = 0_u64;
    for (got, value) in got.chunks(2).zip(values) {
        assert_eq!([sum as u32, (sum >> 32) as u32], got, "{schedule}");
        sum = sum.wrapping_add(value);
    }
    bench.device.take_findings()
}

#[test]
fn scans_of_wide_values_are_right_in_every_schedule() {
    for schedule in schedules() {
        let findings = wide_scan(schedule, WIDE, "scan_wide", 9);
        assert_eq!(findings, Ok(vec![]), "{schedule}");
    }
}

#[test]
fn radix_passes_are_right_in_every_schedule() {
    let n = 2 * 10_240 + 1;
    let keys = numbers(n);
    let mut want = keys.clone();
    want.sort_by_key(|key| key & 255);
    for schedule in schedules() {
        let mut bench = Bench::new(schedule);
        let tiles = n.div_ceil(10_240);
        let (input, out) = (bench.buffer(&keys), bench.output(n));
        let (counts, state) = (bench.zeros(1024), bench.zeros(256 * (tiles + 1)));
        let args = [pointer(input), pointer(counts), word(n)];
        bench.launch(ONESWEEP, "count_digits", (n.div_ceil(8192), 512, 0), &args);
        bench.launch(ONESWEEP, "place_digits", (4, 256, 0), &[pointer(counts)]);
        let pointers = [
            pointer(input),
            pointer(out),
            part(counts, 0),
            pointer(state),
        ];
        let args = [&pointers[..], &[word(0), word(8), word(n)]].concat();
        bench.launch(ONESWEEP, "sort_pass", (tiles, 512, 0), &args);
        assert_eq!(bench.words(out, n), want, "{schedule}");
    }
}

/// Kernels whose blocks do not wait for each other.
#[test]
fn other_kernels_are_right_in_every_schedule() {
    let n = 3000;
    let values: Vec<u32> = numbers(n).into_iter().map(|v| v % 5).collect();
    let (tiles, sums) = (
        n.div_ceil(256),
        values.chunks(256).map(|tile| tile.iter().sum()),
    );
    let sums: Vec<u32> = sums.collect();
    let ranks: Vec<u32> = values.chunks(256).flat_map(exclusive_scan).collect();
    let mut survivors: Vec<u32> = values.iter().copied().filter(|&v| v != 0).collect();
    survivors.sort_unstable();
    let mut bins = vec![0; 256];
    values.iter().for_each(|&v| bins[v as usize] += 1);
    for schedule in schedules() {
        let mut bench = Bench::new(schedule);
        let (input, out, total) = (bench.buffer(&values), bench.output(n), bench.output(tiles));
        let args = [pointer(input), pointer(out), pointer(total), word(n)];
        bench.launch(COMPACTION, "scan_tiles", (tiles, 256, 0), &args);
        assert_eq!(bench.words(out, n), ranks, "{schedule}");
        assert_eq!(bench.words(total, tiles), sums, "{schedule}");
        for (text, name) in [
            (COMPACTION, "compact_atomic"),
            (AGGREGATED, "compact_aggregated"),
        ] {
            let (count, kept) = (bench.zeros(1), bench.output(n));
            let args = [pointer(input), pointer(kept), pointer(count), word(n)];
            bench.launch(text, name, (3, 256, 0), &args);
            assert_eq!(
                bench.words(count, 1),
                [survivors.len() as u32],
                "{schedule}"
            );
            let mut got = bench.words(kept, survivors.len());
            got.sort_unstable();
            assert_eq!(got, survivors, "{schedule}: {name}");
        }
        let counted = bench.zeros(256);
        let args = [pointer(input), pointer(counted), word(n)];
        bench.launch(HISTOGRAM, "histogram_low_bytes", (tiles, 256, 0), &args);
        assert_eq!(bench.words(counted, 256), bins, "{schedule}");
    }
}

/// Blocks that take their tile from their index wait for blocks that have not started: the device starts the last one
/// first, as CUDA may.
#[test]
fn a_look_back_in_block_order_hangs_once_not_all_blocks_are_resident() {
    let hangs = |schedule: Schedule, tiles: usize| match wide_scan(
        schedule,
        FAULTY,
        "scan_block_order",
        tiles,
    ) {
        Ok(findings) => {
            assert_eq!(findings, [], "{schedule}");
            None
        }
        Err(fault) => {
            assert_eq!(fault.reason.kind, ReasonKind::Hang, "{schedule}");
            Some(fault.reason.message)
        }
    };
    assert_eq!(hangs(Schedule::default(), 64), None, "all are resident");
    let words = hangs(Schedule::default(), 65).expect("one is not");
    for part in [
        "kernel scan_block_order does not end",
        "`ld.volatile.global.u64 ",
        "lookback.cu:42) waits block (64, 0, 0), warp 0, lanes 0xffffffff: lane 0 reads 0x1, ",
        ", and block (1, 0, 0), warp 0, lanes 0x00000001: lane 0 reads 0x0, 8 bytes at byte 8 of buffer state (",
        "waits block (64, 0, 0), warp 1, lanes 0xffffffff for the rest of its block",
        "1 blocks have not started, as 64 are resident at most",
    ] {
        assert!(words.contains(part), "{part}: {words}");
    }
    for text in [
        "fair,reversed,resident=1",
        "random:5,reversed,resident=1",
        "pct:5,reversed,resident=1,apart",
    ] {
        let schedule: Schedule = text.parse().expect("is one");
        assert!(hangs(schedule, 3).is_some(), "{text}");
        assert_eq!(
            wide_scan(schedule, WIDE, "scan_wide", 9),
            Ok(vec![]),
            "{text}"
        );
        let forward = Schedule {
            order: Some(BlockOrder::Forward),
            ..schedule
        };
        assert_eq!(hangs(forward, 5), None, "{forward}");
    }
}

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
