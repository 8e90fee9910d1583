//! `kernels build` and `kernels verify`: the committed PTX of a `kernels/` folder, made and checked.
//!
//! Owns what is written under `ptx/`. Neither needs a GPU.
//!
//! ```no_run
//! use cuda_gates::image::kernels;
//! let built = kernels::build("kernels".as_ref(), kernels::Which::Stale)?;
//! assert!(built.failed().next().is_none());
//! assert!(kernels::verify("kernels".as_ref())?.is_fresh());
//! # Ok::<(), kernels::KernelsError>(())
//! ```

mod build;
#[cfg(test)]
mod tests;
mod verify;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub use build::{BuildReport, Built, Which, build};
pub use verify::{VerifyReport, verify};

use super::compiler::{CompileError, Compiler, OPTIONS, Ptx};
use super::folder;
use super::hash::text_sha256;
use super::manifest::{Entry, Manifest, Stale};
use super::text;

#[derive(Debug, thiserror::Error)]
pub enum KernelsError {
    #[error("{}: {source}", path.display())]
    File {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error(transparent)]
    Compiler(#[from] CompileError),
}

/// What building and verifying ask of a compiler.
trait Compile {
    fn name(&self) -> String;
    fn is_preferred(&self) -> bool;
    fn compile(&self, module: &str, source: &str) -> Result<Ptx, CompileError>;
}

impl Compile for Compiler {
    fn name(&self) -> String {
        Compiler::name(self)
    }

    fn is_preferred(&self) -> bool {
        Compiler::is_preferred(self)
    }

    fn compile(&self, module: &str, source: &str) -> Result<Ptx, CompileError> {
        Compiler::compile(self, module, source)
    }
}

/// A kernels folder as it lies there.
struct Folder {
    /// Module → CUDA C++.
    sources: BTreeMap<String, String>,
    /// Module → committed PTX.
    committed: BTreeMap<String, String>,
    /// An empty one where there is none; a message where it cannot be used.
    manifest: Result<Manifest, String>,
}

impl Folder {
    fn read(dir: &Path) -> Result<Self, KernelsError> {
        Ok(Self {
            sources: read_all(folder::sources(dir).map_err(file_error(dir))?)?,
            committed: read_all(folder::ptx_files(dir).map_err(file_error(dir))?)?,
            manifest: read_manifest(dir)?,
        })
    }

    /// Modules whose PTX lies there and whose source does not.
    fn orphans(&self) -> impl Iterator<Item = &String> {
        let has_no_source = |name: &&String| !self.sources.contains_key(*name);
        self.committed.keys().filter(has_no_source)
    }
}

fn entry_of(source: &str, ptx: &Ptx) -> Entry {
    Entry {
        source_sha256: text_sha256(source),
        ptx_sha256: text_sha256(&ptx.text),
        compiler: ptx.compiler.clone(),
        options: OPTIONS.map(str::to_owned).to_vec(),
        isa: ptx.isa.clone(),
        target: ptx.target.clone(),
    }
}

/// A module's entry, if source, options and PTX are those it lists.
fn state<'m>(
    manifest: &'m Manifest,
    name: &str,
    source: &str,
    committed: &BTreeMap<String, String>,
) -> Result<&'m Entry, Stale> {
    let ptx = committed.get(name).ok_or(Stale::Missing)?;
    let entry = manifest.modules.get(name).ok_or(Stale::Unlisted)?;
    entry.check(source, ptx)?;
    if entry.options == OPTIONS {
        Ok(entry)
    } else {
        Err(Stale::Options)
    }
}

/// The folder's manifest: an empty one where there is none, a message where it cannot be used.
fn read_manifest(dir: &Path) -> Result<Result<Manifest, String>, KernelsError> {
    let path = dir.join(folder::MANIFEST);
    match text::read(&path) {
        Ok(text) => Ok(Manifest::parse(&text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Ok(Manifest::default())),
        Err(source) => Err(KernelsError::File { path, source }),
    }
}

fn read_all(files: BTreeMap<String, PathBuf>) -> Result<BTreeMap<String, String>, KernelsError> {
    let read = |(name, path): (String, PathBuf)| {
        let text = text::read(&path).map_err(file_error(&path))?;
        Ok((name, text))
    };
    files.into_iter().map(read).collect()
}

fn file_error(path: &Path) -> impl FnOnce(std::io::Error) -> KernelsError {
    move |source| KernelsError::File {
        path: path.to_owned(),
        source,
    }
}
