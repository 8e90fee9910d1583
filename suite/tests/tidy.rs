//! The house rules that a compiler does not hold: which module may import which, where third-party crates and
//! `unsafe` may be named, line width, file size, and files that nothing uses.

mod source_text;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use source_text::{code, declares, imports, promised};

/// Each module and the modules of this crate it may name. The flow goes one way, so the table has no cycle.
const EDGES: &[(&str, &[&str])] = &[
    ("terms", &[]),
    ("value", &[]),
    ("parallel", &[]),
    ("regular_file", &[]),
    ("outcome", &["terms"]),
    ("call", &["value"]),
    ("host", &["call", "value"]),
    ("image", &["call", "outcome", "regular_file", "terms"]),
    ("expr", &["value"]),
    ("input", &["outcome", "parallel", "value"]),
    ("reference", &["outcome", "parallel", "terms", "value"]),
    (
        "spec",
        &["call", "expr", "image", "regular_file", "terms", "value"],
    ),
    ("case", &["outcome", "spec", "terms"]),
    (
        "plan",
        &[
            "call", "case", "expr", "host", "image", "input", "outcome", "spec", "terms", "value",
        ],
    ),
    (
        "device",
        &["host", "image", "outcome", "plan", "terms", "value"],
    ),
    ("check", &["outcome", "parallel", "spec", "terms", "value"]),
    ("identity", &["outcome", "terms"]),
    (
        "report",
        &["device", "identity", "outcome", "spec", "terms"],
    ),
    ("archive", &["regular_file", "report"]),
    (
        "worker",
        &[
            "call",
            "case",
            "check",
            "device",
            "expr",
            "host",
            "identity",
            "image",
            "input",
            "outcome",
            "plan",
            "reference",
            "report",
            "spec",
            "terms",
            "value",
        ],
    ),
    (
        "runner",
        &[
            "archive", "case", "check", "device", "expr", "identity", "image", "outcome", "report",
            "spec", "terms", "worker",
        ],
    ),
    (
        "mutate",
        &[
            "archive", "case", "device", "expr", "image", "outcome", "plan", "report", "runner",
            "spec", "terms", "worker",
        ],
    ),
    (
        "cli",
        &[
            "archive", "case", "device", "expr", "image", "input", "mutate", "outcome", "plan",
            "report", "runner", "spec", "terms", "value", "worker",
        ],
    ),
];

/// Third-party crates that one module keeps to itself, so that each can be replaced in an afternoon.
const HOMES: &[(&str, &[&str])] = &[
    ("cudarc", &["device/cuda"]),
    ("nvml_wrapper", &["identity", "driver/exports"]),
    ("libtest_mimic", &["runner"]),
    ("serde_yaml", &["spec"]),
    ("saphyr_parser", &["spec"]),
    ("miette", &["spec"]),
    ("rhai", &["expr"]),
    ("libloading", &["image", "device/cuda"]),
    ("quick_junit", &["report"]),
    ("comfy_table", &["report"]),
    ("plotters", &["report/plot"]),
    ("indicatif", &["runner"]),
    ("clap", &["cli"]),
    ("jiff", &["archive"]),
    ("signal_hook", &["archive"]),
];

/// The only modules where `unsafe` may stand.
const UNSAFE: &[&str] = &[
    "device/cuda",
    "driver/exports/pointers",
    "identity",
    "image/nvrtc",
];

const MAX_LINE: usize = 120;
const MAX_LINES: usize = 600;

struct Source {
    /// Relative to `suite/`.
    path: PathBuf,
    text: String,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn walk(dir: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            walk(&path, found);
        } else {
            found.push(path);
        }
    }
}

fn sources() -> Vec<Source> {
    let base = root().join("suite");
    let mut paths = Vec::new();
    walk(&base, &mut paths);
    paths
        .into_iter()
        .filter(|path| path.extension().is_some_and(|ending| ending == "rs"))
        .map(|path| Source {
            text: fs::read_to_string(&path).unwrap(),
            path: path.strip_prefix(&base).unwrap().to_owned(),
        })
        .collect()
}

