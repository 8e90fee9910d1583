//! Whole cases on a card.

use std::time::Instant;

use super::*;
use crate::device::session::{self, Ran, Reading};
use crate::plan::{self, BufferIndex, Plan, PlanBuffer, Row, Slice, Step, Work};
use crate::value::ElementType;

/// Elements of a buffer of the compaction suite.
const N: u64 = 8_387_997;
const INPUT: BufferIndex = BufferIndex(0);
const OUT: BufferIndex = BufferIndex(1);

fn plan(work: Work) -> Plan {
    let buffer = |name: &str, is_input| PlanBuffer {
        name: name.into(),
        element: ElementType::U32,
        len: N,
        is_input,
    };
    Plan {
        buffers: vec![buffer("input", true), buffer("out", false)],
        modules: vec!["inline".into()],
        work,
        wanted: vec![],
    }
}

fn kernel(name: &str, grid: u32, block: u32, args: Vec<plan::Argument>) -> Step {
    let (grid, block) = ([grid, 1, 1], [block, 1, 1]);
    Step::Launch(plan::Launch {
        module: 0,
        kernel: name.into(),
        grid,
        block,
        shared: 0,
        args,
    })
}

fn value(value: u32) -> plan::Argument {
    let Argument::Scalar { bytes, size } = u32_arg(value) else {
        unreachable!("a scalar")
    };
    plan::Argument::Scalar { bytes, size }
}

fn pointer(buffer: BufferIndex, element: u64) -> plan::Argument {
    plan::Argument::Pointer { buffer, element }
}

fn copy() -> Step {
    let n = N as u32;
    kernel(
        "copy",
        n.div_ceil(256),
        256,
        vec![pointer(INPUT, 0), pointer(OUT, 0), value(n)],
    )
}

fn whole(buffer: BufferIndex) -> Slice {
    Slice {
        buffer,
        from: 0,
        len: N,
    }
}

/// Runs and says how long it took; every reading must be the input.
fn run(card: &mut CudaDevice, plan: &Plan, input: &Arc<Array>, what: &str) -> (Ran, usize) {
    let start = Instant::now();
    let mut readings = 0;
    let ran = session::run(
        card,
        plan,
        &[ptx(PTX)],
        std::slice::from_ref(input),
        &mut |reading| {
            let (Reading::Run { bytes, .. }
            | Reading::Row { bytes, .. }
            | Reading::Wanted { bytes, .. }) = reading
            else {
                return;
            };
            assert!(bytes == &input.as_bytes()[..bytes.len()]);
            readings += 1;
        },
    );
    println!("{what}: {:.2} ms", start.elapsed().as_secs_f64() * 1e3);
    (ran.unwrap(), readings)
}

#[test]
fn checked_runs_and_rows_of_full_size() {
    let Some(mut card) = card() else { return };
    let input = Arc::new(Array::U32(
        (0..N as u32)
            .map(|i| i.wrapping_mul(2_654_435_761))
            .collect(),
    ));
    let once = plan(Work::Once {
        steps: vec![copy()],
        reads: vec![whole(OUT)],
    });
    for what in ["first case", "second", "third"] {
        let (ran, readings) = run(&mut card, &once, &input, what);
        assert_eq!((ran.findings, readings), (vec![], 1));
    }
    let row = |name: &str, steps| Row {
        name: name.into(),
        prepare: vec![],
        prepare_each: vec![],
        steps,
        bytes: Some(8 * N),
        reads: vec![whole(OUT)],
    };
    let dtod = Step::Copy {
        from: whole(INPUT),
        to: whole(OUT),
    };
    let rows = vec![row("copy", vec![copy()]), row("copy_dtod", vec![dtod])];
    let (ran, readings) = run(
        &mut card,
        &plan(Work::Rows {
            warmups: 3,
            runs: 10,
            rows,
        }),
        &input,
        "two rows",
    );
    assert_eq!((ran.findings, readings), (vec![], 2));
    for (times, launches) in ran.rows.iter().zip([1, 0]) {
        println!("{times:?}");
        assert_eq!((times.singles_ms.len(), times.launches), (10, launches));
        assert!(times.singles_ms.iter().all(|&ms| ms > 0.0) && times.batch_ms > Some(0.0));
    }
}

#[test]
fn a_write_into_an_input_is_found_and_does_not_reach_the_next_case() {
    let Some(mut card) = card() else { return };
    let input = Arc::new(Array::U32((0..N as u32).collect()));
    let set = kernel("set", 1, 1, vec![pointer(INPUT, N - 1), value(7)]);
    let (ran, _) = run(
        &mut card,
        &plan(Work::Once {
            steps: vec![set],
            reads: vec![],
        }),
        &input,
        "a stray write",
    );
    assert_eq!(ran.findings.len(), 1);
    assert_eq!(
        ran.findings[0].to_string(),
        "stray_write: input `input` was written: element 8387996 was 8387996, is 7"
    );
    let once = plan(Work::Once {
        steps: vec![copy()],
        reads: vec![whole(OUT)],
    });
    assert_eq!(run(&mut card, &once, &input, "the next").0.findings, []);
}
