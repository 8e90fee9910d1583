//! Cases become named trials, and trials a run: the only place that names libtest-mimic.

pub mod harness;