/// `suite/spec/model.rs` → `spec`; none for the crate's own roots and the test targets.
fn module(path: &Path) -> Option<String> {
    let first = path.iter().next()?.to_str()?;
    match first {
        "lib.rs" | "main.rs" | "tests" | "benches" | "fuzz" | "driver" => None,
        other => Some(other.trim_end_matches(".rs").to_owned()),
    }
}

fn is_test_file(path: &Path) -> bool {
    path.iter()
        .any(|part| part == "tests" || part == "tests.rs")
}

/// How many modules deep a file is: 1 for `spec/mod.rs` and `value.rs`, 2 for `spec/model.rs`.
fn depth(path: &Path) -> usize {
    let parts = path.iter().count();
    if path.ends_with("mod.rs") {
        parts - 1
    } else {
        parts
    }
}

/// What a file imports, or says that it may import, against the flow; also a module that the table lacks.
fn against_the_flow(source: &Source) -> Vec<String> {
    let Some(own) = module(&source.path) else {
        return Vec::new();
    };
    let path = source.path.display();
    let edges: BTreeMap<_, _> = EDGES.iter().copied().collect();
    let Some(allowed) = edges.get(own.as_str()) else {
        return vec![format!("{path}: module `{own}` has no row in EDGES")];
    };
    let named = |verb: &str, names: BTreeSet<String>| -> Vec<String> {
        names
            .into_iter()
            .filter(|name| *name != own && edges.contains_key(name.as_str()))
            .filter(|name| !allowed.contains(&name.as_str()))
            .map(|name| format!("{path}: `{own}` may not import `{name}`, which it {verb}"))
            .collect()
    };
    let mut wrong = named("names", imports(&source.text, depth(&source.path)));
    wrong.extend(named(
        "promises to",
        promised(&source.text).unwrap_or_default(),
    ));
    wrong
}

