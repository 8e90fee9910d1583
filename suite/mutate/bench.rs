//! One thread's executor over a probe: inputs, references and images stay from mutant to mutant.
//!
//! Imports `case`, `device`, `image`, `outcome`, `report` (a case's record), `spec`, `terms` and `worker`.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use super::mutant::Mutant;
use super::probe::{Control, Probe, Trace};
use crate::case::Case;
use crate::device::sim::Schedule;
use crate::image::Catalog;
use crate::outcome::{Finding, Reason};
use crate::spec::model::Suite;
use crate::terms::Outcome;
use crate::worker::execute::Executor;

pub struct Bench {
    executor: Executor,
    control: Rc<RefCell<Control>>,
}

/// How a case ended.
#[derive(Clone, Debug)]
pub struct Ran {
    pub outcome: Outcome,
    /// What the gate found, not the device.
    pub findings: Vec<Finding>,
    pub reason: Option<Reason>,
    pub trace: Trace,
}

/// What a case is run with.
#[derive(Clone, Debug, Default)]
pub struct Setting<'a> {
    pub mutant: Option<&'a Arc<Mutant>>,
    pub schedule: Schedule,
    /// Warp instructions of each launch of the baseline.
    pub budget: Option<&'a [u64]>,
}

impl Bench {
    pub fn new(catalog: Catalog, suite: Suite) -> Self {
        let control = Rc::new(RefCell::new(Control::default()));
        let probe = Probe::new(Rc::clone(&control));
        Self {
            executor: Executor::new(Box::new(catalog), vec![suite], Box::new(probe)),
            control,
        }
    }

    pub fn run(&mut self, case: &Case, setting: &Setting<'_>) -> Ran {
        {
            let mut control = self.control.borrow_mut();
            control.mutant = setting.mutant.cloned();
            control.budget = setting.budget.map(<[u64]>::to_vec);
            control.trace = Trace::default();
        }
        let record = self.executor.run_under(case, setting.schedule);
        Ran {
            outcome: record.outcome,
            findings: record.findings,
            reason: record.reason,
            trace: self.control.borrow_mut().take_trace(),
        }
    }
}
