//! The names that a file declares, read before anything else so that every use can be checked where it stands.

use indexmap::IndexMap;

use super::tree::{Content, Entry, Tree};
use crate::value::ElementType;

/// Names by what they declare; of buffers and inputs with their element type, where that is legible.
#[derive(Debug, Default)]
pub(super) struct Survey {
    pub axes: Vec<String>,
    pub lets: Vec<String>,
    pub inputs: IndexMap<String, Option<ElementType>>,
    pub buffers: IndexMap<String, Option<ElementType>>,
    pub pipelines: Vec<String>,
    /// Each with its check's name and, of timings, its rows' names.
    pub gates: IndexMap<String, (String, Vec<String>)>,
}

impl Survey {
    pub fn of(root: &Tree) -> Self {
        let mut survey = Self::default();
        for entry in entries(root) {
            match entry.key.as_str() {
                "axes" => add_keys(&mut survey.axes, &entry.value),
                "let" => add_keys(&mut survey.lets, &entry.value),
                "inputs" => add_typed(&mut survey.inputs, &entry.value),
                "buffers" => add_typed(&mut survey.buffers, &entry.value),
                "pipelines" => add_keys(&mut survey.pipelines, &entry.value),
                "gates" => survey.add_gates(&entry.value),
                "cases" => {
                    for block in items(&entry.value).iter().flat_map(entries) {
                        match block.key.as_str() {
                            "axes" => add_keys(&mut survey.axes, &block.value),
                            "inputs" => add_typed(&mut survey.inputs, &block.value),
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        survey
    }

    fn add_gates(&mut self, tree: &Tree) {
        for gate in entries(tree) {
            let check = value_of(&gate.value, "check").and_then(text).unwrap_or("");
            let rows = value_of(&gate.value, "rows").map_or(&[][..], entries);
            let rows = rows.iter().map(|row| row.key.clone()).collect();
            self.gates
                .insert(gate.key.clone(), (check.to_string(), rows));
        }
    }

    /// The element type of a buffer or an input.
    pub fn element(&self, name: &str) -> Option<ElementType> {
        let found = self.buffers.get(name).or_else(|| self.inputs.get(name));
        found.copied().flatten()
    }

    pub fn is_array(&self, name: &str) -> bool {
        self.buffers.contains_key(name) || self.inputs.contains_key(name)
    }

    pub fn arrays(&self) -> impl Iterator<Item = &str> + Clone {
        let names = self.buffers.keys().chain(self.inputs.keys());
        names.map(String::as_str)
    }
}

pub(super) fn entries(tree: &Tree) -> &[Entry] {
    match &tree.content {
        Content::Mapping(entries) => entries,
        _ => &[],
    }
}

fn items(tree: &Tree) -> &[Tree] {
    match &tree.content {
        Content::Sequence(items) => items,
        _ => &[],
    }
}

fn value_of<'t>(tree: &'t Tree, key: &str) -> Option<&'t Tree> {
    let found = entries(tree).iter().find(|entry| entry.key == key)?;
    Some(&found.value)
}

fn text(tree: &Tree) -> Option<&str> {
    match &tree.content {
        Content::Scalar(scalar) => Some(&scalar.text),
        _ => None,
    }
}

fn add_keys(names: &mut Vec<String>, tree: &Tree) {
    for entry in entries(tree) {
        if !names.contains(&entry.key) {
            names.push(entry.key.clone());
        }
    }
}

fn add_typed(names: &mut IndexMap<String, Option<ElementType>>, tree: &Tree) {
    for entry in entries(tree) {
        let element = value_of(&entry.value, "type").and_then(text);
        let element = element.and_then(ElementType::from_name);
        names.insert(entry.key.clone(), element);
    }
}
