//! The product of a block's axes, for one profile.

use std::collections::HashMap;

use indexmap::IndexMap;

use super::{Case, axis_text};
use crate::spec::model::{Axis, AxisValue, Block, Check, Suite};
use crate::terms::{ImageKind, Profile};

/// Cases of a profile, in order: suite, block, the axes' product (the first axis slowest), gate, image.
///
/// # Errors
/// A block of more than 100,000 cases in one profile. Else one message for each id that two blocks (or one block twice)
/// would give, with both places. Blocks are compared over *all* profiles, so that an id names one input wherever it is
/// used; a block that gives an id in several profiles is the rule, not an error.
pub fn expand(
    suites: &[Suite],
    profile: Profile,
    images: &[ImageKind],
) -> Result<Vec<Case>, Vec<String>> {
    for check in [too_many, duplicates] {
        let problems = check(suites);
        if !problems.is_empty() {
            return Err(problems);
        }
    }
    let mut cases = Vec::new();
    for suite in suites {
        for (block, gate, params) in addresses(suite, profile) {
            let mut seen = Vec::new();
            for &image in images {
                if !seen.contains(&image) {
                    seen.push(image);
                    cases.push(case(suite, block, gate, params.clone(), image));
                }
            }
        }
    }
    Ok(cases)
}

/// The ids of all cases there are, of every profile and with every image; one may come several times.
///
/// # Errors
/// As [`expand`].
pub fn every(suites: &[Suite]) -> Result<Vec<String>, Vec<String>> {
    let mut ids = Vec::new();
    for profile in Profile::ALL {
        let cases = expand(suites, *profile, ImageKind::ALL)?;
        ids.extend(cases.into_iter().map(|case| case.id));
    }
    Ok(ids)
}

/// More is a slip in an axis, and would fill the memory before anyone sees it.
const CASES_MAX: usize = 100_000;

/// Blocks whose product is too large, each once.
fn too_many(suites: &[Suite]) -> Vec<String> {
    let mut problems = Vec::new();
    for suite in suites {
        for (index, block) in suite.blocks.iter().enumerate() {
            let counts = Profile::ALL.iter().map(|profile| count(block, *profile));
            let most = counts.max().unwrap_or(0);
            if most > CASES_MAX {
                problems.push(format!(
                    "{}: the axes and gates of this block make {most} cases, more than {CASES_MAX}",
                    place(suite, index)
                ));
            }
        }
    }
    problems
}

/// How many cases, without images; saturates.
fn count(block: &Block, profile: Profile) -> usize {
    if !takes_part(block, profile) {
        return 0;
    }
    let lens = block
        .axes
        .values()
        .map(|axis| values(axis, profile).map_or(0, <[_]>::len));
    lens.fold(block.gates.len(), usize::saturating_mul)
}

/// Everything of a case but its image.
type Address<'s> = (usize, &'s str, IndexMap<String, AxisValue>);

fn addresses(suite: &Suite, profile: Profile) -> Vec<Address<'_>> {
    let mut all = Vec::new();
    for (index, block) in suite.blocks.iter().enumerate() {
        for params in product(block, profile) {
            for gate in &block.gates {
                all.push((index, gate.as_str(), params.clone()));
            }
        }
    }
    all
}

pub(super) fn case(
    suite: &Suite,
    block: usize,
    gate: &str,
    params: IndexMap<String, AxisValue>,
    image: ImageKind,
) -> Case {
    let spec = suite.gates.get(gate);
    let check = spec.map(|g| check_kind(&g.check));
    let subject = spec.and_then(|g| g.subject.as_ref());
    Case {
        id: format!("{}::{image}", stem(&suite.name, gate, &params)),
        suite: suite.name.clone(),
        block,
        gate: gate.to_owned(),
        subject: subject.unwrap_or(&suite.subject).clone(),
        check: check.unwrap_or("unknown").to_owned(),
        image,
        params,
    }
}

/// The id without its image.
fn stem(suite: &str, gate: &str, params: &IndexMap<String, AxisValue>) -> String {
    let mut text = format!("{suite}::{gate}");
    for (axis, value) in params {
        text.push_str(&format!("::{axis}={}", axis_text(value)));
    }
    text
}

/// The values an axis takes in a profile.
pub(super) fn values(axis: &Axis, profile: Profile) -> Option<&[AxisValue]> {
    match axis {
        Axis::Always(values) => Some(values),
        Axis::PerProfile(lists) => lists.get(&profile).map(Vec::as_slice),
    }
}

/// Whether a block takes part in a profile: each axis that lists profiles lists this one. A block none of whose axes
/// lists profiles takes part in quick and full; beside one that does, a plain axis lends its values to any profile.
pub(super) fn takes_part(block: &Block, profile: Profile) -> bool {
    let named = |axis: &Axis| matches!(axis, Axis::PerProfile(_));
    if block.axes.values().any(named) {
        return block.axes.values().all(|a| values(a, profile).is_some());
    }
    matches!(profile, Profile::Quick | Profile::Full)
}

fn product(block: &Block, profile: Profile) -> Vec<IndexMap<String, AxisValue>> {
    if !takes_part(block, profile) {
        return Vec::new();
    }
    let mut rows = vec![IndexMap::new()];
    for (name, axis) in &block.axes {
        let values = values(axis, profile).unwrap_or_default();
        rows = rows
            .into_iter()
            .flat_map(|row: IndexMap<String, AxisValue>| {
                values.iter().map(move |value| {
                    let mut row = row.clone();
                    row.insert(name.clone(), value.clone());
                    row
                })
            })
            .collect();
    }
    rows
}

fn duplicates(suites: &[Suite]) -> Vec<String> {
    let mut first: HashMap<String, (usize, usize)> = HashMap::new();
    let mut problems = Vec::new();
    let mut told = Vec::new();
    for profile in Profile::ALL {
        for (s, suite) in suites.iter().enumerate() {
            let mut here: HashMap<String, usize> = HashMap::new();
            for (block, gate, params) in addresses(suite, *profile) {
                let id = stem(&suite.name, gate, &params);
                let twice = here.insert(id.clone(), block).is_some();
                let other = *first.entry(id.clone()).or_insert((s, block));
                if (twice || other != (s, block)) && !told.contains(&id) {
                    let places = [place(&suites[other.0], other.1), place(suite, block)];
                    problems.push(format!(
                        "the case `{id}` is there twice: from {} and from {}",
                        places[0], places[1]
                    ));
                    told.push(id);
                }
            }
        }
    }
    problems
}

fn place(suite: &Suite, block: usize) -> String {
    let at = suite.blocks[block].place;
    format!("{}:{}:{}", suite.path, at.line, at.column)
}

/// The name of a check's kind, as in YAML.
pub fn check_kind(check: &Check) -> &'static str {
    match check {
        Check::ScanTotal { .. } => "scan_total",
        Check::Count { .. } => "count",
        Check::Exact { .. } => "exact",
        Check::Multiset { .. } => "multiset",
        Check::Partition { .. } => "partition",
        Check::Sorted { .. } => "sorted",
        Check::Permutation { .. } => "permutation",
        Check::Near { .. } => "near",
        Check::Repeatable { .. } => "repeatable",
        Check::Assert { .. } => "assert",
        Check::Health { .. } => "health",
        Check::Timings(_) => "timings",
    }
}
