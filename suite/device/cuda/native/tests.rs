//! The loader on libraries in C, which stand in for what nvcc makes. They need the C compiler that Rust links with.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::*;
use crate::call::Function;
use crate::terms::ReasonKind;

const SUM: &str = r#"
#include <stddef.h>
#include <stdint.h>

int cg_sum(void* stream, void** args, size_t* scratch_bytes, void* scratch)
{
  const int32_t* input = *(const int32_t**)args[0];
  int64_t* sum         = *(int64_t**)args[1];
  uint64_t n           = *(uint64_t*)args[2];
  if (scratch == NULL)
  {
    *scratch_bytes = 8 * n;
    return 0;
  }
  if (*scratch_bytes < 8 * n)
  {
    return 2;
  }
  int64_t* copies = scratch;
  *sum            = stream == NULL;
  for (uint64_t i = 0; i < n; ++i)
  {
    copies[i] = input[i];
    *sum += copies[i];
  }
  return 0;
}

int cg_fails(void* stream, void** args, size_t* scratch_bytes, void* scratch)
{
  return *(int32_t*)args[0];
}

const char* cg_error(int code)
{
  return code == 700 ? "cudaErrorIllegalAddress (words)" : code == 9 ? "cudaErrorInvalidConfiguration" : NULL;
}
"#;

const TABLE: &str = "sum: const i32* input, i64* sum, u64 n\nfails: i32 code\n";

/// Compiles a library of `source` that describes itself as `described`.
fn library(folder: &Path, source: &str, described: &str) -> PathBuf {
    let description = described.replace('\n', "\\n");
    let describe = format!("const char* cg_describe(void) {{ return \"{description}\"; }}\n");
    let (file, path) = (folder.join("library.c"), folder.join("library.so"));
    std::fs::write(&file, format!("{source}{describe}")).expect("a source");
    let mut command = Command::new("cc");
    command
        .args(["-shared", "-fPIC", "-o"])
        .arg(&path)
        .arg(&file);
    let output = command
        .output()
        .expect("cc, the C compiler that links Rust programs");
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words}");
    path
}

fn about(sources: &str) -> About {
    About {
        sources_sha256: sources.into(),
        compiler: "cc".into(),
        architectures: vec![(9, 0)],
    }
}

fn described(path: PathBuf, table: &str) -> Library {
    Library {
        path,
        sha256: "ab".into(),
        about: about("s"),
        functions: Function::table(table).expect("a table"),
    }
}

fn opened(folder: &Path) -> NativeLibrary {
    let path = library(folder, SUM, &about("s").text(TABLE));
    NativeLibrary::open(&described(path, TABLE)).expect("a library")
}

/// The host's addresses stand for the device's.
fn arguments(input: &[i32], sum: &mut i64) -> [u64; 3] {
    [
        input.as_ptr().expose_provenance() as u64,
        std::ptr::from_mut(sum).expose_provenance() as u64,
        input.len() as u64,
    ]
}

/// Four bytes, first in memory, as the device's values of arguments are.
fn scalar(value: u32) -> u64 {
    let [a, b, c, d] = value.to_ne_bytes();
    u64::from_ne_bytes([a, b, c, d, 0, 0, 0, 0])
}

fn query(native: &NativeLibrary, name: &str, args: &mut [u64]) -> Result<u64, Fault> {
    // SAFETY: these libraries do nothing with the stream when they are asked for their scratch.
    unsafe { native.query(name, args, ptr::null_mut()) }
}

#[test]
fn scratch_is_asked_for_and_then_given() {
    let folder = tempfile::tempdir().expect("a folder");
    let native = opened(folder.path());
    let (input, mut sum) = ([1, 2, 3], 0_i64);
    let mut args = arguments(&input, &mut sum);
    assert_eq!(query(&native, "sum", &mut args).unwrap(), 24);
    let mut scratch = [0_u64; 3];
    let at = scratch.as_mut_ptr().expose_provenance() as u64;
    // SAFETY: the library reads three elements and writes a sum and 24 bytes of scratch, all live.
    let called = unsafe { native.call("sum", &mut args, ptr::null_mut(), (at, 24)) };
    called.unwrap();
    assert_eq!(sum, 7, "one for the stream that is null");
    // SAFETY: as above; the library refuses before it writes.
    let called = unsafe { native.call("sum", &mut args, ptr::null_mut(), (at, 8)) };
    let fault = called.unwrap_err();
    assert_eq!(
        (fault.reason.kind, fault.sticky),
        (ReasonKind::Setup, false)
    );
}

#[test]
fn errors_are_told_in_the_librarys_words() {
    let folder = tempfile::tempdir().expect("a folder");
    let native = opened(folder.path());
    let fails = |code: u32| query(&native, "fails", &mut [scalar(code)]).unwrap_err();
    let fault = fails(700);
    assert_eq!(
        (fault.reason.kind, fault.sticky),
        (ReasonKind::KernelFault, true)
    );
    assert_eq!(
        fault.reason.message,
        "calling `fails` of the native library: the library gave cudaErrorIllegalAddress (words): \
         `compute-sanitizer` names the access; so does `--device sim`, for kernels that are PTX"
    );
    let fault = fails(9);
    assert_eq!(
        (fault.reason.kind, fault.sticky),
        (ReasonKind::Setup, false)
    );
    assert!(
        fault
            .reason
            .message
            .ends_with("it gave cudaErrorInvalidConfiguration")
    );
    assert!(fails(35).reason.message.contains("older nvcc"));
    let few = query(&native, "fails", &mut []).unwrap_err();
    assert!(
        few.reason
            .message
            .contains("takes 1 arguments, 0 are given")
    );
    let none = query(&native, "other", &mut []).unwrap_err();
    assert!(none.reason.message.contains("has no `other`"));
}

#[test]
fn a_library_that_is_not_what_it_should_be_is_refused_with_its_mend() {
    let folder = tempfile::tempdir().expect("a folder");
    let refused = |library: Library| {
        let fault = NativeLibrary::open(&library).err().expect("no library");
        assert_eq!(fault.reason.kind, ReasonKind::Setup);
        let end = "run `cuda-gates kernels native`";
        assert!(fault.reason.message.ends_with(end), "{fault}");
        fault.reason.message
    };
    let absent = folder.path().join("absent.so");
    assert!(refused(described(absent, TABLE)).contains("cannot be loaded"));
    let path = library(folder.path(), SUM, &about("s").text(TABLE));
    let more = format!("{TABLE}more: i32 x\n");
    assert!(refused(described(path, &more)).contains("has no function `cg_more`"));
    let other = tempfile::tempdir().expect("a folder");
    let stale = library(other.path(), SUM, &about("other").text(TABLE));
    assert!(refused(described(stale, TABLE)).contains("another than its file"));
    let bare = tempfile::tempdir().expect("a folder");
    let path = library(bare.path(), "int nothing;\n", &about("s").text(TABLE));
    assert!(refused(described(path, TABLE)).contains("has no function `cg_error`"));
}
