//! The worker process as it is in a run: specs, kernels and a device behind [`Execute`].

use super::execute::{Executor, Tell};
use super::sources;
use super::{Address, Execute, WORKER_ARGUMENT, WorkerConfig, enumerate, memory, nvml, own, serve};
use crate::case;
use crate::device::cuda::{CudaDevice, Select};
use crate::device::sim::SimDevice;
use crate::device::{Device, DeviceInfo};
use crate::outcome::Fault;
use crate::report::record::CaseRecord;
use crate::terms::DeviceKind;

/// Whether this process was started as a worker: the first thing that `main` asks.
pub fn is_asked_for() -> bool {
    std::env::args_os()
        .nth(1)
        .is_some_and(|argument| argument == WORKER_ARGUMENT)
}

/// The main function of a worker.
pub fn work() -> ! {
    own::take_name();
    if enumerate::is_asked_for() {
        enumerate::list()
    }
    if nvml::is_asked_for() {
        nvml::answer()
    }
    serve(Worker::open)
}

struct Worker {
    executor: Executor,
}

impl Worker {
    fn open(config: WorkerConfig) -> Result<Self, Fault> {
        memory::bound(match config.device {
            Address::Sim => DeviceKind::Sim,
            Address::Ordinal(_) | Address::Uuid(_) => DeviceKind::Cuda,
        });
        // The supervisor has read the same files; what differs has changed since.
        let (suites, catalog) = sources::load_again(&config).map_err(Fault::setup)?;
        let device: Box<dyn Device> = match config.device {
            Address::Sim => Box::new(SimDevice::new()),
            Address::Ordinal(ordinal) => cuda(Select::Ordinal(ordinal))?,
            Address::Uuid(uuid) => cuda(Select::Uuid(uuid))?,
        };
        let mut executor = Executor::new(Box::new(catalog), suites, device);
        executor.set_schedules(config.schedules);
        Ok(Self { executor })
    }
}

fn cuda(select: Select) -> Result<Box<dyn Device>, Fault> {
    Ok(Box::new(CudaDevice::open(&select)?))
}

impl Execute for Worker {
    fn hello(&mut self) -> Result<DeviceInfo, Fault> {
        Ok(self.executor.info().clone())
    }

    fn run(&mut self, id: &str, tell: &mut Tell<'_>) -> Result<CaseRecord, Fault> {
        let case = case::find(self.executor.suites(), id).ok_or_else(|| {
            Fault::setup(format!(
                "no case `{id}`: were the specs changed during the run?"
            ))
        })?;
        Ok(self.executor.run_telling(&case, tell))
    }

    fn lost(&self) -> bool {
        self.executor.lost()
    }

    fn close(self) -> Vec<String> {
        self.executor.close()
    }
}
