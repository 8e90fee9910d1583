//! Scans and reductions by one sequential loop.

use super::map::names;
use super::number::Number;
use crate::outcome::named_enum;

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

    fn identity<T: Number>(self) -> T {
        match self {
            Operator::Sum => T::ZERO,
            Operator::Min => T::TOP,
            Operator::Max => T::BOTTOM,
        }
    }

    fn combine<T: Number>(self, a: T, b: T) -> T {
        match self {
            Operator::Sum => a.plus(b),
            Operator::Min | Operator::Max if a.is_nan() => b,
            Operator::Min | Operator::Max if b.is_nan() => a,
            Operator::Min => [a, b][usize::from(b.order(a).is_lt())],
            Operator::Max => [a, b][usize::from(b.order(a).is_gt())],
        }
    }

    /// Place `i` combines the elements before `i`, and element `i` too if `inclusive`.
    pub(super) fn scan<T: Number>(self, values: &[T], inclusive: bool) -> Vec<T> {
        let mut prefix: T = self.identity();
        let places = values.iter().map(|&value| {
            let before = prefix;
            prefix = self.combine(prefix, value);
            if inclusive { prefix } else { before }
        });
        places.collect()
    }

    pub(super) fn reduce<T: Number>(self, values: &[T]) -> T {
        let start = self.identity();
        values
            .iter()
            .fold(start, |so_far, &v| self.combine(so_far, v))
    }
}
