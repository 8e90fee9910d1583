//! Host references: what a pipeline should have computed, by sequential code that shares nothing with any kernel.
//!
//! Owns: the list of references with their predicates, operators and result types. May import `value`, `outcome`,
//! `terms`, and of `parallel` only memory that is touched already.
//!
//! | reference | operand | result |
//! |---|---|---|
//! | `compact` | predicate | the elements it holds for, in order |
//! | `partition` | predicate | those, then the others, each in order; and the split, the number of the first |
//! | `partition_reversed` | predicate | as `partition`, the others last first |
//! | `count` | predicate | how many it holds for |
//! | `map` | predicate or transform | 0 or 1 as `i32`; or the transformed elements |
//! | `exclusive_scan`, `inclusive_scan` | `sum`, `min`, `max` | a prefix a place, of the mapped elements with `map` |
//! | `reduce` | `sum`, `min`, `max` | one number, of the mapped elements if `map` is given |
//! | `sort` | `ascending`, `descending` | the elements in order; floats in IEEE 754's total order |
//! | `histogram` | number of bins | `i32`: element `v` counts in bin `v`; others count nowhere |
//! | `copy`, `reverse` | the input's name | the elements, in order or last first |
//!
//! Predicates: `nonzero`, `zero`, `positive`, `negative`, and for integers `odd`, `even`. −0 is zero; NaN is
//! nonzero, neither positive nor negative. Transforms: `identity`, `negate`, `abs`, `square`. Integer arithmetic
//! wraps in the element's type, as on the device. A float sum adds in order, each step rounded to the type. `min`
//! and `max` pass over NaN and put −0 below +0. The identity that starts an exclusive scan, or is the reduction of
//! nothing, is 0 for `sum` and the type's largest (smallest) value for `min` (`max`): an infinity for floats.
//!
//! ```
//! use cuda_gates::reference::{Request, Wanted, evaluate};
//! use cuda_gates::value::{Array, ArrayRef};
//! let request = Request::new("compact", "odd");
//! let wanted = evaluate(&request, ArrayRef::I32(&[1, 2, 3, -5])).unwrap();
//! assert_eq!(wanted, Wanted::Array(Array::I32(vec![1, 3, -5])));
//! ```

mod arrange;
mod literal;
mod map;
mod number;
mod scan;
#[cfg(test)]
mod tests;

use crate::outcome::Fault;
use crate::parallel;
use crate::terms::Order;
use crate::value::{Array, ArrayRef, ElementType, Scalar};

use map::{Map, Predicate};
use number::Number;
use scan::Operator;

pub use literal::array_of;

/// A reference by name, as a spec's `want` has it: `{exclusive_scan: sum, map: nonzero}`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    pub name: String,
    /// A predicate, an operator, an order, a number of bins or an input's name.
    pub operand: String,
    /// Of scans and reductions: applied to each element first.
    pub map: Option<String>,
}

impl Request {
    /// A request without a map.
    pub fn new(name: &str, operand: &str) -> Self {
        Self {
            name: name.to_owned(),
            operand: operand.to_owned(),
            map: None,
        }
    }

    /// Of the elements so mapped.
    pub fn mapped(mut self, map: &str) -> Self {
        self.map = Some(map.to_owned());
        self
    }
}

/// What a reference says the result is.
#[derive(Clone, Debug, PartialEq)]
pub enum Wanted {
    Array(Array),
    /// The whole array; elements from `split` on belong to the second half.
    Partition {
        array: Array,
        split: u64,
    },
    Number(Scalar),
}

/// A request whose names have been understood.
enum Known {
    Compact(Predicate),
    Partition(Predicate),
    PartitionReversed(Predicate),
    Count(Predicate),
    Map(Map),
    Scan {
        inclusive: bool,
        operator: Operator,
        map: Map,
    },
    Reduce {
        operator: Operator,
        map: Map,
    },
    Sort(Order),
    Histogram {
        bins: usize,
    },
    Copy,
    Reverse,
}

