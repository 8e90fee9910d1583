//! NVRTC, NVIDIA's run-time compiler: found on this machine, loaded by explicit path, CUDA C++ in, PTX out. No GPU
//! and no driver is needed.
//!
//! The only place that names `libloading` for it. Imports nothing of this crate.
//!
//! ```no_run
//! use cuda_gates::image::nvrtc::Nvrtc;
//! let nvrtc = Nvrtc::find()?;
//! let source = "extern \"C\" __global__ void none() {}";
//! let ptx = nvrtc.compile("kernels/none.cu", source, &["--gpu-architecture=compute_75"])?;
//! assert!(ptx.contains(".entry none"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod search;

use std::env;
use std::ffi::{CStr, CString, OsString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr;

use libloading::Library;

/// The release whose PTX is committed: ISA 7.8, which every driver from 520 on compiles.
pub const PREFERRED: (u32, u32) = (11, 8);

#[derive(Debug, thiserror::Error)]
pub enum NvrtcError {
    #[error(
        "no NVRTC library was found; install one (`pip install nvidia-cuda-nvrtc-cu11`), or set CUDA_GATES_NVRTC to \
         the file (libnvrtc.so.11.2)"
    )]
    Absent,
    #[error("{}: {message}", path.display())]
    Unusable { path: PathBuf, message: String },
    #[error("{call} failed: {words}")]
    Call { call: &'static str, words: String },
    /// The compiler's log: what is wrong with the source, by line.
    #[error("{log}")]
    Source { log: String },
}

type Program = *mut c_void;
type Status = c_int;

/// The functions of a loaded library.
#[derive(Clone, Copy)]
struct Calls {
    version: unsafe extern "C" fn(*mut c_int, *mut c_int) -> Status,
    words: unsafe extern "C" fn(Status) -> *const c_char,
    create: unsafe extern "C" fn(
        *mut Program,
        *const c_char,
        *const c_char,
        c_int,
        *const *const c_char,
        *const *const c_char,
    ) -> Status,
    destroy: unsafe extern "C" fn(*mut Program) -> Status,
    compile: unsafe extern "C" fn(Program, c_int, *const *const c_char) -> Status,
    log_size: unsafe extern "C" fn(Program, *mut usize) -> Status,
    log: unsafe extern "C" fn(Program, *mut c_char) -> Status,
    ptx_size: unsafe extern "C" fn(Program, *mut usize) -> Status,
    ptx: unsafe extern "C" fn(Program, *mut c_char) -> Status,
}

/// A loaded NVRTC.
pub struct Nvrtc {
    pub path: PathBuf,
    /// Major and minor release.
    pub version: (u32, u32),
    calls: Calls,
    /// Keeps `calls` valid.
    _library: Library,
}

impl Nvrtc {
    /// The preferred release where this machine has it, else the first other one. `CUDA_GATES_NVRTC` names a file
    /// and ends the search.
    ///
    /// # Errors
    /// [`NvrtcError::Absent`], or why the named file cannot be used.
    pub fn find() -> Result<Self, NvrtcError> {
        Self::find_with(&|name| env::var_os(name).filter(|value| !value.is_empty()))
    }

    fn find_with(variable: &dyn Fn(&str) -> Option<OsString>) -> Result<Self, NvrtcError> {
        if let Some(path) = variable("CUDA_GATES_NVRTC") {
            return Self::open(Path::new(&path));
        }
        let mut other = None;
        for path in search::candidates(variable) {
            match Self::open(&path) {
                Ok(found) if found.version == PREFERRED => return Ok(found),
                Ok(found) => other = other.or(Some(found)),
                Err(_) => {}
            }
        }
        other.ok_or(NvrtcError::Absent)
    }

    /// # Errors
    /// When `path` cannot be loaded or lacks one of NVRTC's functions.
    pub fn open(path: &Path) -> Result<Self, NvrtcError> {
        let unusable = |message: String| NvrtcError::Unusable {
            path: path.to_owned(),
            message,
        };
        // SAFETY: loading runs the library's initialisers; the user, or this machine's CUDA installation, says that it
        // is NVRTC.
        let library =
            unsafe { Library::new(path) }.map_err(|error| unusable(loader_words(&error)))?;
        // SAFETY: the types of `Calls` are those of nvrtc.h, unchanged from CUDA 7 to 13, and `_library` outlives them.
        let calls =
            unsafe { Calls::load(&library) }.map_err(|error| unusable(loader_words(&error)))?;
        let (mut major, mut minor): (c_int, c_int) = (0, 0);
        // SAFETY: two valid out-pointers.
        let status = unsafe { (calls.version)(&raw mut major, &raw mut minor) };
        calls.check("nvrtcVersion", status)?;
        let release = |number: c_int| {
            u32::try_from(number).map_err(|_| unusable(format!("release {number} is negative")))
        };
        Ok(Self {
            path: path.to_owned(),
            version: (release(major)?, release(minor)?),
            calls,
            _library: library,
        })
    }

    /// `NVRTC 11.8`
    pub fn name(&self) -> String {
        name_of(self.version)
    }

    /// PTX of `source`, which diagnostics and line information call `file`.
    ///
    /// # Errors
    /// [`NvrtcError::Source`] with the compiler's log.
    pub fn compile(
        &self,
        file: &str,
        source: &str,
        options: &[&str],
    ) -> Result<String, NvrtcError> {
        let call = |call| {
            move |error: std::ffi::NulError| NvrtcError::Call {
                call,
                words: error.to_string(),
            }
        };
        let file = CString::new(file).map_err(call("nvrtcCreateProgram"))?;
        let source = CString::new(source).map_err(call("nvrtcCreateProgram"))?;
        let options = options
            .iter()
            .map(|option| CString::new(*option))
            .collect::<Result<Vec<_>, _>>()
            .map_err(call("nvrtcCompileProgram"))?;
        OpenProgram::create(self.calls, &source, &file)?.compile(&options)
    }
}

