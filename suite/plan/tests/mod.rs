mod calls;
mod gates;

use super::fixture::*;
use super::*;
use crate::expr::{Engine, Value};
use crate::outcome::Fault;
use crate::spec::model::{Check, Range, Requirement, Suite, Timings, Verify, Want};
use crate::terms::ReasonKind;
use crate::value::ElementType::{self, F32, I8, I32, U32, U64};

fn kernels() -> Kernels {
    Kernels(vec![
        ("k", "ppi"),
        ("one", "p"),
        ("none", ""),
        ("none_512", ""),
        ("other", "p"),
        ("pass_16", "p"),
        ("numbers", "bilfd"),
        ("struct", "s"),
    ])
}

fn prepare(suite: &Suite) -> Result<Prepared, Fault> {
    build(suite, &suite.case("g"), &kernels(), &Engine::new())
}

/// A suite whose gate `g` runs `steps` over buffers `ping`, `pong` (i32, n) and reads `ping`.
fn running(n: i64, steps: Vec<SpecStep>) -> Suite {
    suite(n)
        .with_buffer("ping", I32, "n")
        .with_buffer("pong", I32, "n")
        .with_pipeline("p", steps)
        .with_gate("g", gate(exact("p", "ping", reference("copy", "input"))))
}

type SpecStep = crate::spec::model::Step;

const INPUT: BufferIndex = BufferIndex(0);
const PING: BufferIndex = BufferIndex(1);
const PONG: BufferIndex = BufferIndex(2);

fn part(buffer: BufferIndex, from: u64, len: u64) -> Slice {
    Slice { buffer, from, len }
}

fn at(buffer: BufferIndex) -> Argument {
    Argument::Pointer { buffer, element: 0 }
}

fn int(value: i32) -> Argument {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&value.to_le_bytes());
    Argument::Scalar { bytes, size: 4 }
}

fn k(grid: u32, args: Vec<Argument>) -> Step {
    Step::Launch(Launch {
        module: 0,
        kernel: "k".into(),
        grid: [grid, 1, 1],
        block: [64, 1, 1],
        shared: 0,
        args,
    })
}

fn once(prepared: &Prepared) -> (&[Step], &[Slice]) {
    match &prepared.plan.work {
        Work::Once { steps, reads } => (steps, reads),
        other => panic!("{other:?}"),
    }
}

fn steps(n: i64, steps: Vec<SpecStep>) -> Vec<Step> {
    once(&prepare(&running(n, steps)).unwrap()).0.to_vec()
}

/// The message without its place, which is the fixture's for every fault.
fn refusal(suite: &Suite) -> String {
    let fault = prepare(suite).unwrap_err();
    assert_eq!(fault.reason.kind, ReasonKind::Setup);
    assert!(!fault.sticky);
    let message = fault.reason.message.strip_prefix("specs/s.yaml:7:3: ");
    message
        .unwrap_or_else(|| panic!("{}", fault.reason.message))
        .to_owned()
}

fn refused(n: i64, step: SpecStep) -> String {
    refusal(&running(n, vec![step]))
}

#[test]
fn a_loop_swaps_names_for_the_rest_of_the_run() {
    let body = vec![kernel("k", "1", "64", &["&ping", "&pong", "1 << d"])];
    let list = vec![
        copy("input", "ping"),
        each("d", "0", "3", Some(("ping", "pong")), body),
        kernel("k", "2", "64", &["&ping", "&pong", "n"]),
    ];
    let prepared = prepare(&running(8, list)).unwrap();
    let (steps, reads) = once(&prepared);
    assert_eq!(
        steps,
        [
            Step::Copy {
                from: part(INPUT, 0, 8),
                to: part(PING, 0, 8)
            },
            k(1, vec![at(PING), at(PONG), int(1)]),
            k(1, vec![at(PONG), at(PING), int(2)]),
            k(1, vec![at(PING), at(PONG), int(4)]),
            k(2, vec![at(PONG), at(PING), int(8)]),
        ]
    );
    // Three swaps: what `ping` names at the end is the second buffer.
    assert_eq!(reads, [part(PONG, 0, 8)]);
    assert_eq!((prepared.launches, prepared.dropped_launches), (4, 0));
    assert_eq!(prepared.plan.modules, ["first"]);
}

#[test]
fn loops_nest_and_their_variables_end_with_them() {
    let inner = each(
        "e",
        "d",
        "2",
        None,
        vec![kernel("k", "1", "64", &["&ping", "&pong", "10 * d + e"])],
    );
    let list = vec![each("d", "0", "2", None, vec![inner])];
    let value = |v| k(1, vec![at(PING), at(PONG), int(v)]);
    assert_eq!(steps(8, list), [value(0), value(1), value(11)]);
    let outside = vec![
        each("d", "0", "2", None, vec![]),
        kernel("k", "1", "64", &["&ping", "&pong", "d"]),
    ];
    assert!(refusal(&running(8, outside)).contains("`d`"));
    assert!(
        steps(
            8,
            vec![each("d", "5", "2", None, vec![copy("input", "ping")])]
        )
        .is_empty()
    );
}

