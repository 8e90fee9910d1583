//! Timing gates: rows, their verification, and bounds over them.

use indexmap::IndexMap;

use crate::spec::fields::{Decoder, Fields};
use crate::spec::keys;
use crate::spec::model::{Bound, Check, Row, Timings, Verify};
use crate::spec::tree::{Content, Entry, Tree};

const WARMUPS: u32 = 3;
const RUNS: u32 = 10;
const RUNS_MAX: i128 = 100_000;
/// A row's output cannot be judged by these.
const NOT_A_RESULT: &[&str] = &["timings", "assert", "repeatable"];

impl Decoder<'_> {
    pub(super) fn timings(&self, fields: &Fields<'_>, gate: &str) -> Option<Check> {
        let number = |key, default, min| match fields.get(key) {
            Some(tree) => self
                .whole(tree, &format!("`{key}`"), min, RUNS_MAX)
                .and_then(|value| u32::try_from(value).ok()),
            None => Some(default),
        };
        let warmups = number("warmups", WARMUPS, 0);
        let runs = number("runs", RUNS, 1);
        let rows = self.required(fields, "a timings gate", "rows");
        let rows = rows.and_then(|tree| self.rows(tree));
        let known = self.survey.gates.get(gate).map(|(_, rows)| rows.as_slice());
        let known = known.unwrap_or(&[]).iter().map(String::as_str);
        let baseline = fields
            .get("baseline")
            .map(|tree| self.declared(tree, "row", known));
        let bounds = fields.get("assert").map(|tree| self.bounds(tree));
        Some(Check::Timings(Timings {
            warmups: warmups?,
            runs: runs?,
            baseline: match baseline {
                Some(baseline) => Some(baseline?),
                None => None,
            },
            rows: rows?,
            assert: bounds.unwrap_or_default(),
        }))
    }

    fn rows(&self, tree: &Tree) -> Option<IndexMap<String, Row>> {
        let fields = self.mapping(tree, "`rows`")?;
        if fields.entries.is_empty() {
            self.log.add(fields.place, "a timings gate needs a row");
        }
        let rows = fields.entries.iter().filter_map(|entry| {
            self.name(&entry.key, entry.place, "a row");
            let row = self.row(entry);
            if row.is_none() {
                self.incomplete.set(true);
            }
            Some((entry.key.clone(), row?))
        });
        Some(rows.collect())
    }

    fn row(&self, entry: &Entry) -> Option<Row> {
        let fields = self.fields(&entry.value, "a row", keys::ROW)?;
        let run = self.required(&fields, "a row", "run");
        let run = run.and_then(|tree| self.pipeline_name(tree));
        let prepare = self.prepared(&fields, "prepare");
        let prepare_each = self.prepared(&fields, "prepare_each");
        let bytes = self.optional_expr(&fields, "bytes", "a number of bytes");
        let when = self.optional_expr(&fields, "when", "a condition");
        let verify = match fields.get("verify") {
            Some(tree) => self.verifications(tree, run.as_deref()),
            None => {
                let mend = "add `verify: GATE`, or a check: {check: exact, got: …, want: …}";
                self.log
                    .mend(entry.place, "this row's result is not verified", mend);
                Vec::new()
            }
        };
        Some(Row {
            subject: self.subject(&fields),
            prepare,
            prepare_each,
            run: run?,
            bytes,
            when,
            verify,
            place: entry.place,
        })
    }

    fn prepared(&self, fields: &Fields<'_>, key: &str) -> Vec<String> {
        let items = fields
            .get(key)
            .map_or(&[][..], |tree| self.one_or_list(tree));
        let names = items.iter().filter_map(|item| self.pipeline_name(item));
        names.collect()
    }

    fn verifications(&self, tree: &Tree, run: Option<&str>) -> Vec<Verify> {
        let items = self.one_or_list(tree);
        if items.is_empty() && !matches!(tree.content, Content::Refused) {
            let mend = "name a gate whose check the row's result must pass";
            self.log
                .mend(tree.place, "this row's result is not verified", mend);
        }
        let verify = items.iter().filter_map(|item| match &item.content {
            Content::Mapping(_) => self.inline_check(item, run),
            _ => self.verifying_gate(item),
        });
        verify.collect()
    }

    fn verifying_gate(&self, tree: &Tree) -> Option<Verify> {
        let known = self.survey.gates.keys().map(String::as_str);
        let name = self.declared(tree, "gate", known)?;
        let check = self
            .survey
            .gates
            .get(&name)
            .map(|(check, _)| check.as_str());
        self.judges(tree, check.unwrap_or(""));
        Some(Verify::Gate(name))
    }

    fn inline_check(&self, tree: &Tree, run: Option<&str>) -> Option<Verify> {
        let fields = self.mapping(tree, "a check")?;
        let (check, own) = self.check_keys(&fields, "a check")?;
        let mut keys = vec!["check"];
        keys.extend_from_slice(own);
        self.known_keys(&fields, &format!("a row's check `{check}`"), &keys);
        if !self.judges(tree, check) {
            return None;
        }
        let check = self.check(&fields, check, run.map(str::to_string))?;
        Some(Verify::Inline(Box::new(check)))
    }

    fn judges(&self, tree: &Tree, check: &str) -> bool {
        let refused = NOT_A_RESULT.contains(&check);
        if refused {
            let message = format!("check `{check}` does not judge a row's result");
            self.log
                .mend(tree.place, message, "verify by exact, count, multiset, …");
        }
        !refused
    }

    fn bounds(&self, tree: &Tree) -> Vec<Bound> {
        let items = self.list(tree, "`assert`").unwrap_or(&[]).iter();
        let bounds = items.filter_map(|item| {
            let fields = self.fields(item, "a bound", keys::BOUND)?;
            let that = self.required(&fields, "a bound", "that");
            let that = that.and_then(|tree| self.expr(tree, "a condition"));
            let cards = fields.get("cards").map_or(&[][..], |t| self.one_or_list(t));
            let cards = cards
                .iter()
                .filter_map(|card| self.text(card, "a card's name"));
            let cards = cards.collect();
            Some(Bound { that: that?, cards })
        });
        bounds.collect()
    }
}
