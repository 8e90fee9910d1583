//! The record's own tests, and the sample records they share.

mod json;
mod redact;
mod tables;
mod views;

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde_json::{Value, json};

use super::Facts;
use super::record::{
    CaseRecord, CaseWaiver, ChangeRecord, HealthRecord, KernelRecord, Report, RunProblem, RunRule,
    TableRecord, Timing, WaiverRecord, WaiverState,
};
use crate::device::DeviceInfo;
use crate::identity::Field;
use crate::outcome::{Finding, Reason, Site};
use crate::terms::{DeviceKind, FindingKind, ImageKind, Outcome, ReasonKind};

pub(crate) const UUID: &str = "GPU-0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9";
const SERIAL: &str = "1650024030123";

pub(crate) fn params(pairs: &[(&str, Value)]) -> IndexMap<String, Value> {
    pairs
        .iter()
        .map(|(axis, value)| ((*axis).to_owned(), value.clone()))
        .collect()
}

/// A passing case of the compaction suite at threshold `keep`.
pub(crate) fn case(gate: &str, keep: i64, outcome: Outcome) -> CaseRecord {
    let id = format!("compaction::{gate}::keep={keep}::n=8387997::jit");
    CaseRecord {
        repro: format!("cuda-gates run --exact '{id}'"),
        id,
        suite: "compaction".to_owned(),
        gate: gate.to_owned(),
        subject: "scanned compaction".to_owned(),
        check: "exact".to_owned(),
        image: ImageKind::Jit,
        params: params(&[("keep", json!(keep)), ("n", json!(8_387_997))]),
        outcome,
        expected: None,
        reason: None,
        findings: Vec::new(),
        waiver: None,
        health: None,
        reported: BTreeMap::new(),
        values: BTreeMap::from([("launches".to_owned(), json!(7))]),
        timings: IndexMap::new(),
        skipped_rows: IndexMap::new(),
        not_judged: IndexMap::new(),
        duration_ms: 12.5,
        scheduled: None,
        kernels: vec![KernelRecord {
            module: "compaction".to_owned(),
            image_sha256: "00ff".to_owned(),
            compiler: "NVRTC 11.8".to_owned(),
            jit_log: None,
        }],
    }
}

fn timing(median_ms: f64, floor_ms: f64) -> Timing {
    Timing {
        subject: None,
        warmups: 3,
        runs: 10,
        min_ms: Some(median_ms * 0.9),
        median_ms: Some(median_ms),
        max_ms: Some(median_ms * 1.1),
        batch_mean_ms: Some(median_ms * 0.95),
        times_baseline: Some(median_ms / floor_ms),
        gb_per_s: (median_ms == floor_ms).then_some(2680.5),
        clock: "device".to_owned(),
        cache: "resident".to_owned(),
        launches: if median_ms == floor_ms { 1 } else { 7 },
        simulated_instructions: None,
    }
}

pub(crate) fn on_h200() -> Facts {
    let mut facts = Facts::sample();
    facts.run.profile = "full".to_owned();
    facts.suite.commit = Some("0123456789abcdef0123".to_owned());
    facts.suite.dirty = Some(true);
    facts.device.driver_version = Some("580.159.04".to_owned());
    facts.device.info = Some(DeviceInfo {
        kind: DeviceKind::Cuda,
        name: "NVIDIA H200".to_owned(),
        uuid: Some(UUID.to_owned()),
        compute_capability: (9, 0),
        cuda_driver_version: Some(13000),
        total_memory_bytes: 150_000_000_000,
        l2_bytes: 62_914_560,
    });
    facts.device.identity = BTreeMap::from([
        ("uuid".to_owned(), Field::Value(json!(UUID))),
        ("serial".to_owned(), Field::Value(json!(SERIAL))),
        (
            "ecc".to_owned(),
            Field::Unavailable("NotSupported".to_owned()),
        ),
    ]);
    facts
}

pub(crate) fn on_sim() -> Facts {
    let mut facts = Facts::sample();
    facts.device.info = Some(DeviceInfo {
        kind: DeviceKind::Sim,
        name: "simulated device".to_owned(),
        uuid: None,
        compute_capability: (7, 5),
        cuda_driver_version: None,
        total_memory_bytes: 1 << 34,
        l2_bytes: 4 << 20,
    });
    facts
}

