//! Tables: the axes they are over, their columns, and how they are drawn.

use indexmap::IndexMap;

use crate::spec::fields::{Decoder, Fields};
use crate::spec::keys;
use crate::spec::model::{Expr, Plot, Table};
use crate::spec::survey;
use crate::spec::tree::{Content, Tree};
use crate::terms::Scale;

impl Decoder<'_> {
    pub(super) fn tables(&self, fields: &Fields<'_>) -> IndexMap<String, Table> {
        self.section(fields, "tables", |decoder, tree, name| {
            let place = decoder.key_place(fields, "tables", name);
            decoder.name(name, place, "a table");
            decoder.table(tree)
        })
    }

    /// Each part is read, whatever is wrong with the others.
    fn table(&self, tree: &Tree) -> Option<Table> {
        let fields = self.fields(tree, "a table", keys::TABLE)?;
        let over = self.required(&fields, "a table", "over");
        let over = over.map(|tree| self.over(tree));
        let columns = self.required(&fields, "a table", "columns");
        let columns = columns.and_then(|tree| self.columns(tree));
        let plot = fields.get("plot").map(|tree| self.plot(tree, &fields));
        Some(Table {
            over: over.filter(|over| !over.is_empty())?,
            columns: columns?,
            plot: plot.flatten(),
        })
    }

    fn over(&self, tree: &Tree) -> Vec<String> {
        let items = self.one_or_list(tree);
        if items.is_empty() && !matches!(tree.content, Content::Refused) {
            self.log.add(tree.place, "a table is over an axis");
        }
        let axes = self.survey.axes.iter().map(String::as_str);
        self.distinct(items, |item| self.declared(item, "axis", axes.clone()))
    }

    fn columns(&self, tree: &Tree) -> Option<IndexMap<String, Expr>> {
        let columns = self.mapping(tree, "`columns`")?;
        if columns.entries.is_empty() {
            self.log.add(columns.place, "a table needs a column");
        }
        let decoded = columns.entries.iter().filter_map(|entry| {
            self.name(&entry.key, entry.place, "a column");
            let expr = self.expr(&entry.value, "an expression")?;
            Some((entry.key.clone(), expr))
        });
        Some(decoded.collect())
    }

    fn plot(&self, tree: &Tree, table: &Fields<'_>) -> Option<Plot> {
        let fields = self.fields(tree, "a plot", keys::PLOT)?;
        let over = table.get("over").map_or(&[][..], |t| self.one_or_list(t));
        let columns = table.get("columns").map_or(&[][..], survey::entries);
        let columns = columns.iter().map(|column| column.key.as_str());
        let axes = over.iter().filter_map(|axis| match &axis.content {
            Content::Scalar(axis) => Some(axis.text.as_str()),
            _ => None,
        });
        let x = self.required(&fields, "a plot", "x").and_then(|tree| {
            let known = axes.chain(columns.clone());
            self.declared(tree, "axis of `over` or column", known)
        });
        let y = fields.get("y").map_or(&[][..], |tree| {
            if matches!(&tree.content, Content::Sequence(items) if items.is_empty()) {
                let mend = "name columns, or leave `y` out: then it is every column but `x`";
                self.log.mend(tree.place, "a plot needs a line", mend);
            }
            self.one_or_list(tree)
        });
        let y = self.distinct(y, |item| {
            let name = self.declared(item, "column", columns.clone())?;
            if x.as_ref() == Some(&name) {
                let message = format!("`{name}` is `x`, and a line of its own");
                self.log.mend(item.place, message, "take it out of `y`");
            }
            Some(name)
        });
        let alone = x.is_some() && !columns.clone().any(|c| x.as_deref() != Some(c));
        if !fields.has("y") && table.has("columns") && alone {
            let mend = "add the column that is to be drawn";
            let message = "a plot needs a line, and the table has no column but `x`";
            self.log.mend(tree.place, message, mend);
        }
        let label = |key| self.text(fields.get(key)?, "a label");
        Some(Plot {
            y,
            x_scale: self.scale(&fields, "x_scale"),
            y_scale: self.scale(&fields, "y_scale"),
            x_label: label("x_label"),
            y_label: label("y_label"),
            place: fields.get("x").map_or(fields.place, |tree| tree.place),
            x: x?,
        })
    }

    fn scale(&self, fields: &Fields<'_>, key: &str) -> Scale {
        let names: Vec<&str> = Scale::ALL.iter().map(|scale| scale.name()).collect();
        let scale = fields.get(key);
        let scale = scale.and_then(|tree| self.word(tree, "scale", &names, Scale::from_name));
        scale.unwrap_or(Scale::Linear)
    }

    /// Names, each once.
    fn distinct(&self, items: &[Tree], name: impl Fn(&Tree) -> Option<String>) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for item in items {
            let Some(name) = name(item) else { continue };
            if names.contains(&name) {
                let message = format!("`{name}` is listed twice");
                self.log.mend(item.place, message, "remove one");
            } else {
                names.push(name);
            }
        }
        names
    }
}
