//! Checking that what is committed is what its sources compile to.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use super::{Compile, Folder, KernelsError, entry_of, state};
use crate::image::compiler::{CompileError, Compiler};
use crate::image::folder;
use crate::image::manifest::Entry;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// Modules whose PTX was compiled again and came out the same, byte for byte.
    pub reproduced: Vec<String>,
    /// Module → why its PTX could not be compiled again; its hashes match.
    pub unverified: BTreeMap<String, String>,
    /// What is wrong, a line each.
    pub problems: Vec<String>,
}

impl VerifyReport {
    /// Whether nothing is wrong. What could not be compiled again is not wrong.
    pub fn is_fresh(&self) -> bool {
        self.problems.is_empty()
    }
}

impl fmt::Display for VerifyReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for name in &self.reproduced {
            writeln!(f, "reproduced  {name}")?;
        }
        for (name, reason) in &self.unverified {
            writeln!(f, "unverified  {name}: hashes match; {reason}")?;
        }
        for problem in &self.problems {
            writeln!(f, "problem     {problem}")?;
        }
        Ok(())
    }
}

/// Whether every PTX is what its source compiles to: by hash, and where the compiler that made it is at hand, by
/// compiling again.
///
/// # Errors
/// When files cannot be read.
pub fn verify(dir: &Path) -> Result<VerifyReport, KernelsError> {
    verify_with(dir, &Compiler::find())
}

pub(super) fn verify_with<C: Compile>(
    dir: &Path,
    compiler: &Result<C, CompileError>,
) -> Result<VerifyReport, KernelsError> {
    let there = Folder::read(dir)?;
    let mut report = VerifyReport::default();
    let manifest = match &there.manifest {
        Ok(manifest) => manifest,
        Err(message) => {
            let problem = format!("{}: {message}", dir.join(folder::MANIFEST).display());
            report.problems.push(problem);
            return Ok(report);
        }
    };
    for (name, source) in &there.sources {
        match state(manifest, name, source, &there.committed) {
            Ok(entry) => again(name, source, entry, compiler, &mut report),
            Err(stale) => report
                .problems
                .push(format!("{name}.cu {stale}: run `cuda-gates kernels build`")),
        }
    }
    for name in there.orphans() {
        report
            .problems
            .push(format!("ptx/{name}.ptx has no source {name}.cu"));
    }
    for name in manifest.modules.keys() {
        if !there.sources.contains_key(name) && !there.committed.contains_key(name) {
            report.problems.push(format!(
                "{} lists {name}, which is not there",
                folder::MANIFEST
            ));
        }
    }
    Ok(report)
}

/// Compiles a module whose hashes match once more.
fn again<C: Compile>(
    name: &str,
    source: &str,
    entry: &Entry,
    compiler: &Result<C, CompileError>,
    report: &mut VerifyReport,
) {
    let compiler = match compiler {
        Ok(compiler) if compiler.name() == entry.compiler => compiler,
        Ok(other) => {
            let reason = format!(
                "it was made by {}; here is {}",
                entry.compiler,
                other.name()
            );
            report.unverified.insert(name.to_owned(), reason);
            return;
        }
        Err(error) => {
            report.unverified.insert(name.to_owned(), error.to_string());
            return;
        }
    };
    match compiler.compile(name, source) {
        Ok(ptx) if entry_of(source, &ptx) == *entry => report.reproduced.push(name.to_owned()),
        Ok(_) => report.problems.push(format!(
            "ptx/{name}.ptx is not what {} makes of {name}.cu: run `cuda-gates kernels build`",
            compiler.name()
        )),
        Err(error) => report.problems.push(format!("{name}.cu: {error}")),
    }
}
