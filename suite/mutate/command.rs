//! A mutation run from its choices to its report.
//!
//! Imports `archive`, `image`, `runner` (choices of folders), `spec`, `terms` and `worker` (where suites come from).

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use indexmap::IndexMap;

use super::baseline::{Known, baseline, explore, kernels};
use super::bench::Bench;
use super::mutant::{Mutant, mutants};
use super::operators::Operator;
use super::pool::Pool;
use super::record::{MutationReport, SCHEMA, SuiteRecord, Totals};
use super::trial::{Fate, trial};
use super::units::units;
use super::{score, text};
use crate::archive::{self, ArchiveError, Shelf, Store};
use crate::device::sim::Schedule;
use crate::image::{Catalog, Code};
use crate::runner::{KERNELS, Options, folder};
use crate::spec::equivalents::{Equivalent, Equivalents};
use crate::spec::model::Suite;
use crate::spec::{self};
use crate::terms::{ImageKind, Profile};
use crate::worker::sources::{self, Sources};

/// What a mutation run takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Choices {
    /// Names of suites, or spec files; all suites where there is none.
    pub suites: Vec<String>,
    /// Schedules a survivor is tried under, at least one: the fair one.
    pub schedules: u32,
    pub seed: u64,
    /// None: all.
    pub operators: Vec<Operator>,
    /// Mutants a suite at most, spread evenly over all of them.
    pub limit: Option<usize>,
    /// Only mutants of kernels whose name contains this.
    pub kernel: Option<String>,
    /// Only these mutants, by their ids; all where there is none.
    pub mutants: Vec<String>,
    /// Only those that are listed as equivalent.
    pub listed: bool,
    /// Per cent: a suite below fails the run.
    pub least_score: f64,
}

/// A run that came to its end.
#[derive(Clone, Debug)]
pub struct Ended {
    pub report: MutationReport,
    /// As it is shown.
    pub text: String,
    /// Where it is kept.
    pub folder: Option<PathBuf>,
    /// Why it is not kept.
    pub trouble: Option<String>,
    /// Whether every suite is good enough, and every list of equivalents right.
    pub passed: bool,
}

/// Why there is no report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// What was asked for cannot be.
    Usage(String),
    /// There is nothing to change: what was asked for leaves no mutant.
    Nothing(String),
    /// The report's folder cannot be written.
    Folder(String),
    /// Cases that fail without any change: nothing can be measured with them.
    Baseline(String),
}

