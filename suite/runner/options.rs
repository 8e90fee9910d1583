//! What a person may choose for a run, from arguments or from the environment.

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use super::schedules::ScheduleChoice;
use crate::archive::DEFAULT_ROOT;
use crate::device::sim::{Schedule, ScheduleError};
use crate::terms::{ImageKind, Profile};
use crate::worker::Address;

/// A case's deadline, unless `--timeout` or `CUDA_GATES_TIMEOUT` says otherwise.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);
/// Longer ones overflow clocks and help nobody.
const TIMEOUT_SECONDS_MAX: f64 = 1e6;

/// The choices of a run; what is left open depends on the device.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    pub device: DeviceChoice,
    /// None: `full` on a GPU, `quick` on the simulated device.
    pub profile: Option<Profile>,
    /// None: `sass` and `jit` on a GPU, `jit` on the simulated device.
    pub images: Option<Vec<ImageKind>>,
    pub reports: PathBuf,
    /// None: `specs` where the run is started, else the embedded copy.
    pub specs: Option<PathBuf>,
    /// None: `kernels` where the run is started, else the embedded copy.
    pub kernels: Option<PathBuf>,
    /// A case's deadline; of several schedules, each one's.
    pub timeout: Duration,
    pub schedules: ScheduleChoice,
    pub selection: Selection,
    /// Hash the card's UUID and serial number, and hide whose machine it is.
    pub redact: bool,
    /// Show no case that is well while the run goes on.
    pub quiet: bool,
    /// Go on with a run that died; its own choices win over those above, but for `reports` and `quiet`.
    pub resume: Option<Resume>,
}

/// A run to go on with, and what was named beside it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resume {
    /// Its id or its beginning, or its folder.
    pub run: String,
    /// In place of what the run remembers: it may have been written without, or where folders are called otherwise.
    pub device: Option<DeviceChoice>,
    pub specs: Option<PathBuf>,
    pub kernels: Option<PathBuf>,
    pub timeout: Option<Duration>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            device: DeviceChoice::Auto,
            profile: None,
            images: None,
            reports: PathBuf::from(DEFAULT_ROOT),
            specs: None,
            kernels: None,
            timeout: DEFAULT_TIMEOUT,
            schedules: ScheduleChoice::default(),
            selection: Selection::default(),
            redact: false,
            quiet: false,
            resume: None,
        }
    }
}

/// libtest's rules of choosing by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    pub filters: Vec<String>,
    pub exact: bool,
    pub skip: Vec<String>,
}

impl Selection {
    /// Whether anything is chosen at all, so that rules for whole runs do not apply.
    pub fn is_filtered(&self) -> bool {
        !self.filters.is_empty() || !self.skip.is_empty()
    }
}

/// `auto`, or one device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceChoice {
    Auto,
    One(Address),
    /// Every card that CUDA shows, side by side.
    All,
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(DeviceChoice::Auto),
            "all" => Ok(DeviceChoice::All),
            other => other.parse().map(DeviceChoice::One),
        }
    }
}

/// A choice that cannot be: exit code 2.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct UsageError {
    /// The argument or variable.
    pub place: String,
    pub problem: String,
}

