//! Deterministic inputs: the arrays that pipelines read, made from a generator's name, its parameters and a seed.
//!
//! Owns: the list of generators, their parameters, and the two random number generators behind them. A request
//! always gives the same array, on every machine. May import `value`, `outcome` and `parallel`.
//!
//! | generator | parameters | element `i` of `len` |
//! |---|---|---|
//! | `survivors` | `keep` (0–256) | 0, or 1–255 with probability `keep`/256; the seed's low 32 bits start the LCG |
//! | `none` | | 0 |
//! | `all` | | `1 + i % 255` (`i % 127` for `i8`): neighbours differ, and no tile repeats the one before |
//! | `first`, `last` | | as `all` at the first (last) element, else 0 |
//! | `alternating` | | as `all` at even `i`, else 0 |
//! | `stripes` | `width` (at least 1) | as `all` where `i / width` is even, else 0 |
//! | `uniform` | `min`, `max` | each value of `min..=max` equally likely; floats: a real number between them |
//! | `whole` | `min`, `max` | as `uniform`, and a whole number for floats too |
//! | `sorted` | `min`, `max` | the elements of `uniform`, ascending |
//! | `iota` | `start` (0) | `start + i` |
//! | `reverse` | | `len - 1 - i` |
//! | `constant` | `value` | `value` |
//!
//! Without `min` or `max`, `uniform` and its kin take the integer type's own bounds, and 0 and 1 for floats.
//!
//! ```
//! use cuda_gates::input::{Request, generate};
//! use cuda_gates::value::{Array, ElementType};
//! let request = Request::new(ElementType::I32, "alternating", 4);
//! assert_eq!(generate(&request).unwrap(), Array::I32(vec![1, 0, 3, 0]));
//! ```

mod number;
mod patterns;
mod random;
mod survivors;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::outcome::Fault;
use crate::value::{Array, ElementType};

use number::Number;

/// What array is wanted; equal requests give equal arrays, so this is a cache's key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    pub element: ElementType,
    pub generator: String,
    pub params: BTreeMap<String, i64>,
    pub seed: u64,
    /// Elements.
    pub len: u64,
}

impl Request {
    /// A request without parameters, seed 0.
    pub fn new(element: ElementType, generator: &str, len: u64) -> Self {
        Self {
            element,
            generator: generator.to_owned(),
            params: BTreeMap::new(),
            seed: 0,
            len,
        }
    }

    /// With one more parameter.
    pub fn with(mut self, name: &str, value: i64) -> Self {
        self.params.insert(name.to_owned(), value);
        self
    }

    /// With this seed.
    pub fn seeded(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    fn param(&self, name: &str) -> Option<i64> {
        self.params.get(name).copied()
    }

    fn fault(&self, what: impl std::fmt::Display) -> Fault {
        Fault::setup(format!("generator `{}`: {what}", self.generator))
    }
}

/// A generator as specs may name it.
struct Generator {
    name: &'static str,
    required: &'static [&'static str],
    optional: &'static [&'static str],
}

const fn known(
    name: &'static str,
    required: &'static [&'static str],
    optional: &'static [&'static str],
) -> Generator {
    Generator {
        name,
        required,
        optional,
    }
}

const GENERATORS: &[Generator] = &[
    known("survivors", &["keep"], &[]),
    known("none", &[], &[]),
    known("all", &[], &[]),
    known("first", &[], &[]),
    known("last", &[], &[]),
    known("alternating", &[], &[]),
    known("stripes", &["width"], &[]),
    known("uniform", &[], &["min", "max"]),
    known("whole", &[], &["min", "max"]),
    known("sorted", &[], &["min", "max"]),
    known("iota", &[], &["start"]),
    known("reverse", &[], &[]),
    known("constant", &["value"], &[]),
];

/// The names of all generators, for help texts.
pub fn generators() -> impl Iterator<Item = &'static str> {
    GENERATORS.iter().map(|generator| generator.name)
}

/// Whether there is such a generator and it takes exactly these parameters.
///
/// # Errors
/// In words that name what is known: an unknown generator, an unknown parameter, or one that is missing.
pub fn validate(generator: &str, params: &[&str]) -> Result<(), String> {
    let Some(known) = GENERATORS.iter().find(|g| g.name == generator) else {
        let names: Vec<&str> = generators().collect();
        return Err(format!(
            "unknown generator `{generator}`; known: {}",
            names.join(", ")
        ));
    };
    let all = [known.required, known.optional].concat();
    if let Some(unknown) = params.iter().find(|param| !all.contains(param)) {
        return Err(if all.is_empty() {
            format!("generator `{generator}` has no parameter `{unknown}`; it takes none")
        } else {
            format!(
                "generator `{generator}` has no parameter `{unknown}`; known: {}",
                all.join(", ")
            )
        });
    }
    match known.required.iter().find(|name| !params.contains(name)) {
        Some(missing) => Err(format!(
            "generator `{generator}` needs the parameter `{missing}`"
        )),
        None => Ok(()),
    }
}

