//! Selection by libtest's rules.

use super::Case;

/// Whether an id is selected: it holds one of `filters` (any id when there are none) and none of `skip`. With `exact`
/// a filter or skip must equal the id instead.
pub fn matches(id: &str, filters: &[String], exact: bool, skip: &[String]) -> bool {
    let hit = |pattern: &String| {
        if exact {
            id == pattern
        } else {
            id.contains(pattern.as_str())
        }
    };
    (filters.is_empty() || filters.iter().any(hit)) && !skip.iter().any(hit)
}

/// The selected cases, in their order.
pub fn select(cases: Vec<Case>, filters: &[String], exact: bool, skip: &[String]) -> Vec<Case> {
    let chosen = |case: &Case| matches(&case.id, filters, exact, skip);
    cases.into_iter().filter(chosen).collect()
}
