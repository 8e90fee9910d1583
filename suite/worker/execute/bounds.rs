//! Assertions: over a run's counts, and over the rows of a timing gate.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use crate::device::DeviceInfo;
use crate::expr::{Engine, NameUse, Scope, Value};
use crate::outcome::{Fault, Finding, Reason};
use crate::plan::{Prepared, expression_fault, fault_at};
use crate::report::record::{CaseRecord, Timing};
use crate::spec::model::{Bound, Expr, Suite, Timings};
use crate::terms::FindingKind;

/// What an assertion sees: axes and lets, `launches` and `dropped_launches`, and for a timing gate `rows`.
pub(super) struct Facts<'a> {
    suite: &'a Suite,
    engine: &'a Engine,
    scope: Scope,
    card: String,
}

impl<'a> Facts<'a> {
    pub fn new(
        suite: &'a Suite,
        engine: &'a Engine,
        prepared: &Prepared,
        info: &DeviceInfo,
    ) -> Self {
        let mut scope = prepared.scope.clone();
        scope.set("launches", count(prepared.launches));
        scope.set("dropped_launches", count(prepared.dropped_launches));
        Self {
            suite,
            engine,
            scope,
            card: info.name.clone(),
        }
    }

    /// The finding of an assertion that does not hold.
    pub fn assertion(&self, that: &Expr) -> Result<Option<Finding>, Fault> {
        if self.holds(that)? {
            return Ok(None);
        }
        Ok(Some(self.broken(that)?))
    }

    /// Judges the bounds of a timing gate on the record's rows. A bound on a row that this case leaves out does not
    /// apply; one on a row that was skipped is noted as not judged. One that names cards gates on those alone;
    /// elsewhere whether it holds is reported, by its text.
    pub fn bounds(
        mut self,
        spec: &Timings,
        record: &mut CaseRecord,
    ) -> Result<Vec<Finding>, Fault> {
        let timings = &record.timings;
        let rows = timings
            .iter()
            .map(|(name, timing)| (name.clone(), row(timing)));
        self.scope.set("rows", Value::Map(rows.collect()));
        let mut findings = Vec::new();
        for Bound { that, cards } in &spec.assert {
            let uses = self.uses(that)?;
            if let Some(reason) = skipped(&uses, spec, &record.skipped_rows) {
                record.not_judged.insert(that.source.clone(), reason);
                continue;
            }
            if let Some(missing) = missing(&uses, &self.scope) {
                if !is_absent(&missing, spec, timings) {
                    let message = format!("there is no `{}` to assert on", missing.join("."));
                    return Err(fault_at(&self.suite.path, that.place, message));
                }
                continue;
            }
            let gates = cards.is_empty() || cards.contains(&self.card);
            let holds = self.holds(that)?;
            if !gates {
                record
                    .reported
                    .insert(format!("assert: {}", that.source), holds.into());
            } else if !holds {
                findings.push(self.broken(that)?);
            }
        }
        Ok(findings)
    }

    fn holds(&self, that: &Expr) -> Result<bool, Fault> {
        let holds = self.engine.bool(that, &self.scope);
        holds.map_err(|e| expression_fault(&self.suite.path, &e))
    }

    fn uses(&self, that: &Expr) -> Result<Vec<NameUse>, Fault> {
        let uses = self.engine.uses(that);
        uses.map_err(|e| expression_fault(&self.suite.path, &e))
    }

    /// The assertion, and the value of each name in it.
    fn broken(&self, that: &Expr) -> Result<Finding, Fault> {
        let mut values: Vec<String> = Vec::new();
        for used in self.uses(that)? {
            if let Some(value) = look_up(&self.scope, &used.path) {
                let text = format!("{} = {}", used.path.join("."), show(value));
                if !values.contains(&text) {
                    values.push(text);
                }
            }
        }
        let values = match values.is_empty() {
            true => String::new(),
            false => format!(" ({})", values.join(", ")),
        };
        let message = format!("{} is false{values}", that.source);
        Ok(Finding::new(FindingKind::Assert, message))
    }
}

/// The reason of the first row among the names that was skipped; the baseline stands behind `times_baseline`.
fn skipped(uses: &[NameUse], spec: &Timings, skipped: &IndexMap<String, Reason>) -> Option<Reason> {
    uses.iter().find_map(|used| {
        let [root, name, measure] = used.path.as_slice() else {
            return None;
        };
        let baseline = spec.baseline.as_ref();
        let baseline = baseline.filter(|_| measure == "times_baseline");
        let own = skipped.get(name);
        let found = own.or_else(|| skipped.get(baseline?));
        found.filter(|_| root == "rows").cloned()
    })
}

/// The first name that has no value.
fn missing(uses: &[NameUse], scope: &Scope) -> Option<Vec<String>> {
    let missing = uses
        .iter()
        .find(|used| look_up(scope, &used.path).is_none());
    missing.map(|used| used.path.clone())
}

/// Whether a name is one that this case, this device or this outcome gives no value: a row left out by `when`, a time
/// where there is no clock or the row's output was wrong. A measure that the row can never have is not: its bound
/// could not fail.
fn is_absent(path: &[String], spec: &Timings, timings: &IndexMap<String, Timing>) -> bool {
    let [root, name, measure] = path else {
        return false;
    };
    if root != "rows" || !spec.rows.contains_key(name) {
        return false;
    }
    let Some(timing) = timings.get(name) else {
        return true;
    };
    match measure.as_str() {
        "simulated_instructions" => true,
        "times_baseline" => spec.baseline.is_some(),
        known => MEASURES.contains(&known) && timing.median_ms.is_none(),
    }
}

/// A row's measures that may be absent.
const MEASURES: [&str; 7] = [
    "min_ms",
    "median_ms",
    "max_ms",
    "batch_mean_ms",
    "times_baseline",
    "gb_per_s",
    "simulated_instructions",
];

fn look_up<'s>(scope: &'s Scope, path: &[String]) -> Option<&'s Value> {
    let (root, properties) = path.split_first()?;
    properties
        .iter()
        .try_fold(scope.get(root)?, |value, property| match value {
            Value::Map(map) => map.get(property),
            _ => None,
        })
}

fn row(timing: &Timing) -> Value {
    let times = [
        timing.min_ms,
        timing.median_ms,
        timing.max_ms,
        timing.batch_mean_ms,
        timing.times_baseline,
        timing.gb_per_s,
    ];
    let mut map: BTreeMap<String, Value> = MEASURES
        .iter()
        .zip(times)
        .filter_map(|(name, value)| Some(((*name).to_owned(), Value::Float(value?))))
        .collect();
    if let Some(instructions) = timing.simulated_instructions {
        map.insert("simulated_instructions".into(), count(instructions));
    }
    map.insert("launches".into(), count(timing.launches));
    map.insert("runs".into(), count(timing.runs.into()));
    map.insert("warmups".into(), count(timing.warmups.into()));
    Value::Map(map)
}

fn count(value: u64) -> Value {
    Value::Int(i64::try_from(value).unwrap_or(i64::MAX))
}

fn show(value: &Value) -> String {
    match value {
        Value::Int(v) => v.to_string(),
        Value::Float(v) => format!("{v:.6}"),
        Value::Bool(v) => v.to_string(),
        Value::Text(v) => format!("{v:?}"),
        Value::Map(_) | Value::Array(_) => value.kind().to_owned(),
    }
}
