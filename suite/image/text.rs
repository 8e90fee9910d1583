//! The text of a kernels folder's files.

use std::io;
use std::path::Path;

use super::ptx::MAX_TEXT_BYTES;
use crate::regular_file;

const BYTES_MAX: u64 = MAX_TEXT_BYTES as u64;

/// A file's text. What is no regular file, too long or no UTF-8 is refused, each with what mends it.
pub(super) fn read(path: &Path) -> io::Result<String> {
    let bytes = regular_file::read(path, BYTES_MAX)?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let mend = match path.extension() {
            Some(ending) if ending == "ptx" => {
                "remove it, and `cuda-gates kernels build` makes it of its source"
            }
            _ => "save it as UTF-8",
        };
        let words = format!("it is no UTF-8 from byte {at} on: {mend}");
        io::Error::new(io::ErrorKind::InvalidData, words)
    })
}
