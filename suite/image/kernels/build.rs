//! Compiling what is missing or stale.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use super::{Compile, Folder, KernelsError, entry_of, file_error, state};
use crate::image::compiler::{CompileError, Compiler};
use crate::image::folder;
use crate::image::manifest::{Entry, Manifest};
use crate::image::{nvrtc, text};

/// Which modules to compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    All,
    /// Those whose PTX is missing, is not that of their source and options, or could now be made by NVRTC 11.8.
    Stale,
}

/// What became of one module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Built {
    Fresh,
    Compiled,
    /// The compiler's log. Its former PTX and entry are left as they were.
    Failed(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildReport {
    /// `NVRTC 11.8`; none where nothing had to be compiled.
    pub compiler: Option<String>,
    pub modules: BTreeMap<String, Built>,
    /// Modules whose PTX was removed, since their source is gone.
    pub removed: Vec<String>,
}

impl BuildReport {
    /// Modules the compiler refused, each with its log.
    pub fn failed(&self) -> impl Iterator<Item = (&str, &str)> {
        self.modules.iter().filter_map(|(name, built)| match built {
            Built::Failed(log) => Some((name.as_str(), log.as_str())),
            Built::Fresh | Built::Compiled => None,
        })
    }
}

impl fmt::Display for BuildReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let compiler = self.compiler.as_deref().unwrap_or_default();
        for (name, built) in &self.modules {
            match built {
                Built::Fresh => writeln!(f, "fresh     {name}")?,
                Built::Compiled => writeln!(f, "compiled  {name}  ({compiler})")?,
                Built::Failed(log) => writeln!(f, "failed    {name}  ({compiler})\n{log}")?,
            }
        }
        for name in &self.removed {
            writeln!(f, "removed   ptx/{name}.ptx: it has no source")?;
        }
        Ok(())
    }
}

/// Compiles and writes PTX and manifest.
///
/// # Errors
/// When files cannot be read or written, or there is no compiler and one is needed. A source that the compiler
/// refuses is part of the report.
pub fn build(dir: &Path, which: Which) -> Result<BuildReport, KernelsError> {
    build_with(dir, which, Compiler::find)
}

pub(super) fn build_with<C: Compile>(
    dir: &Path,
    which: Which,
    find: impl FnOnce() -> Result<C, CompileError>,
) -> Result<BuildReport, KernelsError> {
    let there = Folder::read(dir)?;
    let old = there.manifest.clone().unwrap_or_default();
    let stale = |name: &str, source: &str| {
        which == Which::All || state(&old, name, source, &there.committed).is_err()
    };
    let has_work = there
        .sources
        .iter()
        .any(|(name, source)| stale(name, source));
    let preferred = nvrtc::name_of(nvrtc::PREFERRED);
    let could_improve = old
        .modules
        .values()
        .any(|entry| entry.compiler != preferred);
    let compiler = match find() {
        Ok(compiler) => Some(compiler).filter(|_| has_work || could_improve),
        Err(error) if has_work => return Err(error.into()),
        Err(_) => None,
    };

    let mut manifest = Manifest::default();
    let mut modules = BTreeMap::new();
    for (name, source) in &there.sources {
        let entry = old.modules.get(name);
        let built = match &compiler {
            Some(compiler) if stale(name, source) || improves(compiler, entry) => {
                compile_to(dir, compiler, name, source, &mut manifest)?
            }
            _ => Built::Fresh,
        };
        if let (Built::Fresh | Built::Failed(_), Some(entry)) = (&built, entry) {
            manifest.modules.insert(name.clone(), entry.clone());
        }
        modules.insert(name.clone(), built);
    }
    let removed = remove_orphans(dir, &there)?;
    write(&dir.join(folder::MANIFEST), &manifest.to_text())?;
    Ok(BuildReport {
        compiler: compiler.map(|compiler| compiler.name()),
        modules,
        removed,
    })
}

fn improves(compiler: &impl Compile, entry: Option<&Entry>) -> bool {
    compiler.is_preferred() && entry.is_some_and(|entry| entry.compiler != compiler.name())
}

fn compile_to(
    dir: &Path,
    compiler: &impl Compile,
    name: &str,
    source: &str,
    manifest: &mut Manifest,
) -> Result<Built, KernelsError> {
    match compiler.compile(name, source) {
        Ok(ptx) => {
            write(
                &dir.join(folder::PTX).join(format!("{name}.ptx")),
                &ptx.text,
            )?;
            manifest
                .modules
                .insert(name.to_owned(), entry_of(source, &ptx));
            Ok(Built::Compiled)
        }
        Err(CompileError::Source(log)) => Ok(Built::Failed(log)),
        Err(error) => Err(error.into()),
    }
}

/// PTX files are generated, so one without a source is a leftover.
fn remove_orphans(dir: &Path, there: &Folder) -> Result<Vec<String>, KernelsError> {
    let mut removed = Vec::new();
    for name in there.orphans() {
        let path = dir.join(folder::PTX).join(format!("{name}.ptx"));
        std::fs::remove_file(&path).map_err(file_error(&path))?;
        removed.push(name.clone());
    }
    Ok(removed)
}

/// Writes only what differs, so that a rebuild of fresh kernels touches nothing.
fn write(path: &Path, wanted: &str) -> Result<(), KernelsError> {
    if text::read(path).is_ok_and(|present| present == wanted) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(file_error(folder))?;
    }
    std::fs::write(path, wanted).map_err(file_error(path))
}
