//! Takes kernels and specs into the executable, makes native code of the kernels where there is an nvcc, and records
//! what built it. Nothing here stops the build: a machine without CUDA, without git, or with a kernel that nvcc
//! refuses gets an executable that says so when it is asked. With `CUDA_GATES_REQUIRE_SASS=1` (for CI) what is missing
//! does stop it: no nvcc, an architecture that nvcc does not know, a module that does not compile for one.
//!
//! Reads `CUDA_GATES_ARCHS` (which architectures), `CUDA_GATES_REQUIRE_SASS` and what chooses nvcc
//! (`NVCC`, `CUDA_HOME`, `CUDA_PATH`, `PATH`). Sets `CUDA_GATES_RUSTC`, `CUDA_GATES_NVCC`, `CUDA_GATES_COMMIT`,
//! `CUDA_GATES_DIRTY` (each absent where it is not known), `CUDA_GATES_BUILT_ARCHS` (`75,80`, or `none`),
//! `CUDA_GATES_BUILT_PROFILE` and `CUDA_GATES_BUILT_TARGET`. Cargo hands these to what it runs, too: none may have the
//! name of a variable that a run reads.

#[path = "suite/image/folder.rs"]
mod folder;
#[path = "suite/image/hash.rs"]
mod hash;
#[path = "suite/image/nvcc.rs"]
mod nvcc;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, thread};

use nvcc::Nvcc;

/// Turing to Blackwell: each the base of its line, and those whose code differs most from the base.
const ARCHITECTURES: [u32; 7] = [75, 80, 86, 89, 90, 100, 120];

/// What decides the executable. The dirty flag is about these.
const OWN: [&str; 6] = [
    "suite",
    "kernels",
    "specs",
    "build.rs",
    "Cargo.toml",
    "Cargo.lock",
];

/// What a build may choose.
const CHOICES: [&str; 2] = ["CUDA_GATES_ARCHS", REQUIRE_SASS];
/// `1`: native code that is missing is an error.
const REQUIRE_SASS: &str = "CUDA_GATES_REQUIRE_SASS";

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or("cargo sets the folder")?);
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets the output folder")?);
    for path in OWN {
        if root.join(path).exists() {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    for name in nvcc::ENVIRONMENT.iter().chain(&CHOICES) {
        println!("cargo:rerun-if-env-changed={name}");
    }
    record_toolchain(&root);
    let sources = folder::sources(&root.join("kernels"))?;
    let (cubins, failures) = native_code(&root, &out, &sources)?;
    record_architectures(&cubins);
    fs::write(
        out.join("kernels.rs"),
        kernels_table(&root, &sources, &cubins, &failures)?,
    )?;
    fs::write(out.join("specs.rs"), specs_table(&root)?)?;
    Ok(())
}

/// What made the executable, for the report.
fn record_toolchain(root: &Path) {
    for (name, cargos) in [
        ("CUDA_GATES_BUILT_PROFILE", "PROFILE"),
        ("CUDA_GATES_BUILT_TARGET", "TARGET"),
    ] {
        let value = env::var(cargos).unwrap_or_else(|_| "unknown".to_owned());
        println!("cargo:rustc-env={name}={value}");
    }
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    if let Some(version) = words(Command::new(rustc).arg("--version")) {
        println!("cargo:rustc-env=CUDA_GATES_RUSTC={version}");
    }
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        words(command.arg("-C").arg(root).args(arguments))
    };
    // A package unpacked inside some other repository has a prefix there.
    if git(&["rev-parse", "--show-prefix"]).as_deref() != Some("") {
        return;
    }
    let Some(commit) = git(&["rev-parse", "HEAD"]) else {
        return;
    };
    println!("cargo:rustc-env=CUDA_GATES_COMMIT={commit}");
    let mut status = vec!["status", "--porcelain", "--"];
    status.extend(OWN);
    if let Some(changes) = git(&status) {
        println!("cargo:rustc-env=CUDA_GATES_DIRTY={}", !changes.is_empty());
    }
    let branch = git(&["symbolic-ref", "-q", "HEAD"]);
    for name in ["HEAD", "packed-refs"].into_iter().chain(branch.as_deref()) {
        if let Some(path) = git(&["rev-parse", "--git-path", name]) {
            let path = root.join(path);
            // Cargo takes a file that is not there for one that always changes.
            if path.exists() {
                println!("cargo:rerun-if-changed={}", path.display());
            }
        }
    }
}

/// Standard output without its last newline, if the command ran and succeeded.
fn words(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|o| o.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim_end().to_owned())
}

struct Cubin {
    module: String,
    architecture: u32,
    source_sha256: String,
    path: PathBuf,
}

/// Module → the first line of nvcc's words, where it made nothing of it.
type Failures = BTreeMap<String, String>;

