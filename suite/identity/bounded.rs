//! NVML's calls with an end: a card that fell off its bus can hold one for ever, in the process that owns the trials.
//!
//! Owns: the thread that asks, and the memory that NVML once gave no answer. Imports nothing.
//!
//! ```text
//! bounded(ask) → its answer, or why there is none; after the first call without one nothing is asked any more
//! ```

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// A driver that starts its cards afresh for each process needs seconds for every one.
const LIMIT: Duration = Duration::from_secs(60);

static STUCK: AtomicBool = AtomicBool::new(false);

/// Asks NVML in a thread of its own.
///
/// # Errors
/// In words: no answer, now or before.
pub(super) fn bounded<T: Send + 'static>(
    ask: impl FnOnce() -> T + Send + 'static,
) -> Result<T, String> {
    within(LIMIT, &STUCK, ask)
}

fn within<T: Send + 'static>(
    limit: Duration,
    stuck: &AtomicBool,
    ask: impl FnOnce() -> T + Send + 'static,
) -> Result<T, String> {
    let silent = || {
        format!(
            "environment: NVML gave no answer within {} s (a card that fell off its bus? `dmesg` tells; a reset or \
             reboot mends it)",
            limit.as_secs_f64()
        )
    };
    if stuck.load(Ordering::Relaxed) {
        return Err(silent());
    }
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        // Nobody waits any more after the limit.
        let _ = sender.send(ask());
    });
    match receiver.recv_timeout(limit) {
        Ok(answer) => Ok(answer),
        Err(mpsc::RecvTimeoutError::Timeout) => {
            stuck.store(true, Ordering::Relaxed);
            Err(silent())
        }
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            Err("the thread that asked NVML panicked".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn an_answer_comes_through() {
        let stuck = AtomicBool::new(false);
        assert_eq!(within(Duration::from_secs(60), &stuck, || 7), Ok(7));
        assert!(!stuck.into_inner());
    }

    #[test]
    fn a_call_without_an_answer_is_given_up_and_none_follows() {
        let stuck = AtomicBool::new(false);
        let limit = Duration::from_millis(50);
        let (hold, held) = mpsc::channel::<()>();
        let silent = within(limit, &stuck, move || held.recv()).unwrap_err();
        assert!(
            silent.starts_with("environment: NVML gave no answer within 0.05 s"),
            "{silent}"
        );
        let clock = Instant::now();
        let again = within(Duration::from_secs(60), &stuck, || 7);
        assert!(again.is_err() && clock.elapsed() < Duration::from_secs(30));
        drop(hold);
    }

    #[test]
    fn a_panic_is_no_silence() {
        let stuck = AtomicBool::new(false);
        let asked = within(Duration::from_secs(60), &stuck, || {
            std::panic::resume_unwind(Box::new("on purpose"))
        });
        let asked: Result<(), String> = asked;
        assert_eq!(asked, Err("the thread that asked NVML panicked".to_owned()));
    }
}
