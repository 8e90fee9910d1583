//! README and docs say what is true: their suites load, their commands run, their links lead somewhere.
//!
//! README's `cargo` lines need a build of their own and are run in a fresh clone by `.ci/fresh-clone`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

struct Block {
    file: String,
    line: usize,
    language: String,
    text: String,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<_> = fs::read_dir(root().join("docs"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .collect();
    pages.push(root().join("README.md"));
    pages.sort();
    pages
}

/// The fenced blocks of every page, but for those that follow a `<!-- not run: reason -->` line.
fn blocks() -> Vec<Block> {
    let mut found = Vec::new();
    for page in pages() {
        let file = page.strip_prefix(root()).unwrap().display().to_string();
        let mut open: Option<Block> = None;
        let mut skip = false;
        for (index, line) in fs::read_to_string(&page).unwrap().lines().enumerate() {
            match (&mut open, line.strip_prefix("```")) {
                (None, Some(language)) => {
                    let (file, language) = (file.clone(), language.to_owned());
                    open = Some(Block {
                        file,
                        line: index + 1,
                        language,
                        text: String::new(),
                    });
                }
                (Some(_), Some(_)) => {
                    let block = open.take().unwrap();
                    if !std::mem::take(&mut skip) {
                        found.push(block);
                    }
                }
                (Some(block), None) => {
                    block.text.push_str(line);
                    block.text.push('\n');
                }
                (None, None) => skip |= line.starts_with("<!-- not run: "),
            }
        }
        assert!(open.is_none(), "{file}: a fence that never closes");
    }
    found
}

/// The binary as a reader without settings of their own has it: whatever `CUDA_GATES_…` variables the tests run under
/// would change what the docs' commands do.
fn cuda_gates(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cuda-gates"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CUDA_GATES_") {
            command.env_remove(name);
        }
    }
    command
        .current_dir(folder)
        .env("CUDA_GATES_REPORTS", folder.join("reports"));
    command
}

#[test]
fn every_suite_in_the_docs_loads() {
    let folder = tempfile::tempdir().unwrap();
    let mut checked = 0;
    for block in blocks().iter().filter(|block| block.language == "yaml") {
        let whole = block.text.lines().any(|line| line == "version: 1");
        assert!(
            whole || block.text.starts_with("# fragment\n"),
            "{}:{}: a YAML block is a whole suite or starts with `# fragment`",
            block.file,
            block.line
        );
        if whole {
            let path = folder.path().join(format!("suite_{checked}.yaml"));
            fs::write(&path, &block.text).unwrap();
            let output = cuda_gates(folder.path())
                .arg("check")
                .arg(&path)
                .output()
                .unwrap();
            let words = String::from_utf8_lossy(&output.stderr);
            assert!(
                output.status.success(),
                "{}:{}:\n{words}",
                block.file,
                block.line
            );
            checked += 1;
        }
    }
    assert!(checked >= 2, "only {checked} suites found in the docs");
}

#[test]
fn every_cuda_gates_command_in_the_docs_runs() {
    let folder = tempfile::tempdir().unwrap();
    let mut ran = 0;
    for block in blocks().iter().filter(|block| block.language == "console") {
        for line in block.text.lines() {
            let Some(arguments) = line.strip_prefix("$ cuda-gates ") else {
                continue;
            };
            let arguments: Vec<_> = arguments.split_whitespace().collect();
            let output = cuda_gates(folder.path()).args(&arguments).output().unwrap();
            let words = String::from_utf8_lossy(&output.stderr);
            assert!(
                output.status.success(),
                "{}:{}: {line}\n{words}",
                block.file,
                block.line
            );
            ran += 1;
        }
    }
    assert!(ran >= 3, "only {ran} commands found in the docs");
}

#[test]
fn links_between_pages_lead_somewhere() {
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for piece in text.split("](").skip(1) {
            let target = piece.split([')', '#']).next().unwrap();
            if !target.is_empty() && !target.contains("://") {
                let path = page.parent().unwrap().join(target);
                assert!(path.exists(), "{}: no {target}", page.display());
            }
        }
    }
}
