//! Predicates and transforms: what is asked of, or done to, each element by itself.

use std::borrow::Cow;

use super::number::Number;
use crate::outcome::Fault;
use crate::terms::named_enum;
use crate::value::ElementType;

named_enum! {
    /// Holds for an element or not.
    Predicate {
        Nonzero = "nonzero",
        Zero = "zero",
        Odd = "odd",
        Even = "even",
        Positive = "positive",
        Negative = "negative",
    }
}

named_enum! {
    /// Makes another element of the same type.
    Transform { Identity = "identity", Negate = "negate", Abs = "abs", Square = "square" }
}

#[derive(Clone, Copy)]
pub(super) enum Map {
    Predicate(Predicate),
    Transform(Transform),
}

impl Map {
    pub(super) const IDENTITY: Self = Map::Transform(Transform::Identity);

    pub(super) fn from_name(name: &str) -> Result<Self, String> {
        let predicate = Predicate::from_name(name).map(Map::Predicate);
        predicate
            .or_else(|| Transform::from_name(name).map(Map::Transform))
            .ok_or_else(|| {
                format!(
                    "unknown map `{name}`; known: {}, {}",
                    names(Predicate::ALL.iter().map(|p| p.name())),
                    names(Transform::ALL.iter().map(|t| t.name()))
                )
            })
    }

    pub(super) fn result_type(self, element: ElementType) -> ElementType {
        match self {
            Map::Predicate(_) => ElementType::I32,
            Map::Transform(_) => element,
        }
    }
}

impl Predicate {
    pub(super) fn known(name: &str) -> Result<Self, String> {
        Self::from_name(name).ok_or_else(|| {
            format!(
                "unknown predicate `{name}`; known: {}",
                names(Self::ALL.iter().map(|p| p.name()))
            )
        })
    }

    /// Calls `each` with values and their flags, 1 where it holds, else 0, block by block in order: the flags stay in
    /// the nearest cache, whatever the length.
    ///
    /// # Errors
    /// `setup` for `odd` and `even` of floats.
    pub(super) fn flagged<T: Number>(
        self,
        values: &[T],
        each: impl FnMut(&[T], &[u8]),
    ) -> Result<(), Fault> {
        let parity = T::ZERO.is_odd().is_some();
        match self {
            Predicate::Nonzero => flagged(values, |v| !v.is_zero(), each),
            Predicate::Zero => flagged(values, T::is_zero, each),
            Predicate::Odd if parity => flagged(values, |v| v.is_odd() == Some(true), each),
            Predicate::Even if parity => flagged(values, |v| v.is_odd() == Some(false), each),
            Predicate::Odd | Predicate::Even => {
                return Err(Fault::setup(format!(
                    "predicate `{self}` has no meaning for floats"
                )));
            }
            Predicate::Positive => flagged(values, T::is_positive, each),
            Predicate::Negative => flagged(values, T::is_negative, each),
        }
        Ok(())
    }
}

impl Transform {
    /// The elements themselves, where nothing is done to them.
    pub(super) fn apply<T: Number>(self, values: &[T]) -> Cow<'_, [T]> {
        match self {
            Transform::Identity => Cow::Borrowed(values),
            Transform::Negate => values.iter().map(|v| v.negated()).collect(),
            Transform::Abs => values.iter().map(|v| v.absolute()).collect(),
            Transform::Square => values.iter().map(|v| v.squared()).collect(),
        }
    }
}

/// Flags as a kernel's mark array holds them.
pub(super) fn ones(flags: &[u8]) -> impl Iterator<Item = i32> {
    flags.iter().map(|&flag| flag.into())
}

/// Elements of a block.
const BLOCK: usize = 4096;

fn flagged<T: Copy>(values: &[T], holds: impl Fn(T) -> bool, mut each: impl FnMut(&[T], &[u8])) {
    let mut flags = [0; BLOCK];
    for values in values.chunks(BLOCK) {
        let flags = &mut flags[..values.len()];
        for (flag, &value) in flags.iter_mut().zip(values) {
            *flag = u8::from(holds(value));
        }
        each(values, flags);
    }
}

pub(super) fn names(names: impl Iterator<Item = &'static str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}
