//! The readers of reports and results on any text.
#![no_main]

mod report;

libfuzzer_sys::fuzz_target!(|data: &[u8]| report::run(data));
