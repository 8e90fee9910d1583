mod calls;
mod gates;
mod launches;
mod steps;

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
