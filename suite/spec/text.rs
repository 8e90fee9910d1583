//! From bytes to text: size, encoding and tabs, before any parser sees them.

use super::log::Log;
use super::model::Place;

/// Bytes of the largest spec.
pub(super) const BYTES_MAX: usize = 1 << 20;

/// # Errors
/// Message and mend, where the bytes are no spec at all.
pub(super) fn decode(bytes: &[u8]) -> Result<&str, (String, String)> {
    if bytes.len() > BYTES_MAX {
        return Err(too_large(bytes.len() as u64));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = 1 + bytes[..error.valid_up_to()]
            .iter()
            .filter(|b| **b == b'\n')
            .count();
        (
            format!("line {line} is not UTF-8"),
            "save the file as UTF-8".to_string(),
        )
    })?;
    if let Some((line, c)) = odd_break(text) {
        return Err(refusal(line, c));
    }
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// The first break at which some readers end a line and others do not, and its line: behind it, places would be of
/// lines that nobody else counts.
fn odd_break(text: &str) -> Option<(usize, char)> {
    let is_odd = |&(at, c): &(usize, char)| match c {
        '\r' => text.as_bytes().get(at + 1) != Some(&b'\n'),
        _ => matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}'),
    };
    let (at, c) = text.char_indices().find(is_odd)?;
    Some((1 + text[..at].matches('\n').count(), c))
}

fn refusal(line: usize, c: char) -> (String, String) {
    if c == '\r' {
        return (
            format!("line {line} ends with a carriage return alone"),
            "save the file with line feeds: YAML ends a line there, and most editors do not".into(),
        );
    }
    let code = u32::from(c);
    (
        format!("line {line} has U+{code:04X}, at which some YAML readers end the line"),
        format!("take it out, or write it as \\u{code:04x} in double quotes"),
    )
}

pub(super) fn too_large(bytes: u64) -> (String, String) {
    (
        format!("the file has {bytes} bytes; a spec has at most {BYTES_MAX} (1 MiB)"),
        "split it into several suites, or move wanted values into files (want: {file: …})".into(),
    )
}

/// Lines with tabs that are reported: an editor replaces all of them at once.
const LINES_MAX: usize = 20;

/// Where a line-wise reader stands between lines.
enum State {
    Outside,
    /// In a quoted scalar that began on an earlier line.
    Quoted(char),
    /// In a `|` or `>` scalar whose key stands at this indentation.
    Block(usize),
}

/// Reports each tab that is neither in a comment nor in quoted or block text: YAML readers disagree about them.
/// Returns whether there was any.
pub(super) fn refuse_tabs(text: &str, log: &Log<'_>) -> bool {
    if !text.contains('\t') {
        return false;
    }
    let mut state = State::Outside;
    let mut lines = 0;
    for (number, line) in text.lines().enumerate() {
        if let State::Block(indent) = state {
            let own = line.len() - line.trim_start_matches(' ').len();
            let blank = line.trim().is_empty();
            if own > indent || (blank && !line.starts_with('\t')) {
                continue;
            }
            state = State::Outside;
        }
        let (tab, next) = scan_line(line, state);
        state = next;
        if let Some(column) = tab {
            lines += 1;
            if lines > LINES_MAX {
                break;
            }
            let place = Place {
                line: number + 1,
                column,
            };
            log.mend(
                place,
                "a tab stands here",
                "use spaces: YAML readers disagree about tabs",
            );
        }
    }
    lines > 0
}

/// The first tab's column outside quotes and comments, and the state after the line.
fn scan_line(line: &str, state: State) -> (Option<usize>, State) {
    let mut quote = match state {
        State::Quoted(mark) => Some(mark),
        _ => None,
    };
    let mut tab = None;
    let mut before = ' ';
    let mut escaped = false;
    let mut content_end = line.len();
    for (column, (offset, c)) in line.char_indices().enumerate() {
        match quote {
            Some('"') if escaped => escaped = false,
            Some('"') if c == '\\' => escaped = true,
            Some(mark) if c == mark => quote = None,
            Some(_) => {}
            None if c == '\t' => tab = tab.or(Some(column + 1)),
            None if c == '#' && before.is_whitespace() => {
                content_end = offset;
                break;
            }
            None if matches!(c, '"' | '\'') && opens_quote(before) => quote = Some(c),
            None => {}
        }
        before = c;
    }
    let state = match quote {
        Some(mark) => State::Quoted(mark),
        None if opens_block(&line[..content_end]) => {
            State::Block(line.len() - line.trim_start_matches([' ', '-']).len())
        }
        None => State::Outside,
    };
    (tab, state)
}

/// A quote inside a plain scalar (`driver's`) opens nothing.
fn opens_quote(before: char) -> bool {
    before.is_whitespace() || matches!(before, '[' | '{' | ',' | ':')
}

fn opens_block(content: &str) -> bool {
    let last = content.trim_end().rsplit([' ', '\t']).next().unwrap_or("");
    let indicator = last.strip_prefix(['|', '>']);
    indicator.is_some_and(|rest| rest.chars().all(|c| matches!(c, '+' | '-' | '1'..='9')))
}
