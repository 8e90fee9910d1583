//! The words between supervisor and worker: one JSON document a line, of bounded length.

use std::io::{self, BufRead, Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::WorkerConfig;
use super::execute::Progress;
use crate::device::DeviceInfo;
use crate::device::sim::Schedule;
use crate::outcome::{Fault, Reason};
use crate::report::record::CaseRecord;

/// Both ends are the same executable, so this only catches one that was replaced during a run.
pub(super) const VERSION: u32 = 3;

/// Bytes of a line. A record's findings are excerpts, so a longer one is no record.
pub(super) const LINE_BYTES_MAX: usize = 8 << 20;

/// Supervisor to worker.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Request {
    Hello { version: u32, config: WorkerConfig },
    Run { id: String },
    Bye,
}

/// Worker to supervisor.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reply {
    Ready {
        version: u32,
        device: DeviceInfo,
    },
    /// No case can run; the worker ends.
    Refused {
        reason: Reason,
    },
    /// The case goes on, under this schedule: its deadline starts anew.
    Begins {
        schedule: Schedule,
    },
    /// The case comes to its first step. Told where its gate expects an error.
    Launches,
    /// The case has failed so, and goes on to simpler schedules; the result will say which.
    Failed {
        record: Box<CaseRecord>,
    },
    /// `lost`: the device context is gone; the worker ends.
    Result {
        record: Box<CaseRecord>,
        lost: bool,
    },
    /// The case could not be looked up.
    Fault {
        reason: Reason,
        lost: bool,
    },
    /// The device is closed, and this is what failed meanwhile; the worker ends.
    Closed {
        failed: Vec<String>,
    },
}

/// Writes one message as one line.
pub(super) fn send(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    to.write_all(&line)?;
    to.flush()
}

/// Reads one message; none at the end of the stream.
pub(super) fn receive<M: DeserializeOwned>(from: &mut impl BufRead) -> io::Result<Option<M>> {
    let mut line = Vec::new();
    from.take(LINE_BYTES_MAX as u64)
        .read_until(b'\n', &mut line)?;
    match line.pop() {
        None => Ok(None),
        Some(b'\n') => Ok(Some(serde_json::from_slice(&line)?)),
        Some(_) => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("a line without an end after {} bytes", line.len() + 1),
        )),
    }
}

/// Bytes as they arrive, cut into lines.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    bytes: Vec<u8>,
    /// Bytes known to hold no line end.
    searched: usize,
}

impl Inbox {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole message.
    ///
    /// # Errors
    /// What is wrong with the line, when it is no message.
    pub(super) fn next<M: DeserializeOwned>(&mut self) -> Result<Option<M>, String> {
        let end = self.bytes[self.searched..].iter().position(|b| *b == b'\n');
        let Some(end) = end.map(|end| end + self.searched) else {
            self.searched = self.bytes.len();
            if self.bytes.len() > LINE_BYTES_MAX {
                return Err(format!("a line of more than {LINE_BYTES_MAX} bytes"));
            }
            return Ok(None);
        };
        let line: Vec<u8> = self.bytes.drain(..=end).take(end).collect();
        self.searched = 0;
        serde_json::from_slice(&line).map(Some).map_err(|error| {
            let shown = &line[..line.len().min(60)];
            format!(
                "`{}`: {error}",
                String::from_utf8_lossy(shown).escape_debug()
            )
        })
    }
}

impl Reply {
    pub(super) fn of_progress(progress: Progress<'_>) -> Self {
        match progress {
            Progress::Begins(schedule) => Reply::Begins { schedule },
            Progress::Launches => Reply::Launches,
            Progress::Failed(record) => Reply::Failed {
                record: Box::new(record.clone()),
            },
        }
    }

    pub(super) fn of_case(result: Result<CaseRecord, Fault>, lost: bool) -> Self {
        match result {
            Ok(record) => Reply::Result {
                record: Box::new(record),
                lost,
            },
            Err(fault) => Reply::Fault {
                lost: lost || fault.sticky,
                reason: fault.reason,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::Address;

    fn hello() -> Request {
        Request::Hello {
            version: VERSION,
            config: WorkerConfig::new(Address::Uuid("GPU-1".into())),
        }
    }

    #[test]
    fn a_message_is_one_line_and_comes_back_equal() {
        let mut bytes = Vec::new();
        send(&mut bytes, &hello()).unwrap();
        send(&mut bytes, &Request::Run { id: "a\nb".into() }).unwrap();
        assert_eq!(bytes.iter().filter(|b| **b == b'\n').count(), 2);
        let mut from = bytes.as_slice();
        assert_eq!(receive(&mut from).unwrap(), Some(hello()));
        let second = receive(&mut from).unwrap();
        assert_eq!(second, Some(Request::Run { id: "a\nb".into() }));
        assert_eq!(receive::<Request>(&mut from).unwrap(), None);
    }

    #[test]
    fn a_path_that_is_no_utf8_comes_back_equal() {
        use std::os::unix::ffi::OsStringExt;
        let path = std::ffi::OsString::from_vec(b"specs\xff".to_vec());
        let mut config = WorkerConfig::new(Address::Sim);
        config.specs = Some(path.into());
        let version = VERSION;
        let hello = || Request::Hello {
            version,
            config: config.clone(),
        };
        let mut bytes = Vec::new();
        send(&mut bytes, &hello()).unwrap();
        assert_eq!(receive(&mut bytes.as_slice()).unwrap(), Some(hello()));
    }

    #[test]
    fn a_line_cut_short_is_an_error() {
        assert!(receive::<Request>(&mut &b"\"bye\""[..]).is_err());
    }

    #[test]
    fn the_inbox_cuts_lines_wherever_the_reads_fell() {
        let mut bytes = Vec::new();
        send(&mut bytes, &hello()).unwrap();
        send(&mut bytes, &Request::Bye).unwrap();
        for cut in 0..bytes.len() {
            let mut inbox = Inbox::default();
            let mut got = Vec::new();
            for part in [&bytes[..cut], &bytes[cut..]] {
                inbox.push(part);
                while let Some(message) = inbox.next::<Request>().unwrap() {
                    got.push(message);
                }
            }
            assert_eq!(got, [hello(), Request::Bye], "cut at {cut}");
        }
    }

    #[test]
    fn garbage_is_quoted_and_an_endless_line_is_refused() {
        let mut inbox = Inbox::default();
        inbox.push(b"\x1b[31mhello\n");
        let error = inbox.next::<Reply>().unwrap_err();
        assert!(error.starts_with("`\\u{1b}[31mhello`: "), "{error}");
        inbox.push(&vec![b' '; LINE_BYTES_MAX + 1]);
        assert!(inbox.next::<Reply>().unwrap_err().contains("more than"));
    }
}
