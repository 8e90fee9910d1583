//! The example suites, and what of the format they do not use.

use super::*;
use crate::spec::model::*;
use crate::terms::{DeviceKind, FindingKind, Profile, ReasonKind, Scale};
use crate::value::ElementType;

pub(super) const EXAMPLES: &[(&str, &str)] = &[
    (
        "compaction",
        include_str!("../testdata/good/compaction.yaml"),
    ),
    ("efficient", include_str!("../testdata/good/efficient.yaml")),
    ("lookback", include_str!("../testdata/good/lookback.yaml")),
    ("naive", include_str!("../testdata/good/naive.yaml")),
    ("radix", include_str!("../testdata/good/radix.yaml")),
];

/// Every key of the format that the examples leave out.
pub(super) const EVERYTHING: &str = include_str!("../testdata/good/everything.yaml");

pub(super) fn example(name: &str) -> &'static str {
    let found = EXAMPLES.iter().find(|(n, _)| *n == name);
    found.map_or("", |(_, text)| text)
}

fn good(text: &str) -> Suite {
    load(text).unwrap_or_else(|found| panic!("{}", crate::spec::SpecErrors(found)))
}

fn expr(source: &str, line: usize, column: usize) -> Expr {
    Expr {
        source: source.to_string(),
        place: Place { line, column },
    }
}

#[test]
fn the_examples_load() {
    for (name, text) in EXAMPLES {
        let loaded = load(text);
        assert!(loaded.is_ok(), "{name}: {:#?}", problems(text));
    }
}

#[test]
fn compaction_decodes_to_its_blocks_gates_and_rows() {
    let suite = good(example("compaction"));
    assert_eq!(suite.name, "compaction");
    assert_eq!(suite.kernels, ["compaction"]);
    assert_eq!(suite.path, "specs/test.yaml");
    assert_eq!(suite.sha256.len(), 64);
    assert_eq!(suite.blocks.len(), 3);
    assert_eq!(suite.blocks[0].place, Place { line: 7, column: 5 });
    let ints = |list: &[i64]| list.iter().map(|v| AxisValue::Int(*v)).collect::<Vec<_>>();
    assert_eq!(
        suite.blocks[0].axes["keep"],
        Axis::Always(ints(&[26, 128, 230]))
    );
    let Axis::PerProfile(n) = &suite.blocks[0].axes["n"] else {
        panic!("per profile");
    };
    assert_eq!(n[&Profile::Quick], ints(&[65537]));
    assert_eq!(n[&Profile::Full], ints(&[8387997]));
    assert_eq!(suite.blocks[0].gates.len(), 6);
    let input = &suite.blocks[0].inputs["input"];
    assert_eq!(input.element, ElementType::I32);
    assert_eq!(input.seed, Seed::Fixed(12345));
    assert_eq!(input.params["keep"].source, "keep");
    assert_eq!(suite.lets["tiles0"], expr("ceil_div(n, 256)", 19, 11));
    assert_eq!(suite.buffers["sums2"].len, expr("max(tiles2, 1)", 28, 28));
    assert_eq!(
        suite.require[0].otherwise,
        "three scan levels reach 256^3 elements"
    );
    let Action::Memset { to, value } = &suite.pipelines["scan"][0].action else {
        panic!("a memset");
    };
    assert_eq!((to.buffer.as_str(), &to.range), ("sums2", &Range::All));
    assert_eq!(value.source, "0");
    let when = suite.pipelines["scan"][0].when.as_ref();
    assert_eq!(when.map(|e| e.source.as_str()), Some("n == 0"));
    let Check::ScanTotal { run, got, want } = &suite.gates["scan_total"].check else {
        panic!("a scan total");
    };
    assert_eq!(run, "scanned");
    assert_eq!(got.range, Range::One(expr("0", 59, 67)), "{got:?}");
    let Want::Reference {
        name, operand, of, ..
    } = want
    else {
        panic!("a reference");
    };
    assert_eq!(
        (name.as_str(), operand.text.as_str(), of.as_str()),
        ("count", "nonzero", "input")
    );
    let kind = ReasonKind::Setup;
    assert_eq!(suite.gates["refused"].expect, Expect::Error { kind });
    let Check::Timings(timings) = &suite.gates["positive_timings"].check else {
        panic!("timings");
    };
    assert_eq!((timings.warmups, timings.runs), (3, 10));
    assert_eq!(timings.baseline.as_deref(), Some("copy"));
    assert_eq!(timings.rows["scatter"].prepare, ["mark_scan"]);
    assert_eq!(timings.rows["atomic"].verify.len(), 2);
    let Verify::Inline(check) = &timings.rows["copy"].verify[0] else {
        panic!("a check of its own");
    };
    assert!(matches!(&**check, Check::Exact { run, .. } if run == "copy"));
    assert_eq!(timings.assert[0].cards, ["NVIDIA H200"]);
    assert_eq!(suite.tables["survival_sweep"].columns.len(), 6);
    assert_eq!(suite.subject, suite.title, "where a suite names none");
}

