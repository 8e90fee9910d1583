//! Documents that stand beside suites and are none, read with the same care: places, every problem at once.

use std::cell::{Cell, RefCell};

use super::fields::Decoder;
use super::problem::{Problem, SpecErrors};
use super::survey::Survey;
use super::tree::Tree;
use super::{Kernels, Known, Loader, Names, log, text, tree};

/// Decodes a text; the decoder is given the tree and the text's lines.
///
/// # Errors
/// Every problem of the text; `start` says how to begin an empty one.
pub(super) fn decode<T>(
    path: &str,
    bytes: &[u8],
    start: &str,
    decode: impl FnOnce(&Decoder<'_>, &Tree, &[&str]) -> Option<T>,
) -> Result<T, SpecErrors> {
    let text = text::decode(bytes)
        .map_err(|(words, mend)| SpecErrors(vec![Problem::of_file(path, words, Some(mend))]))?;
    let source = log::Source::new(path, text);
    let mut log = log::Log::new(&source);
    let tabs = text::refuse_tabs(text, &log);
    let Some(tree) = tree::read(text, tabs, &log) else {
        let problems = match log.finish() {
            none if none.is_empty() => {
                let mend = Some(format!("start with {start}"));
                vec![Problem::of_file(path, "the file is empty", mend)]
            }
            problems => problems,
        };
        return Err(SpecErrors(problems));
    };
    log.index(&tree);
    let loader = Loader::new(&NoKernels, Names::any());
    let decoder = Decoder {
        log: &log,
        engine: &loader.engine,
        loader: &loader,
        path,
        survey: &Survey::default(),
        used_buffers: RefCell::default(),
        beside: RefCell::default(),
        incomplete: Cell::new(false),
    };
    let decoded = decode(&decoder, &tree, &source.lines);
    match (decoded, log.finish()) {
        (Some(decoded), problems) if problems.is_empty() => Ok(decoded),
        (_, problems) => Err(SpecErrors(problems)),
    }
}

/// These documents name no kernel files.
struct NoKernels;

impl Kernels for NoKernels {
    fn signatures(&self, _module: &str) -> Known {
        Known::Unknown
    }
}
