//! Memory: regions of bytes with a shadow that knows which were ever written, the global address space, and warp-wide
//! accesses with their checks.
//!
//! Addresses: every allocation lies alone in a slot of 64 GiB, so that an index of any 32-bit size that leaves it
//! hits nothing else, and the slot is a shift away from the address. Below the slots lie the windows through which
//! generic addresses reach shared, local, constant and parameter memory.

mod access;
mod atomic;
mod elements;
mod global;
mod region;
mod spaces;
mod watch;

pub use access::{Change, Violation, Violations, addresses};
pub use global::GlobalMemory;
pub use region::Region;
pub use spaces::{Place, Spaces};

/// log2 of the bytes of a slot.
const SLOT_SHIFT: u32 = 36;
/// Where in its slot an allocation starts: the middle, so that negative indices stay in the slot.
const SLOT_START: u64 = 1 << (SLOT_SHIFT - 1);

/// Bytes of one window.
pub const WINDOW_BYTES: u64 = 1 << 32;
pub const SHARED_WINDOW: u64 = 1 << 32;
pub const LOCAL_WINDOW: u64 = 2 << 32;
pub const CONST_WINDOW: u64 = 3 << 32;
pub const PARAM_WINDOW: u64 = 4 << 32;
/// Where functions have addresses, with nothing to read or write.
pub const FUNCTION_WINDOW: u64 = 5 << 32;