#[test]
fn ranges_shared_inputs_loops_and_slices() {
    let suite = good(example("efficient"));
    let Axis::PerProfile(n) = &suite.blocks[0].axes["n"] else {
        panic!("per profile");
    };
    let full = &n[&Profile::Full];
    assert_eq!(full.len(), 34);
    let first: Vec<_> = [256, 253, 512, 509].map(AxisValue::Int).to_vec();
    assert_eq!(full[..4], first);
    assert_eq!(full[33], AxisValue::Int((1 << 24) - 3));
    assert_eq!(suite.blocks[0].gates, ["exclusive"]);
    let Action::Copy { to, .. } = &suite.pipelines["exclusive"][1].action else {
        panic!("a copy");
    };
    let range = Range::Span(expr("0", 15, 31), expr("n", 15, 34));
    assert_eq!(to.range, range);
    let suite = good(example("lookback"));
    assert_eq!(suite.blocks.len(), 2);
    assert!(suite.blocks.iter().all(|b| b.inputs.contains_key("input")));
    let suite = good(example("naive"));
    let Action::For { swap, steps, .. } = &suite.pipelines["inclusive"][1].action else {
        panic!("a loop");
    };
    assert_eq!(
        swap.as_ref(),
        Some(&("ping".to_string(), "pong".to_string()))
    );
    let Action::Kernel { args, block, .. } = &steps[0].action else {
        panic!("a kernel");
    };
    assert!(matches!(&args[0], Arg::Buffer(slice) if slice.buffer == "ping"));
    assert_eq!(args[2], Arg::Value(expr("1 << d", 19, 75)));
    assert_eq!(block[0].source, "256");
}

#[test]
fn everything_else_decodes() {
    let suite = with_files(EVERYTHING);
    let expect = |gate: &str| suite.gates[gate].expect.clone();
    let (guard, bounds) = (FindingKind::Guard, FindingKind::OutOfBounds);
    assert_eq!(
        expect("near"),
        Expect::Fail {
            cuda: guard,
            sim: bounds
        }
    );
    let multiset = FindingKind::Multiset;
    let both = Expect::Fail {
        cuda: multiset,
        sim: multiset,
    };
    assert_eq!(expect("any_order"), both);
    assert_eq!(suite.gates["any_order"].devices, [DeviceKind::Sim]);
    let want = |gate: &str| match &suite.gates[gate].check {
        Check::Exact { want, .. } | Check::Permutation { want, .. } => want.clone(),
        other => panic!("{other:?}"),
    };
    assert!(
        matches!(want("pipeline"), Want::Run { pipeline, buffer } if pipeline == "main" && buffer.buffer == "out")
    );
    assert!(matches!(want("file"), Want::File { text, .. } if text == "[1, 2, 3]"));
    let Want::Script { text, place } = want("inline") else {
        panic!("a script");
    };
    assert!(text.starts_with("let out = [];\nfor x in a {"), "{text}");
    assert_eq!(place.column, 9, "the script's first character");
    assert!(matches!(want("script_file"), Want::Script { text, .. } if text == "a"));
    assert!(matches!(want("of_b"), Want::Reference { of, .. } if of == "b"));
    let Action::Kernel { grid, shared, .. } = &suite.pipelines["main"][1].action else {
        panic!("a kernel");
    };
    assert_eq!(grid.len(), 3);
    assert_eq!(shared.as_ref().map(|e| e.source.as_str()), Some("4 * 256"));
    assert_eq!(suite.blocks[0].inputs["b"].seed, Seed::CaseId);
    assert_eq!(suite.title, "everything");
    assert_eq!(suite.subject, "all that the format has");
    let subject = |gate: &str| suite.gates[gate].subject.as_deref();
    assert_eq!((subject("ulps"), subject("near")), (Some("one more"), None));
    let Check::Timings(times) = &suite.gates["times"].check else {
        panic!("timings");
    };
    assert_eq!(times.rows["one"].subject.as_deref(), Some("a row's"));
    let well = &suite.gates["well"];
    assert!(matches!(&well.check, Check::Health { run } if run == "main"));
    assert_eq!(*well.expect_of_run(), Expect::Pass, "the runner judges it");
    assert_eq!(suite.must_run.on(DeviceKind::Cuda), ["times", "well"]);
    assert_eq!(suite.must_run.on(DeviceKind::Sim), ["near"]);
    let Some(plot) = &suite.tables["all"].plot else {
        panic!("a plot");
    };
    assert_eq!(
        (plot.x.as_str(), plot.y.join(" ").as_str()),
        ("n", "one far")
    );
    assert_eq!((plot.x_scale, plot.y_scale), (Scale::Log2, Scale::Log10));
    assert_eq!(plot.y_label.as_deref(), Some("GB/s"));
    let both = &suite.tables["both"];
    assert_eq!(both.over, ["kind", "n"]);
    let plot = both
        .plot
        .as_ref()
        .map(|plot| (plot.y.join(" "), plot.y_scale));
    assert_eq!(plot, Some(("one".to_string(), Scale::Linear)));
}

