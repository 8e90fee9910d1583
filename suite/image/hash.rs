//! SHA-256 as the manifest writes it. Shared with `build.rs`, so it imports nothing of this crate.

use sha2::{Digest, Sha256};

/// Lower-case hex of the bytes' SHA-256.
pub fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Of a text file, over LF endings: a checkout that turned them into CRLF is the same source.
pub fn text_sha256(text: &str) -> String {
    sha256_hex(text.replace("\r\n", "\n").as_bytes())
}