/// Mutates the kernels of suites and tells who notices.
///
/// # Errors
/// A suite that is not there or cannot be read; one that does not pass as it is; no mutant to run; a folder that the
/// report cannot be written to, before anything has run.
pub fn run(options: &Options, choices: &Choices) -> Result<Ended, Refused> {
    let started = archive::now();
    let kernels = folder(&options.kernels, KERNELS);
    let specs = folder(&options.specs, "specs");
    let sources = sources::load(specs.as_deref(), kernels.as_deref()).map_err(Refused::Usage)?;
    let chosen = choose(&sources, &choices.suites)?;
    let profile = options.profile.unwrap_or(Profile::Quick);
    let mut report = MutationReport {
        schema: SCHEMA.to_owned(),
        id: archive::new_run_id(),
        started,
        finished: String::new(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        profile,
        schedules: choices.schedules.max(1),
        seed: choices.seed,
        operators: choices.operators(),
        least_score: choices.least_score,
        suites: Vec::new(),
    };
    let (store, shelf) = (Store::open(&options.reports), shelf(&report));
    let tried = store.try_out(&shelf, &report.id);
    tried.map_err(|error| Refused::Folder(error.to_string()))?;
    for suite in &chosen {
        let session = Session {
            pool: Pool {
                catalog: &sources.catalog,
                suite,
                tells: !options.quiet,
            },
            profile,
            choices,
        };
        report.suites.push(session.run()?);
    }
    if let Some(why) = nothing(&report, choices) {
        return Err(Refused::Nothing(why));
    }
    report.finished = archive::now();
    let passed = report.suites.iter().all(|suite| is_good(suite, choices));
    let text = text::summary(&report);
    let kept = keep(&store, &shelf, &report, &text);
    let (folder, trouble) = match kept {
        Ok(folder) => (Some(folder), None),
        Err(error) => (None, Some(error.to_string())),
    };
    Ok(Ended {
        report,
        text,
        folder,
        trouble,
        passed,
    })
}

fn is_good(suite: &SuiteRecord, choices: &Choices) -> bool {
    let score = suite.score.is_none_or(|score| score >= choices.least_score);
    score && suite.problems.is_empty() && suite.totals.invalid == 0
}

/// Why there is nothing to report: no suite has a mutant that was asked for, and no list is wrong.
fn nothing(report: &MutationReport, choices: &Choices) -> Option<String> {
    let suites = &report.suites;
    let any = suites
        .iter()
        .any(|suite| !suite.mutants.is_empty() || !suite.problems.is_empty());
    if any {
        return None;
    }
    let with_cases: Vec<&SuiteRecord> = suites.iter().filter(|suite| suite.cases > 0).collect();
    let names = |suites: &[&SuiteRecord]| {
        let names: Vec<&str> = suites.iter().map(|suite| suite.suite.as_str()).collect();
        names.join(", ")
    };
    if with_cases.is_empty() {
        let all: Vec<&SuiteRecord> = suites.iter().collect();
        return Some(format!(
            "no mutant is selected: {} has no case of profile {} that launches kernels on the simulated device",
            names(&all),
            report.profile
        ));
    }
    let made: usize = suites.iter().map(|suite| suite.made).sum();
    let mut asked = Vec::new();
    asked.extend(
        choices
            .kernel
            .as_ref()
            .map(|kernel| format!("--kernel {kernel}")),
    );
    if !choices.operators.is_empty() {
        let operators: Vec<&str> = choices.operators.iter().map(|o| o.name()).collect();
        asked.push(format!("--operators {}", operators.join(",")));
    }
    asked.extend(choices.mutants.iter().map(|id| format!("--mutant {id}")));
    asked.extend(choices.listed.then(|| "--listed".to_owned()));
    asked.extend(choices.limit.map(|limit| format!("--limit {limit}")));
    let asked = match asked.is_empty() {
        true => "there is nothing that an operator changes".to_owned(),
        false => format!("{} leaves none", asked.join(" with ")),
    };
    Some(format!(
        "no mutant is selected: of the {made} of {}, {asked}",
        names(&with_cases)
    ))
}

/// Beside the runs of the simulated device, whose version it is.
fn shelf(report: &MutationReport) -> Shelf {
    Shelf {
        driver: "sim".to_owned(),
        card: report.version.clone(),
    }
}

fn keep(
    store: &Store,
    shelf: &Shelf,
    report: &MutationReport,
    text: &str,
) -> Result<PathBuf, ArchiveError> {
    let json = report.to_json().map_err(|source| ArchiveError::Json {
        path: store.root().to_owned(),
        source,
    })?;
    let files = [("mutation.json", json.as_str()), ("mutation.txt", text)];
    store.keep(shelf, &report.id, &files)
}

/// The suites that were asked for.
fn choose(sources: &Sources, names: &[String]) -> Result<Vec<Suite>, Refused> {
    if names.is_empty() {
        return Ok(sources.suites.clone());
    }
    let mut chosen: Vec<Suite> = Vec::new();
    for name in names {
        let known = sources.suites.iter();
        let found = known
            .clone()
            .find(|suite| suite.name == *name || Path::new(&suite.path) == Path::new(name));
        let suite = match found {
            Some(suite) => suite.clone(),
            None if name.ends_with(".yaml") => {
                let loader = spec::Loader::new(&sources.catalog, sources::names());
                let loaded = loader.file(Path::new(name));
                loaded.map_err(|errors| Refused::Usage(errors.render()))?
            }
            None => {
                let all: Vec<&str> = known.map(|suite| suite.name.as_str()).collect();
                let message = format!("no suite `{name}`: there are {}", all.join(", "));
                return Err(Refused::Usage(message));
            }
        };
        if chosen.iter().all(|other| other.name != suite.name) {
            chosen.push(suite);
        }
    }
    Ok(chosen)
}

impl Choices {
    fn operators(&self) -> Vec<Operator> {
        match self.operators.as_slice() {
            [] => Operator::ALL.to_vec(),
            some => some.to_vec(),
        }
    }

    fn schedules(&self) -> Vec<Schedule> {
        let numbers = 0..self.schedules.max(1);
        numbers
            .map(|number| Schedule::nth(self.seed, number))
            .collect()
    }

    /// Those that are to be run.
    ///
    /// # Errors
    /// A name that is no mutant's.
    fn select(
        &self,
        all: &[Arc<Mutant>],
        list: &[Equivalent],
    ) -> Result<Vec<Arc<Mutant>>, Refused> {
        for id in &self.mutants {
            if all.iter().all(|mutant| mutant.id != *id) {
                return Err(Refused::Usage(format!(
                    "no mutant `{id}`: {}",
                    near(id, all)
                )));
            }
        }
        let operators = self.operators();
        let listed: HashSet<&str> = list.iter().map(|entry| entry.mutant.as_str()).collect();
        let is_chosen = |mutant: &&Arc<Mutant>| {
            let kernel = self.kernel.as_deref();
            operators.contains(&mutant.operator)
                && kernel.is_none_or(|k| mutant.kernel.contains(k))
                && (self.mutants.is_empty() || self.mutants.contains(&mutant.id))
                && (!self.listed || listed.contains(mutant.id.as_str()))
        };
        let chosen: Vec<Arc<Mutant>> = all.iter().filter(is_chosen).cloned().collect();
        Ok(match self.limit {
            Some(limit) if limit < chosen.len() => (0..limit)
                .map(|index| Arc::clone(&chosen[index * chosen.len() / limit]))
                .collect(),
            _ => chosen,
        })
    }
}

/// What there is in an unknown mutant's place: those of its line, or the form of a name.
fn near(id: &str, all: &[Arc<Mutant>]) -> String {
    let line = |id: &str| {
        let mut parts = id.split(':');
        Some((parts.next()?.to_owned(), parts.next()?.to_owned()))
    };
    let wanted = line(id);
    let of_line: Vec<&str> = all
        .iter()
        .map(|mutant| mutant.id.as_str())
        .filter(|id| wanted.is_some() && line(id) == wanted)
        .collect();
    match of_line.is_empty() {
        false => format!("that line's are {}", of_line.join(", ")),
        true => "names have the form `kernel:line:operator[:n]`, and the run without --mutant lists them".to_owned(),
    }
}

/// One suite.
struct Session<'a> {
    pool: Pool<'a>,
    profile: Profile,
    choices: &'a Choices,
}