fn record_architectures(cubins: &[Cubin]) {
    let built: BTreeSet<u32> = cubins.iter().map(|cubin| cubin.architecture).collect();
    let built: Vec<String> = built.iter().map(u32::to_string).collect();
    let built = match built.as_slice() {
        [] => "none".to_owned(),
        built => built.join(","),
    };
    println!("cargo:rustc-env=CUDA_GATES_BUILT_ARCHS={built}");
}

/// Whether native code that cannot be made stops the build.
fn requires_sass() -> bool {
    env::var(REQUIRE_SASS).is_ok_and(|value| !matches!(value.as_str(), "" | "0"))
}

/// Compiles every module for every architecture chosen. What was compiled before of the same source, options and
/// nvcc is kept.
fn native_code(
    root: &Path,
    out: &Path,
    sources: &BTreeMap<String, PathBuf>,
) -> Result<(Vec<Cubin>, Failures)> {
    let Some(nvcc) = Nvcc::find() else {
        if requires_sass() {
            return Err(format!("{REQUIRE_SASS} is set; {}", nvcc::missing()).into());
        }
        return Ok((Vec::new(), Failures::new()));
    };
    println!("cargo:rustc-env=CUDA_GATES_NVCC={}", nvcc.name());
    let folder = out.join("sass");
    fs::create_dir_all(&folder)?;
    let architectures = architectures(&nvcc)?;
    let mut wanted = Vec::new();
    for (module, path) in sources {
        let source_sha256 = hash::text_sha256(&fs::read_to_string(path)?);
        for &architecture in &architectures {
            let key = cache_key(&nvcc, module, &source_sha256, architecture);
            wanted.push(Cubin {
                module: module.clone(),
                architecture,
                source_sha256: source_sha256.clone(),
                path: folder.join(format!("{key}.cubin")),
            });
        }
    }
    let kept: BTreeSet<&Path> = wanted.iter().map(|cubin| cubin.path.as_path()).collect();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        if !kept.contains(path.as_path()) {
            fs::remove_file(path)?;
        }
    }
    let logs = compile_all(root, &nvcc, &wanted);
    for ((module, architecture), log) in &logs {
        println!("cargo:warning=nvcc: kernels/{module}.cu for sm_{architecture}:");
        for line in log.lines() {
            println!("cargo:warning={line}");
        }
    }
    if requires_sass() && !logs.is_empty() {
        let names: Vec<String> = logs
            .iter()
            .map(|((module, architecture), log)| {
                format!("kernels/{module}.cu for sm_{architecture}:\n{log}")
            })
            .collect();
        let names = names.join("\n");
        return Err(format!("{REQUIRE_SASS} is set and nvcc refuses\n{names}").into());
    }
    wanted.retain(|cubin| !logs.contains_key(&(cubin.module.clone(), cubin.architecture)));
    let mut failures = Failures::new();
    for ((module, _), log) in logs {
        if !wanted.iter().any(|cubin| cubin.module == module) {
            let line = log
                .lines()
                .find(|line| line.contains("error"))
                .or(log.lines().next());
            failures
                .entry(module)
                .or_insert(line.unwrap_or_default().to_owned());
        }
    }
    Ok((wanted, failures))
}

fn options(architecture: u32) -> [String; 4] {
    [
        "-cubin".to_owned(),
        format!("-arch=sm_{architecture}"),
        "-lineinfo".to_owned(),
        "-std=c++17".to_owned(),
    ]
}

fn cache_key(nvcc: &Nvcc, module: &str, source_sha256: &str, architecture: u32) -> String {
    let mut key = format!("{module}\n{source_sha256}\n{}\n", nvcc.version);
    for option in options(architecture) {
        key += &option;
        key.push('\n');
    }
    for name in ["NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"] {
        let value = env::var_os(name).unwrap_or_default();
        key += &format!("{name}={}\n", value.to_string_lossy());
    }
    hash::sha256_hex(key.as_bytes())
}

/// Runs nvcc on every core. The logs of those that failed, by module and architecture.
fn compile_all(root: &Path, nvcc: &Nvcc, wanted: &[Cubin]) -> BTreeMap<(String, u32), String> {
    let next = AtomicUsize::new(0);
    let logs = Mutex::new(BTreeMap::new());
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads.min(wanted.len()) {
            scope.spawn(|| {
                while let Some(cubin) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if cubin.path.exists() {
                        continue;
                    }
                    if let Err(log) = compile(root, nvcc, cubin) {
                        let key = (cubin.module.clone(), cubin.architecture);
                        let mut logs = logs.lock().unwrap_or_else(|e| e.into_inner());
                        logs.insert(key, log);
                    }
                }
            });
        }
    });
    logs.into_inner().unwrap_or_else(|e| e.into_inner())
}

