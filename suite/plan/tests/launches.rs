//! Launches: shapes, arguments, names, and how many there may be.

use super::*;

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
