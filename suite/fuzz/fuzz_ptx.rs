//! The PTX parser on any text.
#![no_main]

mod ptx;

libfuzzer_sys::fuzz_target!(|data: &[u8]| ptx::run(data));
