//! Rules that need the whole suite: what each block's gates reach, which names are known there, signatures, and the
//! expressions' values.

mod blocks;
mod calls;
mod dry;
mod evaluate;
mod names;
mod reach;
mod signatures;
mod structure;
mod tables;

use std::collections::HashSet;

use super::fields::Decoder;
use super::model::Suite;

pub(super) fn validate(suite: &Suite, decoder: &Decoder<'_>) {
    if structure::recursion(suite, decoder.log) {
        return;
    }
    structure::unused(suite, decoder);
    calls::mixtures(suite, decoder.log);
    structure::case_count(suite, decoder.log);
    let views = blocks::views(suite);
    for view in &views {
        names::check(suite, view, decoder);
        signatures::check(suite, view, decoder);
    }
    tables::check(suite, decoder);
    let mut failed = HashSet::new();
    for view in &views {
        evaluate::check(suite, view, decoder, &mut failed);
    }
}
