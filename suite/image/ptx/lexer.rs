//! PTX text to tokens, one at a time.
//!
//! Words keep their dots (`ld.global.u32`, `%tid.x`, `.reg`), because PTX never separates them by space; numbers
//! stay text until someone asks for their value, because `7.8` is a version in one place and a float in another.

use super::ParseError;

/// One token; slices borrow from the text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token<'a> {
    /// Identifier, directive or opcode with modifiers.
    Word(&'a str),
    /// Starts with a digit.
    Number(&'a str),
    /// Between double quotes, without them.
    Text(&'a str),
    Punct(char),
    End,
}

impl std::fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Token::Word(text) | Token::Number(text) => write!(f, "`{}`", clip(text)),
            Token::Text(text) => write!(f, "\"{}\"", clip(text)),
            Token::Punct(c) => write!(f, "`{c}`"),
            Token::End => f.write_str("the end of the text"),
        }
    }
}

/// Error messages quote what they found; a hostile name may be megabytes long.
fn clip(text: &str) -> &str {
    let end = text.char_indices().nth(80).map_or(text.len(), |(at, _)| at);
    &text[..end]
}

pub(super) struct Lexer<'a> {
    text: &'a str,
    /// Byte position of the next unread character.
    at: usize,
    line: u32,
    peeked: Option<(Token<'a>, usize, usize)>,
    /// Byte position after the last token taken.
    pub(super) taken_end: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            line: 1,
            peeked: None,
            taken_end: 0,
        }
    }

    /// The line of the token that `peek` shows (or, before any peek, of the last token taken).
    pub(super) fn line(&self) -> u32 {
        self.line
    }

    pub(super) fn error(&self, message: impl Into<String>) -> ParseError {
        ParseError {
            line: self.line,
            message: message.into(),
        }
    }

    pub(super) fn peek(&mut self) -> Result<Token<'a>, ParseError> {
        if self.peeked.is_none() {
            self.peeked = Some(self.scan()?);
        }
        Ok(self.peeked.map_or(Token::End, |(token, _, _)| token))
    }

    /// Where the next token starts, in bytes.
    pub(super) fn next_start(&mut self) -> Result<usize, ParseError> {
        self.peek()?;
        Ok(self.peeked.map_or(self.text.len(), |(_, start, _)| start))
    }

    pub(super) fn take(&mut self) -> Result<Token<'a>, ParseError> {
        let token = self.peek()?;
        if let Some((_, _, end)) = self.peeked.take() {
            self.taken_end = end;
        }
        Ok(token)
    }

    /// The text between two byte positions with white space runs collapsed.
    pub(super) fn source(&self, start: usize, end: usize) -> String {
        let raw = self.text.get(start..end).unwrap_or_default();
        let mut out = String::with_capacity(raw.len());
        for word in raw.split_whitespace() {
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(word);
        }
        out
    }

    fn scan(&mut self) -> Result<(Token<'a>, usize, usize), ParseError> {
        self.skip_blank()?;
        let start = self.at;
        let bytes = self.text.as_bytes();
        let Some(&first) = bytes.get(start) else {
            return Ok((Token::End, start, start));
        };
        let end;
        let token = match first {
            b'0'..=b'9' => {
                end = number_end(bytes, start);
                Token::Number(&self.text[start..end])
            }
            b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'$' | b'%' | b'.' => {
                end = word_end(bytes, start);
                Token::Word(&self.text[start..end])
            }
            b'"' => {
                let Some(length) = bytes[start + 1..]
                    .iter()
                    .position(|&b| b == b'"' || b == b'\n')
                else {
                    return Err(self.error("a string that never ends"));
                };
                if bytes[start + 1 + length] == b'\n' {
                    return Err(self.error("a string that does not end on its line"));
                }
                end = start + length + 2;
                Token::Text(&self.text[start + 1..end - 1])
            }
            b',' | b';' | b':' | b'{' | b'}' | b'(' | b')' | b'[' | b']' | b'<' | b'>' | b'@'
            | b'!' | b'+' | b'-' | b'|' | b'=' | b'*' | b'/' => {
                end = start + 1;
                Token::Punct(char::from(first))
            }
            _ => {
                let found = self.text[start..].chars().next().unwrap_or('?');
                return Err(self.error(format!("unexpected character {found:?}")));
            }
        };
        self.at = end;
        Ok((token, start, end))
    }

    fn skip_blank(&mut self) -> Result<(), ParseError> {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.at) {
                Some(b'\n') => {
                    self.line += 1;
                    self.at += 1;
                }
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
                Some(b'/') if bytes.get(self.at + 1) == Some(&b'/') => {
                    let rest = &bytes[self.at..];
                    self.at += rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
                }
                Some(b'/') if bytes.get(self.at + 1) == Some(&b'*') => {
                    let Some(length) = self.text[self.at + 2..].find("*/") else {
                        return Err(self.error("a comment that never ends"));
                    };
                    let end = self.at + 2 + length + 2;
                    let newlines = bytes[self.at..end].iter().filter(|&&b| b == b'\n').count();
                    self.line += u32::try_from(newlines).unwrap_or(0);
                    self.at = end;
                }
                _ => return Ok(()),
            }
        }
    }
}

fn word_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    loop {
        match bytes.get(at) {
            Some(b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'_' | b'$' | b'.') => at += 1,
            // `.shared::cta`, `.L2::128B`; a single colon ends a label.
            Some(b':') if bytes.get(at + 1) == Some(&b':') => at += 2,
            _ => return at,
        }
    }
}

fn number_end(bytes: &[u8], start: usize) -> usize {
    let decimal = !matches!(
        bytes.get(start + 1),
        Some(b'x' | b'X' | b'f' | b'F' | b'd' | b'D' | b'b' | b'B')
    );
    let mut at = start + 1;
    loop {
        match bytes.get(at) {
            Some(b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'_') => at += 1,
            Some(b'.') if decimal => at += 1,
            Some(b'+' | b'-') if decimal && matches!(bytes[at - 1], b'e' | b'E') => at += 1,
            _ => return at,
        }
    }
}
