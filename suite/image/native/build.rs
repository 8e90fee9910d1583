//! Builds the library: nvcc on every source, then a link with the CUDA runtime inside, so that the library needs
//! nothing but the driver.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::{ABOUT, About, Native, no_file, read_file};
use crate::image::folder;
use crate::image::nvcc::{self, Nvcc};
use crate::image::sass;

/// Architectures where no card is there to say: the oldest that nvcc 13 knows, and Hopper.
const DEFAULT: [(u32, u32); 2] = [(7, 5), (9, 0)];

const COMPILE: [&str; 4] = [
    "-std=c++17",
    "-O3",
    "-Xcompiler",
    "-fPIC,-fvisibility=hidden",
];

#[derive(Debug, thiserror::Error)]
pub enum NativeError {
    #[error("{0}")]
    NoCompiler(String),
    #[error("{}: {source}", path.display())]
    File {
        path: PathBuf,
        source: std::io::Error,
    },
    /// Where the library should lie: the user's to mend.
    #[error("{0}")]
    Place(String),
    /// Left by a build that was stopped: of whom, this one cannot know, so it takes nothing away.
    #[error("{} is there already, left by a build that was stopped: remove it", .0.display())]
    InTheWay(PathBuf),
    #[error("CUDA_GATES_ARCHS: {compiler} has no architecture `{word}`")]
    Architecture { compiler: String, word: String },
    #[error("{compiler} tells no architectures (--list-gpu-code): is it a whole toolkit's?")]
    NoArchitectures { compiler: String },
    #[error(
        "{compiler} has no architecture for the cards here ({cards}): name others in CUDA_GATES_ARCHS"
    )]
    Cards { compiler: String, cards: String },
    /// nvcc's words.
    #[error("{compiler} refuses kernels/native/{file}:\n{log}")]
    Source {
        compiler: String,
        file: String,
        log: String,
    },
    #[error("the library cannot be linked:\n{0}")]
    Link(String),
    #[error("{0}")]
    Table(String),
}

/// What a build did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    pub path: PathBuf,
    pub about: About,
    /// It was there already, of the same sources, compiler and architectures.
    pub was_fresh: bool,
}

impl fmt::Display for Built {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.was_fresh { "fresh" } else { "built" };
        let architectures = self.about.numbers().join(", sm_");
        let (compiler, path) = (&self.about.compiler, self.path.display());
        write!(f, "{state}  {path}  ({compiler}, sm_{architectures})")
    }
}

/// Builds the library where it is not fresh, for `CUDA_GATES_ARCHS` (`chosen`), else for these `cards`, else for a
/// default.
///
/// # Errors
/// A path that is no file's, no nvcc, an architecture it does not know, a source it refuses, a folder that cannot be
/// written.
pub fn build(native: &Native, chosen: &str, cards: &[(u32, u32)]) -> Result<Built, NativeError> {
    let path = native.library_path().map_err(NativeError::Place)?;
    native.table.clone().map_err(NativeError::Table)?;
    let nvcc = Nvcc::find().ok_or_else(|| NativeError::NoCompiler(nvcc::missing()))?;
    let architectures = architectures(&nvcc, chosen, cards)?;
    refresh(native, &nvcc, architectures, path)
}

fn refresh(
    native: &Native,
    nvcc: &Nvcc,
    architectures: Vec<(u32, u32)>,
    path: PathBuf,
) -> Result<Built, NativeError> {
    let about = About {
        sources_sha256: native.sha256.clone(),
        compiler: nvcc.name(),
        architectures,
    };
    let there = read_file(&path).ok().map(|bytes| About::find(&bytes));
    let was_fresh = there.is_some_and(|there| there.as_ref() == Ok(&about));
    if !was_fresh {
        make(native, nvcc, &about, &path)?;
    }
    Ok(Built {
        path,
        about,
        was_fresh,
    })
}

/// In a folder beside the library, which takes its place at the end: a build that is stopped leaves the old one.
fn make(native: &Native, nvcc: &Nvcc, about: &About, path: &Path) -> Result<(), NativeError> {
    let named = path.parent().zip(path.file_name());
    let (parent, name) = named.ok_or_else(|| NativeError::Place(no_file(path)))?;
    fs::create_dir_all(parent).map_err(file(parent))?;
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}.building", std::process::id()));
    let beside = parent.join(hidden);
    // Surely new, since all of it is removed again.
    fs::create_dir(&beside).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => NativeError::InTheWay(beside.clone()),
        _ => file(&beside)(error),
    })?;
    let made = sources(native, about, &beside)
        .and_then(|files| objects(nvcc, about, &beside, &files))
        .and_then(|()| link(nvcc, native, &beside))
        .and_then(|library| fs::rename(library, path).map_err(file(path)));
    // What cannot be removed is in nobody's way.
    drop(fs::remove_dir_all(&beside));
    made
}

