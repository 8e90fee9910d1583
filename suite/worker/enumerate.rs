//! Which cards there are, asked in a process of its own: the one that owns the trials never initialises CUDA.

use std::io::{Read, Write};
use std::process::{self, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::{WORKER_ARGUMENT, environment, own};
use crate::device::{DeviceInfo, cuda};
use crate::outcome::{Fault, Reason};

/// The second argument that makes a worker list the cards and end.
const ARGUMENT: &str = "devices";
const LIMIT: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(5);

type Listed = Result<Vec<DeviceInfo>, Reason>;

/// Every card that CUDA shows, in its order.
///
/// # Errors
/// `environment`: what the driver says, or that it ended or held up the process which asked.
pub fn enumerate_devices() -> Result<Vec<DeviceInfo>, Fault> {
    let lost = |why: String| Fault::environment(format!("cannot list the CUDA devices: {why}"));
    let program = own::program().map_err(|error| lost(error.to_string()))?;
    let mut command = own::command(&program, &[WORKER_ARGUMENT.into(), ARGUMENT.into()]);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    environment::prepare(&mut command);
    let mut child = command.spawn().map_err(|error| lost(error.to_string()))?;
    let stdout = child.stdout.take();
    let answer = thread::spawn(move || {
        let mut text = String::new();
        // What cannot be read is no answer, which is told below.
        let _ = stdout.map(|mut pipe| pipe.read_to_string(&mut text));
        text
    });
    let deadline = Instant::now() + LIMIT;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < deadline => thread::sleep(PAUSE),
            _ => {
                // Fails only when it is gone already.
                let _ = child.kill();
                return Err(lost(format!(
                    "no answer within {} s; the process was killed",
                    LIMIT.as_secs()
                )));
            }
        }
    };
    let text = answer.join().unwrap_or_default();
    let listed: Listed = serde_json::from_str(&text)
        .map_err(|_| lost(format!("the process that asked the driver ended: {status}")))?;
    listed.map_err(|reason| Fault {
        reason,
        sticky: true,
    })
}

/// Whether this worker was started to list the cards.
pub(super) fn is_asked_for() -> bool {
    std::env::args_os()
        .nth(2)
        .is_some_and(|argument| argument == ARGUMENT)
}

/// The main function of such a worker.
pub(super) fn list() -> ! {
    let listed: Listed = cuda::enumerate().map_err(|fault| fault.reason);
    let text = serde_json::to_string(&listed).unwrap_or_default();
    let written = std::io::stdout().write_all(text.as_bytes());
    process::exit(i32::from(written.is_err()))
}
