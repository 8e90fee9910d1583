//! Collects the problems of one file, so that all of them come at once.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashSet};

use super::model::Place;
use super::problem::Problem;
use super::tree::{Content, Tree};
use crate::expr::ExprError;

/// Problems kept of one file: nobody reads more, and a hostile file must not fill the memory.
const PROBLEMS_MAX: usize = 200;

/// A file's text, cut into lines.
pub(super) struct Source<'a> {
    pub path: &'a str,
    pub lines: Vec<&'a str>,
}

impl<'a> Source<'a> {
    pub fn new(path: &'a str, text: &'a str) -> Self {
        Self {
            path,
            lines: text.lines().collect(),
        }
    }
}

struct Found {
    place: Place,
    whole: bool,
    message: String,
    mend: Option<String>,
}

pub(super) struct Log<'a> {
    source: &'a Source<'a>,
    paths: BTreeMap<(usize, usize), String>,
    /// Of mappings, each by its own path: a block mapping starts where its first key does.
    mappings: BTreeMap<(usize, usize), String>,
    found: RefCell<Vec<Found>>,
    seen: RefCell<HashSet<(Place, String)>>,
    dropped: Cell<usize>,
}

impl<'a> Log<'a> {
    pub fn new(source: &'a Source<'a>) -> Self {
        Self {
            source,
            paths: BTreeMap::new(),
            mappings: BTreeMap::new(),
            found: RefCell::default(),
            seen: RefCell::default(),
            dropped: Cell::new(0),
        }
    }

    pub fn add(&self, place: Place, message: impl Into<String>) {
        self.push(place, false, message.into(), None);
    }

    pub fn mend(&self, place: Place, message: impl Into<String>, mend: impl Into<String>) {
        self.push(place, false, message.into(), Some(mend.into()));
    }

    /// `mend` where there is a suggestion, else without.
    pub fn maybe(&self, place: Place, message: impl Into<String>, mend: Option<String>) {
        self.push(place, false, message.into(), mend);
    }

    pub fn expr(&self, error: ExprError) {
        self.push(error.place, false, error.message, error.mend);
    }

    /// Of a mapping as a whole: a key that it lacks.
    pub fn whole(&self, place: Place, message: impl Into<String>, mend: impl Into<String>) {
        self.push(place, true, message.into(), Some(mend.into()));
    }

    pub fn is_empty(&self) -> bool {
        self.found.borrow().is_empty()
    }

    fn push(&self, place: Place, whole: bool, message: String, mend: Option<String>) {
        let place = self.inside(place);
        let known = self.seen.borrow().contains(&(place, message.clone()));
        if known {
            return;
        }
        if self.found.borrow().len() >= PROBLEMS_MAX {
            self.dropped.set(self.dropped.get() + 1);
            return;
        }
        self.seen.borrow_mut().insert((place, message.clone()));
        self.found.borrow_mut().push(Found {
            place,
            whole,
            message,
            mend,
        });
    }

    /// A parser may point behind the last line; a person looks at its end.
    fn inside(&self, place: Place) -> Place {
        let lines = &self.source.lines;
        match lines.last() {
            Some(last) if place.line > lines.len() => Place {
                line: lines.len(),
                column: last.chars().count() + 1,
            },
            _ => place,
        }
    }

    /// Takes the key of every place from the tree as it was read, before anything is repaired.
    pub fn index(&mut self, tree: &Tree) {
        self.collect(tree, String::new());
    }

    /// By place; the key of each is that of the nearest node at or before it.
    pub fn finish(self) -> Vec<Problem> {
        let (paths, mappings) = (self.paths, self.mappings);
        let found = self.found.into_inner();
        let mut problems: Vec<Problem> = found
            .into_iter()
            .map(|problem| {
                let place = problem.place;
                let at = (place.line, place.column);
                let own = mappings.get(&at).filter(|_| problem.whole);
                let key = own.or_else(|| paths.range(..=at).next_back().map(|(_, key)| key));
                let line = place.line.checked_sub(1);
                let line = line.and_then(|at| self.source.lines.get(at));
                Problem {
                    file: self.source.path.to_string(),
                    place: Some(place),
                    key: key.cloned().unwrap_or_default(),
                    source_line: line.map_or_else(String::new, |line| (*line).to_string()),
                    message: problem.message,
                    mend: problem.mend,
                }
            })
            .collect();
        problems.sort_by_key(|p| p.place.map(|place| (place.line, place.column)));
        if self.dropped.get() > 0 {
            let message = format!("{} more problems are not shown", self.dropped.get());
            let mend = Some("mend those above first".to_string());
            problems.push(Problem::of_file(self.source.path, message, mend));
        }
        problems
    }

    /// Where a mapping starts with its first key, the place's path is the key's.
    fn collect(&mut self, tree: &Tree, path: String) {
        let at = |place: Place| (place.line, place.column);
        self.paths.insert(at(tree.place), path.clone());
        match &tree.content {
            Content::Mapping(entries) => {
                self.mappings.insert(at(tree.place), path.clone());
                for entry in entries {
                    let joint = if path.is_empty() { "" } else { "." };
                    let path = format!("{path}{joint}{}", entry.key);
                    self.paths.insert(at(entry.place), path.clone());
                    if at(entry.value.place) != at(entry.place) {
                        self.collect(&entry.value, path);
                    }
                }
            }
            Content::Sequence(items) => {
                for (i, item) in items.iter().enumerate() {
                    self.collect(item, format!("{path}[{i}]"));
                }
            }
            Content::Scalar(_) | Content::Refused => {}
        }
    }
}
