use indexmap::IndexMap;

use super::*;
use crate::spec::model::{Axis, Block, Check, Expect, Expr, Gate, Place};
use crate::terms::Profile;

fn gate() -> Gate {
    let that = Expr {
        source: "true".into(),
        place: Place::default(),
    };
    Gate {
        subject: None,
        check: Check::Assert {
            run: "run".into(),
            that,
        },
        expect: Expect::Pass,
        devices: Vec::new(),
        report: IndexMap::new(),
        place: Place::default(),
    }
}

fn int(values: &[i64]) -> Vec<AxisValue> {
    values.iter().map(|v| AxisValue::Int(*v)).collect()
}

fn text(values: &[&str]) -> Vec<AxisValue> {
    values
        .iter()
        .map(|v| AxisValue::Text((*v).into()))
        .collect()
}

fn per(lists: &[(Profile, &[i64])]) -> Axis {
    Axis::PerProfile(lists.iter().map(|(p, v)| (*p, int(v))).collect())
}

fn block(line: usize, axes: Vec<(&str, Axis)>, gates: &[&str]) -> Block {
    Block {
        axes: axes.into_iter().map(|(n, a)| (n.into(), a)).collect(),
        inputs: IndexMap::new(),
        gates: gates.iter().map(|g| (*g).into()).collect(),
        place: Place { line, column: 5 },
    }
}

fn suite(name: &str, blocks: Vec<Block>) -> Suite {
    let gates = blocks.iter().flat_map(|b| b.gates.clone());
    Suite {
        name: name.into(),
        title: String::new(),

        subject: "the suite".into(),
        path: format!("specs/{name}.yaml"),
        sha256: String::new(),
        kernels: Vec::new(),
        gates: gates.map(|g| (g, gate())).collect(),
        blocks,
        lets: IndexMap::new(),
        require: Vec::new(),
        buffers: IndexMap::new(),
        pipelines: IndexMap::new(),
        must_run: Default::default(),
        tables: IndexMap::new(),
    }
}

fn worked() -> Suite {
    let sizes = per(&[(Profile::Quick, &[7]), (Profile::Full, &[8, 9])]);
    let keep = Axis::Always(int(&[26, 128]));
    let patterns = Axis::Always(text(&["none", "all"]));
    let huge = per(&[(Profile::Huge, &[100])]);
    suite(
        "compaction",
        vec![
            block(5, vec![("keep", keep), ("n", sizes)], &["total", "exact"]),
            block(9, vec![("pattern", patterns)], &["exact"]),
            block(
                12,
                vec![("keep", Axis::Always(int(&[1]))), ("m", huge)],
                &["total"],
            ),
        ],
    )
}

fn ids(profile: Profile, images: &[ImageKind]) -> Vec<String> {
    let cases = expand(&[worked()], profile, images).unwrap();
    cases.into_iter().map(|c| c.id).collect()
}

#[test]
fn a_gates_subject_is_its_own_or_the_suites() {
    let mut suite = worked();
    suite.gates["exact"].subject = Some("the other one".into());
    let subjects: Vec<String> = expand(&[suite], Profile::Huge, &[ImageKind::Jit])
        .unwrap()
        .into_iter()
        .map(|case| case.subject)
        .collect();
    assert_eq!(subjects, ["the suite"]);
    let mut suite = worked();
    suite.gates["total"].subject = Some("the total".into());
    let found = |id: &str| find(std::slice::from_ref(&suite), id).unwrap().subject;
    assert_eq!(found("compaction::total::keep=26::n=7::jit"), "the total");
    assert_eq!(found("compaction::exact::pattern=all::jit"), "the suite");
}

