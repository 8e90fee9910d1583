//! YAML → a tree whose every node knows its place.
//!
//! Two readers work on the text: the events (`events`) give the shape, the places and the exact text of scalars, and
//! show what is refused; the types of plain scalars come from `typing`.

use super::log::Log;
use super::model::Place;
use super::{events, typing};

#[derive(Clone, Debug)]
pub(super) struct Tree {
    /// Of its first character; of quoted text, the first character inside the quotes.
    pub place: Place,
    pub content: Content,
}

#[derive(Clone, Debug)]
pub(super) enum Content {
    Scalar(Scalar),
    Sequence(Vec<Tree>),
    Mapping(Vec<Entry>),
    /// Reported already: nothing more is said of it.
    Refused,
}

#[derive(Clone, Debug)]
pub(super) struct Scalar {
    /// As written, without quotes and with escapes resolved.
    pub text: String,
    /// Neither quoted nor a block.
    pub plain: bool,
    /// Inside `{…}` or `[…]`.
    pub in_flow: bool,
    pub typed: Typed,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Typed {
    Null,
    Bool,
    Int(i128),
    Float(f64),
    Text,
}

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub key: String,
    pub place: Place,
    pub value: Tree,
}

/// Reads the text; what is wrong goes to the log. None where nothing can be decoded.
pub(super) fn read(text: &str, tabs: bool, log: &Log<'_>) -> Option<Tree> {
    let mut tree = events::read(text, tabs, log)?;
    typing::assign(&mut tree, text, tabs, log)?;
    Some(tree)
}
