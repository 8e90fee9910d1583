//! CUDA C++ to the PTX that is committed: NVRTC 11.8 where this machine has it, else what it has.
//!
//! Owns the options, the choice of the compiler, and what makes its output the same on every machine.
//!
//! ```no_run
//! use cuda_gates::image::compiler::Compiler;
//! let ptx = Compiler::find()?.compile("mine", "extern \"C\" __global__ void none() {}")?;
//! assert_eq!(ptx.target, "sm_75");
//! # Ok::<(), cuda_gates::image::compiler::CompileError>(())
//! ```

use std::ffi::OsString;

use super::nvcc::Nvcc;
use super::nvrtc::{self, Nvrtc, NvrtcError};

/// What every module is compiled with, by NVRTC and nvcc alike. `compute_75` is the oldest architecture that current
/// toolkits and drivers still know.
pub const OPTIONS: [&str; 3] = ["--gpu-architecture=compute_75", "-lineinfo", "--std=c++17"];

#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    #[error("{0}; there is no nvcc either (NVCC, CUDA_HOME, PATH, /usr/local/cuda)")]
    NoCompiler(NvrtcError),
    /// The compiler's log.
    #[error("{0}")]
    Source(String),
    #[error("{0}")]
    Tool(String),
}

pub enum Compiler {
    Nvrtc(Nvrtc),
    Nvcc(Nvcc),
}

/// PTX text as it is committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ptx {
    pub text: String,
    /// `NVRTC 11.8`
    pub compiler: String,
    /// `.version`: `7.8`
    pub isa: String,
    /// `.target`: `sm_75`
    pub target: String,
}

impl Compiler {
    /// NVRTC, 11.8 before any other, else nvcc. A `CUDA_GATES_NVRTC` that cannot be used is an error, not a reason to
    /// take another compiler.
    ///
    /// # Errors
    /// When there is neither.
    pub fn find() -> Result<Self, CompileError> {
        match Nvrtc::find() {
            Ok(nvrtc) => Ok(Self::Nvrtc(nvrtc)),
            Err(absent @ NvrtcError::Absent) => Nvcc::find()
                .map(Self::Nvcc)
                .ok_or(CompileError::NoCompiler(absent)),
            Err(error) => Err(CompileError::Tool(error.to_string())),
        }
    }

    /// `NVRTC 11.8`, `nvcc 13.0.88`
    pub fn name(&self) -> String {
        match self {
            Self::Nvrtc(nvrtc) => nvrtc.name(),
            Self::Nvcc(nvcc) => nvcc.name(),
        }
    }

    /// Whether its output is the PTX that this project commits.
    pub fn is_preferred(&self) -> bool {
        matches!(self, Self::Nvrtc(nvrtc) if nvrtc.version == nvrtc::PREFERRED)
    }

    /// # Errors
    /// [`CompileError::Source`] with the compiler's log.
    pub fn compile(&self, module: &str, source: &str) -> Result<Ptx, CompileError> {
        let file = source_name(module);
        let source = source.replace("\r\n", "\n");
        let text = match self {
            Self::Nvrtc(nvrtc) => {
                nvrtc
                    .compile(&file, &source, &OPTIONS)
                    .map_err(|error| match error {
                        NvrtcError::Source { log } => CompileError::Source(log),
                        error => CompileError::Tool(error.to_string()),
                    })?
            }
            Self::Nvcc(nvcc) => compile_with_nvcc(nvcc, &file, &source)?,
        };
        let text = normalise(&text, &file);
        let directive = |name| {
            directive(&text, name).ok_or_else(|| {
                CompileError::Tool(format!("{}'s output has no {name}", self.name()))
            })
        };
        Ok(Ptx {
            compiler: self.name(),
            isa: directive(".version")?,
            target: directive(".target")?,
            text,
        })
    }
}

/// What line information and diagnostics call a module's source: `kernels/faulty/scan.cu`.
pub fn source_name(module: &str) -> String {
    format!("kernels/{module}.cu")
}

/// nvcc reads files only, so the source goes to a folder of its own.
fn compile_with_nvcc(nvcc: &Nvcc, file: &str, source: &str) -> Result<String, CompileError> {
    let tool = |error: std::io::Error| CompileError::Tool(format!("{}: {error}", nvcc.name()));
    let folder = Scratch::create().map_err(tool)?;
    let path = folder.0.join(file);
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(tool)?;
    }
    std::fs::write(&path, source).map_err(tool)?;
    let mut arguments: Vec<OsString> = OPTIONS.iter().map(OsString::from).collect();
    arguments.extend(["-ptx", "-o", "out.ptx", file].map(OsString::from));
    let output = nvcc.run(&folder.0, &arguments).map_err(tool)?;
    if output.status.success() {
        std::fs::read_to_string(folder.0.join("out.ptx")).map_err(tool)
    } else {
        let log = String::from_utf8_lossy(&output.stderr);
        Err(CompileError::Source(log.trim_end().to_owned()))
    }
}

