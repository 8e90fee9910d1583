//! Compiled kernels: the images a case runs, and what their PTX says of their signatures.
//!
//! Owns: PTX text (parser, signatures), the manifest of the committed PTX, NVRTC, the native library, and the embedded
//! copy. May import `call`, `outcome`, `regular_file` and `terms` only.
//!
//! ```
//! use cuda_gates::image::Catalog;
//! use cuda_gates::terms::ImageKind;
//! let image = Catalog::embedded().image("compaction", ImageKind::Jit, (7, 5)).expect("committed PTX");
//! assert_eq!(image.module, "compaction");
//! ```

mod catalog;
pub mod compiler;
mod embedded;
mod folder;
mod hash;
pub mod kernels;
pub mod manifest;
pub mod native;
pub mod nvcc;
pub mod nvrtc;
mod sass;
mod text;

pub mod ptx;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use catalog::{Catalog, CatalogError};

use crate::outcome::{Fault, Reason};
use crate::terms::{ImageKind, ReasonKind};

/// The code of one module for one image kind.
#[derive(Clone, Debug)]
pub struct Image {
    pub kind: ImageKind,
    /// The kernel file without its ending: `compaction`, `faulty/off_by_one_carry`.
    pub module: String,
    pub code: Code,
    /// Of the code's bytes, lower-case hex.
    pub sha256: String,
    /// What compiled it: `NVRTC 11.8`, `nvcc 13.0.88`.
    pub compiler: String,
}

#[derive(Clone, Debug)]
pub enum Code {
    /// PTX text, without a terminating NUL.
    Ptx(Arc<str>),
    /// One cubin (an ELF file) for one architecture.
    Cubin(Arc<[u8]>),
}

/// A kernel's parameters in order, as its PTX declares them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Signature {
    pub name: String,
    pub params: Vec<Param>,
    /// Bytes of statically declared shared memory.
    pub static_shared_bytes: u64,
    /// Whether it declares an `extern .shared` array, so that a launch may size it.
    pub dynamic_shared: bool,
    /// `.maxntid` or `.reqntid`, where present.
    pub max_threads: Option<u32>,
}

/// One kernel parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Param {
    /// Bytes: 8 for a pointer.
    pub size: u32,
    pub class: ParamClass,
}

/// PTX does not tell a pointer from a 64-bit integer, nor signed from unsigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ParamClass {
    Integer,
    Float,
    /// A struct passed by value: a `.b8` array.
    Bytes,
}

/// Not an error but a skip: this executable or this machine lacks what the image needs.
fn built_without(message: impl Into<String>) -> Fault {
    Fault {
        reason: Reason::new(ReasonKind::BuiltWithout, message),
        sticky: false,
    }
}
