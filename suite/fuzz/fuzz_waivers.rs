//! The loader of waivers on any text.
#![no_main]

mod problems;
mod waivers;

libfuzzer_sys::fuzz_target!(|data: &[u8]| waivers::run(data));
