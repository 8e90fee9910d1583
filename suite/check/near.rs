//! Floats within a tolerance.

use super::bytes::Places;
use super::exact::stray_writes;
use super::{comparable, show};
use crate::outcome::{Fault, Finding};
use crate::terms::{FindingKind, Tolerance};
use crate::value::{ArrayRef, POISON_BYTE};

/// Each of the first `want.len()` elements of `got` is near its `want`; the rest still hold the poison.
///
/// Any NaN is near any other, and to nothing else. An infinity is near itself alone. In units in the last place, the
/// distance is the number of steps from one float to the other, and −0 is 0. Relative, the difference is at most the
/// tolerance times the wanted magnitude: near 0 is then only 0.
///
/// # Errors
/// `setup` for integers, a relative tolerance that is negative or not finite, or a `got` that cannot hold `want`.
pub fn near(
    got: ArrayRef<'_>,
    want: ArrayRef<'_>,
    tolerance: Tolerance,
) -> Result<Vec<Finding>, Fault> {
    let want = comparable(got, want)?;
    if let Tolerance::Relative(relative) = tolerance
        && !(relative.is_finite() && relative >= 0.0)
    {
        return Err(Fault::setup(format!(
            "a relative tolerance cannot be {relative}"
        )));
    }
    let found = match (got, want) {
        (ArrayRef::F32(got), ArrayRef::F32(want)) => far(got, want, tolerance),
        (ArrayRef::F64(got), ArrayRef::F64(want)) => far(got, want, tolerance),
        _ => {
            return Err(Fault::setup(format!(
                "`near` is for floats; integers of {} want `exact`",
                got.element_type().name()
            )));
        }
    };
    let mut findings = Vec::new();
    if !found.wrong.is_empty() {
        let allowed = match tolerance {
            Tolerance::Ulps(ulps) => format!("{ulps} ULP"),
            Tolerance::Relative(relative) => format!("{relative:e} relative"),
        };
        let message = format!(
            "{}; allowed {allowed}, worst {} at {}",
            show::differing(found.wrong, ["is not near", "are not near"], got, want),
            found.worst.words(tolerance),
            found.worst.index
        );
        findings.push(
            Finding::new(FindingKind::Mismatch, message).with_detail(show::excerpt(
                found.wrong,
                got,
                want,
            )),
        );
    }
    findings.extend(show::unwritten(found.unwritten, want.len()));
    findings.extend(stray_writes(got, want.len()));
    Ok(findings)
}

trait Float: Copy {
    fn wide(self) -> f64;
    /// Steps from 0 to the number, negative below it; meaningless for NaN.
    fn steps(self) -> i64;
    fn is_poison(self) -> bool;
}

impl Float for f32 {
    fn wide(self) -> f64 {
        self.into()
    }
    fn steps(self) -> i64 {
        let magnitude = i64::from(self.abs().to_bits());
        if self.is_sign_negative() {
            -magnitude
        } else {
            magnitude
        }
    }
    fn is_poison(self) -> bool {
        self.to_ne_bytes() == [POISON_BYTE; 4]
    }
}

impl Float for f64 {
    fn wide(self) -> f64 {
        self
    }
    fn steps(self) -> i64 {
        let magnitude = self.abs().to_bits() as i64;
        if self.is_sign_negative() {
            -magnitude
        } else {
            magnitude
        }
    }
    fn is_poison(self) -> bool {
        self.to_ne_bytes() == [POISON_BYTE; 8]
    }
}

#[derive(Default)]
struct Far {
    wrong: Places,
    unwritten: Places,
    worst: Worst,
}

/// The largest distance among the wrong elements; infinite where no distance is defined.
#[derive(Default)]
struct Worst {
    distance: f64,
    index: usize,
}

impl Worst {
    fn words(&self, tolerance: Tolerance) -> String {
        match tolerance {
            _ if self.distance.is_infinite() => "infinitely far".to_owned(),
            Tolerance::Ulps(_) => format!("{} ULP", self.distance),
            Tolerance::Relative(_) => format!("{:.3e} relative", self.distance),
        }
    }
}

fn far<T: Float>(got: &[T], want: &[T], tolerance: Tolerance) -> Far {
    let mut found = Far::default();
    for (index, (&got, &want)) in got.iter().zip(want).enumerate() {
        let Some(distance) = beyond(got, want, tolerance) else {
            continue;
        };
        if got.is_poison() {
            found.unwritten.add(index);
            continue;
        }
        found.wrong.add(index);
        if distance > found.worst.distance {
            found.worst = Worst { distance, index };
        }
    }
    found
}

/// The distance, if it is more than the tolerance.
fn beyond<T: Float>(got: T, want: T, tolerance: Tolerance) -> Option<f64> {
    let (g, w) = (got.wide(), want.wide());
    if g == w || (g.is_nan() && w.is_nan()) {
        return None;
    }
    if !g.is_finite() || !w.is_finite() {
        return Some(f64::INFINITY);
    }
    match tolerance {
        Tolerance::Ulps(ulps) => {
            let apart = got.steps().abs_diff(want.steps());
            (apart > ulps).then_some(apart as f64)
        }
        Tolerance::Relative(relative) => {
            let apart = (g - w).abs();
            (apart > relative * w.abs()).then_some(apart / w.abs())
        }
    }
}
