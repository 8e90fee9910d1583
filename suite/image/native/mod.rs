//! The native library: host-launched baselines (CUB, Thrust) under `kernels/native/`, which nvcc makes one shared
//! library of on demand, and which pipelines call as `{native: NAME, args: […]}`.
//!
//! Owns: the sources and their table of functions, where the library lies, whether it is that of the sources, and its
//! build. It is found and read here, and loaded by `device::cuda` alone. Imports `call`,
//! `outcome`, `regular_file` and `terms`.
//!
//! ```
//! use cuda_gates::image::native::Native;
//! let native = Native::embedded();
//! assert_eq!(native.function("cub_reduce_sum_i32").unwrap().params.len(), 3);
//! assert!(native.function("cub_reduce").is_err());
//! ```

mod about;
mod build;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::embedded;
use super::folder;
use super::hash::{sha256_hex, text_sha256};
use super::sass;
use super::text;
use crate::call::Function;
use crate::outcome::Reason;
use crate::regular_file;
use crate::terms::ReasonKind;

pub use about::About;
pub use build::{Built, NativeError, build};

/// What makes the library.
pub const COMMAND: &str = "cuda-gates kernels native";
/// Names a library, whose own table and hash still count.
pub const VARIABLE: &str = "CUDA_GATES_NATIVE";

const FILE: &str = "libcuda_gates_native.so";

/// Of a library that is read, whatever architectures it has code for.
const LIBRARY_BYTES_MAX: u64 = 2 << 30;

/// The source that describes the library, which its build writes beside the others.
const ABOUT: &str = "about.cu";

/// The native library's sources.
#[derive(Clone, Debug)]
pub struct Native {
    /// File name → text: `cub_scan.cu`, `entry.cuh`, `native.txt`.
    sources: BTreeMap<String, String>,
    /// Of all of them, by name.
    pub sha256: String,
    table: Result<Vec<Function>, String>,
    /// The `native/` folder they lie in; none for the embedded copy.
    folder: Option<PathBuf>,
    library: OnceLock<Result<Library, Reason>>,
}

/// A library that is that of its sources. Nothing of it has run yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Library {
    pub path: PathBuf,
    /// Of the file's bytes.
    pub sha256: String,
    pub about: About,
    /// What the sources declare.
    pub functions: Vec<Function>,
}

impl Native {
    /// The sources inside this executable.
    pub fn embedded() -> Self {
        let sources = embedded::NATIVE.iter();
        Self::of(
            sources.map(|(name, text)| ((*name).to_owned(), (*text).to_owned())),
            None,
        )
    }

    /// Those of a kernels folder; none where it holds no `native/native.txt`. A folder's sources take the place of the
    /// embedded ones as a whole.
    ///
    /// # Errors
    /// The path that cannot be read, and why.
    pub fn open(kernels: &Path) -> Result<Option<Self>, (PathBuf, std::io::Error)> {
        let folder = kernels.join(folder::NATIVE);
        if !folder.join(folder::NATIVE_TABLE).is_file() {
            return Ok(None);
        }
        let files = folder::native_files(kernels).map_err(|error| (folder.clone(), error))?;
        let mut sources = BTreeMap::new();
        for (name, path) in files {
            let text = text::read(&path).map_err(|error| (path, error))?;
            sources.insert(name, text);
        }
        Ok(Some(Self::of(sources.into_iter(), Some(folder))))
    }

    fn of(sources: impl Iterator<Item = (String, String)>, folder: Option<PathBuf>) -> Self {
        let sources: BTreeMap<String, String> = sources
            .map(|(name, text)| (name, text.replace("\r\n", "\n")))
            .collect();
        let mut all = String::new();
        for (name, text) in &sources {
            all.push_str(&format!("{} {name}\n", text_sha256(text)));
        }
        let table = sources.get(folder::NATIVE_TABLE).map_or_else(
            || Err("there is none".to_owned()),
            |text| Function::table(text),
        );
        let (native, file) = (folder::NATIVE, folder::NATIVE_TABLE);
        let table = table.map_err(|why| format!("kernels/{native}/{file}: {why}"));
        let taken = format!(
            "kernels/{native}/{ABOUT}: the library's build writes a file of this name: rename it"
        );
        Self {
            sha256: sha256_hex(all.as_bytes()),
            table: match sources.contains_key(ABOUT) {
                true => Err(taken),
                false => table,
            },
            sources,
            folder,
            library: OnceLock::new(),
        }
    }

    /// What the sources declare; no library is needed for it.
    ///
    /// # Errors
    /// Words that say which functions there are, or what is wrong with the table.
    pub fn function(&self, name: &str) -> Result<&Function, String> {
        let table = self.table.as_ref().map_err(String::clone)?;
        Function::find(table, name, "function of the native library")
    }

    /// Where the library lies: [`VARIABLE`], else `lib/` beside the sources, else for the embedded copy a folder of its
    /// own in the user's cache.
    ///
    /// # Errors
    /// Words that say why there is no such place, and what mends it. Code is loaded from there, so a folder that others
    /// may write is none.
    pub fn library_path(&self) -> Result<PathBuf, String> {
        self.path_with(&|name| env::var_os(name).filter(|value| !value.is_empty()))
    }

