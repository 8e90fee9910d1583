//! The names in tables: axes, lets, `GATE.value`, `GATE.reported.NAME` and `rows.ROW.value`; and that what a plot is
//! drawn over are numbers.

use crate::expr::{NameUse, near};
use crate::spec::fields::Decoder;
use crate::spec::keys;
use crate::spec::model::{Axis, AxisValue, Check, Expr, Suite, Table};

pub(super) fn check(suite: &Suite, decoder: &Decoder<'_>) {
    for table in suite.tables.values() {
        numbers_along_x(suite, table, decoder);
    }
    let columns = suite.tables.values().flat_map(|t| t.columns.values());
    for expr in columns {
        let timings = suite.gates.values().filter_map(|gate| match &gate.check {
            Check::Timings(timings) => Some(timings),
            _ => None,
        });
        let rows = timings.flat_map(|timings| timings.rows.keys().map(String::as_str));
        super::names::rows_used(decoder, expr, rows);
        for used in decoder.engine.uses(expr).unwrap_or_default() {
            if used.path[0] != "rows" {
                name(suite, decoder, expr, &used);
            }
        }
        super::dry::number(decoder, expr);
    }
}

/// A column's values are known once it is computed; an axis' are known here.
fn numbers_along_x(suite: &Suite, table: &Table, decoder: &Decoder<'_>) {
    let Some(plot) = &table.plot else { return };
    if table.columns.contains_key(&plot.x) {
        return;
    }
    let axes = suite
        .blocks
        .iter()
        .filter_map(|block| block.axes.get(&plot.x));
    let text = axes.flat_map(Axis::values).find_map(|value| match value {
        AxisValue::Text(text) => Some(text),
        AxisValue::Int(_) => None,
    });
    if let Some(text) = text {
        let message = format!("`x` is numbers, and axis `{}` holds `{text}`", plot.x);
        decoder
            .log
            .mend(plot.place, message, "take an axis of numbers, or a column");
    }
}

fn name(suite: &Suite, decoder: &Decoder<'_>, expr: &Expr, used: &NameUse) {
    let survey = decoder.survey;
    let root = used.path[0].as_str();
    let number = survey.axes.iter().chain(&survey.lets).any(|n| n == root);
    if number && used.path.len() == 1 {
        return;
    }
    if survey.gates.contains_key(root) {
        return gate_value(suite, decoder, used);
    }
    let gates = survey.gates.keys();
    let known = survey.axes.iter().chain(&survey.lets).chain(gates);
    let known = known.map(String::as_str).chain(["rows"]);
    let mend = near(root, known).map_or_else(
        || "a column uses axes, lets, GATE.want_len, GATE.reported.NAME and rows.ROW.VALUE".into(),
        |near| format!("did you mean `{near}`?"),
    );
    let message = format!("`{root}` is unknown in `{}`", expr.source);
    decoder.log.mend(used.place, message, mend);
}

fn gate_value(suite: &Suite, decoder: &Decoder<'_>, used: &NameUse) {
    let path: Vec<&str> = used.path.iter().map(String::as_str).collect();
    let (message, mend) = match path[..] {
        [_, value] if keys::GATE_VALUES.contains(&value) => return,
        [gate, "reported", measure] => {
            let reported = suite.gates.get(gate).map(|gate| &gate.report);
            let Some(reported) = reported.filter(|r| !r.contains_key(measure)) else {
                return;
            };
            let message = format!("gate `{gate}` reports no `{measure}`");
            let mend = match near(measure, reported.keys().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "add it to the gate's `report`".to_string(),
            };
            (message, mend)
        }
        _ => {
            let values = keys::GATE_VALUES.join(", ");
            (
                format!("`{}` is no value of a gate", path.join(".")),
                format!("a gate has {values} and reported.NAME"),
            )
        }
    };
    decoder.log.mend(used.place, message, mend);
}
