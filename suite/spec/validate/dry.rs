//! Expressions over results, which nobody has at load time: evaluated on made-up values for what does not depend on
//! them, such as a wrong number of arguments or an operator between text and number.

use std::collections::BTreeMap;

use super::blocks::View;
use crate::expr::{ExprError, Scope, Value};
use crate::spec::fields::Decoder;
use crate::spec::model::{AxisValue, Expr};

/// Values that are counts; all others are floats.
const COUNTS: &[&str] = &[
    "launches",
    "dropped_launches",
    "want_len",
    "got_len",
    "got",
    "want",
    "runs",
    "warmups",
    "simulated_instructions",
];

pub(super) fn condition(decoder: &Decoder<'_>, expr: &Expr, view: &View<'_>) {
    let Some(mut scope) = made_up(decoder, expr) else {
        return;
    };
    for (name, values) in &view.axes {
        match values.first() {
            Some(AxisValue::Int(v)) => scope.set(*name, Value::Int(*v)),
            Some(AxisValue::Text(v)) => scope.set(*name, Value::Text(v.clone())),
            None => {}
        }
    }
    report(decoder, decoder.engine.bool(expr, &scope).map(drop));
}

/// A table's column: whatever its axes are, it shows a number.
pub(super) fn number(decoder: &Decoder<'_>, expr: &Expr) {
    if let Some(scope) = made_up(decoder, expr) {
        report(decoder, decoder.engine.value(expr, &scope).map(drop));
    }
}

fn report(decoder: &Decoder<'_>, result: Result<(), ExprError>) {
    match result {
        Err(error) if !error.arithmetic => decoder.log.expr(error),
        _ => {}
    }
}

/// A value for every name the expression uses.
fn made_up(decoder: &Decoder<'_>, expr: &Expr) -> Option<Scope> {
    let mut root = BTreeMap::new();
    for used in decoder.engine.uses(expr).ok()? {
        insert(&mut root, &used.path);
    }
    let mut scope = Scope::new();
    for (name, value) in root {
        scope.set(name, value);
    }
    Some(scope)
}

fn insert(map: &mut BTreeMap<String, Value>, path: &[String]) {
    let [name, rest @ ..] = path else { return };
    if rest.is_empty() {
        let count = COUNTS.contains(&name.as_str());
        let value = if count {
            Value::Int(1)
        } else {
            Value::Float(1.0)
        };
        map.entry(name.clone()).or_insert(value);
        return;
    }
    let inner = map
        .entry(name.clone())
        .or_insert_with(|| Value::Map(BTreeMap::new()));
    if let Value::Map(inner) = inner {
        insert(inner, rest);
    }
}