#[test]
fn expansion_is_the_literal_table() {
    assert_eq!(
        ids(Profile::Quick, &[ImageKind::Sass, ImageKind::Jit]),
        [
            "compaction::total::keep=26::n=7::sass",
            "compaction::total::keep=26::n=7::jit",
            "compaction::exact::keep=26::n=7::sass",
            "compaction::exact::keep=26::n=7::jit",
            "compaction::total::keep=128::n=7::sass",
            "compaction::total::keep=128::n=7::jit",
            "compaction::exact::keep=128::n=7::sass",
            "compaction::exact::keep=128::n=7::jit",
            "compaction::exact::pattern=none::sass",
            "compaction::exact::pattern=none::jit",
            "compaction::exact::pattern=all::sass",
            "compaction::exact::pattern=all::jit",
        ]
    );
    assert_eq!(
        ids(Profile::Full, &[ImageKind::Jit]),
        [
            "compaction::total::keep=26::n=8::jit",
            "compaction::exact::keep=26::n=8::jit",
            "compaction::total::keep=26::n=9::jit",
            "compaction::exact::keep=26::n=9::jit",
            "compaction::total::keep=128::n=8::jit",
            "compaction::exact::keep=128::n=8::jit",
            "compaction::total::keep=128::n=9::jit",
            "compaction::exact::keep=128::n=9::jit",
            "compaction::exact::pattern=none::jit",
            "compaction::exact::pattern=all::jit",
        ]
    );
    assert_eq!(
        ids(Profile::Huge, &[ImageKind::Jit]),
        ["compaction::total::keep=1::m=100::jit"]
    );
    assert!(ids(Profile::Perf, &[ImageKind::Jit]).is_empty());
}

#[test]
fn an_image_named_twice_gives_one_case() {
    let images = [ImageKind::Jit, ImageKind::Jit];
    assert_eq!(ids(Profile::Huge, &images).len(), 1);
}

#[test]
fn a_block_without_axes_is_one_case_in_quick_and_full() {
    let plain = [suite("s", vec![block(3, vec![], &["g"])])];
    let cases = |p| expand(&plain, p, &[ImageKind::Jit]).unwrap();
    assert_eq!(cases(Profile::Quick)[0].id, "s::g::jit");
    assert_eq!(cases(Profile::Full).len(), 1);
    assert!(cases(Profile::Huge).is_empty());
}

#[test]
fn a_duplicate_names_both_places() {
    let n = |v: &[i64]| vec![("n", Axis::Always(int(v)))];
    let twice = suite(
        "s",
        vec![block(3, n(&[1, 2]), &["g"]), block(7, n(&[2]), &["g"])],
    );
    assert_eq!(
        expand(&[twice], Profile::Quick, &[ImageKind::Jit]).unwrap_err(),
        ["the case `s::g::n=2` is there twice: from specs/s.yaml:3:5 and from specs/s.yaml:7:5"]
    );
    let same_block = suite("s", vec![block(3, n(&[2, 2]), &["g"])]);
    assert_eq!(
        expand(&[same_block], Profile::Quick, &[ImageKind::Jit])
            .unwrap_err()
            .len(),
        1
    );
}

#[test]
fn two_blocks_may_not_share_an_id_across_profiles() {
    let blocks = vec![
        block(3, vec![("n", per(&[(Profile::Quick, &[1])]))], &["g"]),
        block(7, vec![("n", per(&[(Profile::Full, &[1])]))], &["g"]),
    ];
    let problems = expand(&[suite("s", blocks)], Profile::Quick, &[ImageKind::Jit]).unwrap_err();
    assert_eq!(problems.len(), 1, "{problems:?}");
    // One block in both profiles is the rule.
    let both = per(&[(Profile::Quick, &[1]), (Profile::Full, &[1])]);
    let one = [suite("s", vec![block(3, vec![("n", both)], &["g"])])];
    assert!(expand(&one, Profile::Quick, &[ImageKind::Jit]).is_ok());
}

#[test]
fn a_product_that_would_fill_the_memory_is_refused() {
    let wide: Vec<i64> = (0..100_000).collect();
    let axes = ["a", "b", "c", "d"].map(|name| (name, Axis::Always(int(&wide))));
    let large = suite("s", vec![block(3, axes.into(), &["g"])]);
    let problems = expand(&[large], Profile::Quick, &[ImageKind::Jit]).unwrap_err();
    assert_eq!(problems.len(), 1);
    assert!(
        problems[0].starts_with("specs/s.yaml:3:5: the axes and gates"),
        "{problems:?}"
    );
}

