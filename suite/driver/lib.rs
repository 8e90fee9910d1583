//! A driver library for tests: the functions of libcuda and libnvidia-ml that the suite calls, in one file, with the
//! simulated device behind them.
//!
//! A process that finds it as `libcuda.so.1` and `libnvidia-ml.so.1` sees cards; which, and what is wrong with them,
//! the variable [`injection::VARIABLE`] says. Without it there is one card and nothing is wrong.
//!
//! ```text
//! exports::{cuda, nvml} → injection (what goes wrong) → machine (cards, memory, modules, events) → simulated device
//! ```

mod codes;
mod exports;
mod injection;
mod machine;
mod state;
