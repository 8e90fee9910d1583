//! Mutation testing: is a suite good enough to notice a kernel that is wrong?
//!
//! Owns: the operators that change one instruction of a kernel's PTX, running a suite's gates against each mutant on
//! the simulated device, the list of mutants held to be equivalent, the score, and its report. May import `archive`,
//! `case`, `device`, `expr`, `image`, `outcome`, `plan`, `report`, `runner` (its choices), `spec`, `terms` and
//! `worker` (the executor).
//!
//! ```
//! use cuda_gates::mutate::{Operator, mutants};
//! let text = ".version 7.8 .target sm_75 .address_size 64
//! .visible .entry k() { .reg .b32 %r<3>; add.s32 %r1, %r2, 1; st.shared.u32 [0], %r1; ret; }";
//! let all = mutants("m", text, &["k"], &[Operator::DropStore]).expect("PTX");
//! assert_eq!((all[0].id.as_str(), all[0].after.as_str()), ("k:2:drop_store", ""));
//! ```

mod baseline;
mod bench;
mod bits;
mod bounds;
mod command;
mod demands;
mod facts;
mod mutant;
mod ones;
mod operators;
mod pool;
mod print;
mod probe;
mod record;
mod score;
#[cfg(test)]
mod tests;
mod text;
mod trial;
mod units;

pub use command::{Choices, Ended, Refused, run};
pub use mutant::{Mutant, mutants};
pub use operators::Operator;
pub use record::{MutantRecord, MutationReport, SuiteRecord, schema};