#[test]
fn find_gives_every_case_back_and_nothing_else() {
    let suites = [suite("comp", vec![]), worked()];
    for profile in Profile::ALL {
        for case in expand(&suites, *profile, ImageKind::ALL).unwrap() {
            assert_eq!(find(&suites, &case.id).as_ref(), Some(&case), "{}", case.id);
        }
    }
    for id in [
        "",
        "compaction",
        "compaction::total::keep=26::n=7",
        "compaction::total::keep=26::n=7::cubin",
        "compaction::total::keep=26::n=77::jit",
        "compaction::total::keep=2::n=7::jit",
        "compaction::total::n=7::keep=26::jit",
        "compaction::total::keep=26::n=7::::jit",
        "compaction::exact::keep=1::m=100::jit",
        "compaction::nothing::keep=26::n=7::jit",
    ] {
        assert_eq!(find(&suites, id), None, "{id}");
    }
}

#[test]
fn find_reads_text_values_that_look_like_ids() {
    let odd = Axis::Always(text(&["a", "a::b=1", "::"]));
    let suites = [suite(
        "s",
        vec![block(
            3,
            vec![("t", odd), ("b", Axis::Always(int(&[1])))],
            &["g"],
        )],
    )];
    let cases = expand(&suites, Profile::Quick, &[ImageKind::Jit]).unwrap();
    assert_eq!(cases[1].id, "s::g::t=a::b=1::b=1::jit");
    for case in cases {
        assert_eq!(find(&suites, &case.id), Some(case));
    }
}

#[test]
fn selection_is_libtests() {
    let chosen = |filters: &[&str], exact, skip: &[&str]| {
        let own = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
        let cases = expand(&[worked()], Profile::Quick, &[ImageKind::Jit]).unwrap();
        select(cases, &own(filters), exact, &own(skip)).len()
    };
    assert_eq!(chosen(&[], false, &[]), 6);
    assert_eq!(chosen(&["exact"], false, &[]), 4);
    assert_eq!(chosen(&["exact", "total"], false, &["keep=26"]), 4);
    assert_eq!(chosen(&["exact"], true, &[]), 0);
    assert_eq!(
        chosen(&["compaction::exact::pattern=all::jit"], true, &[]),
        1
    );
    assert_eq!(
        chosen(&[], true, &["compaction::exact::pattern=all::jit"]),
        5
    );
    assert_eq!(chosen(&[], true, &["pattern=all"]), 6);
}

#[test]
fn a_seed_depends_on_parameters_and_input_only() {
    let cases = expand(&[worked()], Profile::Quick, ImageKind::ALL).unwrap();
    let at = |id: &str| cases.iter().find(|c| c.id == id).unwrap();
    let one = at("compaction::total::keep=26::n=7::jit");
    let same = at("compaction::exact::keep=26::n=7::sass");
    let other = at("compaction::total::keep=128::n=7::jit");
    assert_eq!(seed(one, "input"), seed(same, "input"));
    assert_ne!(seed(one, "input"), seed(other, "input"));
    assert_ne!(seed(one, "input"), seed(one, "keys"));
    // A changed hash would change inputs of archived runs: this value is fixed.
    assert_eq!(seed(one, "input"), 1_203_197_452_065_070_264);
}

#[test]
fn list_time_skips_have_a_reason() {
    let mut suite = worked();
    let cases = expand(&[suite.clone()], Profile::Quick, ImageKind::ALL).unwrap();
    let jit = cases.iter().find(|c| c.image == ImageKind::Jit).unwrap();
    let sass = cases.iter().find(|c| c.image == ImageKind::Sass).unwrap();
    assert_eq!(decided(&suite, jit, DeviceKind::Sim), None);
    assert_eq!(decided(&suite, sass, DeviceKind::Cuda), None);
    let reason = decided(&suite, sass, DeviceKind::Sim).unwrap();
    assert_eq!(reason.kind, ReasonKind::Unsupported);
    suite.gates[&jit.gate].devices = vec![DeviceKind::Sim];
    assert_eq!(decided(&suite, jit, DeviceKind::Sim), None);
    assert_eq!(
        decided(&suite, jit, DeviceKind::Cuda).unwrap().message,
        "the gate names devices: [sim], this one is cuda"
    );
}