/// A histogram's bins live on the host: more are a mistake.
const BINS_MAX: usize = 1 << 24;

const NAMES: &str = "compact, partition, partition_reversed, count, map, exclusive_scan, inclusive_scan, reduce, \
                     sort, histogram, copy, reverse";

/// Whether there is such a reference and it takes this operand and map. `copy` and `reverse` take the name of an
/// input, which the caller knows and this does not.
///
/// # Errors
/// In words that name what is known.
pub fn validate(request: &Request) -> Result<(), String> {
    parse(request).map(|_| ())
}

/// The element type of the wanted array over an input of `element`; `None` where a number is wanted (`count`,
/// `reduce`) or the request is unknown.
pub fn result_type(request: &Request, element: ElementType) -> Option<ElementType> {
    match parse(request).ok()? {
        Known::Count(_) | Known::Reduce { .. } => None,
        Known::Histogram { .. } => Some(ElementType::I32),
        Known::Map(map) | Known::Scan { map, .. } => Some(map.result_type(element)),
        Known::Compact(_)
        | Known::Partition(_)
        | Known::PartitionReversed(_)
        | Known::Sort(_)
        | Known::Copy
        | Known::Reverse => Some(element),
    }
}

/// Computes the wanted value.
///
/// # Errors
/// `setup`: what [`validate`] refuses, and `odd`, `even` or `histogram` of floats.
pub fn evaluate(request: &Request, input: ArrayRef<'_>) -> Result<Wanted, Fault> {
    let known = parse(request).map_err(Fault::setup)?;
    match input {
        ArrayRef::I8(values) => of(&known, values),
        ArrayRef::U8(values) => of(&known, values),
        ArrayRef::I16(values) => of(&known, values),
        ArrayRef::U16(values) => of(&known, values),
        ArrayRef::I32(values) => of(&known, values),
        ArrayRef::U32(values) => of(&known, values),
        ArrayRef::I64(values) => of(&known, values),
        ArrayRef::U64(values) => of(&known, values),
        ArrayRef::F32(values) => of(&known, values),
        ArrayRef::F64(values) => of(&known, values),
    }
}

fn of<T: Number>(known: &Known, values: &[T]) -> Result<Wanted, Fault> {
    Ok(match known {
        Known::Compact(predicate) => Wanted::Array(T::array(arrange::compact(values, *predicate)?)),
        Known::Partition(predicate) => {
            let (array, split) = arrange::partition(values, *predicate)?;
            Wanted::Partition {
                array: T::array(array),
                split,
            }
        }
        Known::PartitionReversed(predicate) => {
            let (mut array, split) = arrange::partition(values, *predicate)?;
            array[split as usize..].reverse();
            Wanted::Partition {
                array: T::array(array),
                split,
            }
        }
        Known::Count(predicate) => {
            let count = arrange::count(values, *predicate)?;
            Wanted::Number(Scalar::Int(count as i128))
        }
        Known::Map(Map::Predicate(predicate)) => {
            Wanted::Array(Array::I32(marks(values, *predicate)?))
        }
        Known::Map(Map::Transform(transform)) => {
            Wanted::Array(T::array(transform.apply(values).into_owned()))
        }
        Known::Scan {
            inclusive,
            operator,
            map,
        } => Wanted::Array(scan_of(values, *inclusive, *operator, *map)?),
        Known::Reduce { operator, map } => Wanted::Number(reduction_of(values, *operator, *map)?),
        Known::Sort(order) => Wanted::Array(T::array(arrange::sort(values, *order))),
        Known::Histogram { bins } => Wanted::Array(Array::I32(arrange::histogram(values, *bins)?)),
        Known::Copy => Wanted::Array(T::array(values.to_vec())),
        Known::Reverse => Wanted::Array(T::array(values.iter().rev().copied().collect())),
    })
}

