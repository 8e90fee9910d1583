//! The simulated device: runs PTX on the CPU, with detectors.
//!
//! Owns: decoding, a warp-wide interpreter, its memory and what its detectors find. May import `image::ptx`,
//! `device`, `value`, `terms` and `outcome`. A kernel is decoded once into a flat array; a warp executes an
//! instruction for its 32 lanes at once, on rows of 32 registers under a mask; lanes that part go on as splits of their
//! own and meet again at the branch's immediate post-dominator. Equal inputs and an equal schedule give equal results
//! and equal findings.
//!
//! ```
//! use cuda_gates::device::{Access, Device, sim::SimDevice};
//! let mut device = SimDevice::new();
//! let buffer = device.alloc(8, Access::ReadWrite).unwrap();
//! device.upload(buffer, 0, &[7; 8]).unwrap();
//! assert_eq!(device.download(buffer, 4, 4).unwrap(), [7; 4]);
//! ```

mod alu;
mod assertion;
mod barrier;
mod block;
mod collective;
mod deciding;
mod decisive;
mod decode;
mod device;
mod findings;
mod flow;
mod formats;
mod joins;
mod lanes;
mod looks;
mod machine;
mod meet;
mod memory;
mod module;
mod order;
mod parked;
mod program;
mod reporter;
mod residency;
mod schedule;
mod step;
mod taint;
#[cfg(test)]
mod tests;
mod turns;
mod waiting;
mod warp;

pub use assertion::{Assertion, FailedAssertion};
pub use device::SimDevice;
pub use schedule::{BlockOrder, Policy, Schedule, ScheduleError};
