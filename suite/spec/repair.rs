//! What is wrong with a tree whatever it means: unquoted commas, duplicate keys.
//!
//! Each is repaired after it was reported, so that one mistake is one problem.

use std::collections::HashMap;

use super::log::Log;
use super::tree::{Content, Entry, Scalar, Tree, Typed};

pub(super) fn repair(tree: &mut Tree, log: &Log<'_>) {
    match &mut tree.content {
        Content::Mapping(entries) => {
            join_entries(entries, log);
            drop_duplicates(entries, log);
            for entry in entries {
                repair(&mut entry.value, log);
            }
        }
        Content::Sequence(items) => {
            join_items(items, log);
            for item in items {
                repair(item, log);
            }
        }
        Content::Scalar(_) | Content::Refused => {}
    }
}

/// `{len: min(n, 3)}` is read as two keys: `len` with `min(n`, and `3)` with nothing.
fn join_entries(entries: &mut Vec<Entry>, log: &Log<'_>) {
    let mut at = 0;
    while at + 1 < entries.len() {
        let key = entries[at].key.clone();
        let rest = entries[at + 1..].iter();
        let parts = rest.map_while(|entry| is_empty(&entry.value).then_some(entry.key.as_str()));
        let joined = joined(&entries[at].value, parts);
        if let Some((text, count)) = joined {
            let written = format!("{key}: \"{text}\"");
            accept(&mut entries[at].value, text, &written, "{…}", log);
            entries.drain(at + 1..=at + count);
        }
        at += 1;
    }
}

/// `[a, min(n, 3)]` is read as three items.
fn join_items(items: &mut Vec<Tree>, log: &Log<'_>) {
    let mut at = 0;
    while at + 1 < items.len() {
        let parts = items[at + 1..].iter().map_while(plain_text);
        if let Some((text, count)) = joined(&items[at], parts) {
            let written = format!("\"{text}\"");
            accept(&mut items[at], text, &written, "[…]", log);
            items.drain(at + 1..=at + count);
        }
        at += 1;
    }
}

fn is_empty(tree: &Tree) -> bool {
    matches!(&tree.content, Content::Scalar(s) if s.plain && s.typed == Typed::Null && s.text.is_empty())
}

fn plain_text(tree: &Tree) -> Option<&str> {
    match &tree.content {
        Content::Scalar(s) if s.plain && s.in_flow => Some(&s.text),
        _ => None,
    }
}

/// The text that `first` was meant to be, and how many parts belong to it, where that closes its parentheses.
fn joined<'a>(first: &Tree, parts: impl Iterator<Item = &'a str>) -> Option<(String, usize)> {
    let mut text = plain_text(first)?.to_string();
    if open_parentheses(&text) <= 0 {
        return None;
    }
    for (i, part) in parts.enumerate() {
        text.push_str(", ");
        text.push_str(part);
        if open_parentheses(&text) == 0 {
            return Some((text, i + 1));
        }
    }
    None
}

fn open_parentheses(text: &str) -> i64 {
    text.chars()
        .map(|c| match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        })
        .sum()
}

fn accept(tree: &mut Tree, text: String, written: &str, around: &str, log: &Log<'_>) {
    log.mend(
        tree.place,
        format!("an expression with a comma inside {around} needs quotes"),
        format!("write {written}"),
    );
    tree.content = Content::Scalar(Scalar {
        text,
        plain: true,
        in_flow: true,
        typed: Typed::Text,
    });
}

fn drop_duplicates(entries: &mut Vec<Entry>, log: &Log<'_>) {
    let mut seen: HashMap<String, usize> = HashMap::new();
    entries.retain(|entry| match seen.get(&entry.key) {
        Some(line) if !entry.key.is_empty() => {
            let message = format!("duplicate key `{}`", entry.key);
            let mend = format!("it stands in line {line} already: remove or rename one");
            log.mend(entry.place, message, mend);
            false
        }
        _ => {
            seen.insert(entry.key.clone(), entry.place.line);
            true
        }
    });
}
