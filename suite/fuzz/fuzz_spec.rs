//! The loader of specs on any text.
#![no_main]

mod problems;
mod spec;

libfuzzer_sys::fuzz_target!(|data: &[u8]| spec::run(data));
