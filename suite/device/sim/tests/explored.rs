//! Committed kernels under many schedules: right results and no finding in any, and hangs that have a name.

use super::bench::{Bench, exclusive_scan, numbers, part, schedules, word};
use super::pointer;
use crate::device::Device;
use crate::device::sim::{BlockOrder, Schedule};
use crate::outcome::{Fault, Finding};
use crate::terms::ReasonKind;

const COMPACTION: &str = include_str!("../../../../kernels/ptx/compaction.ptx");
const LOOKBACK: &str = include_str!("../../../../kernels/ptx/lookback.ptx");
const WIDE: &str = include_str!("../../../../kernels/ptx/lookback_wide.ptx");
const ONESWEEP: &str = include_str!("../../../../kernels/ptx/onesweep.ptx");
const HISTOGRAM: &str = include_str!("../../../../kernels/ptx/histogram.ptx");
const AGGREGATED: &str = include_str!("../../../../kernels/ptx/aggregated.ptx");
const FAULTY: &str = include_str!("../../../../kernels/ptx/faulty/lookback.ptx");

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
