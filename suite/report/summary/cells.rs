//! Values as cells of a table.

use serde_json::Value;

/// A cell: integers with thousands separated, floats with about four digits, a dash for `null`.
pub(super) fn number(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::Number(n) if n.is_f64() => float(n.as_f64().unwrap_or(f64::NAN)),
        Value::Number(n) => grouped(&n.to_string()),
        other => plain(other),
    }
}

fn float(value: f64) -> String {
    match value.abs() {
        a if a >= 1000.0 => grouped(&format!("{value:.0}")),
        a if a >= 100.0 => format!("{value:.1}"),
        a if a >= 10.0 => format!("{value:.2}"),
        a if a >= 1.0 => format!("{value:.3}"),
        _ => format!("{value:.4}"),
    }
}

/// `8387997` → `8,387,997`.
pub(super) fn grouped(digits: &str) -> String {
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", digits),
    };
    let mut out = String::from(sign);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A value without quotes.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