impl Session<'_> {
    fn run(&self) -> Result<SuiteRecord, Refused> {
        let clock = Instant::now();
        let suite = self.pool.suite;
        let path = Equivalents::path_beside(&suite.path, &suite.name);
        let list = Equivalents::load(&path, &suite.name);
        let list = list.map_err(|errors| Refused::Usage(errors.render()))?;
        let units = units(suite, self.profile, self.pool.catalog).map_err(Refused::Usage)?;
        if units.is_empty() {
            return Ok(self.without_cases());
        }
        let schedules = self.choices.schedules();
        let mut known =
            baseline(&self.pool, &units, schedules[0]).map_err(|failed| self.refused(&failed))?;
        let all = self.mutants(&known)?;
        let entries = list.as_ref().map_or(&[][..], |list| &list.entries);
        let chosen = self.choices.select(&all, entries)?;
        let fates = self.fates(&mut known, &schedules, &chosen)?;
        let mut record = SuiteRecord {
            cases: known.iter().map(|known| known.unit.cases.len()).sum(),
            made: all.len(),
            mutants: records(&chosen, fates, entries),
            notes: notes(&known, &all),
            ..self.blank()
        };
        if let Some(list) = &list {
            record.problems = score::problems(list, &all, &record.mutants);
        }
        score::tally(&mut record);
        record.wall_ms = clock.elapsed().as_secs_f64() * 1e3;
        Ok(record)
    }

    fn blank(&self) -> SuiteRecord {
        let suite = self.pool.suite;
        SuiteRecord {
            suite: suite.name.clone(),
            spec: suite.path.clone(),
            spec_sha256: suite.sha256.clone(),
            cases: 0,
            made: 0,
            totals: Totals::default(),
            score: None,
            by_operator: IndexMap::new(),
            by_kernel: IndexMap::new(),
            mutants: Vec::new(),
            problems: Vec::new(),
            notes: Vec::new(),
            wall_ms: 0.0,
        }
    }

    /// Without a case no kernel is launched, so nothing is known of the list either.
    fn without_cases(&self) -> SuiteRecord {
        let note = format!(
            "no case of profile {} launches a kernel on the simulated device",
            self.profile
        );
        SuiteRecord {
            notes: vec![note],
            ..self.blank()
        }
    }

    /// All under the first schedule; what survives it under the others, whose baseline only then has to be known, and
    /// only of the units that launch a survivor's kernel.
    fn fates(
        &self,
        known: &mut [Known],
        schedules: &[Schedule],
        chosen: &[Arc<Mutant>],
    ) -> Result<Vec<Fate>, Refused> {
        let first = &schedules[..1];
        let run = |bench: &mut Bench, mutant: &Arc<Mutant>| trial(bench, known, first, 0, mutant);
        let mut fates = self.pool.map("mutants", chosen, run);
        let survived = |index: &usize| matches!(fates[*index], Fate::Survived { .. });
        let open: Vec<usize> = (0..chosen.len()).filter(survived).collect();
        let others = &schedules[1..];
        if others.is_empty() || open.is_empty() {
            return Ok(fates);
        }
        let survivors: Vec<Arc<Mutant>> = open.iter().map(|&i| Arc::clone(&chosen[i])).collect();
        explore(&self.pool, known, others, &survivors).map_err(|failed| self.refused(&failed))?;
        let run = |bench: &mut Bench, mutant: &Arc<Mutant>| trial(bench, known, others, 1, mutant);
        let later = self.pool.map("survivors", &survivors, run);
        for (index, fate) in open.into_iter().zip(later) {
            fates[index] = fates[index].clone().then(fate);
        }
        Ok(fates)
    }

    fn refused(&self, failed: &[String]) -> Refused {
        Refused::Baseline(format!(
            "{}: these cases do not pass as they are:\n  {}",
            self.pool.suite.name,
            failed.join("\n  ")
        ))
    }

    /// Of every kernel that is launched.
    fn mutants(&self, known: &[Known]) -> Result<Vec<Arc<Mutant>>, Refused> {
        let mut by_module: BTreeMap<Arc<str>, Vec<Arc<str>>> = BTreeMap::new();
        for (module, kernel) in kernels(known) {
            by_module.entry(module).or_default().push(kernel);
        }
        let mut all = Vec::new();
        for (module, kernels) in &by_module {
            let names: Vec<&str> = kernels.iter().map(AsRef::as_ref).collect();
            let text = ptx_of(self.pool.catalog, module)?;
            let made = mutants(module, &text, &names, Operator::ALL)
                .map_err(|error| Refused::Usage(format!("{module}.ptx: {error}")))?;
            all.extend(made.into_iter().map(Arc::new));
        }
        Ok(all)
    }
}