    fn path_with(&self, variable: &dyn Fn(&str) -> Option<OsString>) -> Result<PathBuf, String> {
        if let Some(path) = variable(VARIABLE) {
            return named(path.into());
        }
        if let Some(folder) = &self.folder {
            return Ok(folder.join("lib").join(FILE));
        }
        // A relative one is to be ignored, says the XDG base directory specification.
        let set = |name| {
            variable(name)
                .map(PathBuf::from)
                .filter(|p| p.is_absolute())
        };
        let cache = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
        let cache = cache.ok_or_else(|| {
            format!(
                "the native library has no place of this user's own: set HOME or XDG_CACHE_HOME to an absolute path, \
                 or name its file in {VARIABLE}"
            )
        })?;
        let of_sources = &self.sha256[..16];
        Ok(cache.join("cuda-gates/native").join(of_sources).join(FILE))
    }

    /// The library, once it is built; read once.
    ///
    /// # Errors
    /// `built without`: there is none, or it is not that of the sources; what mends it is named.
    pub fn library(&self) -> Result<Library, Reason> {
        let read = || self.read(self.library_path());
        self.library.get_or_init(read).clone()
    }

    fn read(&self, path: Result<PathBuf, String>) -> Result<Library, Reason> {
        let path = path.map_err(|why| Reason::new(ReasonKind::BuiltWithout, why))?;
        let without = |why: String| {
            let message = format!("the native library {why}: run `{COMMAND}`");
            Reason::new(ReasonKind::BuiltWithout, message)
        };
        let shown = path.display().to_string();
        let functions = self.table.clone().map_err(&without)?;
        let bytes = match read_file(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(without(format!("is not built (no {shown})")));
            }
            Err(error) => return Err(without(format!("cannot be read ({shown}: {error})"))),
        };
        let about = About::find(&bytes).map_err(|why| without(format!("{shown} {why}")))?;
        if is_cut_short(&bytes) {
            return Err(without(format!("{shown} is cut short")));
        }
        if about.sources_sha256 != self.sha256 {
            let message = format!("{shown} is stale, built of other sources than there are");
            return Err(without(message));
        }
        Ok(Library {
            sha256: sha256_hex(&bytes),
            path,
            about,
            functions,
        })
    }
}

/// What the user calls the library's file, if it can be one.
fn named(path: PathBuf) -> Result<PathBuf, String> {
    let bytes = path.as_os_str().as_encoded_bytes();
    let is_folders = ["/", "/."]
        .iter()
        .any(|end| bytes.ends_with(end.as_bytes()));
    if path.file_name().is_none() || is_folders || path.is_dir() {
        return Err(no_file(&path));
    }
    Ok(path)
}

fn no_file(path: &Path) -> String {
    let shown = path.display();
    let better = path.join(FILE);
    format!(
        "{VARIABLE}: `{shown}` is a folder: name the native library's file, as in `{}`",
        better.display()
    )
}

/// Why nothing of the library runs on the simulated device.
pub fn on_simulator() -> Reason {
    let message =
        format!("the native library works on a CUDA device only, where `{COMMAND}` builds it");
    Reason::new(ReasonKind::BuiltWithout, message)
}

impl Library {
    /// Whether it holds code for a card.
    ///
    /// # Errors
    /// `built without`, with what adds it.
    pub fn supports(&self, compute_capability: (u32, u32)) -> Result<(), Reason> {
        if sass::best(compute_capability, &self.about.architectures).is_some() {
            return Ok(());
        }
        let (major, minor) = compute_capability;
        let message = format!(
            "the native library holds code for {} and not for compute capability {major}.{minor}: run \
             `CUDA_GATES_ARCHS={major}{minor} {COMMAND}`",
            sass::list(&self.about.architectures)
        );
        Err(Reason::new(ReasonKind::BuiltWithout, message))
    }
}

/// A file's bytes; what is no file (a pipe, a device) is not waited for.
fn read_file(path: &Path) -> std::io::Result<Vec<u8>> {
    Ok(regular_file::read(path, LIBRARY_BYTES_MAX)?)
}

/// Whether a 64-bit little-endian ELF file ends before its section headers do, which linkers write last. The loader
/// maps such a file without complaint, and the process dies when it touches what is not there.
fn is_cut_short(bytes: &[u8]) -> bool {
    let number = |at: usize, len: usize| {
        let field = bytes.get(at..at + len)?;
        let mut word = [0; 8];
        word[..len].copy_from_slice(field);
        Some(u64::from_le_bytes(word))
    };
    let end = || {
        let (offset, size, count) = (number(0x28, 8)?, number(0x3a, 2)?, number(0x3c, 2)?);
        offset.checked_add(size * count)
    };
    bytes.starts_with(b"\x7fELF\x02\x01") && end().is_none_or(|end| end > bytes.len() as u64)
}
