//! cuda-gates: a conformance suite for CUDA hardware and drivers.
//!
//! The flow goes one way:
//!
//! ```text
//! specs/*.yaml → spec → case → plan → device → check → outcome → report → archive
//!                         ↘ input, reference ↗            (identity joins at report)
//! ```

pub mod archive;
pub mod call;
pub mod case;
pub mod check;
pub mod cli;
pub mod device;
pub mod expr;
pub mod host;
pub mod identity;
pub mod image;
pub mod input;
pub mod mutate;
pub mod outcome;
pub mod parallel;
pub mod plan;
pub mod reference;
pub mod regular_file;
pub mod report;
pub mod runner;
pub mod spec;
pub mod terms;
pub mod value;
pub mod worker;
