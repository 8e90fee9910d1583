//! Scans and reductions by one sequential loop.

use super::map::names;
use super::number::Number;
use crate::terms::named_enum;

named_enum! {
    Operator { Sum = "sum", Min = "min", Max = "max" }
}

impl Operator {
    pub(super) fn known(name: &str) -> Result<Self, String> {
        Self::from_name(name).ok_or_else(|| {
            let known = names(Self::ALL.iter().map(|o| o.name()));
            format!("unknown operator `{name}`; known: {known}")
        })
    }

    /// Place `i` combines the elements before `i`, and element `i` too if `inclusive`.
    pub(super) fn scan<T: Number>(
        self,
        values: impl Iterator<Item = T>,
        inclusive: bool,
    ) -> Vec<T> {
        match self {
            Operator::Sum => scan(values, T::ZERO, T::plus, inclusive),
            Operator::Min => scan(values, T::TOP, min, inclusive),
            Operator::Max => scan(values, T::BOTTOM, max, inclusive),
        }
    }

    pub(super) fn reduce<T: Number>(self, values: impl Iterator<Item = T>) -> T {
        match self {
            Operator::Sum => values.fold(T::ZERO, T::plus),
            Operator::Min => values.fold(T::TOP, min),
            Operator::Max => values.fold(T::BOTTOM, max),
        }
    }
}

fn scan<T: Number>(
    values: impl Iterator<Item = T>,
    identity: T,
    combine: impl Fn(T, T) -> T,
    inclusive: bool,
) -> Vec<T> {
    let mut prefix = identity;
    let places = values.map(|value| {
        let before = prefix;
        prefix = combine(prefix, value);
        if inclusive { prefix } else { before }
    });
    places.collect()
}

fn min<T: Number>(a: T, b: T) -> T {
    match (a.is_nan(), b.is_nan()) {
        (true, _) => b,
        (_, true) => a,
        _ if b.order(a).is_lt() => b,
        _ => a,
    }
}

fn max<T: Number>(a: T, b: T) -> T {
    match (a.is_nan(), b.is_nan()) {
        (true, _) => b,
        (_, true) => a,
        _ if b.order(a).is_gt() => b,
        _ => a,
    }
}
