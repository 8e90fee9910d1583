//! The house rules that a compiler does not hold: which module may import which, where third-party crates and
//! `unsafe` may be named, line width, file size, and files that nothing uses.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Each module and the modules of this crate it may name. The flow goes one way, so the table has no cycle.
const EDGES: &[(&str, &[&str])] = &[
    ("terms", &[]),
    ("value", &[]),
    ("parallel", &[]),
    ("outcome", &["terms"]),
    ("image", &["outcome", "terms"]),
    ("expr", &["value"]),
    ("input", &["outcome", "parallel", "value"]),
    ("reference", &["outcome", "parallel", "terms", "value"]),
    ("spec", &["expr", "image", "terms", "value"]),
    ("case", &["outcome", "spec", "terms"]),
    (
        "plan",
        &[
            "case", "expr", "image", "input", "outcome", "spec", "terms", "value",
        ],
    ),
    ("device", &["image", "outcome", "plan", "terms", "value"]),
    ("check", &["outcome", "parallel", "spec", "terms", "value"]),
    ("identity", &["outcome", "terms"]),
    (
        "report",
        &["device", "identity", "outcome", "spec", "terms"],
    ),
    ("archive", &["report"]),
    (
        "worker",
        &[
            "case",
            "check",
            "device",
            "expr",
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
        "cli",
        &[
            "archive", "case", "device", "expr", "image", "outcome", "plan", "report", "runner",
            "spec", "terms", "value", "worker",
        ],
    ),
];

/// Third-party crates that one module keeps to itself, so that each can be replaced in an afternoon.
const HOMES: &[(&str, &[&str])] = &[
    ("cudarc", &["device/cuda"]),
    ("nvml_wrapper", &["identity"]),
    ("libtest_mimic", &["runner"]),
    ("serde_yaml", &["spec"]),
    ("saphyr_parser", &["spec"]),
    ("miette", &["spec"]),
    ("rhai", &["expr"]),
    ("libloading", &["image"]),
    ("quick_junit", &["report"]),
    ("comfy_table", &["report"]),
    ("indicatif", &["runner"]),
    ("clap", &["cli"]),
    ("jiff", &["archive"]),
];

/// The only modules where `unsafe` may stand.
const UNSAFE: &[&str] = &["device/cuda", "identity", "image/nvrtc"];

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

/// The code of a line: what stands before a `//` comment.
fn code(line: &str) -> &str {
    line.split("//").next().unwrap_or("")
}

/// `suite/spec/model.rs` → `spec`; none for the crate's own roots and the test targets.
fn module(path: &Path) -> Option<String> {
    let first = path.iter().next()?.to_str()?;
    match first {
        "lib.rs" | "main.rs" | "tests" | "benches" => None,
        other => Some(other.trim_end_matches(".rs").to_owned()),
    }
}

fn is_test_file(path: &Path) -> bool {
    path.iter()
        .any(|part| part == "tests" || part == "tests.rs")
}

/// Modules named as `crate::module` in the shipped part of a file (tests may reach further).
fn imports(source: &Source) -> BTreeSet<String> {
    let shipped = source.text.split("#[cfg(test)]").next().unwrap_or("");
    let mut names = BTreeSet::new();
    for line in shipped.lines() {
        for piece in code(line).split("crate::").skip(1) {
            if let Some(group) = piece.strip_prefix('{') {
                names.extend(
                    group
                        .split([',', '}'])
                        .map(first_word)
                        .filter(|name| !name.is_empty()),
                );
            } else {
                names.insert(first_word(piece));
            }
        }
    }
    names
}

fn first_word(text: &str) -> String {
    text.trim_start()
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
        .collect()
}

#[test]
fn modules_import_only_along_the_flow() {
    let edges: BTreeMap<_, _> = EDGES.iter().copied().collect();
    let mut wrong = Vec::new();
    for source in sources()
        .iter()
        .filter(|source| !is_test_file(&source.path))
    {
        let Some(own) = module(&source.path) else {
            continue;
        };
        let Some(allowed) = edges.get(own.as_str()) else {
            wrong.push(format!(
                "{}: module `{own}` has no row in EDGES",
                source.path.display()
            ));
            continue;
        };
        for name in imports(source) {
            if name != own && edges.contains_key(name.as_str()) && !allowed.contains(&name.as_str())
            {
                wrong.push(format!(
                    "{}: `{own}` may not import `{name}`",
                    source.path.display()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
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
            let named = source.text.lines().any(|line| {
                let line = code(line);
                line.contains(&format!("{name}::")) || line.contains(&format!("use {name}"))
            });
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
    for source in sources()
        .iter()
        .filter(|source| source.path != Path::new("tests/tidy.rs"))
    {
        let named = source.text.lines().any(|line| {
            let line = code(line);
            line.contains("unsafe {") || line.contains("unsafe fn") || line.contains("unsafe impl")
        });
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

#[test]
fn lines_and_files_stay_readable() {
    let mut wrong = Vec::new();
    for source in sources() {
        for (index, line) in source.text.lines().enumerate() {
            if line.chars().count() > MAX_LINE {
                wrong.push(format!(
                    "{}:{}: over {MAX_LINE} columns",
                    source.path.display(),
                    index + 1
                ));
            }
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

#[test]
fn every_source_file_is_part_of_the_build() {
    let all = sources();
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let mut wrong = Vec::new();
    for source in &all {
        let in_manifest = manifest.contains(&format!("\"suite/{}\"", source.path.display()));
        let stem = source.path.file_stem().unwrap().to_str().unwrap();
        let name = if stem == "mod" {
            source
                .path
                .parent()
                .unwrap()
                .file_name()
                .unwrap()
                .to_str()
                .unwrap()
        } else {
            stem
        };
        let declared = all.iter().any(|other| {
            other.text.lines().any(|line| {
                let line = code(line).trim();
                line.ends_with(&format!("mod {name};")) || line.ends_with(&format!("mod {name} {{"))
            })
        });
        if !in_manifest && !declared {
            wrong.push(format!(
                "{}: no `mod {name};` and no target names it",
                source.path.display()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
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
        if ["rs", "cu", "yaml", "md"].contains(&ending) {
            assert!(
                text.is_empty() || text.ends_with('\n'),
                "{}: no final newline",
                path.display()
            );
        }
        if ["rs", "cu", "yaml"].contains(&ending)
            && !path.components().any(|part| part.as_os_str() == "testdata")
        {
            assert!(!text.contains('\t'), "{}: a tab", path.display());
        }
    }
}
