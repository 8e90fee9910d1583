//! YAML → validated suite. The only place that names `serde_yaml`, `saphyr-parser` and `miette`.
//!
//! Owns: the v1 format of suites (its decoder, its rules, its JSON Schema) and the words of its errors. May import
//! `call`, `expr`, `image` (signatures), `regular_file`, `terms` and `value`. What the suite is checked against,
//! compiled kernels and the names of generators and references, comes through [`Kernels`] and [`Names`].
//!
//! A file is at most 1 MiB of UTF-8. It is read once for its shape and places, then decoded as a whole: every problem
//! of every file comes at once, each with its line and what would mend it.
//!
//! ```
//! use cuda_gates::spec::{self, Known, Names};
//! struct NoKernels;
//! impl spec::Kernels for NoKernels {
//!     fn signatures(&self, _: &str) -> Known { Known::NoSuchFile { near: vec![] } }
//! }
//! let errors = spec::load_text("x.yaml", b"suite: x\n", &NoKernels, Names::any()).unwrap_err();
//! assert!(errors.to_string().contains("x.yaml:1:1: a suite has no `version`"));
//! ```

mod beside;
mod decode;
pub mod equivalents;
mod events;
mod fields;
mod files;
mod judged;
mod keys;
mod log;
pub mod model;
mod problem;
mod repair;
mod schema;
mod survey;
pub mod template;
#[cfg(test)]
mod tests;
mod text;
mod tree;
mod typing;
mod validate;
pub mod waivers;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::call::Function;
use crate::expr::Engine;
use crate::image::Signature;
use crate::regular_file::{self, Unread};
use crate::value::ElementType;
use model::Suite;

pub use problem::{Problem, SpecErrors};
pub use schema::{schema, waivers as waivers_schema};

/// The kernels that suites launch.
pub trait Kernels {
    /// `module` is a kernel file without its ending: `compaction`, `faulty/off_by_one_carry`.
    fn signatures(&self, module: &str) -> Known;

    /// A function of the native library, as its sources declare it. Without sources none is known.
    ///
    /// # Errors
    /// Words that say which functions there are.
    fn native(&self, name: &str) -> Result<Function, String> {
        Err(format!("no function `{name}`: there is no native library"))
    }
}

/// What is known of a module's kernels.
#[derive(Clone, Debug, PartialEq)]
pub enum Known {
    Signatures(Vec<Signature>),
    /// The PTX is missing or stale: its cases end `error: setup`, and nothing is checked here.
    Unknown,
    /// No such kernel file; the modules whose names are near.
    NoSuchFile {
        near: Vec<String>,
    },
}

/// Whether generators and references exist, by name.
#[derive(Clone, Copy)]
pub struct Names {
    /// Of a generator, with the parameters it is given; the error says what is known instead.
    pub generator: fn(&str, &[&str]) -> Result<(), String>,
    /// Of a generator that exists, whether it can make this array; the error says what is wrong with the values.
    pub values: fn(&Wanted<'_>) -> Result<(), String>,
    /// Of a reference, with its operand and its `map`.
    pub reference: fn(&str, &str, Option<&str>) -> Result<(), String>,
    /// Of a host rung; none where everything exists and nothing is known of it.
    pub host: fn(&str) -> Result<Option<Function>, String>,
}

/// An input of one case, its values known.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted<'a> {
    pub element: ElementType,
    pub generator: &'a str,
    pub params: BTreeMap<String, i64>,
    /// Elements.
    pub len: u64,
}

impl Names {
    /// Everything exists.
    pub fn any() -> Self {
        Self {
            generator: |_, _| Ok(()),
            values: |_| Ok(()),
            reference: |_, _, _| Ok(()),
            host: |_| Ok(None),
        }
    }
}

type ReadFile<'a> = dyn Fn(&Path) -> std::io::Result<Vec<u8>> + 'a;

/// Loads suites against the same kernels and names.
pub struct Loader<'a> {
    kernels: &'a dyn Kernels,
    names: Names,
    /// Reads files that stand beside specs (`{file: …}`, `{script: path}`).
    read: &'a ReadFile<'a>,
    engine: Engine,
}

impl<'a> Loader<'a> {
    pub fn new(kernels: &'a dyn Kernels, names: Names) -> Self {
        Self {
            kernels,
            names,
            read: &files::read_beside,
            engine: Engine::new(),
        }
    }

    /// Reads files beside specs through this, for specs that are not on disk.
    #[must_use]
    pub fn reading(mut self, read: &'a ReadFile<'a>) -> Self {
        self.read = read;
        self
    }

    /// All `*.yaml` directly in the folder except `waivers.yaml` and hidden files, by name.
    ///
    /// # Errors
    /// Every problem of every file; a folder that cannot be read, or holds no suite; one that is named `*.yml`; two
    /// suites of one name.
    pub fn dir(&self, dir: &Path) -> Result<Vec<Suite>, SpecErrors> {
        let paths = files::suites(dir).map_err(SpecErrors)?;
        all(paths.iter().map(|path| self.file(path)))
    }

