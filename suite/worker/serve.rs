//! The worker process: takes cases from its supervisor, one at a time.

use std::io::{self, BufReader, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process;
use std::sync::mpsc;
use std::thread;

use rustix::process::{Signal, getpid, kill_process};
use serde::de::DeserializeOwned;

use super::protocol::{self, Reply, Request, VERSION};
use super::{Execute, WorkerConfig};
use crate::outcome::Fault;

/// The main function of a worker process, whose standard input is its supervisor's socket.
///
/// Ends with the process: once the device is closed after `Bye`, when the supervisor is gone, and after an answer that
/// lost the device.
pub fn serve<E: Execute>(start: impl FnOnce(WorkerConfig) -> Result<E, Fault>) -> ! {
    let code = match serve_until_bye(start) {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("worker: {error}");
            1
        }
    };
    process::exit(code)
}

fn serve_until_bye<E: Execute>(
    start: impl FnOnce(WorkerConfig) -> Result<E, Fault>,
) -> io::Result<()> {
    let (requests, mut replies) = connect(Request::Bye)?;
    let Ok(Request::Hello { version, config }) = requests.recv() else {
        return Err(io::Error::other("the supervisor did not say hello"));
    };
    if version != VERSION {
        let fault = Fault::setup(format!(
            "the worker speaks version {VERSION}, its supervisor {version}: rebuilt during the run?"
        ));
        return refuse(&mut replies, fault);
    }
    let opened = start(config).and_then(|mut executor| {
        let device = executor.hello()?;
        Ok((executor, device))
    });
    let (mut executor, device) = match opened {
        Ok(opened) => opened,
        Err(fault) => return refuse(&mut replies, fault),
    };
    protocol::send(&mut replies, &Reply::Ready { version, device })?;

    while let Ok(Request::Run { id }) = requests.recv() {
        let mut cut = Ok(());
        let result = executor.run(&id, &mut |progress| {
            let told = protocol::send(&mut replies, &Reply::of_progress(progress));
            cut = std::mem::replace(&mut cut, Ok(())).and(told);
        });
        cut?;
        let lost = executor.lost();
        let reply = Reply::of_case(result, lost);
        flush();
        protocol::send(&mut replies, &reply)?;
        if matches!(
            reply,
            Reply::Result { lost: true, .. } | Reply::Fault { lost: true, .. }
        ) {
            // A broken context may hang or crash in its destructors, after the answer is out.
            end_now();
        }
    }
    let failed = executor.close();
    flush();
    protocol::send(&mut replies, &Reply::Closed { failed })
}

/// What was printed reaches the pipes before the answer does, so that it is the right case's.
fn flush() {
    // A closed pipe loses the text, not the case.
    let _ = io::stdout().flush();
    let _ = io::stderr().flush();
}

fn refuse(replies: &mut UnixStream, fault: Fault) -> io::Result<()> {
    flush();
    let reason = fault.reason;
    protocol::send(replies, &Reply::Refused { reason })
}

/// The requests up to this goodbye, and where they are answered.
pub(super) fn connect<M>(goodbye: M) -> io::Result<(mpsc::Receiver<M>, UnixStream)>
where
    M: DeserializeOwned + PartialEq + Send + 'static,
{
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let replies = socket.try_clone().map_err(|error| {
        io::Error::other(format!(
            "standard input is not a supervisor's socket ({error})"
        ))
    })?;
    Ok((read_requests(socket, goodbye), replies))
}

/// Requests come through a thread of their own, so that the end of the supervisor is seen during a case too: a
/// worker never outlives it.
///
/// (A parent-death signal would not do: it follows the supervisor's *thread*, which ends earlier.)
fn read_requests<M>(socket: UnixStream, goodbye: M) -> mpsc::Receiver<M>
where
    M: DeserializeOwned + PartialEq + Send + 'static,
{
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut from = BufReader::new(socket);
        let mut sender = Some(sender);
        loop {
            match protocol::receive(&mut from) {
                // What is closed now may take for ever too.
                Ok(Some(request)) if request == goodbye => sender = None,
                Ok(Some(request)) => {
                    sender = sender.filter(|sender| sender.send(request).is_ok());
                }
                Ok(None) | Err(_) => end_now(),
            }
        }
    });
    receiver
}

/// Ends this process without running destructors, which may wait for a kernel that never ends.
fn end_now() -> ! {
    let _ = kill_process(getpid(), Signal::KILL);
    process::abort()
}
