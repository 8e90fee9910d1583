//! The arguments as typed. The only place that names clap.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

use crate::device::sim::Schedule;
use crate::mutate::Operator;
use crate::runner::{
    DeviceChoice, Options, Resume, ScheduleChoice, UsageError, parse_count, parse_images,
    parse_profile, parse_seed, parse_timeout,
};
use crate::terms::{ImageKind, Profile};

const EXIT_CODES: &str = "\
Exit codes, the first that applies:
  2  usage or spec error, a file that cannot be read or written
  3  environment: no case could start (no device, driver and library disagree)
  4  nothing selected, or everything skipped
  1  a gate failed or ended in error
  0  passed

Environment: CUDA_GATES_DEVICE, CUDA_GATES_PROFILE, CUDA_GATES_IMAGE, CUDA_GATES_REPORTS,
CUDA_GATES_TIMEOUT, CUDA_GATES_SPECS, CUDA_GATES_KERNELS, CUDA_GATES_SCHEDULES, CUDA_GATES_SEED and
CUDA_GATES_SCHEDULE are read where the argument is not given.";

const MUTATE_EXIT_CODES: &str = "\
Exit codes, the first that applies:
  2  usage or spec error, a list of equivalents that cannot be read, a report's folder that cannot be written
  4  no mutant is selected: nothing to change, or no case of the profile
  1  a case fails without any change; a score below --least; a list of equivalents that is wrong; a mutant
     that the simulated device cannot run
  0  every suite is good enough";

/// What a run that is resumed has chosen already.
const CHOSEN_BY_A_RUN: [&str; 9] = [
    "filters",
    "exact",
    "skip",
    "profile",
    "image",
    "schedules",
    "seed",
    "schedule",
    "redact",
];

/// A conformance suite for CUDA hardware and drivers.
///
/// Without a command: `run`.
#[derive(Debug, Parser)]
#[command(name = "cuda-gates", version, args_conflicts_with_subcommands = true)]
#[command(after_help = EXIT_CODES, max_term_width = 100)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub run: Run,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run gates and archive what happened.
    #[command(after_help = EXIT_CODES)]
    Run(Run),
    /// List the cases a run would take.
    List {
        #[command(flatten)]
        choices: Choices,
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Check specs without running anything; all of the suite's without a name.
    Check {
        /// YAML files, or folders of them.
        #[arg(value_name = "SPEC")]
        files: Vec<PathBuf>,
        #[command(flatten)]
        folders: Folders,
    },
    /// Show what a case does: its axes, lets, inputs, launches and what is read.
    Explain {
        /// A case's id, as `list` prints it.
        #[arg(value_name = "CASE")]
        case: String,
        #[command(flatten)]
        folders: Folders,
    },
    /// List the devices of this machine.
    Devices {
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Print the JSON Schema of a document.
    Schema {
        #[arg(value_enum, default_value_t)]
        document: Document,
    },
    /// Make or verify the committed PTX of the kernels.
    Kernels {
        #[command(subcommand)]
        command: Kernels,
    },
    /// Change the kernels of suites, one instruction at a time, and tell which changes no gate notices.
    #[command(after_help = MUTATE_EXIT_CODES)]
    Mutate(Mutate),
    /// Read archived runs.
    Report {
        #[command(subcommand)]
        command: Report,
    },
}

#[derive(Debug, Args)]
pub(super) struct Run {
    #[command(flatten)]
    pub choices: Choices,
    /// The archive's folder [default: reports].
    #[arg(long, value_name = "DIR")]
    pub reports: Option<PathBuf>,
    /// A case's deadline, seconds; under several schedules, each one's [default: 120].
    #[arg(long, value_name = "SECONDS", value_parser = parse_timeout)]
    pub timeout: Option<Duration>,
    /// Go on with a run that died: its id or its beginning, or its folder. It has its own choices, on the same device
    /// and with the same suites and kernels; its results stay.
    #[arg(long, value_name = "RUN", conflicts_with_all = CHOSEN_BY_A_RUN)]
    pub resume: Option<String>,
    #[command(flatten)]
    pub schedules: Schedules,
    /// Hash the card's UUID and serial number in everything that is written; leave out process ids and the names of
    /// home folders.
    #[arg(long)]
    pub redact: bool,
    /// Show failures and the summary only.
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Debug, Args)]
pub(super) struct Mutate {
    /// Names of suites, or spec files [default: every suite].
    #[arg(value_name = "SUITE")]
    pub suites: Vec<String>,
    /// Schedules of the simulated device that a survivor is tried under, the fair one among them.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = parse_count)]
    pub schedules: u32,
    /// What the schedules are drawn from.
    #[arg(long, value_name = "SEED", default_value_t = 0, value_parser = parse_seed)]
    pub seed: u64,
    /// Kinds of changes, with commas [default: all].
    #[arg(long, value_name = "NAMES", value_parser = operators)]
    pub operators: Option<Operators>,
    /// Run so many mutants a suite at most, spread evenly over all of them.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: Option<u32>,
    /// Change only kernels whose name contains this.
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,
    /// Run this mutant, as the report names it; may be given several times.
    #[arg(long = "mutant", value_name = "ID")]
    pub mutants: Vec<String>,
    /// Run only the mutants that are listed as equivalent, to check the list.
    #[arg(long)]
    pub listed: bool,
    /// The score, per cent, below which a suite is not good enough.
    #[arg(long, value_name = "PERCENT", default_value_t = 95.0, value_parser = percent)]
    pub least: f64,
    /// The cases that judge: quick, full, perf or huge [default: quick].
    #[arg(long, value_parser = parse_profile)]
    pub profile: Option<Profile>,
    /// The archive's folder [default: reports].
    #[arg(long, value_name = "DIR")]
    pub reports: Option<PathBuf>,
    /// Do not tell how far it is.
    #[arg(long, short)]
    pub quiet: bool,
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    #[command(flatten)]
    pub folders: Folders,
}

