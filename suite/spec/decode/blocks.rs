//! Blocks of cases: axes, inputs and which gates run on them.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use crate::spec::fields::{Decoder, Fields};
use crate::spec::keys;
use crate::spec::model::{Axis, AxisValue, Block, Input, Place, Seed};
use crate::spec::tree::{Content, Scalar, Tree, Typed};
use crate::terms::Profile;
use crate::value::ElementType;

/// Values of one axis in one profile.
const VALUES_MAX: usize = 10_000;
/// Axes of one block: each is a part of every case's name.
const AXES_MAX: usize = 16;
/// Characters of a text among an axis' values, for the same reason.
const VALUE_TEXT_MAX: usize = 64;

impl Decoder<'_> {
    pub(super) fn blocks(&self, fields: &Fields<'_>) -> Vec<Block> {
        let shared = fields.get("inputs").map(|tree| self.inputs(tree));
        let shared = shared.unwrap_or_default();
        let Some(cases) = fields.get("cases") else {
            let axes = fields.get("axes").map(|tree| self.axes(tree));
            return vec![Block {
                axes: axes.unwrap_or_default(),
                inputs: shared,
                gates: self.survey.gates.keys().cloned().collect(),
                place: fields.get("axes").map_or(fields.place, |tree| tree.place),
            }];
        };
        if let Some(axes) = fields.get("axes") {
            let mend = "move them into each block of `cases`, or leave `cases` out";
            self.log.mend(axes.place, "axes stand beside `cases`", mend);
        }
        let items = self.list(cases, "`cases`").unwrap_or(&[]);
        if matches!(&cases.content, Content::Sequence(items) if items.is_empty()) {
            self.log.add(cases.place, "`cases` needs a block");
        }
        let blocks = items.iter().filter_map(|item| self.block(item, &shared));
        blocks.collect()
    }

    fn block(&self, tree: &Tree, shared: &IndexMap<String, Input>) -> Option<Block> {
        let fields = self.fields(tree, "a block of cases", keys::BLOCK)?;
        let axes = fields.get("axes").map(|tree| self.axes(tree));
        let mut inputs = shared.clone();
        if let Some(tree) = fields.get("inputs") {
            for entry in crate::spec::survey::entries(tree) {
                if shared.contains_key(&entry.key) {
                    let message = format!("input `{}` is declared for all blocks", entry.key);
                    self.log
                        .mend(entry.place, message, "remove it here or at the top");
                }
            }
            inputs.extend(self.inputs(tree));
        }
        let gates = match fields.get("gates") {
            Some(tree) => self.block_gates(tree),
            None => self.survey.gates.keys().cloned().collect(),
        };
        Some(Block {
            axes: axes.unwrap_or_default(),
            inputs,
            gates,
            place: tree.place,
        })
    }

    fn block_gates(&self, tree: &Tree) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let items = self.list(tree, "`gates` of a block").unwrap_or(&[]);
        if matches!(&tree.content, Content::Sequence(items) if items.is_empty()) {
            let mend = "name gates, or leave `gates` out for all of them";
            self.log.mend(tree.place, "this block runs no gate", mend);
        }
        for item in items {
            let known = self.survey.gates.keys().map(String::as_str);
            match self.declared(item, "gate", known) {
                Some(name) if names.contains(&name) => {
                    let message = format!("gate `{name}` is listed twice in this block");
                    self.log.mend(item.place, message, "remove one");
                }
                Some(name) => names.push(name),
                None => {}
            }
        }
        names
    }

    fn axes(&self, tree: &Tree) -> IndexMap<String, Axis> {
        let fields = self.mapping(tree, "`axes`");
        let entries = fields.map_or(&[][..], |fields| fields.entries);
        if let Some(surplus) = entries.get(AXES_MAX) {
            let message = format!("a block has at most {AXES_MAX} axes");
            let mend = "values that never vary belong into `let`";
            self.log.mend(surplus.place, message, mend);
            return IndexMap::new();
        }
        let decoded = entries.iter().filter_map(|entry| {
            self.name(&entry.key, entry.place, "an axis");
            if entry.key == "rows" {
                let mend = "`rows` holds the timing rows in assertions and tables";
                self.log
                    .mend(entry.place, "`rows` cannot name an axis", mend);
            }
            Some((entry.key.clone(), self.axis(&entry.value, &entry.key)?))
        });
        decoded.collect()
    }

    fn axis(&self, tree: &Tree, name: &str) -> Option<Axis> {
        let profiles = match &tree.content {
            Content::Mapping(entries)
                if !entries.iter().any(|e| keys::RANGE.contains(&&*e.key)) =>
            {
                entries
            }
            _ => return Some(Axis::Always(self.axis_values(tree, name)?)),
        };
        let fields = self.fields(tree, "an axis", keys::PROFILES)?;
        if profiles.is_empty() {
            self.no_values(tree.place, name);
        }
        let mut values = BTreeMap::new();
        for entry in fields.entries {
            let Some(profile) = Profile::from_name(&entry.key) else {
                continue;
            };
            if let Some(list) = self.axis_values(&entry.value, name) {
                values.insert(profile, list);
            }
        }
        Some(Axis::PerProfile(values))
    }

    fn no_values(&self, place: Place, name: &str) {
        let mend = "write [1, 2], {pow2: [8, 24]} or {quick: […], full: […]}";
        self.log
            .mend(place, format!("axis `{name}` has no values"), mend);
    }

    fn axis_values(&self, tree: &Tree, name: &str) -> Option<Vec<AxisValue>> {
        let items = match &tree.content {
            Content::Mapping(_) => return self.range(tree, name),
            Content::Scalar(Scalar {
                typed: Typed::Null, ..
            }) => {
                self.no_values(tree.place, name);
                return None;
            }
            _ => self.list(tree, "an axis")?,
        };
        if items.is_empty() {
            self.no_values(tree.place, name);
        }
        if items.len() > VALUES_MAX {
            let message = format!("axis `{name}` has more than {VALUES_MAX} values");
            self.log.add(tree.place, message);
            return None;
        }
        let mut values = Vec::with_capacity(items.len());
        let mut seen = std::collections::HashSet::new();
        for item in items {
            let Some(value) = self.axis_value(item) else {
                continue;
            };
            if !seen.insert(value.clone()) {
                let message = format!("axis `{name}` has this value twice");
                self.log.mend(item.place, message, "remove one");
                continue;
            }
            values.push(value);
        }
        Some(values)
    }

    fn axis_value(&self, tree: &Tree) -> Option<AxisValue> {
        let scalar = self.scalar(tree, "an axis value")?;
        let good = |c: char| c.is_ascii_alphanumeric() || "_-.+".contains(c);
        match scalar.typed {
            Typed::Int(value) => match i64::try_from(value) {
                Ok(value) => return Some(AxisValue::Int(value)),
                Err(_) => self.log.mend(
                    tree.place,
                    format!("{} does not fit in 64 bits", scalar.text),
                    format!("integers go up to {}", i64::MAX),
                ),
            },
            Typed::Text if scalar.text.len() > VALUE_TEXT_MAX => self.log.mend(
                tree.place,
                "this text is too long to be part of a test's name",
                format!("at most {VALUE_TEXT_MAX} characters"),
            ),
            Typed::Text if scalar.text.chars().all(good) && !scalar.text.is_empty() => {
                return Some(AxisValue::Text(scalar.text.clone()));
            }
            Typed::Text => self.log.mend(
                tree.place,
                "this text cannot be part of a test's name",
                "letters, digits, _ - . and +; expressions belong into `let`",
            ),
            _ => self.log.mend(
                tree.place,
                "an axis value is an integer or text",
                "write another value, or quote it if it is text",
            ),
        }
        None
    }

    /// `{pow2: [8, 24], less: [0, 3]}`: 2^8 − 0, 2^8 − 3, 2^9 − 0, … to 2^24 − 3. A number met twice counts once.
    fn range(&self, tree: &Tree, name: &str) -> Option<Vec<AxisValue>> {
        let fields = self.fields(tree, "a range", keys::RANGE)?;
        let bounds = self.required(&fields, "a range", "pow2")?;
        let ends = self.list(bounds, "`pow2`")?;
        let [from, to] = ends else {
            let mend = "write [8, 24] for 2^8 to 2^24";
            self.log
                .mend(bounds.place, "`pow2` is a list of two exponents", mend);
            return None;
        };
        let from = self.whole(from, "an exponent", 0, 62);
        let to = self.whole(to, "an exponent", 0, 62);
        let less = match fields.get("less") {
            Some(tree) => self
                .list(tree, "`less`")?
                .iter()
                .map(|item| self.whole(item, "a number to subtract", 0, 1 << 62))
                .collect::<Option<Vec<_>>>()?,
            None => vec![0],
        };
        let mut values = Vec::new();
        for exponent in from?..=to? {
            for less in less.iter().take(VALUES_MAX) {
                let value = AxisValue::Int(i64::try_from((1i128 << exponent) - less).ok()?);
                if !values.contains(&value) {
                    values.push(value);
                }
            }
        }
        if values.is_empty() {
            self.no_values(tree.place, name);
        }
        Some(values)
    }

    fn inputs(&self, tree: &Tree) -> IndexMap<String, Input> {
        let fields = self.mapping(tree, "`inputs`");
        let entries = fields.map_or(&[][..], |fields| fields.entries);
        let decoded = entries.iter().filter_map(|entry| {
            self.name(&entry.key, entry.place, "an input");
            let axis = self.survey.axes.contains(&entry.key);
            if axis || self.survey.lets.contains(&entry.key) {
                let other = if axis { "an axis" } else { "a let" };
                let message = format!("`{}` names an input here and {other} elsewhere", entry.key);
                self.log.mend(entry.place, message, "rename one of them");
            }
            Some((entry.key.clone(), self.input(&entry.value, entry.place)?))
        });
        decoded.collect()
    }

    fn input(&self, tree: &Tree, place: Place) -> Option<Input> {
        let fields = self.mapping(tree, "an input")?;
        let element = self.element(&fields, "an input");
        let generator = self.required(&fields, "an input", "generator");
        let generator = generator.and_then(|tree| self.template(tree, "a generator"));
        let len = self.required(&fields, "an input", "len");
        let len = len.and_then(|tree| self.expr(tree, "a length"));
        let seed = match fields.get("seed") {
            Some(tree) => self.seed(tree),
            None => Some(Seed::Fixed(0)),
        };
        let params = fields
            .entries
            .iter()
            .filter(|e| !keys::INPUT.contains(&e.key.as_str()));
        let params = params.filter_map(|entry| {
            let expr = self.expr(&entry.value, "an expression")?;
            Some((entry.key.clone(), expr))
        });
        Some(Input {
            params: params.collect(),
            element: element.unwrap_or(ElementType::I32),
            generator: generator?,
            seed: seed.unwrap_or(Seed::Fixed(0)),
            len: len?,
            place,
        })
    }

    fn seed(&self, tree: &Tree) -> Option<Seed> {
        let scalar = self.scalar(tree, "a seed")?;
        if scalar.text == "case_id" {
            return Some(Seed::CaseId);
        }
        let value = self.whole(tree, "a seed (or `case_id`)", 0, u64::MAX.into())?;
        u64::try_from(value).ok().map(Seed::Fixed)
    }
}
