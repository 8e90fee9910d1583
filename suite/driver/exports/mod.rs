//! The exported functions: what cuda.h and nvml.h declare, as far as the suite calls it.
//!
//! Owns: the two interfaces' functions (`cuda`, `nvml`) and the pointers that come from outside (`pointers`, where all
//! `unsafe` of this library stands). Handles are numbers, checked before use.

mod cuda;
mod nvml;
mod pointers;

use std::thread;
use std::time::Duration;

use rustix::process::{Signal, getpid, kill_process};

use crate::injection::{Fault, Plan};

/// Defines exported functions. Each does what is injected into it, or else its body.
macro_rules! exports {
    ($before:path; $($(#[$meta:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block)*) => {$(
        $(#[$meta])*
        #[unsafe(no_mangle)]
        extern "C" fn $name($($arg: $ty),*) -> u32 {
            let body = || -> $crate::machine::Answer { $body };
            match $before(stringify!($name)).and_then(|()| body()) {
                Ok(()) => 0,
                Err(code) => code,
            }
        }
    )*};
}
use exports;

/// Injects a fault that ends or stops the process, and gives any other to the caller.
fn inject(function: &str, kernel: Option<&str>, card: Option<usize>) -> Option<Fault> {
    match Plan::get().fault(function, kernel, card)? {
        Fault::Hang => hang(),
        Fault::Abort => std::process::abort(),
        Fault::Exit(code) => std::process::exit(code),
        Fault::Kill => {
            let _ = kill_process(getpid(), Signal::KILL);
            hang()
        }
        other => Some(other),
    }
}

fn hang() -> ! {
    loop {
        thread::sleep(Duration::from_secs(3600));
    }
}

/// What a UUID is of.
#[derive(Clone, Copy)]
enum Whose {
    Card,
    /// A MIG slice of the card.
    Slice,
}

/// The UUID of card `index` or its slice: four bytes tell this library's, then come the plan's tag, whose it is, and
/// the number.
fn uuid(whose: Whose, index: usize) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&[0xc0, 0xda, 0x7e, 0x57]);
    bytes[4..8].copy_from_slice(&Plan::get().tag.to_be_bytes());
    bytes[8] = whose as u8;
    bytes[15] = index as u8;
    bytes
}

/// `xxxxxxxx-xxxx-…`
fn uuid_text(bytes: [u8; 16]) -> String {
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    [
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..],
    ]
    .join("-")
}

/// Each card has another name, so that a test can tell them apart.
fn name(index: usize) -> String {
    format!("Test card {index}")
}
