//! Checks: what a kernel wrote against what it should have written. Values in, findings out; no device, no spec file.
//!
//! Owns: what each gate kind calls wrong, the finding kind and the words for it, and the judgement of `expect`.
//! May import `value`, `outcome`, `parallel`, `terms` and the vocabulary of `spec::model`.
//!
//! | check | finds |
//! |---|---|
//! | [`exact`] | `mismatch`, `unwritten`, `stray_write` |
//! | [`count`] | `count`, `unwritten` |
//! | [`multiset`], [`permutation`] | `multiset`, `unwritten`, `stray_write` |
//! | [`partition()`] | those of `exact`, and `split` |
//! | [`sorted`] | `order`, `unwritten` |
//! | [`near()`] | those of `exact`, within a tolerance |
//! | [`Repeatable`] | `not_repeatable`, `unwritten`, `no_work` |
//! | [`times`], [`no_work`] | `time`, `no_work` |
//!
//! `got` is everything that was read. Where it is longer than `want`, the rest must still hold the poison. At most
//! one finding of a kind comes back. A `got` that cannot hold `want` at all, by type or length, is no finding but a
//! `setup` fault: the spec compares two different things. Integers of one size compare whatever their sign.
//!
//! ```
//! use cuda_gates::check;
//! use cuda_gates::terms::FindingKind;
//! use cuda_gates::value::ArrayRef;
//! let got = [1.0f32, -0.0];
//! let found = check::exact(ArrayRef::F32(&got), ArrayRef::F32(&[1.0, 0.0])).unwrap();
//! assert_eq!(found[0].kind, FindingKind::Mismatch);
//! assert_eq!(found[0].message, "1 of 2 elements differs (50 %), at 1: got -0.0, want 0.0");
//! ```

mod bytes;
mod exact;
mod expectation;
mod key;
mod multiset;
mod near;
mod number;
mod order;
mod partition;
mod repeatable;
mod show;
#[cfg(test)]
mod tests;
mod timings;

pub use exact::{exact, order_differences};
pub use expectation::{Judged, Stage, can_be_expected, expectation};
pub use multiset::{multiset, permutation};
pub use near::near;
pub use number::count;
pub use order::sorted;
pub use partition::partition;
pub use repeatable::Repeatable;
pub use timings::{no_work, times};

use crate::outcome::Fault;
use crate::value::{ArrayRef, ElementType};

/// `want`, seen as `got`'s type: the same, or an integer of the same size.
fn comparable<'a>(got: ArrayRef<'_>, want: ArrayRef<'a>) -> Result<ArrayRef<'a>, Fault> {
    let want = retyped(got.element_type(), want)?;
    if got.len() < want.len() {
        return Err(Fault::setup(format!(
            "{} elements are wanted, and only {} are read",
            want.len(),
            got.len()
        )));
    }
    Ok(want)
}

fn retyped(element: ElementType, want: ArrayRef<'_>) -> Result<ArrayRef<'_>, Fault> {
    let other = want.element_type();
    let apart = || {
        Fault::setup(format!(
            "the output is of {}, and what is wanted of {}",
            element.name(),
            other.name()
        ))
    };
    if other == element {
        return Ok(want);
    }
    if element.is_float() || other.is_float() || element.size() != other.size() {
        return Err(apart());
    }
    ArrayRef::from_bytes(element, want.as_bytes()).map_err(|_| apart())
}