/// One value with commas in it.
#[derive(Clone, Debug)]
pub(super) struct Operators(pub Vec<Operator>);

fn operators(text: &str) -> Result<Operators, String> {
    let each = text.split(',').map(str::trim).map(|name| {
        Operator::from_name(name).ok_or_else(|| {
            let names: Vec<&str> = Operator::ALL.iter().map(|o| o.name()).collect();
            format!("`{name}` is no kind of change: {}", names.join(", "))
        })
    });
    each.collect::<Result<_, _>>().map(Operators)
}

fn percent(text: &str) -> Result<f64, String> {
    let value = text.parse::<f64>().ok();
    value
        .filter(|value| (0.0..=100.0).contains(value))
        .ok_or_else(|| format!("`{text}` is no percentage from 0 to 100"))
}

/// Which schedules of the simulated device every case takes.
#[derive(Debug, Args)]
pub(super) struct Schedules {
    /// Run every case under this many schedules of the simulated device, the first of them fair [default: 1].
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub schedules: Option<u32>,
    /// What the schedules are drawn from [default: 0]. Without --schedules: run under one that is not the fair one.
    #[arg(long, value_name = "SEED", value_parser = parse_seed)]
    pub seed: Option<u64>,
    /// Run under this schedule of the simulated device alone, as a failure prints it.
    #[arg(long, value_name = "SCHEDULE", conflicts_with_all = ["schedules", "seed"])]
    pub schedule: Option<Schedule>,
}