#[test]
fn pipelines_nest_and_see_the_loop_they_stand_in() {
    let suite = running(
        8,
        vec![each(
            "d",
            "0",
            "2",
            Some(("ping", "pong")),
            vec![pipeline("inner")],
        )],
    )
    .with_pipeline(
        "inner",
        vec![kernel("k", "1", "64", &["&ping", "&pong", "d"])],
    );
    let prepared = prepare(&suite).unwrap();
    assert_eq!(
        once(&prepared).0,
        [
            k(1, vec![at(PING), at(PONG), int(0)]),
            k(1, vec![at(PONG), at(PING), int(1)])
        ]
    );
    let cycle = running(8, vec![pipeline("p")]);
    assert_eq!(refusal(&cycle), "pipelines and loops lie more than 64 deep");
}

#[test]
fn when_leaves_steps_out() {
    let list = vec![
        when("n == 0", memset("ping", "1")),
        when("n > 0", memset("ping", "2")),
        when("n == 0", each("d", "0", "1 / 0", None, vec![])),
    ];
    let fill = |value: i32| Step::Fill {
        to: part(PING, 0, 8),
        pattern: value.to_le_bytes().into(),
    };
    assert_eq!(steps(8, list), [fill(2)]);
}

#[test]
fn a_zero_grid_is_dropped_and_counted() {
    let list = vec![
        kernel("k", "n", "64", &["&ping", "&pong", "n"]),
        kernel("k", "1, n, 1", "64", &["&ping[0]", "&pong", "n"]),
        kernel("one", "1", "64", &["&ping"]),
    ];
    let prepared = prepare(&running(0, list)).unwrap();
    assert_eq!(once(&prepared).0.len(), 1);
    assert_eq!((prepared.launches, prepared.dropped_launches), (1, 2));
    let only = prepare(&running(0, vec![kernel("other", "0", "1", &["&ping"])])).unwrap();
    assert!(once(&only).0.is_empty());
    // Nothing is launched from it, so its image is not needed.
    assert!(only.plan.modules.is_empty());
}

#[test]
fn slices_are_elements_of_their_buffer() {
    let list = vec![
        memset("ping[n - 1]", "-1"),
        memset("ping[2..2]", "0"),
        copy("input[0..3]", "ping[5..8]"),
        kernel("one", "1", "1", &["&ping[3]"]),
        kernel("one", "1", "1", &["&ping[8..8]"]),
    ];
    let one = |element| {
        Step::Launch(Launch {
            module: 0,
            kernel: "one".into(),
            grid: [1; 3],
            block: [1; 3],
            shared: 0,
            args: vec![Argument::Pointer {
                buffer: PING,
                element,
            }],
        })
    };
    assert_eq!(
        steps(8, list),
        [
            Step::Fill {
                to: part(PING, 7, 1),
                pattern: vec![0xFF; 4]
            },
            Step::Fill {
                to: part(PING, 2, 0),
                pattern: vec![0; 4]
            },
            Step::Copy {
                from: part(INPUT, 0, 3),
                to: part(PING, 5, 3)
            },
            one(3),
            one(8),
        ]
    );
    assert_eq!(
        refused(8, memset("ping[n]", "0")),
        "`ping[n]`: the index is 8, and `ping` has 8 elements"
    );
    assert_eq!(
        refused(8, memset("ping[0..n + 1]", "0")),
        "`ping[0..n + 1]`: the range is 0..9, and `ping` has 8 elements"
    );
    assert_eq!(
        refused(8, kernel("one", "1", "1", &["&ping[-1]"])),
        "`ping[-1]`: the index is -1, and `ping` has 8 elements"
    );
    assert!(refused(8, memset("ping[3..2]", "0")).contains("3..2"));
}