/// With the loader's own words, which the library keeps one level down.
fn loader_words(error: &libloading::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// `NVRTC 11.8`
pub fn name_of(version: (u32, u32)) -> String {
    format!("NVRTC {}.{}", version.0, version.1)
}

impl Calls {
    /// # Safety
    /// `library` must be an NVRTC, and outlive what is returned.
    unsafe fn load(library: &Library) -> Result<Self, libloading::Error> {
        // SAFETY: by this function's own contract each symbol has the type its field states.
        unsafe {
            Ok(Self {
                version: *library.get(b"nvrtcVersion\0")?,
                words: *library.get(b"nvrtcGetErrorString\0")?,
                create: *library.get(b"nvrtcCreateProgram\0")?,
                destroy: *library.get(b"nvrtcDestroyProgram\0")?,
                compile: *library.get(b"nvrtcCompileProgram\0")?,
                log_size: *library.get(b"nvrtcGetProgramLogSize\0")?,
                log: *library.get(b"nvrtcGetProgramLog\0")?,
                ptx_size: *library.get(b"nvrtcGetPTXSize\0")?,
                ptx: *library.get(b"nvrtcGetPTX\0")?,
            })
        }
    }

    fn check(self, call: &'static str, status: Status) -> Result<(), NvrtcError> {
        if status == 0 {
            return Ok(());
        }
        // SAFETY: NVRTC gives a static string for every status, known or not.
        let words = unsafe { CStr::from_ptr((self.words)(status)) };
        Err(NvrtcError::Call {
            call,
            words: words.to_string_lossy().into_owned(),
        })
    }
}

/// A program that is destroyed when dropped.
struct OpenProgram {
    calls: Calls,
    program: Program,
}

impl OpenProgram {
    fn create(calls: Calls, source: &CStr, file: &CStr) -> Result<Self, NvrtcError> {
        let mut program = ptr::null_mut();
        // SAFETY: NUL-terminated strings that NVRTC copies, no headers, one valid out-pointer.
        let status = unsafe {
            (calls.create)(
                &raw mut program,
                source.as_ptr(),
                file.as_ptr(),
                0,
                ptr::null(),
                ptr::null(),
            )
        };
        calls.check("nvrtcCreateProgram", status)?;
        Ok(Self { calls, program })
    }

    fn compile(&self, options: &[CString]) -> Result<String, NvrtcError> {
        let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let count = c_int::try_from(pointers.len()).unwrap_or(c_int::MAX);
        // SAFETY: `count` NUL-terminated strings that live until the call returns.
        let status = unsafe { (self.calls.compile)(self.program, count, pointers.as_ptr()) };
        if let Err(error) = self.calls.check("nvrtcCompileProgram", status) {
            let log = self.text("nvrtcGetProgramLog", self.calls.log_size, self.calls.log)?;
            return Err(match log.trim_end() {
                "" => error,
                log => NvrtcError::Source {
                    log: log.to_owned(),
                },
            });
        }
        self.text("nvrtcGetPTX", self.calls.ptx_size, self.calls.ptx)
    }

    /// A string that NVRTC hands out by size, then content.
    fn text(
        &self,
        call: &'static str,
        size: unsafe extern "C" fn(Program, *mut usize) -> Status,
        content: unsafe extern "C" fn(Program, *mut c_char) -> Status,
    ) -> Result<String, NvrtcError> {
        let mut len = 0;
        // SAFETY: one valid out-pointer.
        let status = unsafe { size(self.program, &raw mut len) };
        self.calls.check(call, status)?;
        let mut bytes = vec![0u8; len.max(1)];
        // SAFETY: the buffer holds the `len` bytes that NVRTC said it writes, the NUL included.
        let status = unsafe { content(self.program, bytes.as_mut_ptr().cast()) };
        self.calls.check(call, status)?;
        bytes.truncate(
            bytes
                .iter()
                .position(|&byte| byte == 0)
                .unwrap_or(bytes.len()),
        );
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl Drop for OpenProgram {
    fn drop(&mut self) {
        // SAFETY: created by `create`, destroyed once. A failure leaves nothing to do.
        unsafe { (self.calls.destroy)(&raw mut self.program) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_library_the_message_says_how_to_get_one() {
        let message = NvrtcError::Absent.to_string();
        assert!(message.contains("nvidia-cuda-nvrtc-cu11"), "{message}");
        assert!(message.contains("CUDA_GATES_NVRTC"), "{message}");
    }

    #[test]
    fn a_named_file_that_is_no_library_ends_the_search() {
        let variable = |name: &str| (name == "CUDA_GATES_NVRTC").then(|| "/nowhere/nvrtc".into());
        let error = Nvrtc::find_with(&variable).err().map(|e| e.to_string());
        assert!(error.is_some_and(|message| message.starts_with("/nowhere/nvrtc: ")));
    }

    #[test]
    fn a_library_without_nvrtcs_functions_is_named() {
        let Err(NvrtcError::Unusable { path, message }) = Nvrtc::open(Path::new("libc.so.6"))
        else {
            panic!("libc is no NVRTC");
        };
        assert_eq!(path, Path::new("libc.so.6"));
        assert!(message.contains("nvrtcVersion"), "{message}");
    }
}
