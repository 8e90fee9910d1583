//! Pipelines that run themselves, what nothing uses, and how many cases there are.

use std::collections::BTreeSet;

use indexmap::IndexMap;

use super::blocks::{in_profile, product};
use super::reach;
use crate::spec::fields::Decoder;
use crate::spec::log::Log;
use crate::spec::model::{Place, Step, Suite};
use crate::terms::Profile;

/// Cases of one suite in one profile.
const CASES_MAX: usize = 100_000;
/// Pipelines inside each other.
const CALLS_MAX: usize = 64;

/// Reports pipelines that run themselves; whether there are any, since nothing else can then be followed.
pub(super) fn recursion(suite: &Suite, log: &Log<'_>) -> bool {
    let mut done: IndexMap<&str, bool> = IndexMap::new();
    let mut any = false;
    for name in suite.pipelines.keys() {
        any |= follow(suite, name, &mut Vec::new(), &mut done, log);
    }
    any
}

fn follow<'s>(
    suite: &'s Suite,
    name: &'s str,
    path: &mut Vec<&'s str>,
    done: &mut IndexMap<&'s str, bool>,
    log: &Log<'_>,
) -> bool {
    if let Some(bad) = done.get(name) {
        return *bad;
    }
    let Some(steps) = suite.pipelines.get(name) else {
        return false;
    };
    path.push(name);
    let mut bad = false;
    for callee in reach::callees(steps) {
        if let Some(at) = path.iter().position(|open| *open == callee) {
            let mut cycle = path[at..].to_vec();
            cycle.push(callee);
            let message = format!("a pipeline runs itself: {}", cycle.join(" → "));
            let place = call_place(steps, callee).unwrap_or_default();
            log.mend(place, message, "for repetition use a `for` step");
            bad = true;
        } else if path.len() >= CALLS_MAX {
            let message = format!("pipelines run each other more than {CALLS_MAX} deep");
            log.add(call_place(steps, callee).unwrap_or_default(), message);
            bad = true;
        } else {
            bad |= follow(suite, callee, path, done, log);
        }
    }
    path.pop();
    done.insert(name, bad);
    bad
}

fn call_place(steps: &[Step], callee: &str) -> Option<Place> {
    use crate::spec::model::Action;
    steps.iter().find_map(|step| match &step.action {
        Action::Pipeline { name } if name == callee => Some(step.place),
        Action::For { steps, .. } => call_place(steps, callee),
        _ => None,
    })
}

pub(super) fn unused(suite: &Suite, decoder: &Decoder<'_>) {
    let log = decoder.log;
    if decoder.incomplete.get() {
        return;
    }
    let used = decoder.used_buffers.borrow();
    for (name, buffer) in &suite.buffers {
        if !used.contains(name) {
            let mend = "remove it, or name it in a step or a gate";
            log.mend(buffer.place, format!("buffer `{name}` is not used"), mend);
        }
    }
    let gates: Vec<String> = suite.gates.keys().cloned().collect();
    let reached = reach::pipelines(suite, &gates);
    for (name, steps) in &suite.pipelines {
        if !reached.contains(name.as_str()) {
            let place = steps.first().map_or(Place::default(), |step| step.place);
            let mend = "remove it, or run it in a gate";
            log.mend(place, format!("pipeline `{name}` is not used"), mend);
        }
    }
    let blocks = suite.blocks.iter().flat_map(|block| &block.gates);
    let mut run: BTreeSet<&str> = blocks.map(String::as_str).collect();
    run.extend(suite.gates.values().flat_map(reach::verifying));
    for (name, gate) in &suite.gates {
        if !run.contains(name.as_str()) {
            let mend = "list it in the `gates` of a block";
            log.mend(gate.place, format!("no block runs gate `{name}`"), mend);
        }
    }
}

pub(super) fn case_count(suite: &Suite, log: &Log<'_>) {
    // An axis that could not be read takes its profiles with it.
    let blocks = if log.is_empty() {
        &suite.blocks[..]
    } else {
        &[]
    };
    for block in blocks {
        let mut profiles = Profile::ALL.iter();
        if !profiles.any(|p| in_profile(block, *p).is_some()) {
            let mend = "give every axis of the block values in one same profile";
            log.mend(block.place, "this block runs in no profile", mend);
        }
    }
    for profile in Profile::ALL {
        let mut cases = 0usize;
        for block in &suite.blocks {
            let Some(axes) = in_profile(block, *profile) else {
                continue;
            };
            let combinations = product(axes.iter().map(|(_, values)| values.len()));
            cases = cases.saturating_add(combinations.saturating_mul(block.gates.len()));
            if cases > CASES_MAX {
                let message = format!("more than {CASES_MAX} cases in profile {profile}");
                let mend = "take values out of the axes, or split the suite";
                log.mend(block.place, message, mend);
                break;
            }
        }
    }
}