/// Flags as a kernel's mark array holds them.
fn marks<T: Number>(values: &[T], predicate: Predicate) -> Result<Vec<i32>, Fault> {
    let mut out = parallel::touched(values.len());
    let mut rest = out.as_mut_slice();
    predicate.flagged(values, |_, flags| {
        for (slot, mark) in next(&mut rest, flags.len())
            .iter_mut()
            .zip(map::ones(flags))
        {
            *slot = mark;
        }
    })?;
    Ok(out)
}

fn scan_of<T: Number>(
    values: &[T],
    inclusive: bool,
    operator: Operator,
    map: Map,
) -> Result<Array, Fault> {
    Ok(match map {
        Map::Predicate(predicate) => {
            let mut out = parallel::touched(values.len());
            let (mut rest, mut prefix) = (out.as_mut_slice(), operator.identity());
            predicate.flagged(values, |_, flags| {
                let out = next(&mut rest, flags.len());
                prefix = operator.scan(out, map::ones(flags), prefix, inclusive);
            })?;
            Array::I32(out)
        }
        Map::Transform(transform) => {
            let mapped = transform.apply(values);
            let mut out = parallel::touched(values.len());
            let mapped = mapped.iter().copied();
            operator.scan(&mut out, mapped, operator.identity(), inclusive);
            T::array(out)
        }
    })
}

fn reduction_of<T: Number>(values: &[T], operator: Operator, map: Map) -> Result<Scalar, Fault> {
    Ok(match map {
        Map::Predicate(predicate) => {
            let mut total: i32 = operator.identity();
            predicate.flagged(values, |_, flags| {
                total = operator.reduce(map::ones(flags), total);
            })?;
            total.into()
        }
        Map::Transform(transform) => {
            let mapped = transform.apply(values);
            operator
                .reduce(mapped.iter().copied(), operator.identity())
                .into()
        }
    })
}

/// Takes the next `len` places off.
fn next<'a, T>(rest: &mut &'a mut [T], len: usize) -> &'a mut [T] {
    rest.split_off_mut(..len).unwrap_or_default()
}

fn parse(request: &Request) -> Result<Known, String> {
    let Request { name, operand, map } = request;
    let mapped = match map {
        None => Map::IDENTITY,
        Some(map)
            if matches!(
                name.as_str(),
                "exclusive_scan" | "inclusive_scan" | "reduce"
            ) =>
        {
            Map::from_name(map)?
        }
        Some(_) => return Err(format!("`{name}` takes no `map`; scans and `reduce` do")),
    };
    Ok(match name.as_str() {
        "compact" => Known::Compact(Predicate::known(operand)?),
        "partition" => Known::Partition(Predicate::known(operand)?),
        "partition_reversed" => Known::PartitionReversed(Predicate::known(operand)?),
        "count" => Known::Count(Predicate::known(operand)?),
        "map" => Known::Map(Map::from_name(operand)?),
        "exclusive_scan" | "inclusive_scan" => Known::Scan {
            inclusive: name == "inclusive_scan",
            operator: Operator::known(operand)?,
            map: mapped,
        },
        "reduce" => Known::Reduce {
            operator: Operator::known(operand)?,
            map: mapped,
        },
        "sort" => {
            Known::Sort(Order::from_name(operand).ok_or_else(|| {
                format!("unknown order `{operand}`; known: ascending, descending")
            })?)
        }
        "histogram" => Known::Histogram {
            bins: bins(operand)?,
        },
        "copy" => Known::Copy,
        "reverse" => Known::Reverse,
        _ => return Err(format!("unknown reference `{name}`; known: {NAMES}")),
    })
}

fn bins(operand: &str) -> Result<usize, String> {
    match operand.parse() {
        Ok(bins @ 1..=BINS_MAX) => Ok(bins),
        _ => Err(format!(
            "`histogram` takes a number of bins, 1 to {BINS_MAX}, not `{operand}`"
        )),
    }
}
