//! The example suites, and what of the format they do not use.

use super::*;
use crate::outcome::{FindingKind, ReasonKind};
use crate::spec::model::*;

pub(super) const EXAMPLES: &[(&str, &str)] = &[
    (
        "compaction",
        include_str!("../testdata/good/compaction.yaml"),
    ),
    ("efficient", include_str!("../testdata/good/efficient.yaml")),
    ("lookback", include_str!("../testdata/good/lookback.yaml")),
    ("naive", include_str!("../testdata/good/naive.yaml")),
    ("radix", include_str!("../testdata/good/radix.yaml")),
];

pub(super) fn example(name: &str) -> &'static str {
    let found = EXAMPLES.iter().find(|(n, _)| *n == name);
    found.map_or("", |(_, text)| text)
}

fn good(text: &str) -> Suite {
    load(text).unwrap_or_else(|found| panic!("{}", crate::spec::SpecErrors(found)))
}

#[test]
fn the_examples_load() {
    for (name, text) in EXAMPLES {
        let loaded = load(text);
        assert!(loaded.is_ok(), "{name}: {:#?}", problems(text));
    }
}
