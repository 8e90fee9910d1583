//! The native library, loaded: its entry points by name, called on the device's stream.
//!
//! Owns: the loader, the calling convention of `kernels/native/entry.cuh`, and what the library's errors mean. Imports
//! `image` (the library's file) and `outcome`. The library has a CUDA runtime of its own inside, which works in the
//! context that is current: the primary one, which this device uses too.
//!
//! ```text
//! open → cg_describe, cg_error, cg_NAME of each function     query: scratch null → bytes     call: scratch → work
//! ```

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

use libloading::Library as Loaded;

use super::errors::{self, DriverError};
use crate::image::native::{About, COMMAND, Library};
use crate::outcome::Fault;

type Entry = unsafe extern "C" fn(
    stream: *mut c_void,
    args: *mut *mut c_void,
    scratch_bytes: *mut usize,
    scratch: *mut c_void,
) -> c_int;
type Words = unsafe extern "C" fn(c_int) -> *const c_char;
type Describe = unsafe extern "C" fn() -> *const c_char;

/// Arguments lie in `u64`s, and an entry point reads its own types through pointers to them.
const _: () = assert!(align_of::<u64>() >= align_of::<f64>() && align_of::<u64>() == 8);

/// A loaded native library.
pub(super) struct NativeLibrary {
    /// The file's hash: what was asked for.
    sha256: String,
    entries: HashMap<String, (Entry, usize)>,
    words: Words,
    /// Keeps the functions valid.
    _library: Loaded,
}

impl NativeLibrary {
    /// Loads the file and takes every function that its sources declare.
    ///
    /// # Errors
    /// `setup`: it cannot be loaded, lacks a function, or describes itself as another than its file says.
    pub fn open(library: &Library) -> Result<Self, Fault> {
        let shown = library.path.display();
        let refused = |why: String| {
            Fault::setup(format!("the native library {shown} {why}: run `{COMMAND}`"))
        };
        // A bare name would be searched for along the loader's path.
        let path = std::path::absolute(&library.path);
        let path = path.map_err(|error| refused(format!("cannot be found ({error})")))?;
        // SAFETY: loading runs the library's initialisers, which register its kernels; the user names it, or it was
        // built here, and its file holds the hash of the sources at hand.
        let loaded = unsafe { Loaded::new(&path) };
        let loaded = loaded.map_err(|error| refused(format!("cannot be loaded ({error})")))?;
        let describe: Describe = symbol(&loaded, "cg_describe").map_err(&refused)?;
        // SAFETY: `cg_describe` takes nothing and returns a NUL-terminated constant, or null.
        let text = unsafe { text_of(describe()) };
        if About::parse(&text).as_ref() != Ok(&library.about) {
            return Err(refused("describes itself as another than its file".into()));
        }
        let words: Words = symbol(&loaded, "cg_error").map_err(&refused)?;
        let mut entries = HashMap::new();
        for function in &library.functions {
            let entry: Entry =
                symbol(&loaded, &format!("cg_{}", function.name)).map_err(&refused)?;
            entries.insert(function.name.clone(), (entry, function.params.len()));
        }
        Ok(Self {
            sha256: library.sha256.clone(),
            entries,
            words,
            _library: loaded,
        })
    }

    /// Whether this is that library.
    pub fn is(&self, library: &Library) -> bool {
        self.sha256 == library.sha256
    }

    /// Bytes of scratch that a call with these arguments needs. Does no work.
    ///
    /// # Errors
    /// What the library says.
    ///
    /// # Safety
    /// `stream` is a stream of the current context.
    pub unsafe fn query(
        &self,
        name: &str,
        args: &mut [u64],
        stream: *mut c_void,
    ) -> Result<u64, Fault> {
        let mut bytes = 0;
        // SAFETY: without scratch nothing is read or written but `bytes`; the stream is the caller's promise.
        unsafe { self.invoke(name, args, stream, &mut bytes, ptr::null_mut()) }?;
        Ok(bytes as u64)
    }

    /// Queues the work.
    ///
    /// # Errors
    /// What the library says.
    ///
    /// # Safety
    /// `stream` is a stream of the current context, `scratch` holds `bytes` bytes on its device, and each pointer among
    /// `args` is of a live allocation there.
    pub unsafe fn call(
        &self,
        name: &str,
        args: &mut [u64],
        stream: *mut c_void,
        (scratch, mut bytes): (u64, usize),
    ) -> Result<(), Fault> {
        let scratch = ptr::without_provenance_mut(scratch as usize);
        // SAFETY: the caller's promise.
        unsafe { self.invoke(name, args, stream, &mut bytes, scratch) }
    }

    /// # Safety
    /// As for `call`; where `scratch` is null, as for `query`.
    unsafe fn invoke(
        &self,
        name: &str,
        args: &mut [u64],
        stream: *mut c_void,
        bytes: &mut usize,
        scratch: *mut c_void,
    ) -> Result<(), Fault> {
        let Some(&(entry, count)) = self.entries.get(name) else {
            return Err(Fault::setup(format!("the native library has no `{name}`")));
        };
        if args.len() != count {
            let given = args.len();
            let message = format!("`{name}` takes {count} arguments, {given} are given");
            return Err(Fault::setup(message));
        }
        let mut pointers: Vec<*mut c_void> = args
            .iter_mut()
            .map(|value| ptr::from_mut(value).cast())
            .collect();
        // SAFETY: the entry has this type by the library's protocol, whose version it told; there are as many
        // arguments as its sources declare, each of 8 bytes and aligned to 8, as much as any type of an argument needs,
        // which live until it returns. Without scratch it only writes `bytes`. The stream, and with scratch what the
        // arguments point to, are the caller's promise.
        let code = unsafe { entry(stream, pointers.as_mut_ptr(), bytes, scratch) };
        match code {
            0 => Ok(()),
            code => Err(self.fault(name, code)),
        }
    }

    /// A runtime error; its codes are the driver's, but for those that only the runtime has.
    fn fault(&self, name: &str, code: c_int) -> Fault {
        // SAFETY: `cg_error` takes any code and returns a NUL-terminated text of this thread, or null.
        let words = unsafe { text_of((self.words)(code)) };
        let context = format!("calling `{name}` of the native library");
        let code = code.unsigned_abs();
        let plain = |mend: &str| Fault::setup(format!("{context}: it gave {words}{mend}"));
        match code {
            // cudaErrorInvalidConfiguration, …InvalidPitchValue, …InvalidSymbol, …InvalidDeviceFunction
            9 | 12 | 13 | 98 => plain(""),
            // cudaErrorInsufficientDriver
            35 => plain(
                ": the driver is older than the toolkit: build the library with an older nvcc",
            ),
            code => {
                let call = "the library";
                errors::fault(DriverError { call, code }, &words, &context)
            }
        }
    }
}

/// A function of the library. `F` is its C type.
fn symbol<F: Copy>(library: &Loaded, name: &str) -> Result<F, String> {
    // SAFETY: the library's protocol gives each name its type, and the protocol's version is part of its description.
    let found = unsafe { library.get::<F>(name) };
    found
        .map(|symbol| *symbol)
        .map_err(|_| format!("has no function `{name}`"))
}

/// # Safety
/// Null, or a NUL-terminated text.
unsafe fn text_of(text: *const c_char) -> String {
    if text.is_null() {
        return "no words".to_owned();
    }
    // SAFETY: not null, and the caller's promise.
    unsafe { CStr::from_ptr(text) }
        .to_string_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests;
