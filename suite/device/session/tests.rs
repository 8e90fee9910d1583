//! Sessions on a device that is host memory and a list of calls.

use super::fake::Fake;
use super::*;
use crate::image::Code;
use crate::plan::{BufferIndex, PlanBuffer, WantedRun};
use crate::terms::{ImageKind, ReasonKind};
use crate::value::ElementType;

mod calls;
mod rows;

const INPUT: BufferIndex = BufferIndex(0);
const OUT: BufferIndex = BufferIndex(1);

fn slice(buffer: BufferIndex, from: u64, len: u64) -> Slice {
    Slice { buffer, from, len }
}

fn kernel(name: &str, args: Vec<plan::Argument>) -> Step {
    Step::Launch(plan::Launch {
        module: 0,
        kernel: name.into(),
        grid: [1, 1, 1],
        block: [1, 1, 1],
        shared: 0,
        args,
    })
}

fn add(buffer: BufferIndex, k: u8) -> Step {
    let pointer = plan::Argument::Pointer { buffer, element: 0 };
    kernel(
        "add",
        vec![
            pointer,
            plan::Argument::Scalar {
                bytes: [k, 0, 0, 0, 0, 0, 0, 0],
                size: 4,
            },
        ],
    )
}

fn copy() -> Step {
    Step::Copy {
        from: slice(INPUT, 0, 3),
        to: slice(OUT, 0, 3),
    }
}

/// `input` (3 × i32) and `out` (4 × i32), one module.
fn plan(work: Work) -> Plan {
    let buffer = |name: &str, len, is_input| PlanBuffer {
        name: name.into(),
        element: ElementType::I32,
        len,
        is_input,
    };
    Plan {
        buffers: vec![
            buffer("input", 3, true),
            buffer("out", 4, false),
            buffer("none", 0, false),
        ],
        modules: vec!["m".into()],
        work,
        wanted: vec![],
    }
}

fn image() -> Image {
    Image {
        kind: ImageKind::Jit,
        module: "m".into(),
        code: Code::Ptx("".into()),
        sha256: String::new(),
        compiler: String::new(),
    }
}

/// Runs with input `[10, 20, 30]` and gives the readings as text: `run 0.0: [1, 2]`.
fn run_on(fake: &mut Fake, plan: &Plan) -> (Result<Ran, Fault>, Vec<String>) {
    let input = Arc::new(Array::I32(vec![10, 20, 30]));
    let mut readings = vec![];
    let ints = |bytes: &[u8]| format!("{:x?}", bytemuck::cast_slice::<u8, i32>(bytes));
    let ran = run(fake, plan, &[image()], &[input], &mut |reading| {
        readings.push(match reading {
            Reading::Begins => return,
            Reading::Run { run, slice, bytes } => format!("run {run}.{slice}: {}", ints(bytes)),
            Reading::Row { row, slice, bytes } => format!("row {row}.{slice}: {}", ints(bytes)),
            Reading::Wanted { index, bytes } => format!("wanted {index}: {}", ints(bytes)),
        });
    });
    (ran, readings)
}

#[test]
fn a_checked_run_is_poisoned_run_settled_and_read() {
    let mut fake = Fake::new(DeviceKind::Cuda);
    let reads = vec![slice(OUT, 0, 4), slice(OUT, 1, 2), slice(OUT, 4, 0)];
    let plan = plan(Work::Once {
        steps: vec![copy(), add(OUT, 1)],
        reads,
    });
    let (ran, readings) = run_on(&mut fake, &plan);
    let ran = ran.unwrap();
    assert_eq!(
        readings,
        [
            "run 0.0: [b, 14, 1e, dbdbdbdb]",
            "run 0.1: [14, 1e]",
            "run 0.2: []"
        ]
    );
    assert_eq!(
        fake.log,
        [
            "load m",
            "upload input",
            "poison out[0..+16]",
            "copy input → out",
            "add",
            "finish",
            "findings",
            "read out[0..+16]",
            "read out[4..+8]",
            "read input[0..+12]",
        ]
    );
    assert_eq!(
        fake.access,
        [Access::ReadOnly, Access::ReadWrite, Access::ReadWrite]
    );
    assert_eq!(ran.jit_logs, [Some("log of m".to_owned())]);
    assert_eq!((ran.findings, ran.rows, fake.freed), (vec![], vec![], 1));
}

