//! `b`, `b[i]` and `b[i..j]`: buffers, inputs and parts of them.

use crate::spec::fields::Decoder;
use crate::spec::model::{Arg, Expr, Place, Range, Slice};
use crate::spec::tree::Tree;

/// What a position does with the array it names.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Read,
    /// Inputs are read-only.
    Write,
    /// Only a buffer can hold a result.
    Result,
}

impl Decoder<'_> {
    pub(super) fn slice(&self, tree: &Tree, usage: Use) -> Option<Slice> {
        let text = self.text(tree, "a buffer")?;
        let (name, range) = self.split(&text, tree.place)?;
        let is_buffer = self.survey.buffers.contains_key(&name);
        let is_input = self.survey.inputs.contains_key(&name);
        match usage {
            _ if is_buffer => {}
            Use::Read if is_input => {}
            Use::Write if is_input => {
                let message = format!("`{name}` is an input, and inputs are read-only");
                let mend = "copy it into a buffer first: {copy: …, to: …}";
                self.log.mend(tree.place, message, mend);
            }
            Use::Result if is_input => {
                let message = format!("`{name}` is an input, not a result");
                self.log.mend(tree.place, message, "name a buffer");
            }
            Use::Read => self.unknown(tree.place, "buffer or input", &name, self.survey.arrays()),
            Use::Write | Use::Result => {
                let buffers = self.survey.buffers.keys().map(String::as_str);
                self.unknown(tree.place, "buffer", &name, buffers);
            }
        }
        self.mark(&name);
        Some(Slice {
            buffer: name,
            range,
            place: tree.place,
        })
    }

    /// An argument that names a buffer or an input, or a part of one, is its address; else it is an expression.
    pub(super) fn arg(&self, tree: &Tree) -> Option<Arg> {
        let text = self.text(tree, "an argument")?;
        let trimmed = text.trim();
        let name_len = identifier_len(trimmed);
        let (name, rest) = trimmed.split_at(name_len);
        let sliced = rest.trim_start().starts_with('[');
        let known = self.survey.is_array(name);
        if name_len > 0 && (sliced || (known && rest.is_empty())) {
            return self.slice(tree, Use::Read).map(Arg::Buffer);
        }
        Some(Arg::Value(self.expr(tree, "an argument")?))
    }

    pub(super) fn mark(&self, buffer: &str) {
        self.used_buffers.borrow_mut().insert(buffer.to_string());
    }

    fn split(&self, text: &str, place: Place) -> Option<(String, Range)> {
        let lead = text.chars().take_while(|c| c.is_whitespace()).count();
        let trimmed = text.trim();
        let (name, rest) = trimmed.split_at(identifier_len(trimmed));
        let inside = rest.trim_start();
        if name.is_empty() || !(inside.is_empty() || inside.starts_with('[')) {
            let mend = "write b, b[i] or b[i..j]";
            self.log.mend(place, "this names no buffer", mend);
            return None;
        }
        if inside.is_empty() {
            return Some((name.to_string(), Range::All));
        }
        let Some(inside) = inside.strip_prefix('[').and_then(|i| i.strip_suffix(']')) else {
            let mend = "write b, b[i] or b[i..j]";
            self.log.mend(place, "the slice does not end with ]", mend);
            return None;
        };
        let before = trimmed.chars().count() - inside.chars().count() - 1;
        let start = Place {
            line: place.line,
            column: place.column + lead + before,
        };
        let range = match split_range(inside) {
            None => Range::One(self.part(inside, start)),
            Some(at) => {
                let second = Place {
                    line: start.line,
                    column: start.column + inside[..at].chars().count() + 2,
                };
                let to = self.part(&inside[at + 2..], second);
                Range::Span(self.part(&inside[..at], start), to)
            }
        };
        Some((name.to_string(), range))
    }

    fn part(&self, source: &str, place: Place) -> Expr {
        let lead = source.chars().take_while(|c| c.is_whitespace()).count();
        let expr = Expr {
            source: source.trim().to_string(),
            place: Place {
                line: place.line,
                column: place.column + lead,
            },
        };
        if let Err(error) = self.engine.uses(&expr) {
            self.log.expr(error);
        }
        expr
    }
}

/// Bytes of the identifier at the start.
fn identifier_len(text: &str) -> usize {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.find(|c| !word(c)).unwrap_or(text.len())
}

/// Where `..` stands outside parentheses and brackets.
fn split_range(inside: &str) -> Option<usize> {
    let mut depth = 0i64;
    let bytes = inside.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            b'.' if depth == 0 && bytes.get(at + 1) == Some(&b'.') => return Some(at),
            _ => {}
        }
    }
    None
}
