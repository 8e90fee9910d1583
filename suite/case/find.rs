//! From an id back to its case, without expanding the suites.

use indexmap::IndexMap;

use super::expand::{case, takes_part, values};
use super::{Case, axis_text};
use crate::spec::model::{Axis, AxisValue, Block, Suite};
use crate::terms::{ImageKind, Profile};

/// The case of an id, in any profile and with any image.
pub fn find(suites: &[Suite], id: &str) -> Option<Case> {
    let (stem, image) = id.rsplit_once("::")?;
    let image = ImageKind::from_name(image)?;
    suites.iter().find_map(|suite| {
        let rest = part(stem, &suite.name)?;
        suite.blocks.iter().enumerate().find_map(|(index, block)| {
            block.gates.iter().find_map(|gate| {
                let params = params(block, part(rest, gate)?)?;
                Some(case(suite, index, gate, params, image)).filter(|c| c.id == id)
            })
        })
    })
}

/// What follows `name` in `text`, when `text` is `name` or `name::…`. The rest keeps no leading `::`.
fn part<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let rest = text.strip_prefix(name)?;
    if rest.is_empty() {
        return Some(rest);
    }
    rest.strip_prefix("::")
}

/// `axis=value::axis=value` as a row of the block's product in some profile. Values are matched against the block's
/// own, so a text value may hold `::` or `=`.
fn params(block: &Block, text: &str) -> Option<IndexMap<String, AxisValue>> {
    let taking_part = Profile::ALL.iter().filter(|p| takes_part(block, **p));
    taking_part.into_iter().find_map(|profile| {
        let axes: Vec<(&String, &Axis)> = block.axes.iter().collect();
        row(&axes, *profile, text)
    })
}

fn row(
    axes: &[(&String, &Axis)],
    profile: Profile,
    text: &str,
) -> Option<IndexMap<String, AxisValue>> {
    let Some(((name, axis), others)) = axes.split_first() else {
        return text.is_empty().then(IndexMap::new);
    };
    let text = text.strip_prefix(name.as_str())?.strip_prefix('=')?;
    values(axis, profile)?.iter().find_map(|value| {
        let mut found = row(others, profile, part(text, &axis_text(value))?)?;
        found.shift_insert(0, (*name).clone(), value.clone());
        Some(found)
    })
}
