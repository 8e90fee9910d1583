//! What a gate judges.

use crate::spec::fields::{Decoder, Fields};
use crate::spec::keys;
use crate::spec::model::{Check, Slice, Want};
use crate::spec::tree::{Tree, Typed};
use crate::terms::{Order, Tolerance};

use super::slices::Use;

/// Runs of `repeatable`, at most.
const REPEATS_MAX: i128 = 10_000;

impl Decoder<'_> {
    /// Any check but timings; `run` is the gate's pipeline, or the row's.
    pub(super) fn check(
        &self,
        fields: &Fields<'_>,
        check: &str,
        run: Option<String>,
    ) -> Option<Check> {
        let what = format!("check `{check}`");
        if check == "assert" {
            let that = self.required(fields, &what, "that")?;
            return Some(Check::Assert {
                that: self.expr(that, "a condition")?,
                run: run?,
            });
        }
        if check == "health" {
            return Some(Check::Health { run: run? });
        }
        let got = self.required(fields, &what, "got");
        let got = got.and_then(|tree| self.slice(tree, Use::Result));
        match check {
            "sorted" => {
                let order = fields.get("order").map(|tree| self.order(tree));
                Some(Check::Sorted {
                    run: run?,
                    got: got?,
                    order: order.unwrap_or(Some(Order::Ascending))?,
                })
            }
            "repeatable" => {
                let runs = self.required(fields, &what, "runs");
                let runs = runs.and_then(|tree| self.whole(tree, "`runs`", 2, REPEATS_MAX));
                Some(Check::Repeatable {
                    run: run?,
                    got: got?,
                    runs: u32::try_from(runs?).ok()?,
                })
            }
            _ => self.compared(fields, check, &what, run, got),
        }
    }

    /// Checks of a result against a wanted value.
    fn compared(
        &self,
        fields: &Fields<'_>,
        check: &str,
        what: &str,
        run: Option<String>,
        got: Option<Slice>,
    ) -> Option<Check> {
        let want = self.required(fields, what, "want");
        let want = want.and_then(|tree| self.want(tree));
        let split = fields
            .get("split")
            .map(|tree| self.slice(tree, Use::Result));
        let tolerance = match check {
            "near" => self
                .required(fields, what, "tolerance")
                .and_then(|tree| self.tolerance(tree)),
            _ => None,
        };
        let (run, got, want): (String, Slice, Want) = (run?, got?, want?);
        Some(match check {
            "scan_total" => Check::ScanTotal { run, got, want },
            "count" => Check::Count { run, got, want },
            "exact" => Check::Exact { run, got, want },
            "multiset" => Check::Multiset { run, got, want },
            "permutation" => Check::Permutation { run, got, want },
            "partition" => Check::Partition {
                run,
                got,
                want,
                split: match split {
                    Some(split) => Some(split?),
                    None => None,
                },
            },
            "near" => Check::Near {
                run,
                got,
                want,
                tolerance: tolerance?,
            },
            _ => return None,
        })
    }

    fn order(&self, tree: &Tree) -> Option<Order> {
        let names: Vec<&str> = Order::ALL.iter().map(|order| order.name()).collect();
        self.word(tree, "order", &names, Order::from_name)
    }

    fn tolerance(&self, tree: &Tree) -> Option<Tolerance> {
        let fields = self.fields(tree, "`tolerance`", keys::TOLERANCE)?;
        match (fields.get("ulps"), fields.get("relative")) {
            (Some(tree), None) => {
                let ulps = self.whole(tree, "`ulps`", 0, u32::MAX.into())?;
                u64::try_from(ulps).ok().map(Tolerance::Ulps)
            }
            (None, Some(tree)) => self.relative(tree),
            _ => {
                let mend = "write {ulps: 4} or {relative: 1.0e-6}";
                self.log
                    .mend(tree.place, "a tolerance is in ulps or relative", mend);
                None
            }
        }
    }

    fn relative(&self, tree: &Tree) -> Option<Tolerance> {
        let scalar = self.scalar(tree, "a tolerance")?;
        let value = match scalar.typed {
            Typed::Float(_) | Typed::Int(_) => scalar.text.parse::<f64>().ok(),
            // YAML reads 1e-6 as text, for want of a point.
            Typed::Text if scalar.plain => scalar.text.parse::<f64>().ok(),
            _ => None,
        };
        match value {
            Some(value) if (0.0..1.0).contains(&value) => Some(Tolerance::Relative(value)),
            _ => {
                let message = "a relative tolerance is a number from 0 to below 1";
                self.log.mend(tree.place, message, "write 1.0e-6");
                None
            }
        }
    }
}
