//! From choices to the cases of a run, without touching a device.

use std::path::{Path, PathBuf};

use super::options::{Options, Selection};
use super::{Chosen, PlannedCase};
use crate::case::{self, Case};
use crate::device;
use crate::image::Catalog;
use crate::image::native::{Native, on_simulator};
use crate::outcome::Reason;
use crate::spec::model::Suite;
use crate::spec::waivers::Waivers;
use crate::terms::{DeviceKind, ImageKind, Profile, ReasonKind};
use crate::worker::WorkerConfig;
use crate::worker::sources::{self, Sources};

/// Cases of a run and all that was chosen for them.
pub struct Planned {
    pub chosen: Chosen,
    pub profile: Profile,
    pub images: Vec<ImageKind>,
    pub suites: Vec<Suite>,
    pub waivers: Waivers,
    pub catalog: Catalog,
    pub cases: Vec<PlannedCase>,
    pub worker: WorkerConfig,
}

/// A choice or a spec that cannot be used, or two cases of one name: exit code 2.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PlanError(pub String);

impl Planned {
    /// Chooses the device by what this machine shows, loads the specs and expands them. Not selected by name yet, but
    /// exact names are found in any profile and with any image: a printed id is enough to run it again.
    ///
    /// # Errors
    /// Schedules for a device that takes none; every problem of every spec.
    pub fn new(options: &Options) -> Result<Self, PlanError> {
        let look = || device::presence(Path::new("/sys"), Path::new("/dev"));
        let chosen = Chosen::of(&options.device, look);
        let schedules = options.schedules.resolve(&chosen.address);
        let schedules = schedules.map_err(PlanError)?;
        let specs = folder(&options.specs, SPECS);
        let kernels = folder(&options.kernels, KERNELS);
        let sources = sources::load(specs.as_deref(), kernels.as_deref()).map_err(PlanError)?;
        let worker = WorkerConfig {
            device: chosen.address.clone(),
            specs,
            kernels,
            schedules,
            began: Some(sources::hashes(&sources.suites, &sources.catalog)),
        };
        Self::of(options, chosen, sources, worker)
    }

    fn of(
        options: &Options,
        chosen: Chosen,
        sources: Sources,
        worker: WorkerConfig,
    ) -> Result<Self, PlanError> {
        let profile = options.profile.unwrap_or(chosen.default_profile());
        let images = options
            .images
            .clone()
            .unwrap_or_else(|| chosen.default_images());
        let Sources {
            suites,
            waivers,
            catalog,
            sass,
        } = sources;
        let mut cases = case::expand(&suites, profile, &images)
            .map_err(|problems| PlanError(problems.join("\n")))?;
        add_exact(&suites, &options.selection, &mut cases);
        let decide = |case: Case| {
            let suite = suites.iter().find(|suite| suite.name == case.suite);
            let decided = suite
                .and_then(|suite| case::decided(suite, &case, chosen.kind()))
                .or_else(|| without_native_code(&case, sass, chosen.kind()))
                .or_else(|| without_library(suite?, &case, catalog.native(), chosen.kind()));
            PlannedCase { case, decided }
        };
        Ok(Self {
            cases: cases.into_iter().map(decide).collect(),
            chosen,
            profile,
            images,
            suites,
            waivers,
            catalog,
            worker,
        })
    }

    /// The cases that libtest's rules leave.
    pub fn select(&self, selection: &Selection) -> Vec<PlannedCase> {
        let Selection {
            filters,
            exact,
            skip,
        } = selection;
        let chosen =
            |planned: &&PlannedCase| case::matches(&planned.case.id, filters, *exact, skip);
        self.cases.iter().filter(chosen).cloned().collect()
    }
}

/// The folder of specs where a run is started.
const SPECS: &str = "specs";
/// The folder of kernels where a run is started.
pub const KERNELS: &str = "kernels";

/// The folder named, else the one of this name where the run is started, else none: the embedded copy.
pub fn folder(named: &Option<PathBuf>, here: &str) -> Option<PathBuf> {
    let here = || Some(PathBuf::from(here)).filter(|path| path.is_dir());
    named.clone().or_else(here)
}

/// An exact name outside the profile or the images still names a case.
fn add_exact(suites: &[Suite], selection: &Selection, cases: &mut Vec<Case>) {
    if !selection.exact {
        return;
    }
    for id in &selection.filters {
        if cases.iter().all(|case| case.id != *id) {
            cases.extend(case::find(suites, id));
        }
    }
}

/// What certainly calls the native library has nothing to do without it.
fn without_library(
    suite: &Suite,
    case: &Case,
    native: &Native,
    kind: DeviceKind,
) -> Option<Reason> {
    if !case::calls_native(suite, case) {
        return None;
    }
    match kind {
        DeviceKind::Sim => Some(on_simulator()),
        DeviceKind::Cuda => native.library().err(),
    }
}

fn without_native_code(case: &Case, sass: bool, kind: DeviceKind) -> Option<Reason> {
    let lacks = kind == DeviceKind::Cuda && case.image == ImageKind::Sass && !sass;
    lacks.then(|| {
        let message = "native code: no nvcc was found when this executable was built";
        Reason::new(ReasonKind::BuiltWithout, message)
    })
}
