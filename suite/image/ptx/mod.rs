//! PTX text: parser and signatures.
//!
//! Owns: the grammar of PTX as compilers write it. May import `image` (signatures) only. It accepts every opcode;
//! what an opcode means is for whoever runs it. Nothing recurses, so no text can overflow the stack.
//!
//! ```
//! let text = ".version 7.8 .target sm_75 .address_size 64 .visible .entry k(.param .u64 p) { ret; }";
//! let module = cuda_gates::image::ptx::parse(text).unwrap();
//! assert_eq!(module.signatures()[0].params[0].size, 8);
//! ```

mod ast;
mod body;
mod lexer;
mod number;
mod operand;
mod parser;
mod signature;
#[cfg(test)]
mod tests;
mod variable;

pub use ast::*;
pub use signature::SharedLayout;

/// Longest text accepted: CUB's largest device algorithms are about 5 MB.
pub const MAX_TEXT_BYTES: usize = 64 << 20;

/// Why a text is no PTX module.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct ParseError {
    /// Line in the PTX text, from 1.
    pub line: u32,
    pub message: String,
}

/// Parses one module.
///
/// # Errors
/// The first thing that is not PTX, with its line.
pub fn parse(text: &str) -> Result<Module, ParseError> {
    if text.len() > MAX_TEXT_BYTES {
        return Err(ParseError {
            line: 1,
            message: format!(
                "{} bytes of PTX; at most {MAX_TEXT_BYTES} are read",
                text.len()
            ),
        });
    }
    parser::Parser::new(text).module()
}
