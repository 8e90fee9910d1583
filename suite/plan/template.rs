//! `${axis}` in kernel, generator and predicate names.

use indexmap::IndexMap;

use crate::case::axis_text;
use crate::spec::model::AxisValue;

/// `text` with each `${axis}` replaced by the axis' value.
///
/// # Errors
/// The words for a person, when a name is no axis of the case or a `${` is not closed.
pub fn substitute(text: &str, params: &IndexMap<String, AxisValue>) -> Result<String, String> {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        result.push_str(&rest[..start]);
        let inner = &rest[start + 2..];
        let Some(end) = inner.find('}') else {
            return Err(format!("`{text}` opens `${{` and does not close it"));
        };
        let name = inner[..end].trim();
        let Some(value) = params.get(name) else {
            return Err(format!("`{name}` in `{text}` is not an axis of this case"));
        };
        result.push_str(&axis_text(value));
        rest = &inner[end + 1..];
    }
    result.push_str(rest);
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_substituted_and_nothing_else() {
        let params = IndexMap::from([
            ("predicate".to_owned(), AxisValue::Text("odd".into())),
            ("block".to_owned(), AxisValue::Int(256)),
        ]);
        let text = |t| substitute(t, &params);
        assert_eq!(
            text("compact_${predicate}_${block}").unwrap(),
            "compact_odd_256"
        );
        assert_eq!(text("plain").unwrap(), "plain");
        assert_eq!(text("$predicate}").unwrap(), "$predicate}");
        assert!(text("${n}").unwrap_err().contains("`n`"));
        assert!(text("a${block").unwrap_err().contains("close"));
    }
}