impl Options {
    /// The `gates` target's choices: `CUDA_GATES_DEVICE`, `_PROFILE`, `_IMAGE`, `_REPORTS`, `_TIMEOUT`, `_SPECS`,
    /// `_KERNELS`, `_SCHEDULES`, `_SEED` and `_SCHEDULE`, each as if absent when empty.
    ///
    /// # Errors
    /// Names the variable and what it takes.
    pub fn from_environment(get: impl Fn(&str) -> Option<OsString>) -> Result<Self, UsageError> {
        let mut options = Self::default();
        let path = |name| get(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        options.device = variable(&get, "CUDA_GATES_DEVICE", str::parse)?.unwrap_or(options.device);
        options.profile = variable(&get, "CUDA_GATES_PROFILE", parse_profile)?;
        options.images = variable(&get, "CUDA_GATES_IMAGE", parse_images)?;
        options.timeout =
            variable(&get, "CUDA_GATES_TIMEOUT", parse_timeout)?.unwrap_or(options.timeout);
        options.schedules = ScheduleChoice {
            count: variable(&get, "CUDA_GATES_SCHEDULES", parse_count)?,
            seed: variable(&get, "CUDA_GATES_SEED", parse_seed)?,
            only: variable(&get, "CUDA_GATES_SCHEDULE", parse_schedule)?,
        };
        options.reports = path("CUDA_GATES_REPORTS").unwrap_or(options.reports);
        options.specs = path("CUDA_GATES_SPECS");
        options.kernels = path("CUDA_GATES_KERNELS");
        Ok(options)
    }
}

fn variable<T>(
    get: &impl Fn(&str) -> Option<OsString>,
    name: &str,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, UsageError> {
    let Some(value) = get(name).filter(|v| !v.is_empty()) else {
        return Ok(None);
    };
    let text = value.to_str().ok_or_else(|| "not UTF-8".to_owned());
    text.and_then(parse)
        .map(Some)
        .map_err(|problem| UsageError {
            place: name.to_owned(),
            problem,
        })
}

/// # Errors
/// The names there are.
pub fn parse_profile(text: &str) -> Result<Profile, String> {
    Profile::from_name(text).ok_or_else(|| {
        let names: Vec<&str> = Profile::ALL.iter().map(|p| p.name()).collect();
        format!("`{text}` is no profile: {}", names.join(", "))
    })
}

/// `sass,jit`: each image once, in the order given.
///
/// # Errors
/// The names there are.
pub fn parse_images(text: &str) -> Result<Vec<ImageKind>, String> {
    let mut images = Vec::new();
    for name in text.split(',').map(str::trim) {
        let image = ImageKind::from_name(name).ok_or_else(|| {
            let names: Vec<&str> = ImageKind::ALL.iter().map(|i| i.name()).collect();
            format!("`{name}` is no image: {}", names.join(", "))
        })?;
        if !images.contains(&image) {
            images.push(image);
        }
    }
    Ok(images)
}

/// # Errors
/// When it is no number of schedules: 1 or more.
pub fn parse_count(text: &str) -> Result<u32, String> {
    let count = text.parse::<u32>().ok().filter(|count| *count > 0);
    count.ok_or_else(|| {
        let most = u32::MAX;
        format!("`{text}` is no number of schedules: 1 to {most}")
    })
}

/// # Errors
/// When it is no number of 64 bits.
pub fn parse_seed(text: &str) -> Result<u64, String> {
    let seed = text.parse().ok();
    seed.ok_or_else(|| format!("`{text}` is no seed: a number from 0 to {}", u64::MAX))
}

fn parse_schedule(text: &str) -> Result<Schedule, String> {
    text.parse()
        .map_err(|error: ScheduleError| error.to_string())
}

/// Seconds, with a fraction if need be.
///
/// # Errors
/// When it is no positive number of seconds.
pub fn parse_timeout(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok();
    seconds
        .filter(|s| *s > 0.0 && *s <= TIMEOUT_SECONDS_MAX)
        .map(Duration::from_secs_f64)
        .ok_or_else(|| format!("`{text}` is no deadline: a positive number of seconds"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(pairs: &[(&str, &str)]) -> Result<Options, UsageError> {
        let pairs: Vec<(String, String)> = pairs
            .iter()
            .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()))
            .collect();
        Options::from_environment(|name| {
            let found = pairs.iter().find(|(n, _)| n == name);
            found.map(|(_, v)| v.into())
        })
    }

    #[test]
    fn nothing_set_is_the_default() {
        assert_eq!(from(&[]).unwrap(), Options::default());
        let empty = [("CUDA_GATES_DEVICE", ""), ("CUDA_GATES_REPORTS", "")];
        assert_eq!(from(&empty).unwrap(), Options::default());
    }

    #[test]
    fn every_variable_is_read() {
        let options = from(&[
            ("CUDA_GATES_DEVICE", "cuda:2"),
            ("CUDA_GATES_PROFILE", "perf"),
            ("CUDA_GATES_IMAGE", "jit, sass,jit"),
            ("CUDA_GATES_REPORTS", "/archive"),
            ("CUDA_GATES_TIMEOUT", "2.5"),
            ("CUDA_GATES_SPECS", "s"),
            ("CUDA_GATES_KERNELS", "k"),
            ("CUDA_GATES_SCHEDULES", "20"),
            ("CUDA_GATES_SEED", "18446744073709551615"),
            ("CUDA_GATES_SCHEDULE", "pct:7,apart"),
        ])
        .unwrap();
        let expected = Options {
            device: DeviceChoice::One(Address::Ordinal(2)),
            profile: Some(Profile::Perf),
            images: Some(vec![ImageKind::Jit, ImageKind::Sass]),
            reports: "/archive".into(),
            timeout: Duration::from_millis(2500),
            specs: Some("s".into()),
            kernels: Some("k".into()),
            schedules: ScheduleChoice {
                count: Some(20),
                seed: Some(u64::MAX),
                only: Some("pct:7,apart".parse().unwrap()),
            },
            ..Options::default()
        };
        assert_eq!(options, expected);
    }

    #[test]
    fn all_cards_can_be_asked_for() {
        let options = from(&[("CUDA_GATES_DEVICE", "all")]).unwrap();
        assert_eq!(options.device, DeviceChoice::All);
    }

    #[test]
    fn a_wrong_value_names_its_variable_and_what_it_takes() {
        for (name, value, words) in [
            ("CUDA_GATES_DEVICE", "gpu", "auto, sim, cuda, cuda:N"),
            ("CUDA_GATES_DEVICE", "cuda:x", "cuda:0"),
            ("CUDA_GATES_PROFILE", "fast", "quick, full, perf, huge"),
            ("CUDA_GATES_IMAGE", "jit,ptx", "sass, jit, nvrtc"),
            ("CUDA_GATES_IMAGE", "jit,", "sass, jit, nvrtc"),
            ("CUDA_GATES_TIMEOUT", "0", "positive"),
            ("CUDA_GATES_TIMEOUT", "-1", "positive"),
            ("CUDA_GATES_TIMEOUT", "NaN", "positive"),
            ("CUDA_GATES_TIMEOUT", "1e300", "positive"),
            ("CUDA_GATES_TIMEOUT", "2m", "positive"),
            ("CUDA_GATES_SCHEDULES", "0", "1 to 4294967295"),
            ("CUDA_GATES_SCHEDULES", "4294967296", "1 to 4294967295"),
            ("CUDA_GATES_SEED", "-1", "0 to 18446744073709551615"),
            ("CUDA_GATES_SEED", "x", "0 to 18446744073709551615"),
            (
                "CUDA_GATES_SCHEDULE",
                "pct",
                "`pct` is no part of a schedule",
            ),
        ] {
            let error = from(&[(name, value)]).unwrap_err();
            assert_eq!(error.place, name);
            assert!(error.problem.contains(words), "{value}: {error}");
        }
    }
}
