//! The supervisor of one worker: starts it, gives it cases, ends it, starts the next.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::capture::{Output, last_words};
use super::child::Worker;
use super::process::{Silence, describe};
use super::protocol::{Reply, Request, VERSION};
use super::{WORKER_ARGUMENT, WorkerConfig, environment, memory, own};
use crate::device::DeviceInfo;
use crate::device::sim::Schedule;
use crate::outcome::Fault;
use crate::report::record::CaseRecord;

/// The least that closing a device may take.
const CLOSING: Duration = Duration::from_secs(5);
/// Workers that may fail to start one after the other, once one of the run did start.
const START_FAILURES_MAX: u32 = 3;
/// Lines of a dead worker's standard error in the reason.
const LAST_LINES: usize = 5;

/// How workers are started.
#[derive(Clone, Debug)]
pub struct Launch {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    pub config: WorkerConfig,
    /// From process start to the opened device.
    pub startup_deadline: Duration,
    pub case_deadline: Duration,
}

impl Launch {
    /// This executable, started as a worker: a minute to start, two minutes a case.
    pub fn this_executable(config: WorkerConfig) -> io::Result<Self> {
        Ok(Self {
            program: own::program()?,
            arguments: vec![WORKER_ARGUMENT.into()],
            config,
            startup_deadline: Duration::from_secs(60),
            case_deadline: Duration::from_secs(120),
        })
    }
}

/// What came of a case.
#[derive(Debug)]
pub struct Answer {
    /// The record, or why the worker gave none.
    pub result: Result<CaseRecord, Fault>,
    /// What the worker printed meanwhile.
    pub output: Output,
    /// The run it was at when it fell silent, where it ran under chosen schedules.
    pub reached: Option<Reached>,
    /// It came to its first step; known where its gate expects an error.
    pub launched: bool,
}

/// A run of a case under one of its schedules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reached {
    pub schedule: Schedule,
    /// Runs of the case up to this one.
    pub runs: u32,
}

impl Answer {
    /// Why there is no record of a case that did not start.
    pub fn fault(fault: Fault, output: Output) -> Self {
        Self {
            result: Err(fault),
            output,
            reached: None,
            launched: false,
        }
    }
}

/// What the supervisors of one run know together.
#[derive(Debug, Default)]
pub(super) struct Shared {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Nothing can start: every case ends like this.
    down: Option<Fault>,
    device: Option<DeviceInfo>,
    failed_starts: u32,
    first_case: Option<Instant>,
    last_answer: Option<Instant>,
    /// What went wrong with workers that were at no case.
    beside_cases: Vec<String>,
}

impl Shared {
    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        // The state is whole between any two statements, so a panic elsewhere does not spoil it.
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn device(&self) -> Option<DeviceInfo> {
        self.with(|state| state.device.clone())
    }

    pub(super) fn work(&self) -> Duration {
        self.with(|state| match (state.first_case, state.last_answer) {
            (Some(first), Some(last)) => last.saturating_duration_since(first),
            _ => Duration::ZERO,
        })
    }

    /// What went wrong with workers that were at no case, since it was last asked.
    pub(super) fn take_beside_cases(&self) -> Vec<String> {
        self.with(|state| std::mem::take(&mut state.beside_cases))
    }

    fn went_wrong(&self, wrong: impl IntoIterator<Item = String>) {
        self.with(|state| state.beside_cases.extend(wrong));
    }

    /// Takes a worker's device, which is the run's from the first one on.
    ///
    /// # Errors
    /// It has opened another one; so would the next.
    fn started(&self, device: &DeviceInfo) -> Result<(), Fault> {
        self.with(|state| {
            state.failed_starts = 0;
            let first = state.device.get_or_insert_with(|| device.clone());
            if (&first.name, &first.uuid) == (&device.name, &device.uuid) {
                return Ok(());
            }
            let fault = another_device(first, device);
            state.down = Some(fault.clone());
            Err(fault)
        })
    }

