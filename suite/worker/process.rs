//! A process of this executable at the other end of a socket: its messages, its output, its end.

use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::capture::{Capture, Output};
use super::protocol::{self, Inbox};

/// How long a process may take to end by itself.
pub(super) const GOODBYE: Duration = Duration::from_secs(5);
/// How long a killed one may take to be gone: a process inside the driver cannot be killed at once.
const REAP: Duration = Duration::from_secs(10);

/// Why no reply came.
#[derive(Debug)]
pub(super) enum Silence {
    Deadline,
    /// The process closed its end; how it ended, where it did.
    Ended(Option<ExitStatus>),
    /// Something that is no message.
    Garbage(String),
    Io(io::Error),
}

/// Dropping it kills it.
pub(super) struct Process {
    child: Child,
    socket: UnixStream,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    inbox: Inbox,
    printed: Capture,
    complained: Capture,
    /// It is gone, or does not go even when killed.
    over: bool,
}

impl Process {
    pub(super) fn spawn(mut command: Command) -> io::Result<Self> {
        let (socket, theirs) = UnixStream::pair()?;
        let mut child = command
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        // `command` still holds their end of the socket: it must go, or the process' end would never be seen.
        drop(command);
        Ok(Self {
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
            child,
            socket,
            inbox: Inbox::default(),
            printed: Capture::default(),
            complained: Capture::default(),
            over: false,
        })
    }

    /// How it has ended, with its last words taken up; none while it runs.
    pub(super) fn ended(&mut self) -> Option<ExitStatus> {
        let status = self.child.try_wait().ok().flatten()?;
        self.over = true;
        // What cannot be read any more is lost with it.
        let _ = self.drain();
        Some(status)
    }

    pub(super) fn send(&mut self, message: &impl Serialize) -> Result<(), Silence> {
        match protocol::send(&mut self.socket, message) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                Err(Silence::Ended(self.wait(GOODBYE)))
            }
            sent => sent.map_err(Silence::Io),
        }
    }

    /// Waits for a message, taking up whatever the process prints meanwhile.
    pub(super) fn receive<M: DeserializeOwned>(&mut self, deadline: Instant) -> Result<M, Silence> {
        loop {
            if let Some(message) = self.inbox.next().map_err(Silence::Garbage)? {
                return Ok(message);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Silence::Deadline);
            }
            if self.pump(left).map_err(Silence::Io)?.ended {
                return Err(Silence::Ended(self.wait(GOODBYE)));
            }
        }
    }

    /// Says goodbye, and leaves it time to end.
    pub(super) fn part(&mut self, goodbye: &impl Serialize) {
        if self.send(goodbye).is_ok() {
            self.wait(GOODBYE);
        }
    }

    /// Waits until something can be read, and reads it.
    fn pump(&mut self, limit: Duration) -> io::Result<Pumped> {
        let ready = self.ready(limit)?;
        let mut pumped = Pumped::default();
        let mut buffer = [0; 64 * 1024];
        if ready.stdout {
            pumped.any = true;
            take_up(&mut self.stdout, &mut self.printed, &mut buffer)?;
        }
        if ready.stderr {
            pumped.any = true;
            take_up(&mut self.stderr, &mut self.complained, &mut buffer)?;
        }
        if ready.socket {
            pumped.any = true;
            match retry(|| self.socket.read(&mut buffer)) {
                Ok(0) => pumped.ended = true,
                Ok(count) => self.inbox.push(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
                    pumped.ended = true;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(pumped)
    }

    fn ready(&self, limit: Duration) -> io::Result<Ready> {
        let flags = PollFlags::IN;
        let mut fds = vec![PollFd::new(&self.socket, flags)];
        let stdout = self.stdout.as_ref().map(|pipe| pipe.as_fd());
        let stderr = self.stderr.as_ref().map(|pipe| pipe.as_fd());
        fds.extend(stdout.map(|fd| PollFd::from_borrowed_fd(fd, flags)));
        fds.extend(stderr.map(|fd| PollFd::from_borrowed_fd(fd, flags)));
        let timeout = Timespec::try_from(limit).ok();
        match poll(&mut fds, timeout.as_ref()) {
            Err(rustix::io::Errno::INTR) => return Ok(Ready::default()),
            result => result?,
        };
        let mut readable = fds.iter().map(|fd| !fd.revents().is_empty());
        let mut next = |present: bool| present && readable.next().unwrap_or(false);
        Ok(Ready {
            socket: next(true),
            stdout: next(stdout.is_some()),
            stderr: next(stderr.is_some()),
        })
    }

    /// Takes up everything already printed.
    pub(super) fn drain(&mut self) -> io::Result<()> {
        loop {
            let pumped = self.pump(Duration::ZERO)?;
            if !pumped.any || pumped.ended {
                return Ok(());
            }
        }
    }

    /// What was printed since the last call.
    pub(super) fn take_output(&mut self) -> Output {
        Output {
            stdout: self.printed.take(),
            stderr: self.complained.take(),
        }
    }

    /// Kills and reaps it, and takes up its last words. False when it cannot be killed.
    pub(super) fn kill(&mut self) -> bool {
        // Fails only when it is gone already.
        let _ = self.child.kill();
        let gone = self.wait(REAP).is_some();
        self.over = true;
        // What cannot be read any more is lost with it.
        let _ = self.drain();
        gone
    }

    /// Waits for its end, and takes up its last words.
    pub(super) fn wait(&mut self, limit: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + limit;
        let mut pause = Duration::from_micros(200);
        loop {
            if let Some(status) = self.ended() {
                return Some(status);
            }
            if Instant::now() >= deadline {
                return None;
            }
            // A process with a full pipe cannot end.
            let _ = self.drain();
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.over {
            self.kill();
        }
    }
}

#[derive(Default)]
struct Ready {
    socket: bool,
    stdout: bool,
    stderr: bool,
}

#[derive(Default)]
struct Pumped {
    any: bool,
    /// The process closed its socket.
    ended: bool,
}

/// One read, which does not block since the pipe is ready; a pipe at its end is dropped.
fn take_up(pipe: &mut Option<impl Read>, into: &mut Capture, buffer: &mut [u8]) -> io::Result<()> {
    let Some(reader) = pipe else { return Ok(()) };
    match retry(|| reader.read(buffer))? {
        0 => *pipe = None,
        count => into.push(&buffer[..count]),
    }
    Ok(())
}

fn retry(mut read: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match read() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// `signal 9 (SIGKILL)`, `exit code 3`.
pub(super) fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => match signal_name(signal) {
            Some(name) => format!("signal {signal} ({name})"),
            None => format!("signal {signal}"),
        },
        (None, None) => "an unknown end".to_owned(),
    }
}

fn signal_name(signal: i32) -> Option<&'static str> {
    Some(match signal {
        2 => "SIGINT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        31 => "SIGSYS",
        _ => return None,
    })
}
