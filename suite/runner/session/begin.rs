//! How a run begins: its device, who that is, and its folder.

use std::sync::{Mutex, PoisonError};

use super::{Begun, Refused, Session, uuid_of};
use crate::identity;
use crate::outcome::Reason;
use crate::report::Facts;
use crate::report::record::{DeviceRecord, RunRecord, SpecRecord, SuiteRecord};
use crate::runner::health::Monitor;
use crate::runner::recorder::Recorder;
use crate::runner::verdict::Verdict;
use crate::spec::model::Suite;
use crate::spec::waivers::Waivers;
use crate::terms::{DeviceKind, ReasonKind};
use crate::worker::{NvmlProcess, cleared};

impl Session {
    /// Opens the device, reads who it is, and opens the run's folder.
    pub(super) fn begin(&self) -> Result<Begun, Refused> {
        // A failure comes again with each case, or is over by then.
        let unavailable = self.parts.pool.open().err().map(|fault| fault.reason);
        let mut nvml = self.nvml();
        let mut facts = self.facts(unavailable, nvml.as_mut());
        let recorder = self.recorder(&facts).map_err(|(verdict, message)| {
            let reason = Reason::new(ReasonKind::Setup, message);
            (verdict, reason)
        })?;
        if !recorder.facts().run.resumed.is_empty() {
            let then = recorder.facts().clone();
            // What the run began on is what its end is held against.
            facts.run = then.run;
            facts.host = then.host;
            facts.device.identity = then.device.identity;
            facts.device.before = then.device.before;
        }
        // Of a run of many processes too, one day for all of its waivers.
        facts.run.started = recorder.facts().run.started.clone();
        let health = nvml.map(|nvml| Monitor::start(nvml, uuid_of(&facts.device)));
        Ok(Begun {
            recorder,
            health: Mutex::new(health),
            facts,
        })
    }

    fn recorder(&self, facts: &Facts) -> Result<Recorder, (Verdict, String)> {
        let parts = &self.parts;
        let unfinished = self.resumed.lock();
        let unfinished = unfinished.unwrap_or_else(PoisonError::into_inner).take();
        if let Some(unfinished) = unfinished {
            return Recorder::resume(unfinished, facts, parts.redact);
        }
        let key = parts.joined.as_deref();
        Recorder::begin(&parts.store, key, facts.clone(), parts.redact)
            .map_err(|error| (Verdict::Usage, error.to_string()))
    }

    fn facts(&self, unavailable: Option<Reason>, nvml: Option<&mut NvmlProcess>) -> Facts {
        let parts = &self.parts;
        Facts {
            run: RunRecord {
                id: String::new(),
                started: self.started.clone(),
                finished: None,
                profile: parts.profile.name().to_owned(),
                complete: false,
                filtered: parts.filtered && parts.joined.is_none(),
                joined: parts.joined.is_some(),
                images: parts.images.clone(),
                problems: Vec::new(),
                waivers: Vec::new(),
                environment: cleared(),
                schedules: parts.schedules.record(),
                choices: parts.choices.clone(),
                resumed: Vec::new(),
                work_ms: 0.0,
                wall_ms: 0.0,
            },
            suite: suite_record(&parts.suites, &parts.waivers),
            host: identity::host(),
            toolchain: identity::toolchain(),
            device: self.device(unavailable, nvml),
        }
    }

    fn device(&self, unavailable: Option<Reason>, nvml: Option<&mut NvmlProcess>) -> DeviceRecord {
        let info = self.parts.pool.device();
        let uuid = info.as_ref().and_then(|info| info.uuid.as_deref());
        let identity = nvml.map(|nvml| nvml.identity(uuid));
        let (driver_version, fields, live) = match identity {
            Some(identity) => (identity.driver_version, identity.fields, identity.live),
            None => Default::default(),
        };
        DeviceRecord {
            unavailable: unavailable
                .filter(|_| info.is_none())
                .map(|reason| self.parts.chosen.explain(reason)),
            info,
            driver_version,
            identity: fields,
            before: live,
            after: Default::default(),
        }
    }

    /// The process that knows the card; none for the simulated device.
    fn nvml(&self) -> Option<NvmlProcess> {
        let is_card = self.parts.chosen.kind() == DeviceKind::Cuda;
        is_card.then(|| NvmlProcess::start(self.parts.nvml.clone()))
    }
}

/// The suite's version, the commit it was built from, and the hash of every spec and of the waivers.
pub(in crate::runner) fn suite_record(suites: &[Suite], waivers: &Waivers) -> SuiteRecord {
    let spec = |path: &str, sha256: &str| SpecRecord {
        path: path.to_owned(),
        sha256: sha256.to_owned(),
    };
    let suites = suites.iter().map(|suite| spec(&suite.path, &suite.sha256));
    let waivers = Some(waivers).filter(|waivers| !waivers.path.is_empty());
    let waivers = waivers.map(|waivers| spec(&waivers.path, &waivers.sha256));
    SuiteRecord {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("CUDA_GATES_COMMIT").map(str::to_owned),
        dirty: option_env!("CUDA_GATES_DIRTY").map(|dirty| dirty == "true"),
        specs: suites.chain(waivers).collect(),
    }
}
