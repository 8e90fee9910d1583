//! The binary's own run: the same cases and the same judge as under `cargo test`, with progress instead of a list.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::progress::Progress;
use super::{Judge, PlannedCase};

/// A judge that knows its cases.
pub(super) trait Trials: Judge {
    /// Those that are neither decided nor have a result, in order.
    fn pending(&self) -> Vec<&PlannedCase>;
}

/// Runs every case that is neither decided nor has a result, at most `threads` at once, each as soon as a thread is
/// free.
pub(super) fn run(trials: &impl Trials, threads: usize, quiet: bool) {
    let cases = trials.pending();
    let progress = Progress::new(cases.len(), quiet);
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..threads.clamp(1, cases.len().max(1)) {
            scope.spawn(|| {
                while let Some(planned) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    progress.begun(&planned.case.id);
                    progress.ended(&trials.judge(&planned.case));
                }
            });
        }
    });
    progress.finish();
}
