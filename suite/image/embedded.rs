//! The copy of the kernels inside this executable, as `build.rs` found them, and the native code it made of them.
//!
//! The tables are generated: each names files that `include_str!` and `include_bytes!` take in.

/// One module as it stood when this executable was built.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// `faulty/scan`
    pub module: &'static str,
    pub source: &'static str,
    pub ptx: Option<&'static str>,
}

/// One module's native code for one architecture.
#[derive(Clone, Copy, Debug)]
pub struct Cubin {
    pub module: &'static str,
    /// Major and minor compute capability.
    pub architecture: (u32, u32),
    /// Of the source it was compiled from, over LF endings.
    pub source_sha256: &'static str,
    pub bytes: &'static [u8],
}

/// A module that nvcc would not compile.
#[derive(Clone, Copy, Debug)]
pub struct Failure {
    pub module: &'static str,
    /// The first line of nvcc's words.
    pub message: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