    /// A worker that said no itself: so would the next.
    fn refused(&self, fault: &Fault) {
        self.with(|state| state.down = Some(fault.clone()));
    }

    /// A worker that died or fell silent before it was ready.
    fn start_failed(&self, fault: &Fault) {
        self.with(|state| {
            state.failed_starts += 1;
            if state.device.is_none() || state.failed_starts >= START_FAILURES_MAX {
                state.down = Some(fault.clone());
            }
        });
    }
}

/// Runs cases one after the other, each in a worker that no earlier case has broken.
pub struct Supervisor {
    launch: Arc<Launch>,
    shared: Arc<Shared>,
    worker: Option<Worker>,
}

impl Supervisor {
    /// Starts nothing until the first case.
    pub fn new(launch: Launch) -> Self {
        Self::sharing(Arc::new(launch), Arc::default())
    }

    pub(super) fn sharing(launch: Arc<Launch>, shared: Arc<Shared>) -> Self {
        Self {
            launch,
            shared,
            worker: None,
        }
    }

    /// The device, once a worker has opened it.
    pub fn device(&self) -> Option<DeviceInfo> {
        self.shared.device()
    }

    /// Runs one case, in at most the startup's deadline and the case's.
    pub fn run(&mut self, id: &str) -> Answer {
        let mut worker = match self.ready_worker() {
            Ok(worker) => worker,
            Err(answer) => return *answer,
        };
        let start = Instant::now();
        self.shared
            .with(|state| _ = state.first_case.get_or_insert(start));
        let request = Request::Run { id: id.to_owned() };
        let reply = worker.ask(&request, self.launch.case_deadline);
        self.shared
            .with(|state| state.last_answer = Some(Instant::now()));
        match reply {
            Ok(Reply::Result { record, lost }) => self.keep(worker, lost, Ok(*record)),
            Ok(Reply::Fault { reason, lost }) => {
                let fault = Fault {
                    reason,
                    sticky: lost,
                };
                self.keep(worker, lost, Err(fault))
            }
            Ok(other) => {
                let silence = Silence::Garbage(format!("out of turn: {other:?}"));
                broken(worker, silence, self.launch.case_deadline)
            }
            Err(silence) => {
                let told = worker.take_told();
                let mut answer = broken(worker, silence, self.launch.case_deadline);
                answer.launched = told.launched;
                match told.failed {
                    // It was lost on the way to a simpler schedule.
                    Some(record) => answer.result = Ok(*record),
                    None => answer.reached = told.reached,
                }
                answer
            }
        }
    }

    /// Starts a worker unless one is idle, so that the device is known before the first case.
    ///
    /// # Errors
    /// Why it did not start.
    pub fn open(&mut self) -> Result<(), Fault> {
        match self.ready_worker() {
            Ok(worker) => {
                self.worker = Some(worker);
                Ok(())
            }
            Err(answer) => answer.result.map(|_| ()),
        }
    }

    /// Ends the idle worker; the next case starts another. What goes wrong is the run's to tell.
    pub(super) fn end(&mut self) {
        if let Some(worker) = self.worker.take() {
            // Which is the driver's work, as a case is.
            let limit = self.launch.case_deadline.min(self.launch.startup_deadline);
            self.shared.went_wrong(worker.close(limit.max(CLOSING)));
        }
    }

    /// Keeps the worker for the next case, unless its device is lost.
    fn keep(
        &mut self,
        mut worker: Worker,
        lost: bool,
        result: Result<CaseRecord, Fault>,
    ) -> Answer {
        let output = worker.take_output();
        let launched = worker.take_told().launched;
        if lost {
            worker.kill();
        } else {
            self.worker = Some(worker);
        }
        Answer {
            result,
            output,
            reached: None,
            launched,
        }
    }

    /// The idle worker, or a new one that has opened its device.
    fn ready_worker(&mut self) -> Result<Worker, Box<Answer>> {
        if let Some(fault) = self.shared.with(|state| state.down.clone()) {
            return Err(Box::new(Answer::fault(fault, Output::default())));
        }
        if let Some(mut worker) = self.worker.take() {
            match worker.dead() {
                None => return Ok(worker),
                Some(wrong) => self.shared.went_wrong([wrong]),
            }
        }
        self.start()
    }

