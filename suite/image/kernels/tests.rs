use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::build::build_with;
use super::verify::verify_with;
use super::*;
use crate::image::nvrtc::NvrtcError;

/// Makes PTX that names its source; refuses sources that say `error`.
#[derive(Clone, Copy)]
struct Fake {
    name: &'static str,
    isa: &'static str,
}

const PREFERRED: Fake = Fake {
    name: "NVRTC 11.8",
    isa: "7.8",
};
const OTHER: Fake = Fake {
    name: "nvcc 13.0.88",
    isa: "9.0",
};

impl Compile for Fake {
    fn name(&self) -> String {
        self.name.to_owned()
    }

    fn is_preferred(&self) -> bool {
        self.name == PREFERRED.name
    }

    fn compile(&self, module: &str, source: &str) -> Result<Ptx, CompileError> {
        if source.contains("error") {
            return Err(CompileError::Source(format!(
                "kernels/{module}.cu(1): no good"
            )));
        }
        Ok(Ptx {
            text: format!(".version {}\n// {module}: {source}\n", self.isa),
            compiler: self.name(),
            isa: self.isa.to_owned(),
            target: "sm_75".to_owned(),
        })
    }
}

fn kernels(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in files {
        put(dir.path(), name, text);
    }
    dir
}

fn put(dir: &Path, name: &str, text: &str) {
    let path = dir.join(name);
    fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
    fs::write(path, text).expect("a file");
}

fn build(dir: &TempDir, compiler: Fake) -> BuildReport {
    build_with(dir.path(), Which::Stale, || Ok(compiler)).expect("files can be written")
}

fn verify(dir: &TempDir, compiler: Fake) -> VerifyReport {
    verify_with(dir.path(), &Ok(compiler)).expect("files can be read")
}

fn manifest(dir: &TempDir) -> Manifest {
    let text = fs::read_to_string(dir.path().join(folder::MANIFEST)).expect("a manifest");
    Manifest::parse(&text).expect("a manifest of this version")
}

#[test]
fn a_build_compiles_once_and_the_next_finds_it_fresh() {
    let dir = kernels(&[("a.cu", "one"), ("faulty/b.cu", "two")]);
    let first = build(&dir, PREFERRED);
    assert_eq!(first.compiler.as_deref(), Some("NVRTC 11.8"));
    assert!(
        first
            .modules
            .values()
            .all(|built| *built == Built::Compiled)
    );
    assert!(verify(&dir, PREFERRED).is_fresh());
    assert_eq!(verify(&dir, PREFERRED).reproduced, ["a", "faulty/b"]);

    let second = build(&dir, PREFERRED);
    assert_eq!(second.compiler, None, "nothing to compile");
    assert!(second.modules.values().all(|built| *built == Built::Fresh));
}

#[test]
fn only_the_changed_source_is_compiled_again() {
    let dir = kernels(&[("a.cu", "one"), ("b.cu", "two")]);
    build(&dir, PREFERRED);
    put(dir.path(), "a.cu", "three");
    let problems = verify(&dir, PREFERRED).problems;
    assert_eq!(problems.len(), 1);
    assert!(
        problems[0].contains("a.cu") && problems[0].contains("cuda-gates kernels build"),
        "{problems:?}"
    );
    let report = build(&dir, PREFERRED);
    assert_eq!(report.modules["a"], Built::Compiled);
    assert_eq!(report.modules["b"], Built::Fresh);
    assert!(verify(&dir, PREFERRED).is_fresh());
}

#[test]
fn a_refused_source_shows_the_log_and_leaves_what_was_there() {
    let dir = kernels(&[("a.cu", "one"), ("b.cu", "two")]);
    build(&dir, PREFERRED);
    let before = manifest(&dir).modules["a"].clone();
    put(dir.path(), "a.cu", "error");
    let report = build(&dir, PREFERRED);
    let failed: Vec<_> = report.failed().collect();
    assert_eq!(failed, [("a", "kernels/a.cu(1): no good")]);
    assert!(report.to_string().contains("no good"));
    assert_eq!(manifest(&dir).modules["a"], before);
    assert!(dir.path().join("ptx/a.ptx").is_file());
    assert!(!verify(&dir, PREFERRED).is_fresh(), "still stale");
}

#[test]
fn ptx_without_a_source_is_a_problem_until_a_build_removes_it() {
    let dir = kernels(&[("a.cu", "one"), ("gone.cu", "two")]);
    build(&dir, PREFERRED);
    fs::remove_file(dir.path().join("gone.cu")).expect("it is there");
    let problems = verify(&dir, PREFERRED).problems;
    assert!(problems.iter().any(|p| p.contains("ptx/gone.ptx")));
    assert_eq!(build(&dir, PREFERRED).removed, ["gone"]);
    assert!(!manifest(&dir).modules.contains_key("gone"));
    assert!(verify(&dir, PREFERRED).is_fresh());
}

#[test]
fn an_entry_without_files_is_a_problem() {
    let dir = kernels(&[("a.cu", "one"), ("gone.cu", "two")]);
    build(&dir, PREFERRED);
    for file in ["gone.cu", "ptx/gone.ptx"] {
        fs::remove_file(dir.path().join(file)).expect("it is there");
    }
    let problems = verify(&dir, PREFERRED).problems;
    assert!(problems.iter().any(|p| p.contains("lists gone")));
}