/// The host never makes an array above this many bytes: 2³² eight-byte elements.
const BYTES_MAX: u64 = 32 << 30;

/// Whether [`generate`] can make this, without making it: all but a lack of memory.
///
/// # Errors
/// As [`generate`].
pub fn check(request: &Request) -> Result<(), Fault> {
    let names: Vec<&str> = request.params.keys().map(String::as_str).collect();
    validate(&request.generator, &names).map_err(Fault::setup)?;
    match request.element {
        ElementType::I8 => possible::<i8>(request),
        ElementType::U8 => possible::<u8>(request),
        ElementType::I16 => possible::<i16>(request),
        ElementType::U16 => possible::<u16>(request),
        ElementType::I32 => possible::<i32>(request),
        ElementType::U32 => possible::<u32>(request),
        ElementType::I64 => possible::<i64>(request),
        ElementType::U64 => possible::<u64>(request),
        ElementType::F32 => possible::<f32>(request),
        ElementType::F64 => possible::<f64>(request),
    }
}

fn possible<T: Number>(request: &Request) -> Result<(), Fault> {
    length::<T>(request)?;
    match request.generator.as_str() {
        "survivors" => survivors::keep::<T>(request).map(drop),
        "stripes" => patterns::width(request).map(drop),
        "uniform" | "whole" | "sorted" => random::bounds::<T>(request).map(drop),
        "iota" => patterns::start::<T>(request).map(drop),
        "reverse" => patterns::reversible::<T>(request),
        "constant" => patterns::value::<T>(request).map(drop),
        _ => Ok(()),
    }
}

/// Makes the array. Time is a few milliseconds per million elements.
///
/// # Errors
/// `setup`: an unknown generator or parameter, `min` above `max`, a value the element type does not hold, or a
/// length this machine cannot hold.
pub fn generate(request: &Request) -> Result<Array, Fault> {
    let names: Vec<&str> = request.params.keys().map(String::as_str).collect();
    validate(&request.generator, &names).map_err(Fault::setup)?;
    Ok(match request.element {
        ElementType::I8 => Array::I8(elements(request)?),
        ElementType::U8 => Array::U8(elements(request)?),
        ElementType::I16 => Array::I16(elements(request)?),
        ElementType::U16 => Array::U16(elements(request)?),
        ElementType::I32 => Array::I32(elements(request)?),
        ElementType::U32 => Array::U32(elements(request)?),
        ElementType::I64 => Array::I64(elements(request)?),
        ElementType::U64 => Array::U64(elements(request)?),
        ElementType::F32 => Array::F32(elements(request)?),
        ElementType::F64 => Array::F64(elements(request)?),
    })
}

fn elements<T: Number>(request: &Request) -> Result<Vec<T>, Fault> {
    let mut out = zeros(request)?;
    let last = out.len().wrapping_sub(1);
    match request.generator.as_str() {
        "survivors" => survivors::fill(&mut out, request)?,
        "none" => {}
        "all" => patterns::fill(&mut out, |_| true),
        "first" => patterns::fill(&mut out, |i| i == 0),
        "last" => patterns::fill(&mut out, |i| i == last),
        "alternating" => patterns::fill(&mut out, |i| i % 2 == 0),
        "stripes" => patterns::stripes(&mut out, request)?,
        "uniform" => random::uniform(&mut out, request)?,
        "whole" => random::whole(&mut out, request)?,
        "sorted" => {
            random::uniform(&mut out, request)?;
            out.sort_unstable_by(T::order);
        }
        "iota" => patterns::iota(&mut out, request)?,
        "reverse" => patterns::reverse(&mut out, request)?,
        "constant" => patterns::constant(&mut out, request)?,
        unknown => return Err(request.fault(format!("nothing makes `{unknown}`"))),
    }
    Ok(out)
}

/// Asks for the memory in a way that can be refused, then takes it already zeroed, which costs nothing until it is
/// written.
fn zeros<T: Number>(request: &Request) -> Result<Vec<T>, Fault> {
    let len = length::<T>(request)?;
    Vec::<T>::new()
        .try_reserve_exact(len)
        .map_err(|_| too_large(request))?;
    Ok(vec![T::default(); len])
}

/// Elements that some machine could hold.
fn length<T: Number>(request: &Request) -> Result<usize, Fault> {
    let bytes = request.len.checked_mul(size_of::<T>() as u64);
    if bytes.is_none_or(|bytes| bytes > BYTES_MAX) {
        return Err(too_large(request));
    }
    usize::try_from(request.len).map_err(|_| too_large(request))
}

fn too_large(request: &Request) -> Fault {
    request.fault(format!(
        "{} elements of {} do not fit in this machine's memory",
        request.len,
        request.element.name()
    ))
}
