//! Which names an expression uses, and where: a small lexer beside the language's own parser.
//!
//! The parser has accepted the text before, so this only has to tell names from numbers, text, comments, properties
//! and calls.

use super::error::along;
use crate::expr::{Expr, Place};

/// One use of a variable, with the properties read from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameUse {
    /// `["rows", "copy", "median_ms"]` for `rows.copy.median_ms`.
    pub path: Vec<String>,
    /// Of its first character, inside the file.
    pub place: Place,
}

/// The language's words that are no variables.
const WORDS: &[&str] = &["true", "false", "in", "is"];
/// Words that the language keeps for statements; none can name an axis, a let or an input.
const RESERVED: &[&str] = &[
    "let",
    "const",
    "if",
    "else",
    "switch",
    "do",
    "while",
    "until",
    "loop",
    "for",
    "continue",
    "break",
    "fn",
    "private",
    "return",
    "throw",
    "try",
    "catch",
    "import",
    "export",
    "as",
    "global",
    "this",
    "Fn",
    "call",
    "curry",
    "type_of",
    "print",
    "debug",
    "eval",
    "is_def_var",
    "is_def_fn",
    "is_shared",
    "var",
    "static",
    "begin",
    "end",
    "shared",
    "each",
    "then",
    "goto",
    "exit",
    "unless",
    "match",
    "case",
    "public",
    "protected",
    "new",
    "use",
    "with",
    "module",
    "package",
    "super",
    "thread",
    "spawn",
    "go",
    "await",
    "async",
    "sync",
    "yield",
    "default",
    "void",
    "null",
    "nil",
];

pub(super) fn is_reserved(name: &str) -> bool {
    WORDS.contains(&name) || RESERVED.contains(&name)
}

enum Token {
    /// A name, and whether `(` follows it.
    Name(String, bool),
    Dot,
    Other,
}

/// Every variable, in order of appearance.
pub(super) fn uses(expr: &Expr) -> Vec<NameUse> {
    let mut found: Vec<NameUse> = Vec::new();
    // Whether the last token can be followed by `.property` of the last name in `found`.
    let mut open_chain = false;
    let mut after_dot = false;
    for (token, at) in tokens(&expr.source) {
        match token {
            Token::Dot => after_dot = true,
            Token::Name(name, called) => {
                match (after_dot, found.last_mut()) {
                    (true, Some(last)) if open_chain && !called => last.path.push(name),
                    (true, _) => open_chain = false,
                    (false, _) if called || WORDS.contains(&name.as_str()) => open_chain = false,
                    (false, _) => {
                        found.push(NameUse {
                            path: vec![name],
                            place: along(expr.place, at),
                        });
                        open_chain = true;
                    }
                }
                after_dot = false;
            }
            Token::Other => (open_chain, after_dot) = (false, false),
        }
    }
    found
}

/// Every function called, with its place.
pub(super) fn calls(expr: &Expr) -> Vec<(String, Place)> {
    tokens(&expr.source)
        .into_iter()
        .filter_map(|(token, at)| match token {
            Token::Name(name, true) if !WORDS.contains(&name.as_str()) => {
                Some((name, along(expr.place, at)))
            }
            _ => None,
        })
        .collect()
}

/// The first integer literal beyond 64 bits, which the language's parser would quietly read as a float.
pub(super) fn oversized_integer(expr: &Expr) -> Option<(String, Place)> {
    let chars: Vec<char> = expr.source.chars().collect();
    tokens(&expr.source).into_iter().find_map(|(token, at)| {
        if !matches!(token, Token::Other) || !chars[at].is_ascii_digit() {
            return None;
        }
        let text: String = chars[at..number_end(&chars, at)].iter().collect();
        let digits = text.replace('_', "");
        let decimal = digits.bytes().all(|b| b.is_ascii_digit());
        let oversized = decimal && digits.parse::<i64>().is_err();
        oversized.then(|| (text, along(expr.place, at)))
    })
}

/// Tokens with the index of their first character.
fn tokens(source: &str) -> Vec<(Token, usize)> {
    let chars: Vec<char> = source.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let c = chars[at];
        let next = chars.get(at + 1).copied();
        let end = match c {
            _ if c.is_whitespace() => at + 1,
            '"' | '\'' => text_end(&chars, at),
            '/' if next == Some('/') => chars.len(),
            '/' if next == Some('*') => comment_end(&chars, at),
            _ if c.is_ascii_digit() => number_end(&chars, at),
            _ if c.is_alphabetic() || c == '_' => {
                run_end(&chars, at, |c| c.is_alphanumeric() || c == '_')
            }
            _ => at + 1,
        };
        if c.is_alphabetic() || c == '_' {
            let after = run_end(&chars, end, char::is_whitespace);
            let called = chars.get(after) == Some(&'(');
            found.push((Token::Name(chars[at..end].iter().collect(), called), at));
        } else if c == '.' || (c == '?' && next == Some('.')) {
            found.push((Token::Dot, at));
        } else if !c.is_whitespace() {
            found.push((Token::Other, at));
        }
        at = end.max(at + 1);
    }
    found
}

fn run_end(chars: &[char], from: usize, belongs: impl Fn(char) -> bool) -> usize {
    let length = chars[from..].iter().take_while(|c| belongs(**c)).count();
    from + length
}

fn text_end(chars: &[char], start: usize) -> usize {
    let mut at = start + 1;
    while at < chars.len() && chars[at] != chars[start] {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(chars.len())
}

fn comment_end(chars: &[char], start: usize) -> usize {
    let close = chars[start + 2..].windows(2).position(|w| w == ['*', '/']);
    close.map_or(chars.len(), |offset| start + 2 + offset + 2)
}

/// `12`, `0x1F`, `1_000`, `1.5`, `1e-5`; the dot of a range or a property does not belong.
fn number_end(chars: &[char], start: usize) -> usize {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut end = run_end(chars, start, word);
    if chars.get(end) == Some(&'.') && chars.get(end + 1).is_some_and(char::is_ascii_digit) {
        end = run_end(chars, end + 1, word);
    }
    let decimal = !matches!(chars.get(start + 1), Some('x' | 'X'));
    let exponent = matches!(chars[end - 1], 'e' | 'E') && decimal;
    if exponent && matches!(chars.get(end), Some('+' | '-')) {
        end = run_end(chars, end + 1, word);
    }
    end
}
