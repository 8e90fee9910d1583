//! The decoder's common part: mappings with known keys, and scalars of a wanted type.
//!
//! A method that returns `None` has said why in the log.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use super::Loader;
use super::log::Log;
use super::model::{Expr, Place, Template};
use super::survey::Survey;
use super::tree::{Content, Entry, Scalar, Tree, Typed};
use crate::expr::{Engine, is_name, near};

pub(super) struct Decoder<'a> {
    pub log: &'a Log<'a>,
    pub engine: &'a Engine,
    pub loader: &'a Loader<'a>,
    /// The file's path, for files that stand beside it.
    pub path: &'a str,
    pub survey: &'a Survey,
    /// Buffers that a step or a gate names.
    pub used_buffers: RefCell<BTreeSet<String>>,
    /// SHA-256 of each file that stands beside the spec and was read for it, by the name it has there.
    pub beside: RefCell<BTreeMap<String, String>>,
    /// A step or a gate could not be read, so what it uses is unknown.
    pub incomplete: Cell<bool>,
}

/// A mapping whose keys are known.
#[derive(Clone, Copy)]
pub(super) struct Fields<'t> {
    pub place: Place,
    pub entries: &'t [Entry],
}

impl<'t> Fields<'t> {
    pub fn get(&self, key: &str) -> Option<&'t Tree> {
        let entry = self.entries.iter().find(|e| e.key == key)?;
        Some(&entry.value)
    }

    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }
}

