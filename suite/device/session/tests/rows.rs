//! Timing rows: what runs, in which order, and what is counted.

use super::*;
use crate::plan::Row;

fn row(prepare: Vec<Step>, prepare_each: Vec<Step>) -> Row {
    Row {
        name: "r".into(),
        prepare,
        prepare_each,
        steps: vec![add(OUT, 1), kernel("work", vec![])],
        bytes: None,
        reads: vec![slice(OUT, 0, 1)],
    }
}

#[test]
fn a_row_prepares_once_warms_up_runs_singly_then_in_a_batch_and_is_read() {
    let mut fake = Fake::new(DeviceKind::Cuda);
    let rows = vec![row(vec![copy(), kernel("prepare", vec![])], vec![])];
    let (ran, readings) = run_on(
        &mut fake,
        &plan(Work::Rows {
            warmups: 2,
            runs: 3,
            rows,
        }),
    );
    let ran = ran.unwrap();
    let single = ["stamp", "add", "work", "stamp"];
    let mut wanted = vec![
        "load m",
        "upload input",
        "poison out[0..+16]",
        "copy input → out",
        "prepare",
    ];
    wanted.extend(["add", "work"].repeat(2));
    wanted.extend(single.repeat(3));
    wanted.extend(["poison out[0..+16]", "copy input → out", "prepare"]);
    wanted.extend([
        "stamp", "add", "work", "add", "work", "add", "work", "stamp",
    ]);
    wanted.extend([
        "finish",
        "finish",
        "findings",
        "read out[0..+4]",
        "read input[0..+12]",
    ]);
    assert_eq!(fake.log, wanted);
    assert_eq!(
        ran.rows,
        [RowTimes {
            singles_ms: vec![1.0, 23.0, 45.0],
            batch_ms: Some(67.0),
            simulated_instructions: None,
            warmups: 2,
            launches: 2
        }]
    );
    assert_eq!(
        readings,
        ["row 0.0: [d]"],
        "10 and one for each of the batch's 3 runs'"
    );
}

#[test]
fn a_row_that_prepares_each_run_does_so_outside_the_stamps_and_has_no_batch() {
    let mut fake = Fake::new(DeviceKind::Cuda);
    let rows = vec![row(vec![], vec![copy()])];
    let (ran, readings) = run_on(
        &mut fake,
        &plan(Work::Rows {
            warmups: 1,
            runs: 2,
            rows,
        }),
    );
    let ran = ran.unwrap();
    let each = "copy input → out";
    let mut wanted = vec![
        "load m",
        "upload input",
        "poison out[0..+16]",
        each,
        "add",
        "work",
    ];
    let single = [each, "stamp", "add", "work", "stamp"];
    wanted.extend(single);
    wanted.push("poison out[0..+16]");
    wanted.extend(single);
    wanted.extend([
        "finish",
        "finish",
        "findings",
        "read out[0..+4]",
        "read input[0..+12]",
    ]);
    assert_eq!(fake.log, wanted);
    assert_eq!(
        (ran.rows[0].singles_ms.len(), ran.rows[0].batch_ms),
        (2, None)
    );
    assert_eq!(readings, ["row 0.0: [b]"]);
}

#[test]
fn the_simulated_device_runs_a_row_once_and_counts() {
    let mut fake = Fake::new(DeviceKind::Sim);
    let rows = vec![row(vec![copy()], vec![kernel("each", vec![])])];
    let (ran, readings) = run_on(
        &mut fake,
        &plan(Work::Rows {
            warmups: 3,
            runs: 10,
            rows,
        }),
    );
    let ran = ran.unwrap();
    let wanted = [
        "load m",
        "upload input",
        "poison out[0..+16]",
        "copy input → out",
        "each",
        "stamp",
        "add",
        "work",
        "stamp",
        "finish",
        "findings",
        "read out[0..+4]",
    ];
    assert_eq!(fake.log, wanted);
    let times = RowTimes {
        simulated_instructions: Some(640),
        launches: 2,
        ..RowTimes::default()
    };
    assert_eq!(ran.rows, [times]);
    assert_eq!(readings, ["row 0.0: [b]"]);
}
