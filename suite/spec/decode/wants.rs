//! Wanted values: a reference, another pipeline's buffer, a file or a script.

use std::path::{Component, Path, PathBuf};

use crate::spec::fields::{Decoder, Fields};
use crate::spec::keys;
use crate::spec::model::{Place, Want};
use crate::spec::sha256;
use crate::spec::tree::Tree;

use super::slices::Use;

impl Decoder<'_> {
    pub(super) fn want(&self, tree: &Tree) -> Option<Want> {
        let fields = self.mapping(tree, "a wanted value")?;
        if fields.has("run") {
            self.known_keys(&fields, "a wanted pipeline", keys::WANT_RUN);
            let buffer = self.required(&fields, "a wanted pipeline", "buffer");
            let buffer = buffer.and_then(|tree| self.slice(tree, Use::Result));
            let pipeline = self.pipeline_name(fields.get("run")?);
            return Some(Want::Run {
                pipeline: pipeline?,
                buffer: buffer?,
            });
        }
        if let Some(file) = fields.get("file") {
            self.known_keys(&fields, "a wanted file", keys::WANT_FILE);
            return self.want_file(file);
        }
        if let Some(script) = fields.get("script") {
            self.known_keys(&fields, "a wanted script", keys::WANT_SCRIPT);
            return self.want_script(script);
        }
        self.reference(&fields)
    }

    fn reference(&self, fields: &Fields<'_>) -> Option<Want> {
        let named = |entry: &&_| -> bool {
            let entry: &crate::spec::tree::Entry = entry;
            !keys::WANT_REFERENCE.contains(&entry.key.as_str())
        };
        let mut names = fields.entries.iter().filter(named);
        let reference = names
            .next()
            .or_else(|| fields.entries.iter().find(|entry| entry.key == "map"));
        let Some(reference) = reference else {
            let mend = "write {compact: nonzero}, {run: …, buffer: …}, {file: …} or {script: …}";
            self.log
                .mend(fields.place, "no wanted value is named", mend);
            return None;
        };
        for extra in names {
            let message = format!("`{}` stands beside `{}`", extra.key, reference.key);
            let mend = "a wanted value has one reference, with `map` and `of`";
            self.log.mend(extra.place, message, mend);
        }
        let operand = self.template(&reference.value, "a predicate or an operator");
        let map = match fields.get("map") {
            Some(map) if reference.key != "map" => Some(self.template(map, "a predicate")?),
            _ => None,
        };
        let operand = operand?;
        let of = if reference.key == "copy" {
            self.copied(fields, &reference.value)
        } else {
            self.of(fields)
        };
        Some(Want::Reference {
            name: reference.key.clone(),
            operand,
            map,
            of: of?,
        })
    }

    /// `{copy: input}`: the operand is the input itself.
    fn copied(&self, fields: &Fields<'_>, operand: &Tree) -> Option<String> {
        if let Some(of) = fields.get("of") {
            let mend = "`copy` names its input: {copy: input}";
            self.log.mend(of.place, "`of` is not for `copy`", mend);
        }
        self.input_name(operand)
    }

    fn of(&self, fields: &Fields<'_>) -> Option<String> {
        if let Some(of) = fields.get("of") {
            return self.input_name(of);
        }
        let mut inputs = self.survey.inputs.keys();
        match (inputs.next(), inputs.next()) {
            (Some(only), None) => Some(only.clone()),
            (None, _) => {
                let mend = "declare `inputs`, or take the wanted value from a file";
                self.log
                    .mend(fields.place, "a reference needs an input", mend);
                None
            }
            (Some(first), Some(_)) => {
                let mend = format!("add `of: {first}`");
                self.log
                    .mend(fields.place, "of which input is not said", mend);
                None
            }
        }
    }

    fn input_name(&self, tree: &Tree) -> Option<String> {
        let known = self.survey.inputs.keys().map(String::as_str);
        self.declared(tree, "input", known)
    }

    fn want_file(&self, tree: &Tree) -> Option<Want> {
        let path = self.text(tree, "a file")?;
        let text = self.beside(&path, tree.place)?;
        let parsed: Result<serde_json::Value, _> = serde_json::from_str(&text);
        let good = match &parsed {
            Ok(serde_json::Value::Number(_)) => true,
            Ok(serde_json::Value::Array(items)) => items.iter().all(serde_json::Value::is_number),
            _ => false,
        };
        if !good {
            let mend = match parsed {
                Err(error) => error.to_string(),
                Ok(_) => "nothing else may be in it".to_string(),
            };
            let message = format!("`{path}` is not a JSON number or array of numbers");
            self.log.mend(tree.place, message, mend);
            return None;
        }
        Some(Want::File { path, text })
    }

    /// One line that ends in `.rhai` is a path, anything else is the script itself.
    fn want_script(&self, tree: &Tree) -> Option<Want> {
        let given = self.text(tree, "a script")?;
        let path = given.trim();
        if path.ends_with(".rhai") && !path.contains(['\n', ' ', ';']) {
            let text = self.beside(path, tree.place)?;
            let place = Place { line: 1, column: 1 };
            if let Err(error) = self.engine.check_script(&text, place) {
                let (line, column) = (error.place.line, error.place.column);
                let message = format!("{path}:{line}:{column}: {}", error.message);
                self.log.maybe(tree.place, message, error.mend);
            }
            return Some(Want::Script { text, place });
        }
        if let Err(error) = self.engine.check_script(&given, tree.place) {
            self.log.expr(error);
        }
        Some(Want::Script {
            text: given,
            place: tree.place,
        })
    }

    /// The text of a file that stands beside the spec.
    fn beside(&self, relative: &str, place: Place) -> Option<String> {
        let inside = Path::new(relative)
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if !inside {
            let mend = "name a file in the spec's own folder or below it";
            self.log
                .mend(place, format!("`{relative}` leads elsewhere"), mend);
            return None;
        }
        let folder = Path::new(self.path).parent().map(PathBuf::from);
        let path = folder.unwrap_or_default().join(relative);
        let bytes = match (self.loader.read)(&path) {
            Ok(bytes) => bytes,
            Err(error) => {
                let message = format!("`{relative}` cannot be read: {error}");
                let mend = "it is looked for beside the spec";
                self.log.mend(place, message, mend);
                return None;
            }
        };
        let hash = sha256(&bytes);
        self.beside.borrow_mut().insert(relative.to_owned(), hash);
        let text = String::from_utf8(bytes);
        if text.is_err() {
            self.log.mend(
                place,
                format!("`{relative}` is not UTF-8"),
                "save it as UTF-8",
            );
        }
        text.ok()
    }
}
