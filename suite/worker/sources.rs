//! Where specs and kernels come from: the same for the supervisor and its workers.

use std::path::Path;

use crate::call::Function;
use crate::image::native::Library;
use crate::image::{Catalog, Signature};
use crate::outcome::{Fault, Reason};
use crate::plan::Signatures;
use crate::spec::model::Suite;
use crate::spec::waivers::{self, Waivers};
use crate::spec::{self, Known, Names, SpecErrors};
use crate::{host, input, reference};

use super::execute;

include!(concat!(env!("OUT_DIR"), "/specs.rs"));

/// Names that are near one that is not there, at most.
const NEAR_MAX: usize = 3;

/// Everything that describes cases.
pub struct Sources {
    pub suites: Vec<Suite>,
    pub waivers: Waivers,
    pub catalog: Catalog,
    /// Whether this executable holds native code at all.
    pub sass: bool,
}

/// Reads the folders, or the embedded copies where there is none.
///
/// # Errors
/// Every problem of every spec, rendered; or the folder that cannot be read.
pub fn load(specs: Option<&Path>, kernels: Option<&Path>) -> Result<Sources, String> {
    let catalog = Catalog::open(kernels).map_err(|error| error.to_string())?;
    let (suites, waivers) = both(suites(specs, &catalog), waivers(specs))?;
    Ok(Sources {
        suites,
        waivers,
        catalog,
        sass: option_env!("CUDA_GATES_NVCC").is_some(),
    })
}

/// The problems of both come at once.
fn both(
    suites: Result<Vec<Suite>, SpecErrors>,
    waivers: Result<Waivers, SpecErrors>,
) -> Result<(Vec<Suite>, Waivers), String> {
    match (suites, waivers) {
        (Ok(suites), Ok(waivers)) => Ok((suites, waivers)),
        (Err(mut errors), Err(more)) => {
            errors.0.extend(more.0);
            Err(errors.render())
        }
        (Err(errors), _) | (_, Err(errors)) => Err(errors.render()),
    }
}

fn waivers(specs: Option<&Path>) -> Result<Waivers, SpecErrors> {
    if let Some(folder) = specs {
        return Waivers::beside(folder);
    }
    let embedded = SPECS.iter().find(|(name, _)| *name == waivers::FILE);
    embedded.map_or_else(
        || Ok(Waivers::default()),
        |(name, text)| Waivers::parse(&format!("specs/{name}"), text.as_bytes()),
    )
}

fn suites(specs: Option<&Path>, catalog: &Catalog) -> Result<Vec<Suite>, SpecErrors> {
    let loader = spec::Loader::new(catalog, names());
    if let Some(folder) = specs {
        return loader.dir(folder);
    }
    let texts: Vec<(String, &[u8])> = SPECS
        .iter()
        .filter(|(name, _)| *name != waivers::FILE)
        .map(|(name, text)| (format!("specs/{name}"), text.as_bytes()))
        .collect();
    let texts: Vec<(&str, &[u8])> = texts
        .iter()
        .map(|(path, text)| (path.as_str(), *text))
        .collect();
    loader.texts(&texts)
}

/// The generators, references and host rungs there are.
pub fn names() -> Names {
    Names {
        generator: input::validate,
        values: |wanted| {
            let request = input::Request {
                params: wanted.params.clone(),
                ..input::Request::new(wanted.element, wanted.generator, wanted.len)
            };
            input::check(&request).map_err(|fault| fault.reason.message)
        },
        reference: |name, operand, map| {
            reference::validate(&reference::Request {
                name: name.to_owned(),
                operand: operand.to_owned(),
                map: map.map(str::to_owned),
            })
        },
        host: |name| host::function(name).cloned().map(Some),
    }
}

impl spec::Kernels for Catalog {
    fn signatures(&self, module: &str) -> Known {
        if self.source(module).is_none() {
            return Known::NoSuchFile {
                near: near(module, self.modules()),
            };
        }
        // What is wrong with the PTX is told by the cases that need it.
        Catalog::signatures(self, module).map_or(Known::Unknown, Known::Signatures)
    }

    fn native(&self, name: &str) -> Result<Function, String> {
        Catalog::native(self).function(name).cloned()
    }
}

/// The known names that share most with `name`, the nearest first.
fn near<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Vec<String> {
    let last = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let wanted = last(name);
    let mut scored: Vec<(f64, &str)> = known
        .map(|other| (likeness(&wanted, &last(other)), other))
        .filter(|(score, _)| *score >= 0.5)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    let nearest = scored.into_iter().take(NEAR_MAX);
    nearest.map(|(_, name)| name.to_owned()).collect()
}

/// Dice's coefficient of the pairs of neighbouring bytes: 1 for equal names, 0 for nothing in common.
fn likeness(a: &str, b: &str) -> f64 {
    let pairs = |text: &str| -> Vec<(u8, u8)> { text.bytes().zip(text.bytes().skip(1)).collect() };
    let (a, mut b) = (pairs(a), pairs(b));
    let total = a.len() + b.len();
    let mut common = 0;
    for pair in a {
        if let Some(at) = b.iter().position(|other| *other == pair) {
            b.swap_remove(at);
            common += 1;
        }
    }
    match total {
        0 => 0.0,
        total => 2.0 * f64::from(common) / total as f64,
    }
}

impl Signatures for Catalog {
    fn kernel(
        &self,
        module_candidates: &[String],
        name: &str,
    ) -> Result<(usize, Signature), Fault> {
        for (index, module) in module_candidates.iter().enumerate() {
            let signatures = Catalog::signatures(self, module)?;
            if let Some(found) = signatures.into_iter().find(|found| found.name == name) {
                return Ok((index, found));
            }
        }
        Err(Fault::setup(format!(
            "no kernel `{name}` in {}",
            module_candidates.join(", ")
        )))
    }

    fn native(&self, name: &str) -> Result<Function, Fault> {
        let found = Catalog::native(self).function(name).cloned();
        found.map_err(Fault::setup)
    }
}

impl execute::Kernels for Catalog {
    fn image(
        &self,
        module: &str,
        kind: crate::terms::ImageKind,
        compute_capability: (u32, u32),
    ) -> Result<crate::image::Image, Fault> {
        Catalog::image(self, module, kind, compute_capability)
    }

    fn library(&self) -> Result<Library, Reason> {
        self.native().library()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_the_alike_ones() {
        let known = ["compaction", "faulty/lost_update", "radix"];
        let near = |name| near(name, known.into_iter());
        assert_eq!(near("compacton"), ["compaction"]);
        assert_eq!(near("faulty/lost_updates"), ["faulty/lost_update"]);
        assert_eq!(near("scan"), [""; 0]);
    }

    #[test]
    fn the_embedded_suites_load() {
        let sources = load(None, None).unwrap_or_else(|problems| panic!("{problems}"));
        assert!(
            sources
                .suites
                .iter()
                .any(|suite| suite.name == "compaction")
        );
    }
}
