//! `${axis}` in kernel, generator, predicate and operator names.

use super::model::AxisValue;

/// The axes that a template names, in order.
///
/// # Errors
/// What is wrong with its `${…}`.
pub fn names(text: &str) -> Result<Vec<&str>, String> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let after = &rest[start + 2..];
        let end = after
            .find('}')
            .ok_or_else(|| format!("`{}` does not end with a brace", shorten(&rest[start..])))?;
        let name = &after[..end];
        if !crate::expr::is_name(name) {
            return Err(format!("`${{{}}}` names no axis", shorten(name)));
        }
        names.push(name);
        rest = &after[end + 1..];
    }
    Ok(names)
}

/// Puts the values of axes in place of their names; a name without a value stays as it is.
///
/// ```
/// use cuda_gates::spec::{model::AxisValue, template};
/// let value = |name: &str| (name == "block").then_some(AxisValue::Int(256));
/// assert_eq!(template::expand("compact_${block}", value), "compact_256");
/// ```
pub fn expand(text: &str, value: impl Fn(&str) -> Option<AxisValue>) -> String {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let after = &rest[start + 2..];
        let Some(end) = after.find('}') else { break };
        expanded.push_str(&rest[..start]);
        match value(&after[..end]) {
            Some(AxisValue::Int(value)) => expanded.push_str(&value.to_string()),
            Some(AxisValue::Text(value)) => expanded.push_str(&value),
            None => expanded.push_str(&rest[start..start + 2 + end + 1]),
        }
        rest = &after[end + 1..];
    }
    expanded.push_str(rest);
    expanded
}

fn shorten(text: &str) -> String {
    text.chars().take(40).collect()
}
