//! Things by the names of their cases: a waiver finds its own without asking every one.

use super::Waiver;
use super::pattern::Pattern;

/// Sorted by name, so that those of one beginning lie together.
pub struct ByCase<'i, T>(Vec<(&'i str, T)>);

impl<'i, T: Copy> ByCase<'i, T> {
    pub fn new(cases: impl Iterator<Item = (&'i str, T)>) -> Self {
        let mut sorted: Vec<(&str, T)> = cases.collect();
        sorted.sort_by_key(|(id, _)| *id);
        Self(sorted)
    }

    /// Those whose case a waiver names, in the order of the names. Looks at those alone whose names begin as the
    /// waiver's pattern does up to its first `*`.
    pub fn named_by<'s>(&'s self, waiver: &'s Waiver) -> impl Iterator<Item = T> {
        let pattern = Pattern::new(&waiver.cases);
        let beginning = pattern.beginning;
        let first = self.0.partition_point(|(id, _)| *id < beginning);
        self.0[first..]
            .iter()
            .take_while(move |(id, _)| id.starts_with(beginning))
            .filter(move |(id, _)| pattern.matches(id))
            .map(|(_, thing)| *thing)
    }
}