#[test]
fn a_list_of_what_must_run_is_for_every_device() {
    let text = example("naive").replace("gates:\n", "must_run: [exclusive]\ngates:\n");
    let suite = good(&text);
    for device in DeviceKind::ALL {
        assert_eq!(suite.must_run.on(*device), ["exclusive"], "{device}");
    }
}

fn with_files(text: &str) -> Suite {
    let read = |path: &std::path::Path| match path.to_str() {
        Some("specs/expected.json") => Ok(b"[1, 2, 3]".to_vec()),
        Some("specs/want/copy.rhai") => Ok(b"a".to_vec()),
        other => panic!("{other:?} is not beside the spec"),
    };
    Loader::new(&Fake, names())
        .reading(&read)
        .text("specs/test.yaml", text.as_bytes())
        .unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn the_hash_of_a_suite_is_also_that_of_the_files_it_names() {
    let gate = "check: exact, got: out, want: {file: one.json}";
    let text = "version: 1\nsuite: s\nkernels: [compaction.cu]\nbuffers: {out: {type: i32, len: 1}}\n\
                pipelines: {main: [{memset: out, value: 1}]}\ngates: {g: {run: main, GATE}}\n";
    let hash = |file: &'static [u8], gate: &str| {
        let read = |_: &std::path::Path| Ok(file.to_vec());
        let loader = Loader::new(&Fake, names()).reading(&read);
        let text = text.replace("GATE", gate);
        let suite = loader.text("specs/s.yaml", text.as_bytes());
        suite.unwrap_or_else(|errors| panic!("{errors}")).sha256
    };
    assert_eq!(hash(b"[1]", gate), hash(b"[1]", gate));
    assert_ne!(hash(b"[1]", gate), hash(b"[2]", gate));
    let script = gate.replace("file: one.json", "script: one.rhai");
    assert_ne!(hash(b"[1]", &script), hash(b"[2]", &script));
    let without = "check: sorted, got: out";
    assert_eq!(hash(b"[1]", without), hash(b"[2]", without));
    let bytes = text.replace("GATE", without);
    assert_eq!(
        hash(b"[1]", without),
        super::super::sha256(bytes.as_bytes())
    );
}

#[test]
fn a_kernel_file_whose_ptx_is_stale_is_not_checked() {
    let text = example("naive").replace("naive.cu", "stale.cu");
    assert!(load(&text).is_ok(), "{:?}", problems(&text));
}

#[test]
fn requirements_that_do_not_hold_are_no_problem_of_the_file() {
    let text = example("naive").replace(
        "buffers:",
        "require: [{that: n > 0, else: n is 0}]\nbuffers:\n  odd: {type: i32, len: 8 / n}",
    );
    let text = text.replace(
        "{copy: input, to: ping}",
        "{copy: input, to: ping}\n    - {memset: odd, value: 1}",
    );
    assert!(load(&text).is_ok(), "{:?}", problems(&text));
}

#[test]
fn folders_load_by_name_without_waivers() {
    let dir = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        std::fs::write(dir.path().join(name), text).expect("a file");
    };
    let loader = || Loader::new(&Fake, names());
    let none = loader().dir(dir.path()).unwrap_err();
    assert!(none.to_string().contains("no suite"), "{none}");
    write("b.yaml", example("naive"));
    write("a.yaml", example("radix"));
    write("waivers.yaml", "this is no suite");
    write("notes.txt", "nor this");
    std::fs::create_dir(dir.path().join("schema.yaml")).expect("a folder");
    let suites = loader().dir(dir.path()).expect("both load");
    let names: Vec<&str> = suites.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["radix_split", "naive_scan"]);
    write("c.yaml", example("naive"));
    write("d.yaml", "version: 3\n");
    let errors = loader().dir(dir.path()).unwrap_err().to_string();
    assert!(errors.contains("suite `naive_scan` stands in"), "{errors}");
    assert!(errors.contains("d.yaml:1:10: version"), "{errors}");
    let missing = loader().dir(&dir.path().join("nowhere")).unwrap_err();
    assert!(missing.to_string().contains("cannot be read"), "{missing}");
}

#[test]
fn a_rendered_problem_shows_file_line_key_and_mend() {
    let text = example("naive").replace("grid: grid, block: 256, args: [ping, pong, n]", "gird: 3");
    let errors = crate::spec::SpecErrors(load(&text).unwrap_err());
    let rendered = errors.render_with(false);
    for words in [
        "specs/test.yaml:22:29",
        "unknown key `gird` in a kernel step",
        "did you mean `grid`?",
        "- {kernel: shift_right, gird: 3}",
        "pipelines.exclusive[1].gird",
        "problems in 1 file",
    ] {
        assert!(rendered.contains(words), "{words}\n{rendered}");
    }
    assert!(!rendered.contains('\u{1b}'), "no colour");
    assert_eq!(rendered, errors.render_with(false), "deterministic");
    assert!(errors.render_with(true).contains('\u{1b}'), "colour");
}