impl Decoder<'_> {
    /// A mapping with these keys and no others.
    pub fn fields<'t>(&self, tree: &'t Tree, what: &str, keys: &[&str]) -> Option<Fields<'t>> {
        let fields = self.mapping(tree, what)?;
        self.known_keys(&fields, what, keys);
        Some(fields)
    }

    /// A mapping with any keys.
    pub fn mapping<'t>(&self, tree: &'t Tree, what: &str) -> Option<Fields<'t>> {
        match &tree.content {
            Content::Mapping(entries) => Some(Fields {
                place: tree.place,
                entries,
            }),
            Content::Refused => None,
            other => {
                let message = format!("{what} is a mapping, not {}", kind(other));
                self.log
                    .mend(tree.place, message, "write `key: value` pairs");
                None
            }
        }
    }

    pub fn known_keys(&self, fields: &Fields<'_>, what: &str, keys: &[&str]) {
        for entry in fields.entries {
            if keys.contains(&entry.key.as_str()) || entry.key.is_empty() {
                continue;
            }
            let mend = match near(&entry.key, keys.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the keys here are {}", keys.join(", ")),
            };
            let message = format!("unknown key `{}` in {what}", entry.key);
            self.log.mend(entry.place, message, mend);
        }
    }

    pub fn required<'t>(&self, fields: &Fields<'t>, what: &str, key: &str) -> Option<&'t Tree> {
        let found = fields.get(key);
        if found.is_none() {
            let message = format!("{what} has no `{key}`");
            self.log
                .whole(fields.place, message, format!("add `{key}: …`"));
        }
        found
    }

    /// The items of a list.
    pub fn list<'t>(&self, tree: &'t Tree, what: &str) -> Option<&'t [Tree]> {
        match &tree.content {
            Content::Sequence(items) => Some(items),
            Content::Refused => None,
            other => {
                let message = format!("{what} is a list, not {}", kind(other));
                self.log.mend(tree.place, message, "write [a, b, …]");
                None
            }
        }
    }

    /// A list, or one value that stands for a list of one.
    pub fn one_or_list<'t>(&self, tree: &'t Tree) -> &'t [Tree] {
        match &tree.content {
            Content::Sequence(items) => items,
            Content::Refused => &[],
            _ => std::slice::from_ref(tree),
        }
    }

    /// A scalar that is there.
    pub fn scalar<'t>(&self, tree: &'t Tree, what: &str) -> Option<&'t Scalar> {
        match &tree.content {
            Content::Scalar(scalar) if scalar.typed == Typed::Null => {
                self.log.add(
                    tree.place,
                    format!("{what} is wanted here, and nothing is given"),
                );
                None
            }
            Content::Scalar(scalar) => Some(scalar),
            Content::Refused => None,
            other => {
                let message = format!("{what} is wanted here, not {}", kind(other));
                self.log.add(tree.place, message);
                None
            }
        }
    }

    pub fn text(&self, tree: &Tree, what: &str) -> Option<String> {
        let text = self.scalar(tree, what)?.text.clone();
        if text.trim().is_empty() {
            self.log.add(tree.place, format!("{what} is empty"));
            return None;
        }
        Some(text)
    }

    /// A name that expressions and test names can hold.
    pub fn name(&self, name: &str, place: Place, what: &str) -> bool {
        let good = is_name(name) && name.len() <= 64;
        if !good {
            let mend = "letters, digits and _, not first a digit, and no word of the language";
            let shown: String = name.chars().take(64).collect();
            self.log
                .mend(place, format!("`{shown}` cannot name {what}"), mend);
        }
        good
    }

    /// A whole number in a range, written out (no expression).
    pub fn whole(&self, tree: &Tree, what: &str, min: i128, max: i128) -> Option<i128> {
        let scalar = self.scalar(tree, what)?;
        match scalar.typed {
            Typed::Int(value) if (min..=max).contains(&value) => Some(value),
            _ => {
                let message = format!("{what} is a whole number from {min} to {max}");
                self.log.maybe(tree.place, message, given(scalar));
                None
            }
        }
    }

    /// An expression. One with a syntax error is logged and returned all the same: later steps skip it.
    pub fn expr(&self, tree: &Tree, what: &str) -> Option<Expr> {
        let expr = self.expr_unchecked(tree, what)?;
        if let Err(error) = self.engine.uses(&expr) {
            self.log.expr(error);
        }
        Some(expr)
    }

    pub fn expr_unchecked(&self, tree: &Tree, what: &str) -> Option<Expr> {
        let scalar = self.scalar(tree, what)?;
        Some(Expr {
            source: scalar.text.clone(),
            place: tree.place,
        })
    }

    pub fn optional_expr(&self, fields: &Fields<'_>, key: &str, what: &str) -> Option<Expr> {
        self.expr(fields.get(key)?, what)
    }

    /// Text with `${axis}` in it; its shape is checked here, its names with the block they stand in.
    pub fn template(&self, tree: &Tree, what: &str) -> Option<Template> {
        let template = Template {
            text: self.text(tree, what)?,
            place: tree.place,
        };
        if let Err(words) = super::template::names(&template.text) {
            self.log.mend(tree.place, words, "write ${axis}");
        }
        Some(template)
    }

    /// One of a closed list of words.
    pub fn word<T>(
        &self,
        tree: &Tree,
        what: &str,
        words: &[&str],
        parse: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let text = self.text(tree, what)?;
        let parsed = parse(&text);
        if parsed.is_none() {
            let mend = match near(&text, words.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("one of {}", words.join(", ")),
            };
            self.log
                .mend(tree.place, format!("`{text}` is no {what}"), mend);
        }
        parsed
    }

    /// A name that must be among those declared elsewhere in the file.
    pub fn declared<'n>(
        &self,
        tree: &Tree,
        what: &str,
        names: impl Iterator<Item = &'n str> + Clone,
    ) -> Option<String> {
        let name = self.text(tree, what)?;
        if names.clone().any(|known| known == name) {
            return Some(name);
        }
        self.unknown(tree.place, what, &name, names);
        None
    }

    pub fn unknown<'n>(
        &self,
        place: Place,
        what: &str,
        name: &str,
        names: impl Iterator<Item = &'n str> + Clone,
    ) {
        let mend = match near(name, names.clone()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => match names.collect::<Vec<_>>() {
                known if known.is_empty() => "the file declares none".to_string(),
                known => format!("the file declares {}", known.join(", ")),
            },
        };
        self.log
            .mend(place, format!("there is no {what} `{name}`"), mend);
    }
}

/// What was given instead, for a number that was refused.
fn given(scalar: &Scalar) -> Option<String> {
    let shown: String = scalar.text.chars().take(40).collect();
    Some(match scalar.typed {
        Typed::Int(_) | Typed::Float(_) => format!("{shown} is given"),
        _ if scalar.plain => format!("`{shown}` is given; expressions are not evaluated here"),
        _ => "write the number without quotes".to_string(),
    })
}

pub(super) fn kind(content: &Content) -> &'static str {
    match content {
        Content::Mapping(_) => "a mapping",
        Content::Sequence(_) => "a list",
        Content::Refused => "this",
        Content::Scalar(scalar) => match scalar.typed {
            Typed::Null => "nothing",
            Typed::Bool => "true or false",
            Typed::Int(_) | Typed::Float(_) => "a number",
            Typed::Text => "text",
        },
    }
}
