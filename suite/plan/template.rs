//! `${axis}` in kernel, generator and predicate names.

use indexmap::IndexMap;

use crate::spec::model::AxisValue;
use crate::spec::template;

/// `text` with each `${axis}` replaced by the axis' value.
///
/// # Errors
/// The words for a person, when a name is no axis of the case or a `${` is not closed.
pub fn substitute(text: &str, params: &IndexMap<String, AxisValue>) -> Result<String, String> {
    let mut names = template::names(text)?.into_iter();
    match names.find(|name| !params.contains_key(*name)) {
        Some(name) => Err(format!("`{name}` in `{text}` is not an axis of this case")),
        None => Ok(template::expand(text, |name| params.get(name).cloned())),
    }
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
        assert!(text("a${block").unwrap_err().contains("brace"));
    }
}
