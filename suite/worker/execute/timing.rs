//! Times of rows: statistics, throughput, and whether a row's buffers fit in the cache.

use std::collections::BTreeSet;

use indexmap::IndexMap;

use crate::check;
use crate::device::DeviceInfo;
use crate::device::session::RowTimes;
use crate::outcome::Finding;
use crate::plan::{Argument, BufferIndex, Plan, Row, Step, Work};
use crate::report::record::Timing;
use crate::spec::model::Timings;
use crate::terms::DeviceKind;

/// The clock of a host rung.
const HOST: &str = "host";

/// The rows' records, and what is wrong with their times. Rows in `unverified` show no times: what they computed is
/// not what they should have.
pub(super) fn rows(
    plan: &Plan,
    spec: &Timings,
    times: &[RowTimes],
    unverified: &BTreeSet<usize>,
    info: &DeviceInfo,
) -> (IndexMap<String, Timing>, Vec<Finding>) {
    let mut timings = IndexMap::new();
    let mut findings = Vec::new();
    let Work::Rows { runs, rows, .. } = &plan.work else {
        return (timings, findings);
    };
    for (index, (row, times)) in rows.iter().zip(times).enumerate() {
        if info.kind == DeviceKind::Cuda {
            let all = times.singles_ms.iter().copied().chain(times.batch_ms);
            findings.extend(check::times(&row.name, &all.collect::<Vec<f64>>()));
        }
        let verified = !unverified.contains(&index);
        let timing = Timing {
            subject: spec.rows.get(&row.name).and_then(|r| r.subject.clone()),
            warmups: times.warmups,
            launches: times.launches,
            cache: cache(plan, row, info.l2_bytes).into(),
            ..numbers(row, times, *runs, info.kind, verified)
        };
        timings.insert(row.name.clone(), timing);
    }
    against_baseline(&mut timings, spec.baseline.as_deref());
    (timings, findings)
}

/// What was measured of a row and by which clock; of one that is not verified, the clock alone.
fn numbers(row: &Row, times: &RowTimes, runs: u32, device: DeviceKind, verified: bool) -> Timing {
    let mut timing = match device {
        DeviceKind::Cuda => measured(times, runs, row.bytes),
        DeviceKind::Sim => Timing {
            runs: 1,
            clock: "simulated".into(),
            simulated_instructions: times.simulated_instructions,
            ..Timing::default()
        },
    };
    if row.is_host() {
        timing.clock = HOST.into();
    }
    match verified {
        true => timing,
        false => Timing {
            runs: timing.runs,
            clock: timing.clock,
            ..Timing::default()
        },
    }
}

fn measured(times: &RowTimes, runs: u32, bytes: Option<u64>) -> Timing {
    let mut sorted = times.singles_ms.clone();
    sorted.sort_by(f64::total_cmp);
    let median_ms = median(&sorted);
    Timing {
        runs,
        min_ms: sorted.first().copied(),
        median_ms,
        max_ms: sorted.last().copied(),
        batch_mean_ms: times.batch_ms.map(|batch| batch / f64::from(runs.max(1))),
        // Bytes a millisecond are a million times fewer than bytes a second, and a gigabyte is 10⁹.
        gb_per_s: match (bytes, median_ms) {
            (Some(bytes), Some(ms)) if ms > 0.0 => Some(bytes as f64 / ms / 1e6),
            _ => None,
        },
        clock: "device".into(),
        ..Timing::default()
    }
}

/// The middle of sorted times; between two middles, their mean.
fn median(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

fn against_baseline(timings: &mut IndexMap<String, Timing>, baseline: Option<&str>) {
    let base = baseline.and_then(|name| timings.get(name)?.median_ms);
    let Some(base) = base.filter(|ms| *ms > 0.0) else {
        return;
    };
    for timing in timings.values_mut() {
        timing.times_baseline = timing.median_ms.map(|ms| ms / base);
    }
}

/// `resident` when everything that the row's timed steps name fits in the L2 cache, else `streaming`. A row names
/// whole buffers: a kernel given a pointer may go anywhere in it.
fn cache(plan: &Plan, row: &Row, l2_bytes: u64) -> &'static str {
    let mut used = BTreeSet::new();
    for step in &row.steps {
        match step {
            Step::Launch(launch) => used.extend(launch.args.iter().filter_map(pointed)),
            Step::Native(call) | Step::Host(call) => {
                used.extend(call.args.iter().filter_map(pointed));
            }
            Step::Copy { from, to } => used.extend([from.buffer, to.buffer]),
            Step::Fill { to, .. } => drop(used.insert(to.buffer)),
        }
    }
    let bytes = |index: &BufferIndex| {
        let buffer = &plan.buffers[index.0];
        buffer.len * buffer.element.size() as u64
    };
    let total: u64 = used.iter().map(bytes).sum();
    if total <= l2_bytes {
        "resident"
    } else {
        "streaming"
    }
}

fn pointed(argument: &Argument) -> Option<BufferIndex> {
    match argument {
        Argument::Pointer { buffer, .. } => Some(*buffer),
        Argument::Scalar { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[1.0, 2.0, 9.0]), Some(2.0));
        assert_eq!(median(&[1.0, 2.0, 4.0, 9.0]), Some(3.0));
    }

    #[test]
    fn a_batch_is_divided_by_its_runs_and_bytes_by_the_median() {
        let times = RowTimes {
            singles_ms: vec![3.0, 1.0, 2.0],
            batch_ms: Some(4.5),
            ..RowTimes::default()
        };
        let timing = measured(&times, 3, Some(8_000_000));
        assert_eq!(timing.min_ms, Some(1.0));
        assert_eq!(timing.max_ms, Some(3.0));
        assert_eq!(timing.batch_mean_ms, Some(1.5));
        // 8 MB in 2 ms.
        assert_eq!(timing.gb_per_s, Some(4.0));
    }
}