fn ptx_of(catalog: &Catalog, module: &str) -> Result<Arc<str>, Refused> {
    let image = catalog.image(module, ImageKind::Jit, (7, 5));
    match image.map(|image| image.code) {
        Ok(Code::Ptx(text)) => Ok(text),
        Ok(Code::Cubin(_)) => Err(Refused::Usage(format!("{module}: there is no PTX"))),
        Err(fault) => Err(Refused::Usage(fault.to_string())),
    }
}

fn records(
    chosen: &[Arc<Mutant>],
    fates: Vec<Fate>,
    entries: &[Equivalent],
) -> Vec<super::MutantRecord> {
    let listed = |id: &str| entries.iter().find(|entry| entry.mutant == id);
    let pairs = chosen.iter().zip(fates);
    pairs
        .map(|(mutant, fate)| score::record(mutant, fate, listed(&mutant.id)))
        .collect()
}

/// The kernels whose grids are left as they are.
fn notes(known: &[Known], all: &[Arc<Mutant>]) -> Vec<String> {
    let has_grid = |kernel: &str| {
        let mut of_grid = all
            .iter()
            .filter(|mutant| mutant.operator == Operator::Grid);
        of_grid.any(|mutant| *mutant.kernel == *kernel)
    };
    let strided: Vec<String> = kernels(known)
        .into_iter()
        .map(|(_, kernel)| kernel.to_string())
        .filter(|kernel| !has_grid(kernel))
        .collect();
    match strided.is_empty() {
        true => Vec::new(),
        false => vec![format!(
            "grids of grid-stride kernels are not changed, since they are right on any: {}",
            strided.join(", ")
        )],
    }
}
