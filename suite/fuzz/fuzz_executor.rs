//! The simulated device on kernels made from any bytes.
#![no_main]

mod executor;
mod program;

libfuzzer_sys::fuzz_target!(|data: &[u8]| executor::run(data));