/// What chooses cases.
#[derive(Debug, Args)]
pub(super) struct Choices {
    /// Take cases whose id contains one of these.
    #[arg(value_name = "FILTER")]
    pub filters: Vec<String>,
    /// A filter must be the whole id.
    #[arg(long)]
    pub exact: bool,
    /// Leave out cases whose id contains this; may be repeated.
    #[arg(long, value_name = "FILTER")]
    pub skip: Vec<String>,
    /// auto, sim, cuda, cuda:N, a UUID or all (every card, side by side) [default: auto].
    #[arg(long)]
    pub device: Option<DeviceChoice>,
    /// quick, full, perf or huge [default: full on a GPU, quick on the simulated device].
    #[arg(long, value_parser = parse_profile)]
    pub profile: Option<Profile>,
    /// sass, jit, nvrtc, or several with commas [default: sass,jit on a GPU, jit on the simulated device].
    #[arg(long, value_name = "IMAGES", value_parser = images)]
    pub image: Option<Images>,
    #[command(flatten)]
    pub folders: Folders,
}

/// Where specs and kernels come from.
#[derive(Debug, Args)]
pub(super) struct Folders {
    /// A folder of specs [default: specs here, else the embedded copy].
    #[arg(long, value_name = "DIR")]
    pub specs: Option<PathBuf>,
    /// A folder of kernels [default: kernels here, else the embedded copy].
    #[arg(long, value_name = "DIR")]
    pub kernels: Option<PathBuf>,
}

/// One value with commas in it, not a list of values.
#[derive(Clone, Debug)]
pub(super) struct Images(pub Vec<ImageKind>);