/// To a name of its own first: an nvcc that is stopped half way leaves nothing that looks finished.
fn compile(root: &Path, nvcc: &Nvcc, cubin: &Cubin) -> std::result::Result<(), String> {
    let unfinished = cubin.path.with_extension("unfinished");
    let mut arguments: Vec<OsString> = options(cubin.architecture).map(OsString::from).to_vec();
    arguments.push("-o".into());
    arguments.push(unfinished.clone().into());
    arguments.push(format!("kernels/{}.cu", cubin.module).into());
    let output = nvcc
        .run(root, &arguments)
        .map_err(|error| error.to_string())?;
    if output.status.success() {
        fs::rename(&unfinished, &cubin.path).map_err(|error| error.to_string())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
    }
}

/// `CUDA_GATES_ARCHS` (`90`, `sm_90` or `9.0`, with commas; `none`), or the default ones, as far as nvcc knows them.
fn architectures(nvcc: &Nvcc) -> Result<Vec<u32>> {
    let known: BTreeSet<u32> = words(Command::new(&nvcc.path).arg("--list-gpu-code"))
        .unwrap_or_default()
        .lines()
        .filter_map(|line| line.trim().strip_prefix("sm_")?.parse().ok())
        .collect();
    let chosen = env::var("CUDA_GATES_ARCHS").unwrap_or_default();
    if chosen.trim().is_empty() {
        let default = ARCHITECTURES.into_iter();
        let numbers: Vec<u32> = default.filter(|number| known.contains(number)).collect();
        if requires_sass() && numbers.is_empty() {
            let message = format!(
                "{REQUIRE_SASS} is set and {} knows no architecture of ours",
                nvcc.name()
            );
            return Err(message.into());
        }
        return Ok(numbers);
    }
    let mut numbers = BTreeSet::new();
    for word in chosen
        .split(',')
        .map(str::trim)
        .filter(|word| !word.is_empty() && *word != "none")
    {
        let number = word
            .strip_prefix("sm_")
            .unwrap_or(word)
            .replace('.', "")
            .parse();
        match number {
            Ok(number) if known.contains(&number) => {
                numbers.insert(number);
            }
            _ => {
                let name = nvcc.name();
                let problem = format!("CUDA_GATES_ARCHS: {name} has no architecture `{word}`");
                if requires_sass() {
                    return Err(problem.into());
                }
                println!("cargo:warning={problem}");
            }
        }
    }
    Ok(numbers.into_iter().collect())
}

fn kernels_table(
    root: &Path,
    sources: &BTreeMap<String, PathBuf>,
    cubins: &[Cubin],
    failures: &Failures,
) -> Result<String> {
    let kernels = root.join("kernels");
    let ptx = folder::ptx_files(&kernels)?;
    let text = |path: &Path| format!("include_str!({path:?})");
    let optional = |path: Option<&Path>| {
        path.map_or("None".to_owned(), |path| format!("Some({})", text(path)))
    };

    let mut table = String::from("pub static KERNELS: &[Kernel] = &[\n");
    for (module, path) in sources {
        let (source, ptx) = (text(path), optional(ptx.get(module).map(PathBuf::as_path)));
        writeln!(
            table,
            "    Kernel {{ module: {module:?}, source: {source}, ptx: {ptx} }},"
        )?;
    }
    let manifest = kernels.join(folder::MANIFEST);
    let manifest = optional(manifest.is_file().then_some(&manifest));
    writeln!(
        table,
        "];\npub static MANIFEST: Option<&str> = {manifest};\npub static CUBINS: &[Cubin] = &["
    )?;
    for cubin in cubins {
        let (major, minor) = (cubin.architecture / 10, cubin.architecture % 10);
        let bytes = format!("include_bytes!({:?})", cubin.path);
        writeln!(
            table,
            "    Cubin {{ module: {:?}, architecture: ({major}, {minor}), source_sha256: {:?}, bytes: {bytes} }},",
            cubin.module, cubin.source_sha256
        )?;
    }
    writeln!(table, "];\npub static FAILURES: &[Failure] = &[")?;
    for (module, message) in failures {
        writeln!(
            table,
            "    Failure {{ module: {module:?}, message: {message:?} }},"
        )?;
    }
    table += "];\npub static NATIVE: &[(&str, &str)] = &[\n";
    for (name, path) in folder::native_files(&kernels)? {
        writeln!(table, "    ({name:?}, {}),", text(&path))?;
    }
    table += "];\n";
    Ok(table)
}

/// `SPECS`: file name and text of every YAML file directly in `specs/`, in order of name.
fn specs_table(root: &Path) -> Result<String> {
    let mut files = BTreeMap::new();
    let folder = root.join("specs");
    if folder.is_dir() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|ending| ending == "yaml")
                && let Some(name) = path.file_name().and_then(|name| name.to_str())
            {
                files.insert(name.to_owned(), path);
            }
        }
    }
    let mut table = String::from("pub static SPECS: &[(&str, &str)] = &[\n");
    for (name, path) in files {
        writeln!(table, "    ({name:?}, include_str!({path:?})),")?;
    }
    table += "];\n";
    Ok(table)
}
