//! The record of a run and how it is shown.
//!
//! Owns: the versioned record (`report.json`, `results.jsonl`), its JSON Schema, redaction, the evaluated `tables`
//! of suites, and the views of a record: terminal, Markdown, JUnit and plots. May import `outcome`, `terms`,
//! `device` (info), `identity` (fields) and `spec` (model); it never reads the archive.
//!
//! ```
//! use cuda_gates::report::{Facts, from_json, to_json};
//! let report = Facts::sample().into_report(Vec::new(), Vec::new());
//! let text = to_json(&report).unwrap();
//! assert_eq!(from_json(&text).unwrap(), report);
//! ```

mod assemble;
mod health;
mod json;
pub mod junit;
mod markdown;
pub mod plot;
pub mod record;
mod redact;
mod ruled;
mod schedules;
mod seal;
mod summary;
pub mod tables;
mod text;

pub use assemble::Facts;
pub use json::{ReadError, case_from_line, case_to_line, from_json, schema, to_json};
pub use junit::junit_xml;
pub use markdown::summary_markdown;
pub use redact::Redactor;
pub use seal::{Seal, results_sha256, seal_of};
pub use summary::broken_rules;
pub use text::summary_text;

#[cfg(test)]
pub(crate) mod tests;