fn images(text: &str) -> Result<Images, String> {
    parse_images(text).map(Images)
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(super) enum Format {
    #[default]
    Text,
    /// One JSON document, nothing else.
    Json,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(super) enum ShowFormat {
    #[default]
    Text,
    /// The record itself.
    Json,
    Markdown,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(super) enum Document {
    /// A suite's YAML.
    #[default]
    Suite,
    /// A run's report.json.
    Report,
    /// A mutation run's mutation.json.
    Mutation,
    /// The file of known failures beside suites: waivers.yaml.
    Waivers,
}

#[derive(Debug, Subcommand)]
pub(super) enum Kernels {
    /// Compile kernels whose PTX is missing or stale, and write their PTX and the manifest.
    Build {
        /// The folder of kernels.
        #[arg(long, value_name = "DIR")]
        kernels: Option<PathBuf>,
        /// Compile all of them, fresh or not.
        #[arg(long)]
        all: bool,
    },
    /// Build the native library (CUB and Thrust baselines) with nvcc, for the cards here or CUDA_GATES_ARCHS; its
    /// sources are those of the folder, else the embedded copy.
    Native {
        /// The folder of kernels.
        #[arg(long, value_name = "DIR")]
        kernels: Option<PathBuf>,
    },
    /// Check that every PTX is what its source compiles to.
    Verify {
        /// The folder of kernels.
        #[arg(long, value_name = "DIR")]
        kernels: Option<PathBuf>,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum Report {
    /// List archived runs, oldest first.
    List {
        /// The archive's folder [default: reports].
        #[arg(long, value_name = "DIR")]
        reports: Option<PathBuf>,
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Judge a run of many processes (`cargo nextest run`) as one, and write its report.
    #[command(after_help = EXIT_CODES)]
    Close {
        /// A run's id or its beginning, or its folder [default: the newest run].
        #[arg(value_name = "RUN")]
        run: Option<String>,
        /// What its cases were selected by, where they were.
        #[arg(value_name = "FILTER")]
        filters: Vec<String>,
        /// A filter must be the whole id.
        #[arg(long)]
        exact: bool,
        /// Cases with this in their id were left out; may be repeated.
        #[arg(long, value_name = "FILTER")]
        skip: Vec<String>,
        /// The archive's folder [default: reports].
        #[arg(long, value_name = "DIR")]
        reports: Option<PathBuf>,
        #[command(flatten)]
        folders: Folders,
        #[arg(long, value_enum, default_value_t)]
        format: ShowFormat,
    },
    /// Tell whether runs are as they were written: every run's where none is named. Exit code 1 when one is not.
    Verify {
        /// Runs' ids or their beginnings, their folders, or report.json files.
        #[arg(value_name = "RUN")]
        runs: Vec<String>,
        /// The archive's folder [default: reports].
        #[arg(long, value_name = "DIR")]
        reports: Option<PathBuf>,
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Show a run, also one that did not finish.
    Show {
        /// A run's id or its beginning, its folder, or a report.json [default: the newest run].
        #[arg(value_name = "RUN")]
        run: Option<String>,
        /// The archive's folder [default: reports].
        #[arg(long, value_name = "DIR")]
        reports: Option<PathBuf>,
        #[arg(long, value_enum, default_value_t)]
        format: ShowFormat,
        /// As `run --redact`, for a run that was recorded without.
        #[arg(long)]
        redact: bool,
        /// Write the plots of the run's tables into this folder, as SVG, and show what was written instead of the run.
        #[arg(long, value_name = "DIR", conflicts_with = "format")]
        plots: Option<PathBuf>,
    },
}

impl Cli {
    /// `--device sim list` would run the cases with `list` in their name.
    ///
    /// # Errors
    /// When a command stands where a filter is read.
    pub fn no_command_among_filters(&self) -> Result<(), String> {
        let definition = Self::command();
        let is_command = |word: &&String| definition.find_subcommand(word).is_some();
        let filters = &self.run.choices.filters;
        match filters.iter().find(is_command) {
            None => Ok(()),
            Some(word) => Err(format!(
                "`{word}` is a command: write it first (`cuda-gates {word} …`), or `cuda-gates run {word}` to \
                 choose cases by that word"
            )),
        }
    }
}

impl Run {
    /// Arguments win over the environment.
    pub fn resolve(self, environment: Options) -> Options {
        let Folders { specs, kernels } = &self.choices.folders;
        let resume = self.resume.map(|run| Resume {
            run,
            device: self.choices.device.clone(),
            specs: specs.clone(),
            kernels: kernels.clone(),
            timeout: self.timeout,
        });
        let options = self.choices.resolve(environment);
        Options {
            resume,
            reports: self.reports.unwrap_or(options.reports),
            timeout: self.timeout.unwrap_or(options.timeout),
            schedules: self.schedules.over(options.schedules),
            redact: self.redact,
            quiet: self.quiet,
            ..options
        }
    }
}

impl Schedules {
    /// Whether a variable of this name has no say.
    fn decide(&self, name: &str) -> bool {
        let replays = self.schedule.is_some();
        match name {
            "CUDA_GATES_SCHEDULES" => replays || self.schedules.is_some(),
            "CUDA_GATES_SEED" => replays || self.seed.is_some(),
            "CUDA_GATES_SCHEDULE" => replays || self.schedules.is_some() || self.seed.is_some(),
            _ => false,
        }
    }

    fn over(self, environment: ScheduleChoice) -> ScheduleChoice {
        let Self {
            schedules: count,
            seed,
            schedule: only,
        } = self;
        ScheduleChoice { count, seed, only }.over(environment)
    }
}

impl Choices {
    pub fn resolve(self, environment: Options) -> Options {
        let mut options = self.folders.resolve(environment);
        options.device = self.device.unwrap_or(options.device);
        options.profile = self.profile.or(options.profile);
        options.images = self.image.map(|images| images.0).or(options.images);
        options.selection.filters = self.filters;
        options.selection.exact = self.exact;
        options.selection.skip = self.skip;
        options
    }
}

impl Folders {
    pub fn resolve(self, environment: Options) -> Options {
        Options {
            specs: self.specs.or(environment.specs),
            kernels: self.kernels.or(environment.kernels),
            ..environment
        }
    }
}

impl Cli {
    /// The choices that the environment makes, from a variable's name to its value. What an argument wins over is not
    /// even read.
    ///
    /// # Errors
    /// A variable with a wrong value.
    pub(super) fn environment(
        &self,
        get: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Options, UsageError> {
        let given = match &self.command {
            Some(Command::Run(run)) => Some(&run.schedules),
            None => Some(&self.run.schedules),
            Some(_) => None,
        };
        let decided = |name: &str| given.is_some_and(|given| given.decide(name));
        Options::from_environment(|name| get(name).filter(|_| !decided(name)))
    }
}
