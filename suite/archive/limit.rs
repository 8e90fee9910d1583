//! A limit on the size of files (`ulimit -f`) is an error of the write that meets it, as a full disk is.
//!
//! Owns: the process's answer to the signal. The only place that names signal-hook.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::SIGXFSZ;

/// Has a write beyond the limit give `EFBIG` in this process: its signal would else end it without a word. What this
/// process starts has the system's own answer again.
pub fn report_file_limit() {
    // Nobody asks for the flag: that there is a handler is enough. Of a signal that can be handled it never fails.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
}