/// Two inputs of the compaction suite, all well.
fn passing() -> Report {
    let mut cases = Vec::new();
    for (keep, survivors, out_of_order) in [(26, 852_058, 851_900), (128, 4_194_345, 4_190_001)] {
        let mut exact = case("exact_compaction", keep, Outcome::Pass);
        exact.values.insert("want_len".to_owned(), json!(survivors));
        let mut multiset = case("multiset", keep, Outcome::Pass);
        multiset
            .reported
            .insert("out_of_order".to_owned(), json!(out_of_order));
        let mut times = case("positive_timings", keep, Outcome::Pass);
        times
            .timings
            .insert("copy".to_owned(), timing(0.025, 0.025));
        times
            .timings
            .insert("compaction".to_owned(), timing(0.125, 0.025));
        if keep == 128 {
            times
                .timings
                .insert("scatter".to_owned(), timing(0.035, 0.025));
        }
        cases.extend([exact, multiset, times]);
    }
    let table = TableRecord {
        suite: "compaction".to_owned(),
        name: "survival_sweep".to_owned(),
        over: "keep".to_owned(),
        axes: vec!["keep".to_owned()],
        image: ImageKind::Jit,
        fixed: params(&[("n", json!(8_387_997))]),
        columns: ["keep", "kept_percent", "survivors", "scan_ms"]
            .map(str::to_owned)
            .to_vec(),
        rows: vec![
            vec![
                json!(26),
                json!(10.158_062_7),
                json!(852_058),
                json!(0.118_75),
            ],
            vec![
                json!(128),
                json!(50.004_131_1),
                json!(4_194_345),
                Value::Null,
            ],
        ],
        notes: Vec::new(),
        host_clock: Vec::new(),
        timed: Vec::new(),
        plot: None,
    };
    on_h200().into_report(cases, vec![table])
}

/// A mismatch with an excerpt, a simulator finding with its site, and an error that two cases share.
fn failing() -> Report {
    let mut mismatch = case("exact_compaction", 26, Outcome::Fail);
    mismatch.findings.push(
        Finding::new(
            FindingKind::Mismatch,
            "852058 elements, 3 differ; first at 17: got 4, want 5",
        )
        .with_detail(vec!["[16] 3 | 3".to_owned(), "[17] 4 | 5 <".to_owned()]),
    );
    let mut site = case("full_partition", 26, Outcome::Fail);
    site.findings.push(
        Finding::new(FindingKind::OutOfBounds, "4-byte store past `out`").at(Site {
            kernel: "scatter".to_owned(),
            instruction: "st.global.u32 [%rd7], %r5;".to_owned(),
            ptx_line: 88,
            source: Some("compaction.cu:41".to_owned()),
            block: [3, 0, 0],
            thread: [255, 0, 0],
            address: Some(4096),
        }),
    );
    let mut cases = vec![case("scan_total", 26, Outcome::Pass), mismatch, site];
    for keep in [26, 128] {
        let mut error = case("atomic_count", keep, Outcome::Error);
        error.reason = Some(Reason::new(
            ReasonKind::KernelFault,
            "illegal address in `compact_atomic`",
        ));
        cases.push(error);
    }
    let mut waived = case("multiset", 26, Outcome::Waived);
    waived.findings.push(Finding::new(
        FindingKind::Multiset,
        "2 elements are missing",
    ));
    waived.waiver = Some(CaseWaiver {
        waives: Outcome::Fail,
        cases: "compaction::multiset::*".to_owned(),
        reason: "known on this driver".to_owned(),
        link: "https://example.com/bugs/1".to_owned(),
        expires: "2027-01-31".to_owned(),
    });
    cases.push(waived);
    cases[1].health = Some(HealthRecord {
        after: BTreeMap::from([("temperature_c".to_owned(), Field::Value(json!(84)))]),
        changed: BTreeMap::from([(
            "ecc_uncorrected_volatile".to_owned(),
            ChangeRecord {
                before: json!(0),
                after: json!(1),
            },
        )]),
        xid_events: vec![json!(48)],
        unavailable: None,
    });
    let mut facts = on_h200();
    facts.run.problems = vec![RunProblem {
        rule: RunRule::MustRun,
        message: "compaction::atomic_count must run on cuda".to_owned(),
    }];
    facts.run.waivers = vec![WaiverRecord {
        cases: "compaction::multiset::*".to_owned(),
        cards: vec!["NVIDIA H200".to_owned()],
        kinds: None,
        drivers: "from 580".to_owned(),
        reason: "known on this driver".to_owned(),
        link: "https://example.com/bugs/1".to_owned(),
        expires: "2027-01-31".to_owned(),
        intermittent: false,
        state: WaiverState::Waived,
        waived: 1,
        passed: 0,
    }];
    facts.into_report(cases, Vec::new())
}

fn simulated() -> Report {
    let mut times = case("positive_timings", 26, Outcome::Skip);
    times.reason = Some(Reason::new(
        ReasonKind::NeedsHardware,
        "the simulated device has no clock",
    ));
    for (row, instructions) in [("copy", 1_048_592), ("compaction", 9_437_184)] {
        times.timings.insert(
            row.to_owned(),
            Timing {
                runs: 1,
                clock: "simulated".to_owned(),
                cache: "resident".to_owned(),
                launches: 1,
                simulated_instructions: Some(instructions),
                ..Timing::default()
            },
        );
    }
    on_sim().into_report(
        vec![case("scan_total", 26, Outcome::Pass), times],
        Vec::new(),
    )
}

/// Nothing could start.
fn empty() -> Report {
    let mut facts = Facts::sample();
    facts.run.complete = false;
    facts.device.unavailable = Some(Reason::new(
        ReasonKind::Environment,
        "no CUDA device: libcuda.so.1 is not installed",
    ));
    facts.into_report(Vec::new(), Vec::new())
}