    /// # Errors
    /// Every problem of the file. What is no regular file, or beyond 1 MiB, is refused before it is read.
    pub fn file(&self, path: &Path) -> Result<Suite, SpecErrors> {
        let (shown, bytes) = read(path)?;
        self.text(&shown, &bytes)
    }

    /// Suites from memory: (path, bytes) each.
    ///
    /// # Errors
    /// Every problem of every text; two suites of one name.
    pub fn texts(&self, texts: &[(&str, &[u8])]) -> Result<Vec<Suite>, SpecErrors> {
        all(texts.iter().map(|(path, bytes)| self.text(path, bytes)))
    }

    /// # Errors
    /// Every problem of the text.
    pub fn text(&self, path: &str, bytes: &[u8]) -> Result<Suite, SpecErrors> {
        let text = text::decode(bytes)
            .map_err(|(words, mend)| SpecErrors(vec![Problem::of_file(path, words, Some(mend))]))?;
        let source = log::Source::new(path, text);
        let mut log = log::Log::new(&source);
        let tabs = text::refuse_tabs(text, &log);
        let mut tree = tree::read(text, tabs, &log);
        if let Some(tree) = &mut tree {
            log.index(tree);
            repair::repair(tree, &log);
        }
        let empty = tree.is_none() || text.trim().is_empty();
        if empty && log.is_empty() {
            let mend = "start with `version: 1` and `suite: NAME`".to_string();
            let problem = Problem::of_file(path, "the file is empty", Some(mend));
            return Err(SpecErrors(vec![problem]));
        }
        let suite = tree.as_ref().and_then(|tree| {
            let survey = survey::Survey::of(tree);
            let decoder = fields::Decoder {
                log: &log,
                engine: &self.engine,
                loader: self,
                path,
                survey: &survey,
                used_buffers: RefCell::default(),
                beside: RefCell::default(),
                incomplete: Cell::new(false),
            };
            let mut suite = decoder.suite(tree, sha256(bytes))?;
            validate::validate(&suite, &decoder);
            suite.sha256 = with_beside(suite.sha256, &decoder.beside.borrow());
            Some(suite)
        });
        match (suite, log.finish()) {
            (Some(suite), problems) if problems.is_empty() => Ok(suite),
            (_, problems) => Err(SpecErrors(problems)),
        }
    }
}

/// All `*.yaml` directly in `dir` except `waivers.yaml`, by name. See [`Loader::dir`].
pub fn load_dir(dir: &Path, kernels: &dyn Kernels, names: Names) -> Result<Vec<Suite>, SpecErrors> {
    Loader::new(kernels, names).dir(dir)
}

/// One file. See [`Loader::file`].
pub fn load_file(path: &Path, kernels: &dyn Kernels, names: Names) -> Result<Suite, SpecErrors> {
    Loader::new(kernels, names).file(path)
}

/// One suite from memory; files it names stand beside `path`. See [`Loader::text`].
pub fn load_text(
    path: &str,
    bytes: &[u8],
    kernels: &dyn Kernels,
    names: Names,
) -> Result<Suite, SpecErrors> {
    Loader::new(kernels, names).text(path, bytes)
}

/// Every suite, or every problem.
fn all(loaded: impl Iterator<Item = Result<Suite, SpecErrors>>) -> Result<Vec<Suite>, SpecErrors> {
    let mut suites: Vec<Suite> = Vec::new();
    let mut problems = Vec::new();
    let mut names: HashMap<String, String> = HashMap::new();
    for result in loaded {
        match result {
            Ok(suite) => {
                if let Some(first) = names.insert(suite.name.clone(), suite.path.clone()) {
                    let message = format!("suite `{}` stands in {first} as well", suite.name);
                    let mend = Some("give each suite a name of its own".to_string());
                    problems.push(Problem::of_file(&suite.path, message, mend));
                }
                suites.push(suite);
            }
            Err(errors) => problems.extend(errors.0),
        }
    }
    if problems.is_empty() {
        Ok(suites)
    } else {
        Err(SpecErrors(problems))
    }
}

/// The hash of a suite and of the files it names, by their names and hashes: of itself alone where it names none.
fn with_beside(suite: String, beside: &BTreeMap<String, String>) -> String {
    if beside.is_empty() {
        return suite;
    }
    let mut all = suite;
    for (name, file) in beside {
        all.push_str(&format!("\n{file} {name}"));
    }
    sha256(all.as_bytes())
}

fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A file's name for messages, and its bytes. What is no regular file, or beyond 1 MiB, is refused before it is read.
fn read(path: &Path) -> Result<(String, Vec<u8>), SpecErrors> {
    let shown = path.display().to_string();
    let bytes = regular_file::read(path, text::BYTES_MAX as u64).map_err(|why| {
        let (words, mend) = match why {
            Unread::Io(error) => (format!("the file cannot be read: {error}"), None),
            Unread::TooLarge { bytes, .. } => {
                let (words, mend) = text::too_large(bytes);
                (words, Some(mend))
            }
        };
        SpecErrors(vec![Problem::of_file(&shown, words, mend)])
    })?;
    Ok((shown, bytes))
}
