//! Where specs and kernels come from: the same for the supervisor and its workers.

use std::collections::BTreeMap;
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

use super::{Began, WorkerConfig, execute};

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

/// What a worker runs cases of: suites and kernels. The run's own process applies the waivers, which may be edited
/// meanwhile.
///
/// # Errors
/// A suite, or kernels, that are not the ones that the run began with: by their hashes in `began`, or since they cannot
/// be read any more.
pub(super) fn load_again(config: &WorkerConfig) -> Result<(Vec<Suite>, Catalog), String> {
    let catalog = Catalog::open(config.kernels.as_deref());
    let catalog = catalog.map_err(|error| changed_kernels(&format!(": {error}")))?;
    let suites = suites(config.specs.as_deref(), &catalog);
    let suites = suites.map_err(|problems| {
        let problems = problems.render();
        format!("the specs have changed since the run began. {CHANGED}:\n{problems}")
    })?;
    if let Some(began) = &config.began {
        let now = hashes(&suites, &catalog);
        same(&began.suites, &now.suites)?;
        if began.kernels_sha256 != now.kernels_sha256 {
            return Err(changed_kernels(""));
        }
    }
    Ok((suites, catalog))
}

const CHANGED: &str = "Put them back and resume it, or begin a new run";

/// The SHA-256 of each suite, and of the kernels that they name.
pub fn hashes(suites: &[Suite], catalog: &Catalog) -> Began {
    let pair = |suite: &Suite| (suite.path.clone(), suite.sha256.clone());
    let modules = suites.iter().flat_map(|suite| &suite.kernels);
    Began {
        suites: suites.iter().map(pair).collect(),
        kernels_sha256: catalog.digest(modules.map(String::as_str)),
    }
}

fn changed_kernels(what: &str) -> String {
    format!("the kernels, or their PTX, have changed since the run began. {CHANGED}{what}")
}

/// Results of two versions of a spec are not one run's.
fn same(began: &BTreeMap<String, String>, now: &BTreeMap<String, String>) -> Result<(), String> {
    let paths = began.keys().chain(now.keys());
    let mut changed: Vec<&str> = paths
        .filter(|path| began.get(*path) != now.get(*path))
        .map(String::as_str)
        .collect();
    changed.sort_unstable();
    changed.dedup();
    match changed.as_slice() {
        [] => Ok(()),
        changed => Err(format!(
            "the specs have changed since the run began ({}). {CHANGED}",
            changed.join(", ")
        )),
    }
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
    use crate::worker::Address;

    const MINE: &str = "version: 1\nsuite: mine\nkernels: [compaction.cu]\naxes: {n: [5]}\n\
        inputs: {input: {type: i32, generator: survivors, seed: 1, keep: 128, len: n}}\n\
        buffers: {out: {type: i32, len: n}}\n\
        pipelines: {main: [{kernel: copy, grid: 1, block: 64, args: [input, out, n]}]}\n\
        gates: {copies: {run: main, check: exact, got: out, want: {copy: input}}}\n";

    #[test]
    fn near_names_are_the_alike_ones() {
        let known = ["compaction", "faulty/lost_update", "radix"];
        let near = |name| near(name, known.into_iter());
        assert_eq!(near("compacton"), ["compaction"]);
        assert_eq!(near("faulty/lost_updates"), ["faulty/lost_update"]);
        assert_eq!(near("scan"), [""; 0]);
    }

    #[test]
    fn a_worker_reads_no_waivers_and_refuses_other_suites() {
        let folder = tempfile::tempdir().unwrap();
        let write =
            |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("mine.yaml", MINE);
        let mut config = WorkerConfig::new(Address::Sim);
        config.specs = Some(folder.path().to_owned());
        let began = load(Some(folder.path()), None).unwrap_or_else(|problems| panic!("{problems}"));
        config.began = Some(hashes(&began.suites, &began.catalog));
        write(waivers::FILE, "version: 1\nwaivers: [{cases:");
        assert!(load(Some(folder.path()), None).is_err());
        let again = load_again(&config).map(|(suites, _)| suites.len());
        assert_eq!(again, Ok(1));
        for edited in [format!("{MINE}# larger\n"), MINE.replace("exact", "exac")] {
            write("mine.yaml", &edited);
            let refused = load_again(&config).map(|_| ()).unwrap_err();
            let words = "the specs have changed since the run began";
            assert!(refused.starts_with(words), "{refused}");
            assert!(refused.contains("mine.yaml"), "{refused}");
        }
        write("mine.yaml", MINE);
        write("new.yaml", &MINE.replace("suite: mine", "suite: new"));
        let refused = load_again(&config).map(|_| ()).unwrap_err();
        assert!(refused.contains("new.yaml)"), "{refused}");
    }

    /// Also one whose folder cannot be read any more; a kernel that no suite names is nobody's.
    #[test]
    fn a_worker_refuses_other_kernels() {
        let folder = tempfile::tempdir().unwrap();
        let kernels = folder.path().join("kernels");
        let specs = folder.path().join("specs");
        for made in [&kernels, &specs] {
            std::fs::create_dir(made).unwrap();
        }
        std::fs::write(specs.join("mine.yaml"), MINE).unwrap();
        let source = || {
            Catalog::open(None)
                .unwrap()
                .source("compaction")
                .unwrap()
                .to_owned()
        };
        let write = |name: &str, text: &str| std::fs::write(kernels.join(name), text).unwrap();
        write("compaction.cu", &source());
        let mut config = WorkerConfig::new(Address::Sim);
        (config.specs, config.kernels) = (Some(specs.clone()), Some(kernels.clone()));
        let began = load(Some(&specs), Some(&kernels)).unwrap_or_else(|told| panic!("{told}"));
        config.began = Some(hashes(&began.suites, &began.catalog));
        write("other.cu", "// nobody's\n");
        assert!(load_again(&config).is_ok());
        write("compaction.cu", &format!("{}// larger\n", source()));
        let changed = load_again(&config).map(|_| ()).unwrap_err();
        write("compaction.cu", &source());
        assert!(load_again(&config).is_ok());
        std::fs::remove_dir_all(&kernels).unwrap();
        let gone = load_again(&config).map(|_| ()).unwrap_err();
        for told in [changed, gone] {
            let words = "the kernels, or their PTX, have changed since the run began. Put them";
            assert!(told.starts_with(words), "{told}");
        }
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