/// A folder of this process, removed when dropped.
struct Scratch(std::path::PathBuf);

impl Scratch {
    fn create() -> std::io::Result<Self> {
        use std::sync::atomic::{AtomicU32, Ordering};
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("cuda-gates-nvcc-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder)?;
        Ok(Self(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is left to the system's own cleaning of its temporary folder.
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// The same text whatever folder it was compiled in: `.file` lines keep the source's own name, or the bare name of a
/// header of the toolkit, and lose times and sizes. Line endings are LF.
pub fn normalise(ptx: &str, file: &str) -> String {
    let mut text = String::with_capacity(ptx.len());
    for line in ptx.lines() {
        match file_directive(line) {
            Some((index, path)) => {
                let is_source = path == file || path.ends_with(&format!("/{file}"));
                let name = if is_source {
                    file
                } else {
                    path.rsplit('/').next().unwrap_or(path)
                };
                text.push_str(&format!("\t.file\t{index} \"{name}\""));
            }
            None => text.push_str(line.trim_end_matches('\r')),
        }
        text.push('\n');
    }
    text
}

/// Index and path of `.file 1 "/folder/name.cu", 1732900000, 1234`.
fn file_directive(line: &str) -> Option<(&str, &str)> {
    let rest = line.trim_start().strip_prefix(".file")?;
    let (index, rest) = rest
        .strip_prefix(char::is_whitespace)?
        .trim_start()
        .split_once(char::is_whitespace)?;
    let (path, _) = rest.trim_start().strip_prefix('"')?.split_once('"')?;
    Some((index, path))
}

/// The first word behind a module directive.
fn directive(ptx: &str, name: &str) -> Option<String> {
    let line = ptx
        .lines()
        .find_map(|line| line.trim_start().strip_prefix(name))?;
    let word = line
        .trim_start()
        .split([',', ' ', '\t'])
        .next()
        .unwrap_or_default();
    Some(word.to_owned()).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_lines_lose_the_folder_and_nothing_else_changes() {
        let ptx = ".version 7.8\n\t.file\t1 \"/work tree/kernels/faulty/scan.cu\"\r\n\
                   \t.file 2 \"/usr/local/cuda/include/device_atomic_functions.hpp\", 1732900000, 99\n\
                   // .file 3 \"/kept\"\n\t.loc\t1 2 3\n";
        assert_eq!(
            normalise(ptx, "kernels/faulty/scan.cu"),
            ".version 7.8\n\t.file\t1 \"kernels/faulty/scan.cu\"\n\
             \t.file\t2 \"device_atomic_functions.hpp\"\n\
             // .file 3 \"/kept\"\n\t.loc\t1 2 3\n"
        );
    }

    #[test]
    fn a_file_of_the_same_ending_is_not_the_source() {
        let ptx = "\t.file\t1 \"/x/mykernels/scan.cu\"\n";
        assert_eq!(
            normalise(ptx, "kernels/scan.cu"),
            "\t.file\t1 \"scan.cu\"\n"
        );
    }

    #[test]
    fn normalising_twice_changes_nothing() {
        let once = normalise("\t.file\t1 \"/a/kernels/scan.cu\"", "kernels/scan.cu");
        assert_eq!(normalise(&once, "kernels/scan.cu"), once);
    }

    #[test]
    fn directives_are_read_from_their_own_line() {
        let ptx = "// .version 1\n.version 7.8\n.target sm_75, debug\n";
        assert_eq!(directive(ptx, ".version").as_deref(), Some("7.8"));
        assert_eq!(directive(ptx, ".target").as_deref(), Some("sm_75"));
        assert_eq!(directive(ptx, ".address_size"), None);
    }

    #[test]
    fn a_wrong_source_shows_the_log_and_its_line() {
        let Ok(compiler) = Compiler::find() else {
            return; // A machine without a CUDA compiler; `without_a_library…` in nvrtc covers it.
        };
        let source = "extern \"C\" __global__ void broken() {\n    undeclared = 1;\n}\n";
        let Err(CompileError::Source(log)) = compiler.compile("broken", source) else {
            panic!("`undeclared` is not declared");
        };
        assert!(
            log.contains("kernels/broken.cu(2)") && log.contains("undeclared"),
            "{log}"
        );
    }
}
