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

    /// The prefix before the first element, and the reduction of none.
    pub(super) fn identity<T: Number>(self) -> T {
        match self {
            Operator::Sum => T::ZERO,
            Operator::Min => T::TOP,
            Operator::Max => T::BOTTOM,
        }
    }

    /// Place `i` of `out` combines `prefix` and the elements before `i`, and element `i` too if `inclusive`. What
    /// comes back is the prefix of the elements that follow.
    pub(super) fn scan<T: Number>(
        self,
        out: &mut [T],
        values: impl Iterator<Item = T>,
        prefix: T,
        inclusive: bool,
    ) -> T {
        match self {
            Operator::Sum => scan(out, values, prefix, T::plus, inclusive),
            Operator::Min => scan(out, values, prefix, min, inclusive),
            Operator::Max => scan(out, values, prefix, max, inclusive),
        }
    }

    pub(super) fn reduce<T: Number>(self, values: impl Iterator<Item = T>, prefix: T) -> T {
        match self {
            Operator::Sum => values.fold(prefix, T::plus),
            Operator::Min => values.fold(prefix, min),
            Operator::Max => values.fold(prefix, max),
        }
    }
}

fn scan<T: Number>(
    out: &mut [T],
    values: impl Iterator<Item = T>,
    mut prefix: T,
    combine: impl Fn(T, T) -> T,
    inclusive: bool,
) -> T {
    for (slot, value) in out.iter_mut().zip(values) {
        let before = prefix;
        prefix = combine(prefix, value);
        *slot = if inclusive { prefix } else { before };
    }
    prefix
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