#[test]
fn modules_import_only_along_the_flow() {
    let all = sources();
    let wrong: Vec<String> = all
        .iter()
        .filter(|source| !is_test_file(&source.path))
        .flat_map(against_the_flow)
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_planted_import_against_the_flow_is_found() {
    let found = |path: &str, text: &str| {
        let (path, text) = (path.into(), text.to_owned());
        against_the_flow(&Source { path, text }).len()
    };
    let below =
        "#[cfg(test)]\nmod tests;\n\nuse crate::{\n    outcome::Fault,\n    device::Device,\n};\n";
    assert_eq!(found("spec/model.rs", below), 2);
    assert_eq!(found("device/sim/mod.rs", below), 0);
    assert_eq!(found("value.rs", "use super::device;\n"), 1);
    assert_eq!(found("device/sim/mod.rs", "use super::check;\n"), 0);
    let promise =
        "//! Owns much. May\n//! import `image` (signatures), `device::sim` and `jiff`.\n";
    assert_eq!(found("spec/mod.rs", promise), 1);
    assert_eq!(found("nowhere.rs", ""), 1);
}

#[test]
fn each_module_says_what_it_may_import() {
    let all = sources();
    for (name, _) in EDGES {
        let roots = [format!("{name}.rs"), format!("{name}/mod.rs")];
        let root = all
            .iter()
            .find(|source| roots.iter().any(|root| source.path == Path::new(root)))
            .unwrap_or_else(|| panic!("no module `{name}`"));
        assert!(
            promised(&root.text).is_some(),
            "{}: no \"May import …\" in its doc",
            root.path.display()
        );
    }
}

#[test]
fn the_edges_have_no_cycle() {
    let mut placed = BTreeSet::new();
    for (name, imports) in EDGES {
        for import in *imports {
            assert!(
                placed.contains(import),
                "`{name}` imports `{import}`, which stands below it"
            );
        }
        placed.insert(*name);
    }
}

#[test]
fn third_party_crates_stay_in_their_module() {
    let mut wrong = Vec::new();
    for source in sources()
        .iter()
        .filter(|source| source.path.iter().next().unwrap() != "tests")
    {
        for (name, homes) in HOMES {
            let code = code(&source.text);
            let named =
                code.contains(&format!("{name}::")) || code.contains(&format!("use {name}"));
            if named && !homes.iter().any(|home| source.path.starts_with(home)) {
                wrong.push(format!(
                    "{}: names `{name}`, which lives in {homes:?}",
                    source.path.display()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn unsafe_stays_where_it_must_be() {
    for source in sources() {
        let code = code(&source.text);
        let named = ["unsafe {", "unsafe fn", "unsafe impl"]
            .iter()
            .any(|words| code.contains(words));
        let at_home = UNSAFE.iter().any(|home| {
            source.path.starts_with(home) || source.path == Path::new(home).with_extension("rs")
        });
        assert!(
            !named || at_home,
            "{}: `unsafe` outside {UNSAFE:?}",
            source.path.display()
        );
    }
}

/// The numbers of the lines that are too long. A row of a Markdown table cannot be broken.
fn long_lines(path: &Path, text: &str) -> Vec<usize> {
    let is_markdown = path.extension().is_some_and(|ending| ending == "md");
    let numbered = text.lines().zip(1..);
    numbered
        .filter(|(line, _)| !(is_markdown && line.starts_with('|')))
        .filter(|(line, _)| line.chars().count() > MAX_LINE)
        .map(|(_, number)| number)
        .collect()
}

/// Kernels, specs and documents: what people write and read, without compiled code and archived reports.
fn texts() -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for folder in ["kernels", "specs", "docs"] {
        walk(&root().join(folder), &mut paths);
    }
    let written = ["cu", "cuh", "txt", "yaml", "md"];
    let made = ["kernels/ptx", "kernels/native/lib", "docs/evidence"].map(|made| root().join(made));
    paths.retain(|path| {
        let ending = path.extension().and_then(|ending| ending.to_str());
        ending.is_some_and(|ending| written.contains(&ending))
            && !made.iter().any(|made| path.starts_with(made))
    });
    paths
}

#[test]
fn lines_of_kernels_specs_and_documents_stay_readable() {
    let paths = texts();
    for wanted in [
        "kernels/native/native.txt",
        "kernels/native/scratch.cuh",
        "docs/write-a-gate.md",
    ] {
        assert!(
            paths.contains(&root().join(wanted)),
            "{wanted} is not looked at"
        );
    }
    let mut wrong = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        let long = long_lines(&path, &text);
        wrong.extend(long.iter().map(|line| format!("{}:{line}", path.display())));
    }
    assert!(
        wrong.is_empty(),
        "over {MAX_LINE} columns:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn a_planted_long_line_is_found_by_its_characters() {
    let (fits, long) = ("×".repeat(MAX_LINE), "x".repeat(MAX_LINE + 1));
    let text = format!("{fits}\n{long}\n| {long}\n");
    assert_eq!(long_lines(Path::new("a.cu"), &text), [2, 3]);
    assert_eq!(long_lines(Path::new("a.md"), &text), [2]);
}

#[test]
fn lines_and_files_stay_readable() {
    let mut wrong = Vec::new();
    for source in sources() {
        for line in long_lines(&source.path, &source.text) {
            let path = source.path.display();
            wrong.push(format!("{path}:{line}: over {MAX_LINE} columns"));
        }
        let lines = source.text.lines().count();
        if lines > MAX_LINES {
            wrong.push(format!(
                "{}: {lines} lines, over {MAX_LINES}",
                source.path.display()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The files that no target names and no file that could hold `mod name;` for them declares: `x/number.rs` and
/// `x/number/mod.rs` are declared in `x/mod.rs` or `x.rs`, or in a target's root that lies in `x`.
fn dead_files(all: &[Source], targets: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let is_dead = |path: &Path| {
        let file = if path.ends_with("mod.rs") {
            path.parent().unwrap()
        } else {
            path
        };
        let name = file.file_stem().unwrap().to_str().unwrap();
        let folder = file.parent().unwrap();
        let may_declare = |other: &Path| {
            other == folder.join("mod.rs")
                || (other != path && other == folder.with_extension("rs"))
                || (targets.contains(other) && other.parent() == Some(folder))
        };
        !targets.contains(path)
            && !all
                .iter()
                .any(|other| may_declare(&other.path) && declares(&other.text, name))
    };
    all.iter()
        .map(|source| source.path.clone())
        .filter(|path| is_dead(path))
        .collect()
}

#[test]
fn every_source_file_is_part_of_the_build() {
    let mut targets = BTreeSet::new();
    for (manifest, prefix, folder) in [
        ("Cargo.toml", "path = \"suite/", ""),
        ("suite/fuzz/Cargo.toml", "path = \"", "fuzz"),
        ("suite/driver/Cargo.toml", "path = \"", "driver"),
    ] {
        let manifest = fs::read_to_string(root().join(manifest)).unwrap();
        let paths = manifest
            .lines()
            .filter_map(|line| line.strip_prefix(prefix));
        let paths = paths.map(|path| Path::new(folder).join(path.trim_end_matches('"')));
        targets.extend(paths);
    }
    assert!(targets.contains(Path::new("lib.rs")), "{targets:?}");
    let dead = dead_files(&sources(), &targets);
    assert!(dead.is_empty(), "no `mod` and no target: {dead:?}");
}

#[test]
fn a_planted_file_that_nothing_declares_is_found() {
    let planted = [
        ("lib.rs", "pub mod x;\npub mod y;\nmod value;\n"),
        ("value.rs", ""),
        ("x/mod.rs", "mod number;\nmod deep;\n"),
        ("x/number.rs", ""),
        ("x/deep.rs", "mod tests;\n"),
        ("x/deep/tests.rs", ""),
        ("y.rs", "// mod number;\n"),
        ("y/number.rs", ""),
        ("y/tests/mod.rs", ""),
        ("tests/run.rs", "mod shared;\n"),
        ("tests/shared.rs", ""),
        ("tests/alone.rs", ""),
    ];
    let all = planted.map(|(path, text)| Source {
        path: path.into(),
        text: text.to_owned(),
    });
    let targets = ["lib.rs", "tests/run.rs"].map(PathBuf::from).into();
    let dead = ["y/number.rs", "y/tests/mod.rs", "tests/alone.rs"].map(PathBuf::from);
    assert_eq!(dead_files(&all, &targets), dead);
}

#[test]
fn kernel_and_doc_files_end_with_a_newline_and_hold_no_tabs_or_machine_paths() {
    let mut paths = Vec::new();
    for folder in ["kernels", "specs", "docs", ".github", "suite"] {
        walk(&root().join(folder), &mut paths);
    }
    paths.extend(["README.md", "Cargo.toml", "build.rs"].map(|name| root().join(name)));
    for path in paths {
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        let ending = path
            .extension()
            .and_then(|ending| ending.to_str())
            .unwrap_or("");
        let home = ["/ho", "me/"].concat();
        let superuser = ["/ro", "ot/"].concat();
        assert!(
            !text.contains(&home) && !text.contains(&superuser),
            "{}: a machine path",
            path.display()
        );
        if ["rs", "cu", "cuh", "txt", "yaml", "md"].contains(&ending) {
            assert!(
                text.is_empty() || text.ends_with('\n'),
                "{}: no final newline",
                path.display()
            );
        }
        if ["rs", "cu", "cuh", "yaml"].contains(&ending)
            && !path.components().any(|part| part.as_os_str() == "testdata")
        {
            assert!(!text.contains('\t'), "{}: a tab", path.display());
        }
    }
}