#[test]
fn another_compilers_ptx_is_recorded_and_made_anew_by_the_preferred_one() {
    let dir = kernels(&[("a.cu", "one")]);
    build(&dir, OTHER);
    assert_eq!(manifest(&dir).modules["a"].compiler, "nvcc 13.0.88");
    assert_eq!(manifest(&dir).modules["a"].isa, "9.0");
    assert_eq!(build(&dir, OTHER).modules["a"], Built::Fresh);
    assert_eq!(build(&dir, PREFERRED).modules["a"], Built::Compiled);
    assert_eq!(manifest(&dir).modules["a"].compiler, "NVRTC 11.8");
    assert_eq!(build(&dir, OTHER).modules["a"], Built::Fresh, "never back");
}

#[test]
fn what_cannot_be_compiled_again_is_said_and_is_no_problem() {
    let dir = kernels(&[("a.cu", "one")]);
    build(&dir, PREFERRED);
    let report = verify(&dir, OTHER);
    assert!(report.is_fresh() && report.reproduced.is_empty());
    assert!(report.unverified["a"].contains("made by NVRTC 11.8"));

    let none: Result<Fake, _> = Err(CompileError::NoCompiler(NvrtcError::Absent));
    let report = verify_with(dir.path(), &none).expect("files can be read");
    assert!(report.is_fresh());
    assert!(report.unverified["a"].contains("no NVRTC library"));
}

#[test]
fn ptx_that_the_compiler_would_not_make_is_a_problem() {
    let dir = kernels(&[("a.cu", "one")]);
    build(&dir, PREFERRED);
    let ptx = ".version 7.8\n// by hand\n";
    put(dir.path(), "ptx/a.ptx", ptx);
    assert!(verify(&dir, PREFERRED).problems[0].contains("changed after"));

    let mut changed = manifest(&dir);
    let entry = changed.modules.get_mut("a").expect("a is listed");
    entry.ptx_sha256 = text_sha256(ptx);
    put(dir.path(), folder::MANIFEST, &changed.to_text());
    assert!(verify(&dir, PREFERRED).problems[0].contains("is not what NVRTC 11.8 makes"));
    assert!(verify(&dir, OTHER).is_fresh(), "the hashes agree");
}

#[test]
fn other_options_are_stale() {
    let dir = kernels(&[("a.cu", "one")]);
    build(&dir, PREFERRED);
    let mut changed = manifest(&dir);
    let entry = changed.modules.get_mut("a").expect("a is listed");
    entry.options.pop();
    put(dir.path(), folder::MANIFEST, &changed.to_text());
    assert!(verify(&dir, PREFERRED).problems[0].contains("other options"));
    assert_eq!(build(&dir, PREFERRED).modules["a"], Built::Compiled);
}

#[test]
fn a_broken_manifest_is_one_problem_and_a_build_mends_it() {
    let dir = kernels(&[("a.cu", "one")]);
    build(&dir, PREFERRED);
    put(dir.path(), folder::MANIFEST, "{");
    let problems = verify(&dir, PREFERRED).problems;
    assert_eq!(problems.len(), 1);
    assert!(problems[0].contains("manifest.json"));
    assert_eq!(build(&dir, PREFERRED).modules["a"], Built::Compiled);
    assert!(verify(&dir, PREFERRED).is_fresh());
}

#[test]
fn without_a_compiler_only_work_to_do_is_an_error() {
    let none = || Err::<Fake, _>(CompileError::NoCompiler(NvrtcError::Absent));
    let dir = kernels(&[("a.cu", "one")]);
    let error = build_with(dir.path(), Which::Stale, none).expect_err("a has no PTX");
    assert!(error.to_string().contains("nvidia-cuda-nvrtc-cu11"));
    build(&dir, PREFERRED);
    let report = build_with(dir.path(), Which::Stale, none).expect("nothing to do");
    assert_eq!(report.modules["a"], Built::Fresh);
    assert!(build_with(dir.path(), Which::All, none).is_err());
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let error = super::verify("/nowhere/kernels".as_ref()).expect_err("it is not there");
    assert!(error.to_string().starts_with("/nowhere/kernels: "));
}

/// The folder of this package. Where NVRTC 11.8 is at hand, every file is compiled again.
#[test]
fn the_committed_ptx_is_that_of_its_sources() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels");
    let report = super::verify(&dir).expect("the folder is part of the package");
    assert!(report.is_fresh(), "{report}");
    assert!(report.reproduced.len() + report.unverified.len() >= 7);
    let text = fs::read_to_string(dir.join(folder::MANIFEST)).expect("a manifest");
    let manifest = Manifest::parse(&text).expect("a manifest of this version");
    assert_eq!(manifest.to_text(), text, "as a build writes it");
    for (name, entry) in &manifest.modules {
        let made = [&entry.compiler, &entry.isa, &entry.target].map(String::as_str);
        assert_eq!(made, ["NVRTC 11.8", "7.8", "sm_75"], "{name}");
    }
}
