//! Single numbers: counts, totals and splits.

use super::bytes::untouched;
use super::show;
use crate::outcome::{Fault, Finding};
use crate::terms::FindingKind;
use crate::value::{ArrayRef, Scalar};

/// The one element of `got` is `want`.
///
/// # Errors
/// `setup` when `got` has not exactly one element.
pub fn count(got: ArrayRef<'_>, want: Scalar) -> Result<Vec<Finding>, Fault> {
    number(got, want, FindingKind::Count)
}

pub(super) fn number(
    got: ArrayRef<'_>,
    want: Scalar,
    kind: FindingKind,
) -> Result<Vec<Finding>, Fault> {
    if got.len() != 1 {
        return Err(Fault::setup(format!(
            "one number is wanted, and {} are read",
            show::elements(got.len())
        )));
    }
    Ok(if same(got, want) {
        Vec::new()
    } else if untouched(got) {
        let message = format!("the number was never written, want {want}");
        vec![Finding::new(FindingKind::Unwritten, message)]
    } else {
        let message = format!("got {}, want {want}", show::element(got, 0));
        vec![Finding::new(kind, message)]
    })
}

/// Equal as numbers of `got`'s type: floats bit for bit, after `want` is rounded to the type.
fn same(got: ArrayRef<'_>, want: Scalar) -> bool {
    let wide = match want {
        Scalar::Int(v) => v as f64,
        Scalar::Float(v) => v,
    };
    match (got, got.get(0), want) {
        (ArrayRef::F32(v), ..) => v[0].to_bits() == (wide as f32).to_bits(),
        (ArrayRef::F64(v), ..) => v[0].to_bits() == wide.to_bits(),
        (_, Scalar::Int(got), Scalar::Int(want)) => got == want,
        (_, Scalar::Int(got), Scalar::Float(want)) => want.fract() == 0.0 && got == want as i128,
        (_, Scalar::Float(_), _) => false, // integers never come as floats
    }
}
