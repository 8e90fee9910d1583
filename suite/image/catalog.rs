//! The kernels a run can use: the embedded copy, overridden file by file by a `kernels/` folder.
//!
//! Owns the judgement whether a module's PTX or native code is that of its source. A module that lacks one is no
//! error of the catalog: the case that wants it ends with that reason, so that the others run.
//!
//! ```
//! use cuda_gates::image::Catalog;
//! use cuda_gates::terms::ImageKind;
//! let catalog = Catalog::embedded();
//! assert!(catalog.modules().any(|module| module == "compaction"));
//! let image = catalog.image("compaction", ImageKind::Jit, (7, 5)).expect("committed PTX");
//! assert_eq!(image.compiler, "NVRTC 11.8");
//! ```

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::compiler::Compiler;
use super::embedded;
use super::folder;
use super::hash::{sha256_hex, text_sha256};
use super::manifest::{Entry, Manifest, Stale};
use super::native::Native;
use super::nvrtc::Nvrtc;
use super::sass::Sass;
use super::{Code, Image, Signature, built_without, ptx, text};
use crate::outcome::Fault;
use crate::terms::ImageKind;

/// A `kernels/` folder that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", path.display())]
pub struct CatalogError {
    pub path: PathBuf,
    pub source: std::io::Error,
}

#[derive(Clone, Debug)]
pub struct Catalog {
    modules: BTreeMap<String, Module>,
    sass: Sass,
    native: Native,
}

#[derive(Clone, Debug)]
struct Module {
    source: String,
    source_sha256: String,
    ptx: Option<Arc<str>>,
    /// The manifest's entry, or what is wrong with the manifest.
    entry: Result<Option<Entry>, String>,
    signatures: OnceLock<Result<Vec<Signature>, Fault>>,
    nvrtc: OnceLock<Result<Image, Fault>>,
}

impl Catalog {
    /// The kernels inside this executable.
    pub fn embedded() -> Self {
        let manifest = embedded::MANIFEST.map(Manifest::parse).transpose();
        let modules = embedded::KERNELS.iter().map(|kernel| {
            let entry = manifest
                .as_ref()
                .map(|manifest| manifest.as_ref()?.modules.get(kernel.module).cloned());
            let module = Module::new(
                kernel.source.to_owned(),
                kernel.ptx.map(Arc::from),
                entry.map_err(String::clone),
            );
            (kernel.module.to_owned(), module)
        });
        Self {
            modules: modules.collect(),
            sass: Sass::embedded(),
            native: Native::embedded(),
        }
    }

    /// As [`Catalog::embedded`], with the files of `dir` in place of the embedded ones of the same name.
    ///
    /// # Errors
    /// When the folder, or a file in it, cannot be read.
    pub fn open(dir: Option<&Path>) -> Result<Self, CatalogError> {
        let mut catalog = Self::embedded();
        if let Some(dir) = dir {
            catalog.overlay(dir)?;
        }
        Ok(catalog)
    }

    fn overlay(&mut self, dir: &Path) -> Result<(), CatalogError> {
        for (name, path) in folder::sources(dir).map_err(within(dir))? {
            let source = text::read(&path).map_err(within(&path))?;
            let known = self.modules.remove(&name);
            let (ptx, entry) = known.map_or((None, Ok(None)), |module| (module.ptx, module.entry));
            self.modules.insert(name, Module::new(source, ptx, entry));
        }
        for (name, path) in folder::ptx_files(dir).map_err(within(dir))? {
            // PTX without a source is `kernels verify`'s business: no spec can name it.
            if let Some(module) = self.modules.get_mut(&name) {
                let ptx = text::read(&path).map_err(within(&path))?;
                module.ptx = Some(ptx.into());
            }
        }
        let native = Native::open(dir);
        let native = native.map_err(|(path, source)| CatalogError { path, source })?;
        if let Some(native) = native {
            self.native = native;
        }
        let path = dir.join(folder::MANIFEST);
        if path.exists() {
            let text = text::read(&path).map_err(within(&path))?;
            self.overlay_manifest(dir, Manifest::parse(&text));
        }
        Ok(())
    }

    /// The folder's manifest speaks for the modules it lists; a broken one for those whose source lies beside it.
    fn overlay_manifest(&mut self, dir: &Path, manifest: Result<Manifest, String>) {
        for (name, module) in &mut self.modules {
            match &manifest {
                Ok(manifest) => {
                    if let Some(entry) = manifest.modules.get(name) {
                        module.entry = Ok(Some(entry.clone()));
                    }
                }
                Err(message) => {
                    if dir.join(format!("{name}.cu")).is_file() {
                        module.entry = Err(message.clone());
                    }
                }
            }
        }
    }

    /// The native library's sources, and the library where it is built.
    pub fn native(&self) -> &Native {
        &self.native
    }

    /// Module names in order: kernel files without ending.
    pub fn modules(&self) -> impl Iterator<Item = &str> {
        self.modules.keys().map(String::as_str)
    }

