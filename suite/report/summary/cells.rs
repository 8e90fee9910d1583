//! Values as cells of a table.

use serde_json::Value;

/// A cell: integers with thousands separated, floats with about four digits (below 0.001 and from 10¹⁵ on with an
/// exponent), a dash for `null`.
pub(super) fn number(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::Number(n) if n.is_f64() => float(n.as_f64().unwrap_or(f64::NAN)),
        Value::Number(n) => grouped(&n.to_string()),
        other => plain(other),
    }
}

/// From here on a number without an exponent is digits that nobody measured.
const PLAIN_MAX: f64 = 1e15;

fn scientific(value: f64) -> String {
    format!("{value:.3e}")
}

/// So many decimals, where they say something: neither a row of digits nor a zero that is none.
pub(super) fn fixed(value: f64, decimals: usize) -> String {
    let a = value.abs();
    let vanishes = a > 0.0 && a < 0.5 * 0.1f64.powi(decimals as i32);
    match a >= PLAIN_MAX || vanishes {
        true => scientific(value),
        false => format!("{value:.decimals$}"),
    }
}

fn float(value: f64) -> String {
    match value.abs() {
        a if a >= PLAIN_MAX || (a > 0.0 && a < 1e-3) => scientific(value),
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
