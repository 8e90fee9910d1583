//! One text for the PTX parser. `suite/tests/corpus.rs` replays the kept ones.

use cuda_gates::image::ptx;

/// The parser ends with a module or with an error at a line of the text.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match ptx::parse(&text) {
        Ok(module) => drop(module.signatures()),
        Err(error) => {
            let lines = text.lines().count() as u32 + 1;
            assert!(
                (1..=lines).contains(&error.line),
                "{error} of {lines} lines"
            );
        }
    }
}
