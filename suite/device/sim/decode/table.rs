//! `brx.idx`: a branch through a table becomes a tree of branches, whose lanes meet where all targets do.

use super::indirect::unguarded;
use super::inline::{Expander, Level};
use crate::image::ptx::{Instruction, Operand, Statement};

/// What a branch through a table says.
struct Table<'a> {
    from: &'a Instruction,
    scope: usize,
    index: &'a Operand,
    labels: &'a [String],
}

impl<'a> Expander<'a> {
    pub(super) fn table(&mut self, level: &Level<'a>, from: &Instruction) {
        let found = match (&from.modifiers[..], &from.operands[..]) {
            ([idx] | [idx, _], [index, Operand::Name(list)]) if idx == "idx" => {
                targets(level, list).map(|labels| (index, labels))
            }
            _ => None,
        };
        let Some((index, labels)) = found else {
            self.note("wants a register and a list of targets");
            self.push(from.clone());
            return;
        };
        if let Err(why) = self.room(4 * labels.len()) {
            self.note(&why);
            self.push(from.clone());
            return;
        }
        let past = self.skip(from);
        let scope = self.choice(from.scope);
        let table = Table {
            from,
            scope,
            index,
            labels,
        };
        self.choose(from, scope, "lt.u32", index.clone(), labels.len() as u64);
        self.jump(from, scope, Some(false), "inside");
        let what = format!("its index leads past the {} targets", labels.len());
        self.trap(&unguarded(from), &what);
        self.label(scope, "inside".to_owned(), from.line);
        self.halves(&table, 0, labels.len());
        self.label(from.scope, past, from.line);
    }

    /// The targets `low..high`, of which one is the right one.
    fn halves(&mut self, table: &Table<'_>, low: usize, high: usize) {
        let (from, scope) = (table.from, table.scope);
        if high - low <= 1 {
            self.jump(from, scope, None, &table.labels[low]);
            return;
        }
        let middle = low.midpoint(high);
        let upper = format!("from {middle}");
        self.choose(from, scope, "ge.u32", table.index.clone(), middle as u64);
        self.jump(from, scope, Some(false), &upper);
        self.halves(table, low, middle);
        self.label(scope, upper, from.line);
        self.halves(table, middle, high);
    }
}

/// The labels of a list; it has at least one.
fn targets<'a>(level: &Level<'a>, list: &str) -> Option<&'a [String]> {
    level.body.statements.iter().find_map(|s| match s {
        Statement::Targets { name, labels, .. } if name == list => Some(&labels[..]),
        _ => None,
    })
}