    /// SHA-256 over the sources and the PTX of these modules, whatever their order and however often each is named.
    pub fn digest<'m>(&self, modules: impl Iterator<Item = &'m str>) -> String {
        let names: BTreeSet<&str> = modules.collect();
        let line = |name: &str| match self.modules.get(name) {
            Some(module) => {
                let ptx = module.ptx.as_deref().map_or_else(String::new, text_sha256);
                format!("{name} {} {ptx}\n", module.source_sha256)
            }
            None => format!("{name}\n"),
        };
        let lines: String = names.into_iter().map(line).collect();
        sha256_hex(lines.as_bytes())
    }

    /// A module's CUDA C++.
    pub fn source(&self, module: &str) -> Option<&str> {
        Some(self.modules.get(module)?.source.as_str())
    }

    /// Of a module's source over LF endings, lower-case hex.
    pub fn source_sha256(&self, module: &str) -> Option<&str> {
        Some(self.modules.get(module)?.source_sha256.as_str())
    }

    /// What a module's committed PTX says of its kernels.
    ///
    /// # Errors
    /// `setup` when there is no such module, or its PTX is missing, stale or unreadable.
    pub fn signatures(&self, module: &str) -> Result<Vec<Signature>, Fault> {
        let found = self.module(module)?;
        found
            .signatures
            .get_or_init(|| {
                let (ptx, _) = found.committed(module)?;
                signatures_of(ptx)
                    .map_err(|message| Fault::setup(format!("kernels/ptx/{module}.ptx: {message}")))
            })
            .clone()
    }

    /// A module's code for a device of `compute_capability`.
    ///
    /// # Errors
    /// `setup` as for [`Catalog::signatures`], or a source that NVRTC refuses; `built without` where this executable
    /// has no native code for the device, or this machine no NVRTC.
    pub fn image(
        &self,
        module: &str,
        kind: ImageKind,
        compute_capability: (u32, u32),
    ) -> Result<Image, Fault> {
        let found = self.module(module)?;
        match kind {
            ImageKind::Jit => {
                let (ptx, entry) = found.committed(module)?;
                Ok(ptx_image(kind, module, ptx.clone(), &entry.compiler))
            }
            ImageKind::Sass => self
                .sass
                .image(module, &found.source_sha256, compute_capability),
            ImageKind::Nvrtc => found
                .nvrtc
                .get_or_init(|| compile_now(module, &found.source))
                .clone(),
        }
    }

    fn module(&self, module: &str) -> Result<&Module, Fault> {
        self.modules
            .get(module)
            .ok_or_else(|| Fault::setup(format!("there is no kernel file `kernels/{module}.cu`")))
    }
}

impl Module {
    fn new(source: String, ptx: Option<Arc<str>>, entry: Result<Option<Entry>, String>) -> Self {
        Self {
            source_sha256: text_sha256(&source),
            source,
            ptx,
            entry,
            signatures: OnceLock::new(),
            nvrtc: OnceLock::new(),
        }
    }

    /// The PTX, if it is that of the source.
    fn committed(&self, name: &str) -> Result<(&Arc<str>, &Entry), Fault> {
        let mend = "run `cuda-gates kernels build`";
        let entry = self.entry.as_ref().map_err(|message| {
            Fault::setup(format!(
                "kernels/{} cannot be used ({message}): {mend}",
                folder::MANIFEST
            ))
        })?;
        let stale = |stale: Stale| Fault::setup(format!("kernels/{name}.cu {stale}: {mend}"));
        let ptx = self.ptx.as_ref().ok_or_else(|| stale(Stale::Missing))?;
        let entry = entry.as_ref().ok_or_else(|| stale(Stale::Unlisted))?;
        entry.check(&self.source, ptx).map_err(stale)?;
        Ok((ptx, entry))
    }
}

fn ptx_image(kind: ImageKind, module: &str, ptx: Arc<str>, compiler: &str) -> Image {
    Image {
        kind,
        module: module.to_owned(),
        sha256: sha256_hex(ptx.as_bytes()),
        code: Code::Ptx(ptx),
        compiler: compiler.to_owned(),
    }
}

/// PTX of this machine's own NVRTC.
fn compile_now(module: &str, source: &str) -> Result<Image, Fault> {
    let nvrtc = Nvrtc::find().map_err(|error| built_without(format!("NVRTC: {error}")))?;
    let compiler = Compiler::Nvrtc(nvrtc);
    let ptx = compiler
        .compile(module, source)
        .map_err(|error| Fault::setup(format!("{}: {error}", compiler.name())))?;
    Ok(ptx_image(
        ImageKind::Nvrtc,
        module,
        ptx.text.into(),
        &ptx.compiler,
    ))
}

fn within(path: &Path) -> impl FnOnce(std::io::Error) -> CatalogError {
    move |source| CatalogError {
        path: path.to_owned(),
        source,
    }
}

/// What PTX says of its kernels; the message begins with the line that is no PTX.
fn signatures_of(text: &str) -> Result<Vec<Signature>, String> {
    match ptx::parse(text) {
        Ok(module) => Ok(module.signatures()),
        Err(error) => Err(error.to_string()),
    }
}
