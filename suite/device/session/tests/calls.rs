//! Host rungs and calls of the native library: what moves, what is asked, what is timed.

use super::*;
use crate::plan::{Argument, Call, Row};

fn pointer(buffer: BufferIndex) -> Argument {
    Argument::Pointer { buffer, element: 0 }
}

fn count(n: u64) -> Argument {
    Argument::Scalar {
        bytes: n.to_le_bytes(),
        size: 8,
    }
}

fn scan(output: BufferIndex, n: u64) -> Call {
    Call {
        name: "scan_exclusive".into(),
        args: vec![pointer(INPUT), pointer(output), count(n)],
        writes: vec![false, true, false],
    }
}

fn library(n: u64) -> Step {
    Step::Native(Call {
        name: "lib".into(),
        args: vec![pointer(OUT), count(n)],
        writes: vec![true, false],
    })
}

fn once(steps: Vec<Step>) -> Plan {
    let reads = vec![slice(OUT, 0, 4)];
    plan(Work::Once { steps, reads })
}

fn row(steps: Vec<Step>, prepare_each: Vec<Step>) -> Plan {
    let row = Row {
        name: "r".into(),
        prepare: vec![copy()],
        prepare_each,
        steps,
        bytes: None,
        reads: vec![slice(OUT, 0, 4)],
    };
    plan(Work::Rows {
        warmups: 1,
        runs: 2,
        rows: vec![row],
    })
}

#[test]
fn a_host_rung_gets_its_buffers_and_gives_back_what_it_wrote() {
    let mut fake = Fake::new(DeviceKind::Cuda);
    let (ran, readings) = run_on(&mut fake, &once(vec![Step::Host(scan(OUT, 3))]));
    ran.unwrap();
    // What it did not write is still poison.
    assert_eq!(readings, ["run 0.0: [0, a, 1e, dbdbdbdb]"]);
    assert_eq!(
        fake.log,
        [
            "load m",
            "upload input",
            "poison out[0..+16]",
            "read input[0..+12]",
            "read out[0..+16]",
            "upload out",
            "finish",
            "findings",
            "read out[0..+16]",
            "read input[0..+12]"
        ]
    );
}

#[test]
fn a_host_row_is_timed_by_the_hosts_clock_without_its_copies() {
    let mut fake = Fake::new(DeviceKind::Cuda);
    let (ran, readings) = run_on(&mut fake, &row(vec![Step::Host(scan(OUT, 3))], vec![]));
    let ran = ran.unwrap();
    assert_eq!(readings, ["row 0.0: [0, a, 1e, dbdbdbdb]"]);
    let [times] = &ran.rows[..] else { panic!() };
    assert_eq!((times.singles_ms.len(), times.launches), (2, 0));
    assert_eq!(times.warmups, 1);
    assert!(times.singles_ms.iter().all(|ms| *ms >= 0.0));
    assert_eq!(times.batch_ms, Some(times.singles_ms.iter().sum()));
    // One way each, although it ran three times; no stamp.
    let of = |what: &str| fake.log.iter().filter(|entry| *entry == what).count();
    assert_eq!((of("upload out"), of("stamp")), (1, 0));
}

#[test]
fn what_prepares_each_run_sees_what_the_last_one_left() {
    let mut fake = Fake::new(DeviceKind::Cuda);
    let each = vec![add(OUT, 1)];
    let (ran, _) = run_on(&mut fake, &row(vec![Step::Host(scan(OUT, 3))], each));
    assert_eq!(ran.unwrap().rows[0].batch_ms, None);
    let calls: Vec<&str> = fake.log.iter().map(String::as_str).collect();
    let turn = [
        "add",
        "read input[0..+12]",
        "read out[0..+16]",
        "upload out",
    ];
    let turns = turn.repeat(3);
    assert!(calls.windows(turns.len()).any(|w| w == turns), "{calls:?}");
}

#[test]
fn on_the_simulated_device_a_host_row_runs_once_and_counts_nothing() {
    let mut fake = Fake::new(DeviceKind::Sim);
    let (ran, readings) = run_on(&mut fake, &row(vec![Step::Host(scan(OUT, 3))], vec![]));
    assert_eq!(ran.unwrap().rows, [RowTimes::default()]);
    assert_eq!(readings, ["row 0.0: [0, a, 1e, dbdbdbdb]"]);
}

#[test]
fn what_a_host_rung_refuses_is_a_setup_error() {
    for (call, words) in [
        (
            scan(OUT, 4),
            "an array of 3 elements is given where 4 are needed",
        ),
        (scan(INPUT, 3), "`scan_exclusive` takes each buffer once"),
    ] {
        let mut fake = Fake::new(DeviceKind::Cuda);
        let fault = run_on(&mut fake, &once(vec![Step::Host(call)]))
            .0
            .unwrap_err();
        assert_eq!(fault.reason.kind, ReasonKind::Setup);
        assert_eq!(fault.reason.message, format!("host rung: {words}"));
    }
}

#[test]
fn scratch_is_asked_for_once_a_call_and_the_most_of_it_is_allocated() {
    let mut fake = Fake::new(DeviceKind::Cuda);
    let (ran, readings) = run_on(&mut fake, &once(vec![copy(), library(2), library(3)]));
    ran.unwrap();
    assert_eq!(readings, ["run 0.0: [f, 14, 1e, dbdbdbdb]"]);
    assert_eq!(
        fake.log[1..8],
        [
            "upload input",
            "ask lib",
            "ask lib",
            "poison out[0..+16]",
            "copy input → out",
            "lib with 300 bytes",
            "lib with 300 bytes",
        ]
    );
}

#[test]
fn a_library_row_runs_once_before_it_is_timed_whatever_the_warm_ups() {
    let mut plan = row(vec![library(1)], vec![]);
    if let Work::Rows { warmups, .. } = &mut plan.work {
        *warmups = 0;
    }
    let mut fake = Fake::new(DeviceKind::Cuda);
    let ran = run_on(&mut fake, &plan).0.unwrap();
    assert_eq!(ran.rows[0].warmups, 1, "what was run, not what was asked");
    let calls = fake
        .log
        .iter()
        .filter(|entry| *entry == "lib with 100 bytes");
    assert_eq!(calls.count(), 1 + 2 + 2);
    let first = fake
        .log
        .iter()
        .position(|entry| entry == "lib with 100 bytes");
    let stamp = fake.log.iter().position(|entry| entry == "stamp");
    assert!(first < stamp);
}
