//! The expression language for the evaluator of tables: JSON values in and out.

use serde_json::Value as Json;

use crate::expr::{Engine, Scope, Value};
use crate::report::tables::{Evaluate, Names};
use crate::spec::model::Expr;

/// Columns are evaluated as expressions of the suite are.
pub(super) struct Columns(pub Engine);

impl Evaluate for Columns {
    fn evaluate(&self, expr: &Expr, names: &Names) -> Result<Json, String> {
        let mut scope = Scope::new();
        for (name, value) in names {
            if let Some(value) = from_json(value) {
                scope.set(name.clone(), value);
            }
        }
        let value = self.0.value(expr, &scope).map_err(|e| e.message)?;
        to_json(value)
    }
}

/// None for `null`, which the language has not: a name without a value is a name that is not there.
fn from_json(value: &Json) -> Option<Value> {
    Some(match value {
        Json::Null => return None,
        Json::Bool(v) => Value::Bool(*v),
        Json::Number(v) => match v.as_i64() {
            Some(v) => Value::Int(v),
            None => Value::Float(v.as_f64()?),
        },
        Json::String(v) => Value::Text(v.clone()),
        Json::Array(items) => Value::Array(items.iter().filter_map(from_json).collect()),
        Json::Object(map) => {
            let entry = |(name, value): (&String, &Json)| Some((name.clone(), from_json(value)?));
            Value::Map(map.iter().filter_map(entry).collect())
        }
    })
}

fn to_json(value: Value) -> Result<Json, String> {
    Ok(match value {
        Value::Int(v) => v.into(),
        Value::Float(v) => serde_json::Number::from_f64(v)
            .map(Json::Number)
            .ok_or_else(|| format!("{v} is no number"))?,
        Value::Bool(v) => v.into(),
        Value::Text(v) => v.into(),
        other => {
            return Err(format!(
                "a cell holds a number or text, this is {}",
                other.kind()
            ));
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::spec::model::Place;

    fn evaluate(source: &str) -> Result<Json, String> {
        let json = json!({
            "n": 8, "rows": {"a": {"ms": 1.5, "none": null}}, "exact": {"want_len": 2}, "absent": null,
        });
        let Json::Object(map) = json else {
            unreachable!("an object is written above")
        };
        let names: Names = map.into_iter().collect();
        let expr = Expr {
            source: source.to_owned(),
            place: Place::default(),
        };
        Columns(Engine::new()).evaluate(&expr, &names)
    }

    #[test]
    fn cells_are_computed_from_the_records() {
        assert_eq!(evaluate("100.0 * exact.want_len / n"), Ok(json!(25.0)));
        assert_eq!(evaluate("exact.want_len + 1"), Ok(json!(3)));
        assert_eq!(evaluate("rows.a.ms"), Ok(json!(1.5)));
    }

    #[test]
    fn what_is_no_cell_says_so() {
        assert!(evaluate("rows").unwrap_err().contains("a map"));
        assert!(evaluate("absent").is_err());
        assert!(evaluate("1.0 / 0.0").is_err());
    }
}
