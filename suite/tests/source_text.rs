//! Reads Rust source as text, as far as the house rules need it: what is code, what ships, what it imports, which
//! files it declares, and what its documentation says that it may import. Every function is over text alone.

use std::collections::BTreeSet;

/// The code of a file: comments and the contents of literals become blanks, line breaks stay.
pub fn code(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let end = at + opaque(&bytes[at..], out.last().copied());
        if end == at {
            out.push(bytes[at]);
            at += 1;
        } else {
            out.extend(
                bytes[at..end]
                    .iter()
                    .map(|byte| if *byte == b'\n' { b'\n' } else { b' ' }),
            );
            at = end;
        }
    }
    String::from_utf8(out).unwrap()
}

/// The length of the comment or literal that `rest` starts with, 0 where it starts with code.
fn opaque(rest: &[u8], before: Option<u8>) -> usize {
    let until = |end: Option<usize>| end.unwrap_or(rest.len());
    match rest {
        [b'/', b'/', ..] => until(rest.iter().position(|byte| *byte == b'\n')),
        [b'/', b'*', ..] => block_comment(rest),
        [b'"', ..] => quoted(rest, b'"'),
        [b'r', b'"' | b'#', ..] if !before.is_some_and(in_name) || before == Some(b'b') => {
            raw(rest).unwrap_or(0)
        }
        [b'\'', b'\\', ..] => quoted(rest, b'\''),
        // A lifetime has no closing quote after its first character.
        [b'\'', first, ..] => {
            let width = std::str::from_utf8(&rest[1..(1 + utf8_width(*first)).min(rest.len())])
                .map_or(1, str::len);
            if rest.get(1 + width) == Some(&b'\'') {
                width + 2
            } else {
                0
            }
        }
        _ => 0,
    }
}

fn in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn utf8_width(first: u8) -> usize {
    match first.leading_ones() {
        0 => 1,
        ones => ones as usize,
    }
}

