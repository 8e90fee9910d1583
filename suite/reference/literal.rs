//! Wanted arrays given as numbers: by a file or a script.

use crate::outcome::Fault;
use crate::value::{Array, ElementType, Scalar};

/// The numbers as an array of `element`.
///
/// # Errors
/// `setup` for a number the type does not hold: out of its range, or a fraction in an integer type. A float type
/// takes every number, rounded to nearest.
pub fn array_of(element: ElementType, numbers: &[Scalar]) -> Result<Array, Fault> {
    macro_rules! collect {
        ($variant:ident, $one:expr) => {{
            let values = numbers.iter().enumerate().map(|(index, &number)| {
                $one(number).ok_or_else(|| {
                    Fault::setup(format!(
                        "wanted element {index}, {number}, is not a value of {}",
                        element.name()
                    ))
                })
            });
            Array::$variant(values.collect::<Result<_, _>>()?)
        }};
    }
    Ok(match element {
        ElementType::I8 => collect!(I8, integer),
        ElementType::U8 => collect!(U8, integer),
        ElementType::I16 => collect!(I16, integer),
        ElementType::U16 => collect!(U16, integer),
        ElementType::I32 => collect!(I32, integer),
        ElementType::U32 => collect!(U32, integer),
        ElementType::I64 => collect!(I64, integer),
        ElementType::U64 => collect!(U64, integer),
        ElementType::F32 => collect!(F32, |number| Some(single(number))),
        ElementType::F64 => collect!(F64, |number| Some(double(number))),
    })
}

fn integer<T: TryFrom<i128>>(number: Scalar) -> Option<T> {
    match number {
        Scalar::Int(v) => T::try_from(v).ok(),
        // Whole floats up to 2⁶⁴ are exact in an i128.
        Scalar::Float(v) if v.fract() == 0.0 => T::try_from(v as i128).ok(),
        Scalar::Float(_) => None,
    }
}

fn single(number: Scalar) -> f32 {
    match number {
        Scalar::Int(v) => v as f32,
        Scalar::Float(v) => v as f32,
    }
}

fn double(number: Scalar) -> f64 {
    match number {
        Scalar::Int(v) => v as f64,
        Scalar::Float(v) => v,
    }
}
