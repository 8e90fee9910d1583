//! Steps: loops, swaps, `when`, slices, memsets and copies.

use super::*;

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