#[test]
fn every_repeat_starts_from_poison() {
    let mut fake = Fake::new(DeviceKind::Cuda);
    let (steps, reads) = (vec![copy(), add(OUT, 1)], vec![slice(OUT, 0, 1)]);
    let (ran, readings) = run_on(
        &mut fake,
        &plan(Work::Repeat {
            runs: 3,
            steps,
            reads,
        }),
    );
    ran.unwrap();
    assert_eq!(readings, ["run 0.0: [b]", "run 1.0: [b]", "run 2.0: [b]"]);
    assert_eq!(
        fake.log
            .iter()
            .filter(|call| call.starts_with("poison"))
            .count(),
        3
    );
}

#[test]
fn wanted_runs_come_after_on_fresh_poison() {
    let mut fake = Fake::new(DeviceKind::Cuda);
    let mut plan = plan(Work::Once {
        steps: vec![copy()],
        reads: vec![slice(OUT, 0, 1)],
    });
    let fill = Step::Fill {
        to: slice(OUT, 1, 2),
        pattern: vec![7, 0, 0, 0],
    };
    plan.wanted = vec![WantedRun {
        key: "k".into(),
        steps: vec![fill],
        read: slice(OUT, 0, 4),
    }];
    let (ran, readings) = run_on(&mut fake, &plan);
    ran.unwrap();
    assert_eq!(
        readings,
        ["run 0.0: [a]", "wanted 0: [a4a4a4a4, 7, 7, a4a4a4a4]"]
    );
    assert!(fake.log.contains(&"fill out[4..+8]".to_owned()));
}

#[test]
fn a_written_input_is_a_stray_write() {
    let work = || Work::Once {
        steps: vec![add(INPUT, 5)],
        reads: vec![],
    };
    let mut fake = Fake::new(DeviceKind::Cuda);
    let ran = run_on(&mut fake, &plan(work())).0.unwrap();
    assert_eq!(ran.findings.len(), 1);
    assert_eq!(
        ran.findings[0].to_string(),
        "stray_write: input `input` was written: element 0 was 10, is 15"
    );

    let mut fake = Fake::new(DeviceKind::Sim);
    let ran = run_on(&mut fake, &plan(work())).0.unwrap();
    assert_eq!(
        ran.findings,
        [],
        "the simulated device reports the write itself"
    );
}

#[test]
fn a_finding_that_recurs_is_listed_once() {
    let mut fake = Fake::new(DeviceKind::Cuda);
    fake.findings = vec![Finding::new(FindingKind::Guard, "beside out")];
    let work = Work::Repeat {
        runs: 4,
        steps: vec![copy()],
        reads: vec![],
    };
    let ran = run_on(&mut fake, &plan(work)).0.unwrap();
    assert_eq!(ran.findings, fake.findings);
}

#[test]
fn a_fault_frees_the_buffers_unless_the_context_is_lost() {
    for (fault, freed) in [(Fault::setup("shape"), 1), (Fault::kernel("address"), 0)] {
        let mut fake = Fake::new(DeviceKind::Cuda);
        fake.fault = Some(fault.clone());
        let steps = vec![kernel("break", vec![]), copy()];
        let (ran, readings) = run_on(
            &mut fake,
            &plan(Work::Once {
                steps,
                reads: vec![slice(OUT, 0, 1)],
            }),
        );
        assert_eq!(ran.unwrap_err(), fault);
        assert_eq!((readings.len(), fake.freed), (0, freed));
    }
}

#[test]
fn what_does_not_fit_the_plan_is_refused_before_the_device_is_used() {
    let plan = plan(Work::Once {
        steps: vec![],
        reads: vec![],
    });
    let arrays = |array: Array| vec![Arc::new(array)];
    let good = || arrays(Array::I32(vec![1, 2, 3]));
    let mut other = image();
    other.module = "other".into();
    for (images, inputs, words) in [
        (
            vec![other],
            good(),
            "the plan launches from [\"m\"], given [\"other\"]",
        ),
        (vec![], good(), "the plan launches from [\"m\"], given []"),
        (vec![image()], vec![], "the plan has 1 inputs, given 0"),
        (
            vec![image()],
            arrays(Array::I32(vec![1])),
            "input `input` is 3 × i32, given 1 × i32",
        ),
        (
            vec![image()],
            arrays(Array::U32(vec![1, 2, 3])),
            "input `input` is 3 × i32, given 3 × u32",
        ),
    ] {
        let mut fake = Fake::new(DeviceKind::Cuda);
        let fault = run(&mut fake, &plan, &images, &inputs, &mut |_| {}).unwrap_err();
        assert_eq!(fault.reason.kind, ReasonKind::Setup);
        assert_eq!(fault.reason.message, words);
        assert!(fake.log.is_empty());
    }
}
