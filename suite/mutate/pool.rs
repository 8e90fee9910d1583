//! Work on every core: each thread has a bench of its own and takes the next item when it is done with one.
//!
//! Imports `image` and `spec`.

use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::bench::Bench;
use crate::image::Catalog;
use crate::spec::model::Suite;

/// Between two lines about how far it is.
const TELL_EVERY: Duration = Duration::from_secs(10);

/// What every thread needs.
pub struct Pool<'a> {
    pub catalog: &'a Catalog,
    pub suite: &'a Suite,
    /// Tell standard error how far it is.
    pub tells: bool,
}

impl Pool<'_> {
    /// What `work` gives for each item, in order.
    pub fn map<T: Sync, R: Send>(
        &self,
        what: &str,
        items: &[T],
        work: impl Fn(&mut Bench, &T) -> R + Sync,
    ) -> Vec<R> {
        let next = AtomicUsize::new(0);
        let results: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::with_capacity(items.len()));
        let told = Mutex::new(Instant::now());
        let drain = || {
            let mut bench = Bench::new(self.catalog.clone(), self.suite.clone());
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(index) else { return };
                let result = work(&mut bench, item);
                let done = {
                    let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
                    results.push((index, result));
                    results.len()
                };
                self.tell(what, done, items.len(), &told);
            }
        };
        let cores = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| {
            for _ in 1..cores.min(items.len()) {
                // Where no thread can be had, the ones that run do the work.
                if thread::Builder::new().spawn_scoped(scope, drain).is_err() {
                    break;
                }
            }
            drain();
        });
        let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.sort_by_key(|(index, _)| *index);
        results.into_iter().map(|(_, result)| result).collect()
    }

    fn tell(&self, what: &str, done: usize, of: usize, told: &Mutex<Instant>) {
        let mut last = told.lock().unwrap_or_else(PoisonError::into_inner);
        if self.tells && last.elapsed() >= TELL_EVERY {
            *last = Instant::now();
            // With stderr closed there is nobody left to tell.
            let _ = writeln!(io::stderr(), "{}: {what} {done} of {of}", self.suite.name);
        }
    }
}
