//! An expression as written: its text and where it stands.

/// Where something stands in its file. Lines and columns count from 1, columns in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Place {
    pub line: usize,
    pub column: usize,
}

/// An expression's source text and its place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Expr {
    pub source: String,
    pub place: Place,
}