#[test]
fn memset_patterns_are_elements() {
    let pattern = |element: ElementType, value: &str| {
        let suite = running(8, vec![memset("x", value)]).with_buffer("x", element, "2");
        match once(&prepare(&suite).unwrap()).0 {
            [Step::Fill { pattern, .. }] => pattern.clone(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(pattern(I8, "-2"), [0xFE]);
    assert_eq!(pattern(U64, "n << 32"), [0, 0, 0, 0, 8, 0, 0, 0]);
    assert_eq!(pattern(F32, "1"), 1f32.to_le_bytes());
    assert_eq!(pattern(F32, "-0.5"), (-0.5f32).to_le_bytes());
    let bad = |element, value: &str| {
        refusal(&running(8, vec![memset("x", value)]).with_buffer("x", element, "2"))
    };
    assert_eq!(bad(U32, "-1"), "memset of `x`: -1 does not fit u32");
    assert_eq!(bad(I8, "128"), "memset of `x`: 128 does not fit i8");
    assert_eq!(bad(F32, "1e300"), "memset of `x`: 1e300 does not fit f32");
}

#[test]
fn copies_fit_and_inputs_are_read_only() {
    assert_eq!(
        refused(8, copy("input[0..3]", "ping")),
        "copy of `input[0..3]` to `ping`: 3 elements to 8"
    );
    let wide = running(8, vec![copy("input", "wide")]).with_buffer("wide", U64, "n");
    assert_eq!(
        refusal(&wide),
        "copy of `input` to `wide`: elements of i32 to u64"
    );
    let same_size = running(8, vec![copy("input", "x")]).with_buffer("x", F32, "n");
    assert!(prepare(&same_size).is_ok());
    assert!(refused(8, copy("ping[0..4]", "ping[3..7]")).contains("overlap"));
    assert_eq!(steps(8, vec![copy("ping[0..4]", "ping[4..8]")]).len(), 1);
    let message = "`input` is an input, which is read-only";
    assert_eq!(refused(8, copy("ping", "input")), message);
    assert_eq!(refused(8, memset("input", "0")), message);
    assert_eq!(
        refused(8, memset("nothing", "0")),
        "`nothing` is neither a buffer nor an input"
    );
}

#[test]
fn launch_shapes_keep_cudas_limits() {
    let launch = |grid: &str, block: &str| refused(8, kernel("none", grid, block, &[]));
    assert_eq!(launch("1", "1025"), "block x is 1025, at most 1024 fit");
    assert_eq!(launch("1", "1,1,65"), "block z is 65, at most 64 fit");
    assert_eq!(
        launch("1", "32,33"),
        "`none`: a block of 1056 threads, at most 1024 fit"
    );
    assert_eq!(
        launch("1", "0"),
        "`none`: block is [0, 1, 1], it has no thread"
    );
    assert_eq!(launch("-1", "1"), "grid is -1: `-1` is negative");
    assert_eq!(
        launch("2147483648", "1"),
        "grid x is 2147483648, at most 2147483647 fit"
    );
    assert_eq!(launch("1,65536", "1"), "grid y is 65536, at most 65535 fit");
    assert_eq!(
        launch("1,1,65536", "1"),
        "grid z is 65536, at most 65535 fit"
    );
    assert_eq!(
        launch("1,1,1,1", "1"),
        "grid has 4 dimensions, it takes 1 to 3"
    );
    assert_eq!(
        refused(8, kernel("none_512", "1", "513", &[])),
        "`none_512`: a block of 513 threads, at most 512 fit"
    );
    let list = vec![kernel("none", "2147483647, 65535, 65535", "8, 2, 64", &[])];
    match &steps(8, list)[..] {
        [Step::Launch(launch)] => {
            assert_eq!(launch.grid, [2_147_483_647, 65_535, 65_535]);
            assert_eq!(launch.block, [8, 2, 64]);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn shared_memory_counts_the_static_part() {
    let shared = |bytes: &str| running(8, vec![shared_kernel("none", "1", "1", Some(bytes), &[])]);
    let most = prepare(&shared("226 * 1024")).unwrap();
    match once(&most).0 {
        [Step::Launch(launch)] => assert_eq!(launch.shared, 226 * 1024),
        other => panic!("{other:?}"),
    }
    assert_eq!(
        refusal(&shared("226 * 1024 + 1")),
        "`none`: 232449 bytes of shared memory (1024 of them static), at most 232448 fit"
    );
    assert_eq!(refusal(&shared("-4")), "shared is -4: `-4` is negative");
}

#[test]
fn arguments_follow_the_signature() {
    let list = vec![kernel(
        "numbers",
        "1",
        "1",
        &["-1", "4294967295", "-1", "1", "0.1"],
    )];
    let scalar = |bytes: &[u8]| {
        let mut all = [0; 8];
        all[..bytes.len()].copy_from_slice(bytes);
        let size = bytes.len() as u32;
        Argument::Scalar { bytes: all, size }
    };
    match &steps(8, list)[..] {
        [Step::Launch(launch)] => assert_eq!(
            launch.args,
            [
                scalar(&[0xFF]),
                scalar(&[0xFF; 4]),
                scalar(&[0xFF; 8]),
                scalar(&1f32.to_le_bytes()),
                scalar(&0.1f64.to_le_bytes()),
            ]
        ),
        other => panic!("{other:?}"),
    }
    let bad = |name: &str, args: &[&str]| refused(8, kernel(name, "1", "1", args));
    assert_eq!(bad("one", &[]), "`one` takes 1 arguments, 0 are given");
    assert_eq!(
        bad("k", &["&ping", "&pong", "1 << 32"]),
        "`1 << 32`: 4294967296 does not fit 4 bytes (-2147483648 to 4294967295)"
    );
    assert_eq!(
        bad("k", &["&ping", "&pong", "&ping"]),
        "`ping`: the kernel takes 4 bytes of integer there, not a pointer"
    );
    assert_eq!(
        bad("numbers", &["0", "0", "0", "1e39", "0"]),
        "`1e39`: 1e39 does not fit f32"
    );
    assert!(bad("struct", &["1"]).contains("16 bytes of struct"));
    assert_eq!(bad("missing", &[]), "no kernel `missing`");
}

#[test]
fn kernel_names_hold_axes_and_modules_are_those_launched_from() {
    let list = vec![
        kernel("other", "1", "1", &["&ping"]),
        kernel("pass_${n}", "1", "1", &["&ping"]),
        kernel("other", "1", "1", &["&ping"]),
    ];
    let prepared = prepare(&running(16, list)).unwrap();
    assert_eq!(prepared.plan.modules, ["second", "first"]);
    let launched: Vec<(usize, &str)> = once(&prepared)
        .0
        .iter()
        .filter_map(|step| match step {
            Step::Launch(launch) => Some((launch.module, launch.kernel.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(launched, [(0, "other"), (1, "pass_16"), (0, "other")]);
    assert!(refused(8, kernel("pass_${m}", "1", "1", &["&ping"])).contains("`m`"));
}

#[test]
fn a_run_has_at_most_10_000_launches_and_ends() {
    let launches = |n: &str| {
        running(
            8,
            vec![each("d", "0", n, None, vec![kernel("none", "1", "1", &[])])],
        )
    };
    assert_eq!(prepare(&launches("10000")).unwrap().launches, 10_000);
    assert_eq!(
        refusal(&launches("10001")),
        "unrolls to more than 10000 launches"
    );
    let idle = running(8, vec![each("d", "0", "1 << 62", None, vec![])]);
    assert_eq!(
        refusal(&idle),
        "unrolls to more than 100000 steps and iterations"
    );
}

#[test]
fn lets_see_axes_and_earlier_lets() {
    let suite = running(257, vec![])
        .with_let("tiles", "ceil_div(n, 256)")
        .with_let("twice", "2 * tiles");
    let scope = prepare(&suite).unwrap().scope;
    assert_eq!(scope.get("tiles"), Some(&Value::Int(2)));
    assert_eq!(scope.get("twice"), Some(&Value::Int(4)));
    assert_eq!(scope.get("n"), Some(&Value::Int(257)));
    let zero = running(8, vec![]).with_let("bad", "n / (n - 8)");
    let message = prepare(&zero).unwrap_err().reason.message;
    assert!(message.starts_with("specs/s.yaml:7:"), "{message}");
    assert!(message.to_lowercase().contains("zero"), "{message}");
}

#[test]
fn an_unmet_requirement_says_what_and_for_which_parameters() {
    let mut suite = running(16_777_217, vec![]).with_let("tiles2", "2");
    suite.require.push(Requirement {
        that: expr("tiles2 <= 1"),
        otherwise: "three scan levels reach 256^3 elements".into(),
    });
    assert_eq!(
        refusal(&suite),
        "three scan levels reach 256^3 elements (tiles2 <= 1 is false for n = 16777217)"
    );
}

#[test]
fn buffers_have_lengths_that_fit() {
    let with = |len: &str| running(8, vec![]).with_buffer("x", U64, len);
    let prepared = prepare(&with("1 << 36")).unwrap();
    assert_eq!(
        prepared.plan.buffers[3],
        PlanBuffer {
            name: "x".into(),
            element: U64,
            len: 1 << 36,
            is_input: false
        }
    );
    assert_eq!(
        refusal(&with("-1")),
        "the length of `x` is -1: `-1` is negative"
    );
    let message = refusal(&with("1 << 37"));
    assert!(
        message.starts_with("`x` has `1 << 37` = 137438953472 elements of 8 bytes"),
        "{message}"
    );
    assert!(refusal(&with("9223372036854775807")).contains("more than"));
}

#[test]
fn inputs_are_requests_in_buffer_order() {
    let mut suite = running(8, vec![]);
    let input = &mut suite.blocks[0].inputs["input"];
    input.params.insert("keep".into(), expr("n * 16"));
    input.seed = crate::spec::model::Seed::CaseId;
    let prepared = prepare(&suite).unwrap();
    let [request] = &prepared.inputs[..] else {
        panic!()
    };
    assert_eq!(request.generator, "all");
    assert_eq!(request.params["keep"], 128);
    assert_eq!(request.len, 8);
    assert_eq!(request.seed, crate::case::seed(&suite.case("g"), "input"));
    assert!(prepared.plan.buffers[0].is_input);
}
