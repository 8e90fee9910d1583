//! Runs that agree bit for bit.

use super::bytes::{Places, differences, untouched};
use super::{retyped, show};
use crate::outcome::{Fault, Finding};
use crate::terms::FindingKind;
use crate::value::{Array, ArrayRef};

/// Compares each run's output with the first's, one run at a time.
///
/// ```
/// use cuda_gates::check::Repeatable;
/// use cuda_gates::value::ArrayRef;
/// let mut runs = Repeatable::new();
/// runs.run(ArrayRef::I32(&[1, 2])).unwrap();
/// runs.run(ArrayRef::I32(&[1, 2])).unwrap();
/// assert!(runs.findings().is_empty());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Repeatable {
    first: Option<Array>,
    runs: u32,
    /// Runs that differ from the first.
    differing: u32,
    finding: Option<Finding>,
}

impl Repeatable {
    pub fn new() -> Self {
        Self::default()
    }

    /// One more run's output.
    ///
    /// # Errors
    /// `setup` when it differs from the first in type or length: that is another output.
    pub fn run(&mut self, got: ArrayRef<'_>) -> Result<(), Fault> {
        let number = self.runs;
        self.runs += 1;
        let Some(first) = &self.first else {
            self.first = Some(Array::from_bytes(got.element_type(), got.as_bytes()));
            return Ok(());
        };
        let first = retyped(got.element_type(), first.view())?;
        if got.len() != first.len() {
            return Err(Fault::setup(format!(
                "run {number} read {}, run 0 read {}",
                show::elements(got.len()),
                show::elements(first.len())
            )));
        }
        if got.as_bytes() == first.as_bytes() {
            return Ok(());
        }
        self.differing += 1;
        if self.finding.is_none() {
            self.finding = Some(differing(number, got, first));
        }
        Ok(())
    }

    /// What is wrong with the runs so far. Fewer than two show nothing (`no_work`), nor do runs that never wrote.
    pub fn findings(self) -> Vec<Finding> {
        if self.runs < 2 {
            let message = format!("{} run(s) have nothing to agree with", self.runs);
            return vec![Finding::new(FindingKind::NoWork, message)];
        }
        if let Some(mut finding) = self.finding {
            finding.detail.push(format!(
                "runs that differ: {} of {}",
                self.differing, self.runs
            ));
            return vec![finding];
        }
        match self.first {
            Some(first) if untouched(first.view()) => vec![Finding::new(
                FindingKind::Unwritten,
                format!("no run wrote any of the {}", show::elements(first.len())),
            )],
            _ => Vec::new(),
        }
    }
}

fn differing(run: u32, got: ArrayRef<'_>, first: ArrayRef<'_>) -> Finding {
    let found = differences(got, first);
    let all = [found.wrong, found.unwritten];
    let indices = all.iter().filter(|places| !places.is_empty());
    let places = Places {
        count: found.wrong.count + found.unwritten.count,
        first: indices.clone().map(|p| p.first).min().unwrap_or_default(),
        last: indices.map(|p| p.last).max().unwrap_or_default(),
    };
    let message = format!(
        "run {run} differs from run 0: {} of {}, {} {}: {}, before {}",
        places.count,
        show::elements(got.len()),
        if places.count == 1 { "at" } else { "first at" },
        places.first,
        show::element(got, places.first),
        show::element(first, places.first)
    );
    Finding::new(FindingKind::NotRepeatable, message).with_detail(show::excerpt(places, got, first))
}
