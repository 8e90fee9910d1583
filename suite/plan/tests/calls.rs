//! Calls of the native library and of host rungs.

use super::*;
use crate::spec::model::Callee::{self, Host, Native};

fn calling(callee: Callee, name: &str, args: &[&str]) -> Result<Prepared, Fault> {
    prepare(
        &running(5, vec![call(callee, name, args)])
            .with_buffer("single", F32, "n")
            .with_buffer("wide", U64, "n"),
    )
}

fn message(callee: Callee, name: &str, args: &[&str]) -> String {
    let fault = calling(callee, name, args).unwrap_err();
    assert_eq!(fault.reason.kind, ReasonKind::Setup);
    let words = fault.reason.message;
    words.strip_prefix("specs/s.yaml:7:3: ").unwrap().to_owned()
}

fn number(value: u64, size: u32) -> Argument {
    let bytes = value.to_le_bytes();
    Argument::Scalar { bytes, size }
}

#[test]
fn a_call_has_its_declared_sizes_and_says_what_it_writes() {
    let prepared = calling(Native, "lib_reverse", &["&input", "&ping[1]", "n - 1"]).unwrap();
    let ping = Argument::Pointer {
        buffer: PING,
        element: 1,
    };
    let reverse = Call {
        name: "lib_reverse".into(),
        args: vec![at(INPUT), ping, number(4, 8)],
        writes: vec![false, true, false],
    };
    assert_eq!(once(&prepared).0, [Step::Native(reverse)]);
    assert!(prepared.plan.is_native());
    assert_eq!((prepared.launches, prepared.plan.modules.len()), (0, 0));
    let prepared = calling(Native, "lib_scale", &["&single", "0.5", "0 - 1"]).unwrap();
    let [Step::Native(scale)] = once(&prepared).0 else {
        panic!()
    };
    let half = u64::from(0.5f32.to_bits());
    assert_eq!(scale.args[1..], [number(half, 4), number(255, 1)]);
    let prepared = calling(Host, "scan_exclusive", &["&input", "&pong", "n"]).unwrap();
    let [Step::Host(scan)] = once(&prepared).0 else {
        panic!()
    };
    assert_eq!(scan.args, [at(INPUT), at(PONG), number(5, 8)]);
    assert!(!prepared.plan.is_native());
}

#[test]
fn what_a_function_cannot_take_is_refused() {
    let reverse = |args: &[&str]| message(Native, "lib_reverse", args);
    assert_eq!(
        message(Native, "reverse", &[]),
        "no function `reverse`: there are lib_reverse, lib_scale"
    );
    assert!(
        message(Host, "scan", &[]).starts_with("no host rung `scan`: there are scan_exclusive")
    );
    assert_eq!(
        reverse(&["&input"]),
        "`lib_reverse` is lib_reverse(const i32* input, i32* output, u64 n), 1 arguments are given"
    );
    assert_eq!(
        reverse(&["&input", "&wide", "n"]),
        "`wide` holds u64, and `i32* output` is wanted"
    );
    assert_eq!(
        reverse(&["&input", "&input", "n"]),
        "`input` is an input, which is read-only"
    );
    assert_eq!(
        reverse(&["&input", "&ping", "&pong"]),
        "`pong` is given, and `u64 n` is wanted"
    );
    assert_eq!(
        reverse(&["&input", "n", "n"]),
        "`n` is given, and `i32* output` is wanted"
    );
    assert_eq!(
        reverse(&["&input", "&ping", "0 - 1"]),
        "`0 - 1`: -1 does not fit u64"
    );
    assert_eq!(
        message(Native, "lib_scale", &["&single", "1.0", "128"]),
        "`128`: 128 does not fit i8"
    );
}
