//! The workers of a run: one per GPU, or one per core for the simulated device.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::supervisor::{Answer, Launch, Shared, Supervisor};
use crate::device::DeviceInfo;
use crate::outcome::Fault;

/// Supervisors that trials check out, a case at a time. Workers start when they are first needed.
pub struct Pool {
    supervisors: Vec<Mutex<Supervisor>>,
    /// Indices into `supervisors`. The last one back is the first to go: one trial at a time needs one worker.
    free: Mutex<Vec<usize>>,
    returned: Condvar,
    shared: Arc<Shared>,
}

impl Pool {
    /// `size` workers at most (at least one).
    pub fn new(launch: Launch, size: usize) -> Self {
        let size = size.max(1);
        let launch = Arc::new(launch);
        let shared = Arc::new(Shared::default());
        let supervisor = |_| {
            let supervisor = Supervisor::sharing(Arc::clone(&launch), Arc::clone(&shared));
            Mutex::new(supervisor)
        };
        Self {
            supervisors: (0..size).map(supervisor).collect(),
            free: Mutex::new((0..size).rev().collect()),
            returned: Condvar::new(),
            shared,
        }
    }

    /// Starts one worker, so that the device is known before the first case.
    ///
    /// # Errors
    /// Why it did not start. Where that is for good, every case ends so.
    pub fn open(&self) -> Result<(), Fault> {
        let guest = self.check_out();
        lock(&self.supervisors[guest.index]).open()
    }

    /// Runs one case; waits while all workers are at work.
    pub fn run(&self, id: &str) -> Answer {
        let guest = self.check_out();
        lock(&self.supervisors[guest.index]).run(id)
    }

    /// The device, once a worker has opened it.
    pub fn device(&self) -> Option<DeviceInfo> {
        self.shared.device()
    }

    /// From the first case's start to the last answer so far, without the first worker's start.
    pub fn work(&self) -> Duration {
        self.shared.work()
    }

    /// Ends the workers, each after the case it is at. Gives what went wrong with workers that were at no case, these
    /// and earlier ones: a device that could not be closed, a death between two cases.
    pub fn close(&self) -> Vec<String> {
        for supervisor in &self.supervisors {
            lock(supervisor).end();
        }
        self.shared.take_beside_cases()
    }

    fn check_out(&self) -> Guest<'_> {
        let mut free = lock(&self.free);
        loop {
            if let Some(index) = free.pop() {
                return Guest { pool: self, index };
            }
            free = self
                .returned
                .wait(free)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Gives the supervisor back even when the trial panics.
struct Guest<'p> {
    pool: &'p Pool,
    index: usize,
}

impl Drop for Guest<'_> {
    fn drop(&mut self) {
        lock(&self.pool.free).push(self.index);
        self.pool.returned.notify_one();
    }
}

/// A panic of another trial leaves a supervisor usable: the worker it held is ended by its drop.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