    fn start(&self) -> Result<Worker, Box<Answer>> {
        let limit = self.launch.startup_deadline;
        let mut command = own::command(&self.launch.program, &self.launch.arguments);
        environment::prepare(&mut command);
        let mut worker = Worker::spawn(command).map_err(|error| {
            let program = self.launch.program.display();
            let fault = Fault::environment(format!("cannot start a worker ({program}): {error}"));
            self.shared.start_failed(&fault);
            Box::new(Answer::fault(fault, Output::default()))
        })?;
        let hello = Request::Hello {
            version: VERSION,
            config: self.launch.config.clone(),
        };
        match worker.ask(&hello, limit) {
            Ok(Reply::Ready { device, .. }) => match self.shared.started(&device) {
                Ok(()) => Ok(worker),
                Err(fault) => Err(Box::new(Answer::fault(fault, worker.take_output()))),
            },
            Ok(Reply::Refused { reason }) => {
                let fault = Fault {
                    reason,
                    sticky: true,
                };
                self.shared.refused(&fault);
                Err(Box::new(Answer::fault(fault, worker.take_output())))
            }
            other => {
                let silence = match other {
                    Err(silence) => silence,
                    Ok(reply) => Silence::Garbage(format!("out of turn: {reply:?}")),
                };
                let mut answer = broken(worker, silence, limit);
                if let Err(fault) = &mut answer.result {
                    let why = &fault.reason.message;
                    *fault = Fault::environment(format!("the worker did not start: {why}"));
                    self.shared.start_failed(fault);
                }
                Err(Box::new(answer))
            }
        }
    }
}

/// Results of two cards are not one run's.
fn another_device(first: &DeviceInfo, now: &DeviceInfo) -> Fault {
    let shown = |device: &DeviceInfo| {
        let uuid = device.uuid.as_deref().unwrap_or("no UUID");
        format!("{} ({uuid})", device.name)
    };
    Fault::environment(format!(
        "the run began on {}, and a fresh worker got {}: the first is gone, or the devices are numbered anew. See \
         `nvidia-smi -L` and the kernel's log, and name the device by its UUID",
        shown(first),
        shown(now)
    ))
}

/// Ends a worker that gave no answer, and says why there is none.
fn broken(mut worker: Worker, silence: Silence, limit: Duration) -> Answer {
    let gone = worker.kill();
    let output = worker.take_output();
    let mut fault = match silence {
        Silence::Deadline => Fault::hang(format!(
            "no answer within {} s; the worker was killed",
            limit.as_secs_f64()
        )),
        Silence::Ended(Some(status)) => match memory::ran_out(&output.stderr) {
            Some(line) => {
                let fault = out_of_memory(line);
                return Answer::fault(fault, output);
            }
            None => Fault::kernel(format!("worker died: {}", describe(status))),
        },
        Silence::Ended(None) => {
            Fault::kernel("the worker closed its socket and went on; it was killed")
        }
        Silence::Garbage(what) => {
            Fault::kernel(format!("the worker sent what is no answer: {what}"))
        }
        Silence::Io(error) => Fault::kernel(format!("the worker's socket failed: {error}")),
    };
    if !gone {
        fault
            .reason
            .message
            .push_str("; it does not end even so (stuck in the driver?)");
    }
    let lines = last_words(&output.stderr, LAST_LINES);
    if !lines.is_empty() {
        fault.reason.message.push_str("; its last words: ");
        fault.reason.message.push_str(&lines.join(" | "));
    }
    Answer::fault(fault, output)
}

/// The case asks for more than there is, which is the spec's doing or the machine's, not the kernel's.
fn out_of_memory(line: &str) -> Fault {
    Fault::setup(format!(
        "out of memory: the case needs more than this machine has for it ({line})"
    ))
}