/// Block comments nest.
fn block_comment(rest: &[u8]) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < rest.len() {
        match &rest[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

fn quoted(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != quote {
        at += if rest[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(rest.len())
}

/// `r#"…"#` with any number of hashes; none for `r#name`.
fn raw(rest: &[u8]) -> Option<usize> {
    let hashes = rest[1..].iter().take_while(|byte| **byte == b'#').count();
    let open = 1 + hashes;
    (rest.get(open) == Some(&b'"')).then(|| {
        let close = [&b"\""[..], &vec![b'#'; hashes][..]].concat();
        let body = &rest[open + 1..];
        body.windows(close.len())
            .position(|window| window == close)
            .map_or(rest.len(), |at| open + 1 + at + close.len())
    })
}

/// `code` without the items that only a test build has.
pub fn shipped(code: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut out = String::new();
    let mut rest = code;
    while let Some(at) = rest.find(MARK) {
        out.push_str(&rest[..at]);
        rest = &rest[at + MARK.len()..];
        rest = &rest[item(rest)..];
    }
    out + rest
}

/// The length of the item at the start of `text`, attributes and all. It ends after its `;`, after its closing brace,
/// or before the brace that closes what it stands in. The braces of a `use` or of a constant's value end nothing.
fn item(text: &str) -> usize {
    let mut start = text.len() - text.trim_start().len();
    while text[start..].starts_with("#[") {
        start += balanced(&text[start + 1..]) + 1;
        start = text.len() - text[start..].trim_start().len();
    }
    let words: Vec<&str> = text[start..].split_whitespace().take(3).collect();
    let words = match words.as_slice() {
        [visibility, rest @ ..] if visibility.starts_with("pub") => rest,
        all => all,
    };
    let ends_in_semicolon = match words {
        ["const" | "static", "fn" | "unsafe", ..] => false,
        [first, ..] => ["use", "const", "static", "type"].contains(first),
        [] => false,
    };
    let mut at = start;
    while at < text.len() {
        match text.as_bytes()[at] {
            b';' => return at + 1,
            b'}' | b')' | b']' => return at,
            b'{' if !ends_in_semicolon => return at + balanced(&text[at..]),
            b'{' | b'(' | b'[' => at += balanced(&text[at..]),
            _ => at += 1,
        }
    }
    at
}

/// The length from the opening bracket that `text` starts with to its closing one.
fn balanced(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' | b'(' | b'[' => depth += 1,
            b'}' | b')' | b']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    text.len()
}

/// The modules of this crate that the shipped part of a file names: `crate::a`, `crate::{a::b, c}`, and as many
/// `super::` as lead from a file `depth` modules deep to the crate's root.
pub fn imports(text: &str, depth: usize) -> BTreeSet<String> {
    let code: String = shipped(&code(text));
    let mut names = BTreeSet::new();
    for root in ["crate::".to_owned(), "super::".repeat(depth)] {
        for (at, _) in code.match_indices(&root) {
            let before = code[..at].trim_end();
            let longer = before.ends_with("::") || code[..at].bytes().last().is_some_and(in_name);
            if root.is_empty() || longer {
                continue;
            }
            let rest = code[at + root.len()..].trim_start();
            if rest.starts_with('{') {
                let group = &rest[..balanced(rest)];
                names.extend(members(group).iter().map(|member| first_word(member)));
            } else {
                names.insert(first_word(rest));
            }
        }
    }
    names.remove("");
    names
}

/// The members of `{a, b::{c, d}}`: `a` and `b::{c, d}`.
fn members(group: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut depth, mut start) = (0_usize, 1);
    for (at, byte) in group.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if (byte == b',' && depth == 1) || depth == 0 {
            found.push(&group[start..at]);
            start = at + 1;
        }
    }
    found
}

pub fn first_word(text: &str) -> String {
    text.trim_start()
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
        .collect()
}

/// Whether a file has `mod name;`.
pub fn declares(text: &str, name: &str) -> bool {
    let code = code(text);
    code.match_indices("mod ").any(|(at, word)| {
        let rest = code[at + word.len()..].trim_start();
        !code[..at].bytes().last().is_some_and(in_name)
            && first_word(rest) == name
            && rest[name.len()..].trim_start().starts_with(';')
    })
}

/// What a file's documentation says that it may import: the first parts of the names in its "May import …" and
/// "Imports …" sentences. None where it has no such sentence.
pub fn promised(text: &str) -> Option<BTreeSet<String>> {
    let doc: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("//!"))
        .map(str::trim)
        .collect();
    let doc = doc.join(" ");
    let mut names = None;
    for opening in ["May import", "Imports", "imports nothing"] {
        for (at, _) in doc.match_indices(opening) {
            let names = names.get_or_insert_with(BTreeSet::new);
            let end = doc[at..].find(". ").map_or(doc.len(), |end| at + end);
            let quoted = doc[at..end].split('`').skip(1).step_by(2);
            names.extend(quoted.map(first_word));
        }
    }
    names
}

#[test]
fn code_is_what_stands_outside_of_comments_and_literals() {
    let text = "a // b\n/* c /* d */ e */ f \"g \\\" h\" r#\"i \" j\"# 'k' '\\'' '\u{e9}' &'l m b\"n\" r#o \"//\" p";
    let words: Vec<String> = code(text).split_whitespace().map(str::to_owned).collect();
    assert_eq!(words, ["a", "f", "&'l", "m", "b", "r#o", "p"]);
    assert_eq!(code(text).lines().count(), text.lines().count());
}

#[test]
fn only_the_item_after_a_test_mark_is_dropped() {
    let text = "\
#[cfg(test)]
mod tests;
use crate::planted_a;
#[cfg(test)]
use crate::{
    hidden_a,
    hidden_b::{self, x},
};
use crate::planted_b;
#[cfg(test)]
#[expect(dead_code, reason = \"]\")]
pub(super) fn helper(x: [u8; 2]) -> u8 { if x { crate::hidden_c() } else { '}' } }
fn shipped() { crate::planted_c::call(); }
#[cfg(test)]
const fn f() {}
#[cfg(test)]
pub const X: S = S { a: crate::hidden_d };
struct S { a: u8, #[cfg(test)] b: crate::hidden_e }
use crate::planted_d;
#[cfg(test)]
mod more {
    use crate::hidden_f;
}
use crate::planted_e;
";
    let planted = ["a", "b", "c", "d", "e"].map(|letter| format!("planted_{letter}"));
    assert_eq!(imports(text, 0), BTreeSet::from(planted));
}

#[test]
fn imports_are_found_in_groups_over_lines_paths_and_from_below() {
    let text = "\
use crate::{
    a::{b, c},
    // crate::no
    d,
    e as f, g::*
};
fn h() -> &'static str { $crate::i(); own_crate::no(); \"crate::no\" }
use super::super::j::k;
use super::{no};
use super::super::{l, m};
";
    let names = ["a", "d", "e", "g", "i", "j", "l", "m"].map(str::to_owned);
    assert_eq!(imports(text, 2), BTreeSet::from(names));
}

#[test]
fn a_declaration_is_code_and_has_no_body() {
    assert!(declares("pub(crate) mod number;\n", "number"));
    for text in [
        "// mod number;",
        "mod number {}",
        "mod numbers;",
        "\"mod number;\"",
        "mod a;",
    ] {
        assert!(!declares(text, "number"), "{text}");
    }
}

#[test]
fn a_promise_ends_with_its_sentence() {
    let text =
        "//! Owns `a`. May\n//! import `b` (x), `c::d` and\n//! `e`. It never reads `f`.\nuse g;\n";
    let names = ["b", "c", "e"].map(str::to_owned);
    assert_eq!(promised(text), Some(BTreeSet::from(names)));
    assert_eq!(
        promised("//! Imports nothing of this crate.\n"),
        Some(BTreeSet::new())
    );
    assert_eq!(promised("//! Owns `a`.\n"), None);
}
