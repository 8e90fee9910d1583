//! A block as the rules see it: its axes' values, and samples of their product.

use indexmap::{IndexMap, IndexSet};

use crate::spec::model::{Axis, AxisValue, Block, Input, Place, Suite, Template};
use crate::spec::template;
use crate::terms::Profile;

/// Names that one template is expanded to, at most.
const EXPANSIONS_MAX: usize = 1000;

/// One block, or all of them together for what no block runs.
pub(super) struct View<'s> {
    /// None for all blocks together.
    pub block: Option<&'s Block>,
    /// Every value of each axis, whatever the profile.
    pub axes: IndexMap<&'s str, Vec<&'s AxisValue>>,
    pub inputs: IndexMap<&'s str, &'s Input>,
    pub gates: Vec<String>,
}

/// A view a block; then, where there are gates that no block runs, one for those over all axes.
pub(super) fn views(suite: &Suite) -> Vec<View<'_>> {
    let mut views: Vec<View<'_>> = suite.blocks.iter().map(View::of).collect();
    let run: IndexSet<&String> = suite.blocks.iter().flat_map(|b| &b.gates).collect();
    let rest = suite.gates.keys().filter(|name| !run.contains(name));
    let rest: Vec<String> = rest.cloned().collect();
    if !rest.is_empty() {
        let mut all = View {
            block: None,
            axes: IndexMap::new(),
            inputs: IndexMap::new(),
            gates: rest,
        };
        for view in &views {
            all.axes
                .extend(view.axes.iter().map(|(name, v)| (*name, v.clone())));
            all.inputs.extend(&view.inputs);
        }
        views.push(all);
    }
    views
}

impl<'s> View<'s> {
    fn of(block: &'s Block) -> Self {
        let axes = block.axes.iter().map(|(name, axis)| {
            let mut values: IndexSet<&AxisValue> = IndexSet::new();
            match axis {
                Axis::Always(list) => values.extend(list),
                Axis::PerProfile(lists) => values.extend(lists.values().flatten()),
            }
            (name.as_str(), values.into_iter().collect())
        });
        Self {
            block: Some(block),
            axes: axes.collect(),
            inputs: block.inputs.iter().map(|(n, i)| (n.as_str(), i)).collect(),
            gates: block.gates.clone(),
        }
    }

    /// For messages: which block this is.
    pub fn name(&self) -> String {
        match self.block.map(|block| block.place) {
            Some(Place { line, .. }) => format!("the block in line {line}"),
            None => "any block".to_string(),
        }
    }

    /// What a template can become here, without repetition; names that are no axis stay as they are.
    pub fn expand(&self, template: &Template) -> IndexSet<String> {
        let used = template::names(&template.text).unwrap_or_default();
        let axes = self.axes.iter().filter(|(name, _)| used.contains(*name));
        let axes: Vec<(&str, &[&AxisValue])> =
            axes.map(|(name, v)| (*name, v.as_slice())).collect();
        let count = product(axes.iter().map(|(_, values)| values.len()));
        let indices = 0..count.min(EXPANSIONS_MAX);
        let expanded = indices.map(|index| {
            let values = pick(&axes, index);
            template::expand(&template.text, |name| {
                let found = values.iter().find(|(axis, _)| *axis == name);
                found.map(|(_, value)| (**value).clone())
            })
        });
        expanded.collect()
    }
}

/// The first profile that a block runs in, with its values.
pub(super) fn first_profile(block: &Block) -> Option<Vec<(&str, &[AxisValue])>> {
    Profile::ALL.iter().find_map(|p| in_profile(block, *p))
}

/// Each axis' values in a profile; None where the block does not run in it.
pub(super) fn in_profile(block: &Block, profile: Profile) -> Option<Vec<(&str, &[AxisValue])>> {
    let named = block
        .axes
        .values()
        .any(|axis| matches!(axis, Axis::PerProfile(lists) if lists.contains_key(&profile)));
    let usual = matches!(profile, Profile::Quick | Profile::Full);
    if !named && !usual {
        return None;
    }
    let axes = block.axes.iter().map(|(name, axis)| match axis {
        Axis::Always(values) => Some((name.as_str(), values.as_slice())),
        Axis::PerProfile(lists) => Some((name.as_str(), lists.get(&profile)?.as_slice())),
    });
    axes.collect()
}

/// Saturating: more than any limit is as good as any other number.
pub(super) fn product(counts: impl Iterator<Item = usize>) -> usize {
    counts.fold(1, usize::saturating_mul)
}

/// Combination number `index` of the product; the last axis changes fastest.
pub(super) fn pick<'v, T>(axes: &[(&'v str, &'v [T])], mut index: usize) -> Vec<(&'v str, &'v T)> {
    let mut values = Vec::with_capacity(axes.len());
    for (name, list) in axes.iter().rev() {
        if list.is_empty() {
            continue;
        }
        values.push((*name, &list[index % list.len()]));
        index /= list.len();
    }
    values.reverse();
    values
}
