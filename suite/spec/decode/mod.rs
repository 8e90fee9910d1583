//! Tree → suite: each part of the format decoded where it stands, every name checked against the survey.

mod blocks;
mod checks;
mod gates;
mod must_run;
mod slices;
mod steps;
mod tables;
mod timings;
mod wants;

use indexmap::IndexMap;

use super::fields::{Decoder, Fields};
use super::keys;
use super::model::{Buffer, Expr, Gate, Requirement, Step, Suite};
use super::tree::{Content, Tree, Typed};
use crate::value::ElementType;

/// Bytes of a name that becomes part of test names and paths.
const SUITE_NAME_MAX: usize = 64;
/// Characters of a title or a subject, of which every case has a copy.
const TITLE_MAX: usize = 200;

impl Decoder<'_> {
    /// The whole file; what could not be decoded is missing from the suite, and the log says why.
    pub fn suite(&self, root: &Tree, sha256: String) -> Option<Suite> {
        let fields = self.fields(root, "a suite", keys::SUITE)?;
        self.version(&fields);
        let name = self.suite_name(&fields).unwrap_or_default();
        let title = fields.get("title").and_then(|t| self.title(t, "a title"));
        let title = title.unwrap_or_else(|| name.clone());
        self.distinct_names(&fields);
        let gates = self.gates(&fields);
        Some(Suite {
            subject: self.subject(&fields).unwrap_or_else(|| title.clone()),
            title,
            name,
            path: self.path.to_string(),
            sha256,
            kernels: self.kernels(&fields),
            blocks: self.blocks(&fields),
            lets: self.lets(&fields),
            require: self.requirements(&fields),
            buffers: self.buffers(&fields),
            pipelines: self.pipelines(&fields),
            must_run: self.must_run(&fields, &gates),
            gates,
            tables: self.tables(&fields),
        })
    }

    /// The implementation that a suite, a gate or a row is about.
    fn subject(&self, fields: &Fields<'_>) -> Option<String> {
        let text = self.title(fields.get("subject")?, "a subject")?;
        Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    fn title(&self, tree: &Tree, what: &str) -> Option<String> {
        let text = self.text(tree, what)?;
        if text.chars().count() > TITLE_MAX {
            let message = format!("{what} has more than {TITLE_MAX} characters");
            self.log.mend(tree.place, message, "say it in fewer words");
            return None;
        }
        Some(text)
    }

    fn version(&self, fields: &Fields<'_>) {
        let Some(tree) = self.required(fields, "a suite", "version") else {
            return;
        };
        if self
            .scalar(tree, "the format's version")
            .is_some_and(|s| s.typed != Typed::Int(1))
        {
            let mend = "write `version: 1`";
            self.log
                .mend(tree.place, "the version of this format is 1", mend);
        }
    }

    fn suite_name(&self, fields: &Fields<'_>) -> Option<String> {
        let tree = self.required(fields, "a suite", "suite")?;
        let name = self.text(tree, "the suite's name")?;
        let good = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if name.len() > SUITE_NAME_MAX || !name.chars().all(good) {
            let mend = format!("letters, digits, _ and -, at most {SUITE_NAME_MAX}");
            self.log.mend(tree.place, "this cannot name a suite", mend);
        }
        Some(name)
    }

    /// In an expression or an argument a name stands for one thing.
    fn distinct_names(&self, fields: &Fields<'_>) {
        let survey = self.survey;
        for (section, what) in [("let", "a let"), ("buffers", "a buffer")] {
            let Some(tree) = fields.get(section) else {
                continue;
            };
            for entry in super::survey::entries(tree) {
                let other = if survey.axes.contains(&entry.key) {
                    "an axis"
                } else if survey.inputs.contains_key(&entry.key) {
                    "an input"
                } else if what != "a let" && survey.lets.contains(&entry.key) {
                    "a let"
                } else {
                    continue;
                };
                let message = format!("`{}` names {what} here and {other} elsewhere", entry.key);
                self.log.mend(entry.place, message, "rename one of them");
            }
        }
    }

    fn kernels(&self, fields: &Fields<'_>) -> Vec<String> {
        let Some(tree) = self.required(fields, "a suite", "kernels") else {
            return Vec::new();
        };
        let items = self.list(tree, "`kernels`").unwrap_or(&[]);
        let mut modules: Vec<String> = Vec::new();
        for item in items {
            let Some(file) = self.text(item, "a kernel file") else {
                continue;
            };
            let inside = !file.starts_with('/') && !file.split('/').any(|part| part == "..");
            match file.strip_suffix(".cu").filter(|m| !m.is_empty()) {
                Some(module) if inside && !modules.iter().any(|m| m == module) => {
                    self.kernel_file(item, module);
                    modules.push(module.to_string());
                }
                Some(_) if inside => self.log.mend(
                    item.place,
                    format!("`{file}` is listed twice"),
                    "remove one",
                ),
                _ => self.log.mend(
                    item.place,
                    format!("`{file}` is no kernel file"),
                    "name a .cu file inside kernels/, such as `compaction.cu`",
                ),
            }
        }
        if matches!(&tree.content, Content::Sequence(items) if items.is_empty()) {
            let mend = "name the .cu files whose kernels the pipelines launch";
            self.log
                .mend(tree.place, "a suite needs a kernel file", mend);
        }
        modules
    }

    fn kernel_file(&self, item: &Tree, module: &str) {
        if let super::Known::NoSuchFile { near } = self.loader.kernels.signatures(module) {
            let mend = match near.first() {
                Some(near) => format!("did you mean `{near}.cu`?"),
                None => "add the file, or mend its name".to_string(),
            };
            let message = format!("no kernel file `{module}.cu` in kernels/");
            self.log.mend(item.place, message, mend);
        }
    }

    fn lets(&self, fields: &Fields<'_>) -> IndexMap<String, Expr> {
        self.section(fields, "let", |decoder, tree, name| {
            let place = decoder.key_place(fields, "let", name);
            decoder.name(name, place, "a let");
            decoder.expr(tree, "an expression")
        })
    }

    fn requirements(&self, fields: &Fields<'_>) -> Vec<Requirement> {
        let items = fields
            .get("require")
            .and_then(|tree| self.list(tree, "`require`"));
        let items = items.unwrap_or(&[]).iter();
        items
            .filter_map(|item| {
                let fields = self.fields(item, "a requirement", keys::REQUIRE)?;
                let that = self.required(&fields, "a requirement", "that");
                let otherwise = self.required(&fields, "a requirement", "else");
                let otherwise = otherwise.and_then(|tree| self.text(tree, "the reason"));
                Some(Requirement {
                    that: self.expr(that?, "a condition")?,
                    otherwise: otherwise?,
                })
            })
            .collect()
    }

    fn buffers(&self, fields: &Fields<'_>) -> IndexMap<String, Buffer> {
        self.section(fields, "buffers", |decoder, tree, name| {
            let place = decoder.key_place(fields, "buffers", name);
            decoder.name(name, place, "a buffer");
            let fields = decoder.fields(tree, "a buffer", keys::BUFFER)?;
            let element = decoder.element(&fields, "a buffer");
            let len = decoder.required(&fields, "a buffer", "len");
            Some(Buffer {
                element: element.unwrap_or(ElementType::I32),
                len: decoder.expr(len?, "a length")?,
                place,
            })
        })
    }

    fn pipelines(&self, fields: &Fields<'_>) -> IndexMap<String, Vec<Step>> {
        if self.required(fields, "a suite", "pipelines").is_none() {
            self.incomplete.set(true);
        }
        self.section(fields, "pipelines", |decoder, tree, name| {
            let place = decoder.key_place(fields, "pipelines", name);
            decoder.name(name, place, "a pipeline");
            let steps = decoder.steps(tree, "a pipeline");
            if steps.is_none() {
                decoder.incomplete.set(true);
            }
            steps
        })
    }

    fn gates(&self, fields: &Fields<'_>) -> IndexMap<String, Gate> {
        match self.required(fields, "a suite", "gates") {
            Some(Tree {
                place,
                content: Content::Mapping(entries),
            }) if entries.is_empty() => {
                self.log.add(*place, "a suite needs a gate");
            }
            _ => {}
        }
        self.section(fields, "gates", |decoder, tree, name| {
            let place = decoder.key_place(fields, "gates", name);
            decoder.name(name, place, "a gate");
            let gate = decoder.gate(tree, name, place);
            if gate.is_none() {
                decoder.incomplete.set(true);
            }
            gate
        })
    }

    /// The entries of an optional section, each decoded on its own.
    fn section<T>(
        &self,
        fields: &Fields<'_>,
        key: &str,
        decode: impl Fn(&Self, &Tree, &str) -> Option<T>,
    ) -> IndexMap<String, T> {
        let tree = fields.get(key);
        let section = tree.and_then(|tree| self.mapping(tree, &format!("`{key}`")));
        let entries = section.map_or(&[][..], |section| section.entries);
        let decoded = entries.iter().filter_map(|entry| {
            let value = decode(self, &entry.value, &entry.key)?;
            Some((entry.key.clone(), value))
        });
        decoded.collect()
    }

    fn key_place(&self, fields: &Fields<'_>, section: &str, name: &str) -> super::model::Place {
        let tree = fields.get(section);
        let entries = tree.map_or(&[][..], super::survey::entries);
        let entry = entries.iter().find(|entry| entry.key == name);
        entry.map_or(fields.place, |entry| entry.place)
    }

    fn element(&self, fields: &Fields<'_>, what: &str) -> Option<ElementType> {
        let tree = self.required(fields, what, "type")?;
        let names = ElementType::ALL.map(ElementType::name);
        self.word(tree, "element type", &names, ElementType::from_name)
    }
}
