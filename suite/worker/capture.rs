//! What a worker printed, within bounds: the first and the last of it.

use std::collections::VecDeque;

/// Bytes kept of the beginning, and as many of the end.
const HALF_BYTES: usize = 32 * 1024;

/// What a case's kernels and libraries printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    pub stdout: String,
    pub stderr: String,
}

/// One stream's text; a flood keeps both ends and counts what it lost between them.
#[derive(Debug, Default)]
pub(super) struct Capture {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    dropped: u64,
}

impl Capture {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let room = HALF_BYTES - self.head.len().min(HALF_BYTES);
        let (head, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(head);
        let kept = &rest[rest.len().saturating_sub(HALF_BYTES)..];
        self.tail.extend(kept);
        let surplus = self.tail.len().saturating_sub(HALF_BYTES);
        self.tail.drain(..surplus);
        self.dropped += (rest.len() - kept.len() + surplus) as u64;
    }

    /// The text so far; the capture starts anew.
    pub(super) fn take(&mut self) -> String {
        let taken = std::mem::take(self);
        let mut text = String::from_utf8_lossy(&taken.head).into_owned();
        if taken.dropped > 0 {
            text.push_str(&format!("\n… {} bytes left out …\n", taken.dropped));
        }
        let tail = Vec::from(taken.tail);
        text.push_str(&String::from_utf8_lossy(&tail));
        text
    }
}

/// The lines that say most about a death: a panic's message without its backtrace, else the last `count` that
/// hold anything.
pub(super) fn last_words(text: &str, count: usize) -> Vec<&str> {
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let told = match lines.iter().rposition(|line| line.contains("panicked at")) {
        Some(panic) => &lines[panic..],
        None => return lines[lines.len().saturating_sub(count)..].to_vec(),
    };
    let is_trace = |line: &&str| line.starts_with("stack backtrace:") || line.starts_with("note: ");
    let end = told.iter().position(is_trace).unwrap_or(told.len());
    told[..end.min(count)].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_text_is_kept_whole() {
        let mut capture = Capture::default();
        capture.push(b"one\n");
        capture.push(b"two\n");
        assert_eq!(capture.take(), "one\ntwo\n");
        assert_eq!(capture.take(), "");
    }

    #[test]
    fn a_flood_keeps_both_ends_and_counts_the_middle() {
        let mut capture = Capture::default();
        let whole: Vec<u8> = (0..10 * HALF_BYTES)
            .map(|i| b'a' + (i % 26) as u8)
            .collect();
        for chunk in whole.chunks(777) {
            capture.push(chunk);
        }
        let text = capture.take();
        let (head, rest) = text.split_once("\n… ").unwrap();
        let (count, tail) = rest.split_once(" bytes left out …\n").unwrap();
        assert_eq!(head.as_bytes(), &whole[..HALF_BYTES]);
        assert_eq!(tail.as_bytes(), &whole[9 * HALF_BYTES..]);
        assert_eq!(count, (8 * HALF_BYTES).to_string());
    }

    #[test]
    fn one_push_larger_than_both_halves() {
        let mut capture = Capture::default();
        capture.push(&vec![b'x'; 5 * HALF_BYTES]);
        assert_eq!(capture.dropped, 3 * HALF_BYTES as u64);
        assert_eq!(capture.tail.len(), HALF_BYTES);
    }

    #[test]
    fn last_words_skip_blank_lines() {
        assert_eq!(last_words("a\nb\n\n  \nc\n", 2), ["b", "c"]);
        assert_eq!(last_words("", 2), [""; 0]);
    }

    #[test]
    fn last_words_of_a_panic_leave_the_backtrace_out() {
        let text =
            "before\nthread 'main' panicked at a.rs:1:2:\nwhy\nstack backtrace:\n  0: f\nnote: x\n";
        let words = ["thread 'main' panicked at a.rs:1:2:", "why"];
        assert_eq!(last_words(text, 5), words);
    }
}