/// Writes the sources, and one more that describes the library; the names of those to compile.
fn sources(native: &Native, about: &About, to: &Path) -> Result<Vec<String>, NativeError> {
    let table = native.sources.get(folder::NATIVE_TABLE);
    let text = about.text(table.map_or("", String::as_str));
    let own = format!(
        "extern \"C\" __attribute__((visibility(\"default\"))) const char* cg_describe(void)\n{{\n  return \
         R\"cg({text})cg\";\n}}\n"
    );
    let all = native.sources.iter().map(|(n, t)| (n.as_str(), t.as_str()));
    let mut names = Vec::new();
    for (name, text) in all.chain([(ABOUT, own.as_str())]) {
        let path = to.join(name);
        let folder = path.parent().unwrap_or(to);
        fs::create_dir_all(folder).map_err(file(folder))?;
        fs::write(&path, text).map_err(file(&path))?;
        if name.ends_with(".cu") {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

fn objects(nvcc: &Nvcc, about: &About, at: &Path, files: &[String]) -> Result<(), NativeError> {
    let one = |name: &String| {
        let mut arguments: Vec<OsString> = COMPILE.map(OsString::from).to_vec();
        for number in about.numbers() {
            arguments.push("-gencode".into());
            arguments.push(format!("arch=compute_{number},code=sm_{number}").into());
        }
        arguments.extend(["-c".into(), name.into(), "-o".into()]);
        arguments.push(format!("{name}.o").into());
        let output = nvcc.run(at, &arguments).map_err(file(&nvcc.path))?;
        if output.status.success() {
            return Ok(());
        }
        Err(NativeError::Source {
            compiler: nvcc.name(),
            file: name.clone(),
            log: words(&output),
        })
    };
    // Each takes seconds; one a core at a time, the first error in order of names.
    let next = std::sync::atomic::AtomicUsize::new(0);
    let failed = std::sync::Mutex::new(std::collections::BTreeMap::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads.min(files.len()) {
            scope.spawn(|| {
                let take = || next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                while let Some(name) = files.get(take()) {
                    if let Err(error) = one(name) {
                        let mut failed = failed.lock().unwrap_or_else(|e| e.into_inner());
                        failed.insert(name.clone(), error);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap_or_else(|e| e.into_inner());
    failed.into_values().next().map_or(Ok(()), Err)
}

/// The runtime's archive lies in `lib64` of a toolkit, in `lib` of a wheel, and nvcc looks for the first only.
fn link(nvcc: &Nvcc, native: &Native, at: &Path) -> Result<PathBuf, NativeError> {
    let mut arguments: Vec<OsString> = ["-shared", "-cudart", "static", "--cudadevrt=none"]
        .map(OsString::from)
        .to_vec();
    let real = nvcc.path.canonicalize().unwrap_or(nvcc.path.clone());
    if let Some(home) = real.parent().and_then(Path::parent) {
        let folders = ["lib64", "lib"].map(|name| home.join(name));
        for folder in folders.iter().filter(|folder| folder.is_dir()) {
            arguments.push("-L".into());
            arguments.push(folder.into());
        }
    }
    // The runtime inside stays this library's own.
    arguments.extend(["-Xlinker", "--exclude-libs", "-Xlinker", "ALL"].map(OsString::from));
    let names = native.sources.keys().map(String::as_str).chain([ABOUT]);
    let objects = names.filter(|name| name.ends_with(".cu"));
    arguments.extend(objects.map(|name| format!("{name}.o").into()));
    arguments.extend(["-o", "library.so"].map(OsString::from));
    let output = nvcc.run(at, &arguments).map_err(file(&nvcc.path))?;
    match output.status.success() {
        true => Ok(at.join("library.so")),
        false => Err(NativeError::Link(words(&output))),
    }
}

fn words(output: &Output) -> String {
    let text = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    text.concat().trim().to_owned()
}

fn file(path: &Path) -> impl FnOnce(std::io::Error) -> NativeError {
    move |source| NativeError::File {
        path: path.to_owned(),
        source,
    }
}

/// `90`, `sm_90` or `9.0`, with commas; `none` is for the executable's own native code.
fn architectures(
    nvcc: &Nvcc,
    chosen: &str,
    cards: &[(u32, u32)],
) -> Result<Vec<(u32, u32)>, NativeError> {
    let known = known(nvcc);
    if known.is_empty() {
        return Err(NativeError::NoArchitectures {
            compiler: nvcc.name(),
        });
    }
    let words = chosen.split(',').map(str::trim);
    let mut wanted = BTreeSet::new();
    for word in words.filter(|word| !word.is_empty() && *word != "none") {
        let number = word.strip_prefix("sm_").unwrap_or(word).replace('.', "");
        let number = number.parse::<u32>().ok().map(|n| (n / 10, n % 10));
        match number.filter(|number| known.contains(number)) {
            Some(number) => drop(wanted.insert(number)),
            None => {
                return Err(NativeError::Architecture {
                    compiler: nvcc.name(),
                    word: word.to_owned(),
                });
            }
        }
    }
    if wanted.is_empty() {
        let here = if cards.is_empty() { &DEFAULT } else { cards };
        // A card that is newer than nvcc runs what was built for an older one of its line.
        let best = |card: &(u32, u32)| {
            let usable = known.iter().filter(|n| n.0 == card.0 && n.1 <= card.1);
            usable.max().copied()
        };
        wanted.extend(here.iter().filter_map(best));
    }
    match wanted.is_empty() {
        false => Ok(wanted.into_iter().collect()),
        true => Err(NativeError::Cards {
            compiler: nvcc.name(),
            cards: sass::list(cards),
        }),
    }
}

fn known(nvcc: &Nvcc) -> Vec<(u32, u32)> {
    let output = Command::new(&nvcc.path).arg("--list-gpu-code").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let numbers = text.unwrap_or_default();
    let numbers = numbers
        .lines()
        .filter_map(|line| line.trim().strip_prefix("sm_")?.parse::<u32>().ok());
    numbers.map(|number| (number / 10, number % 10)).collect()
}

#[cfg(test)]
mod tests;
