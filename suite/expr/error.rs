//! Errors of expressions and scripts: the language's own errors in the words of a spec's author.

use rhai::{EvalAltResult, LexError, ParseError, ParseErrorType};

use super::{functions, locate};
use crate::expr::Place;

/// What is wrong with an expression, where, and what would mend it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ExprError {
    pub message: String,
    pub mend: Option<String>,
    /// Inside the file that the expression stands in.
    pub place: Place,
    /// The operands' values are to blame (division by zero, overflow), not the expression as such.
    pub arithmetic: bool,
}

impl ExprError {
    pub(super) fn new(place: Place, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            mend: None,
            place,
            arithmetic: false,
        }
    }

    #[must_use]
    pub(super) fn mend(mut self, mend: impl Into<String>) -> Self {
        self.mend = Some(mend.into());
        self
    }
}

/// `chars` characters to the right of a place.
pub(super) fn along(place: Place, chars: usize) -> Place {
    Place {
        line: place.line,
        column: place.column + chars,
    }
}

pub(super) fn from_parse(start: Place, error: &ParseError) -> ExprError {
    let ParseError(kind, position) = error;
    parse(locate(start, *position), kind)
}

fn parse(place: Place, kind: &ParseErrorType) -> ExprError {
    let words = kind.to_string();
    let words = words.trim_end_matches('.').replace(" (EOF)", "");
    let error = ExprError::new(place, format!("syntax error: {}", lower_first(&words)));
    match kind {
        ParseErrorType::UnexpectedEOF => ExprError::new(place, "the expression ends too early")
            .mend("close every parenthesis and give every operator both its sides"),
        ParseErrorType::ExprTooDeep => ExprError::new(place, "the expression is nested too deeply")
            .mend("split it over several `let` entries"),
        ParseErrorType::BadInput(LexError::MalformedChar(_)) => {
            error.mend("text takes double quotes: pattern == \"none\"")
        }
        ParseErrorType::BadInput(LexError::MalformedNumber(text)) => oversized(place, text),
        ParseErrorType::MissingToken(token, _) if token == ")" => {
            error.mend("close the parenthesis; a comma inside {…} needs the expression in quotes")
        }
        _ => error,
    }
}

/// `known` are the names that the expression could have used.
pub(super) fn from_eval<'a>(
    start: Place,
    error: EvalAltResult,
    known: impl Iterator<Item = &'a str>,
) -> ExprError {
    let mut error = innermost(error);
    let position = error.take_position();
    let place = locate(start, position);
    match &error {
        EvalAltResult::ErrorParsing(kind, _) => parse(place, kind),
        EvalAltResult::ErrorVariableNotFound(name, _) => {
            let error = ExprError::new(place, format!("`{name}` is unknown here"));
            match super::near(name, known) {
                Some(near) => error.mend(format!("did you mean `{near}`?")),
                None => error,
            }
        }
        EvalAltResult::ErrorPropertyNotFound(name, _) => {
            ExprError::new(place, format!("there is no `{name}` in this"))
        }
        EvalAltResult::ErrorFunctionNotFound(signature, _) => no_function(place, signature),
        EvalAltResult::ErrorArithmetic(words, _) => arithmetic(place, words),
        EvalAltResult::ErrorTooManyOperations(_) => {
            ExprError::new(place, "stopped: too many operations")
                .mend("let the script do less, or give the wanted values as a file")
        }
        EvalAltResult::ErrorStackOverflow(_) => ExprError::new(place, "calls nest too deeply"),
        EvalAltResult::ErrorRuntime(value, _) => ExprError::new(place, value.to_string()),
        other => ExprError::new(place, lower_first(&other.to_string())),
    }
}

pub(super) fn unknown_function(place: Place, name: &str) -> ExprError {
    let near = super::near(name, functions::KNOWN.iter().map(|(known, _)| *known));
    let all: Vec<&str> = functions::KNOWN.iter().map(|(known, _)| *known).collect();
    ExprError::new(place, format!("there is no function `{name}`")).mend(match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the functions are {}", all.join(", ")),
    })
}

pub(super) fn oversized(place: Place, text: &str) -> ExprError {
    ExprError::new(place, format!("`{text}` is no 64-bit number"))
        .mend(format!("integers go up to {}", i64::MAX))
}

/// A script's function call wraps the error that happened in it.
fn innermost(mut error: EvalAltResult) -> EvalAltResult {
    while let EvalAltResult::ErrorInFunctionCall(_, _, inner, _) = error {
        error = *inner;
    }
    error
}

fn arithmetic(place: Place, words: &str) -> ExprError {
    let lower = lower_first(words);
    let mut error = ExprError::new(place, lower.clone());
    error.arithmetic = true;
    if lower.contains("zero") {
        error.mend("keep the divisor above 0: max(x, 1)")
    } else if lower.contains("overflow") {
        error.mend("integers have 64 bits; where a float will do, write 1.0 * x")
    } else {
        error
    }
}

/// The language reports `name (type, type)`, and an operator that does not fit its operands as the same.
fn no_function(place: Place, signature: &str) -> ExprError {
    let (name, types) = signature.split_once(" (").unwrap_or((signature, ""));
    let types = types.trim_end_matches(')');
    let given = types
        .replace("&str | ImmutableString | String", "text")
        .replace("string", "text")
        .replace("i64", "integer")
        .replace("f64", "float")
        .replace("bool", "true/false");
    if let Some((_, takes)) = functions::KNOWN.iter().find(|(known, _)| *known == name) {
        let count = if types.is_empty() {
            "nothing".to_string()
        } else {
            format!("({given})")
        };
        return ExprError::new(place, format!("{name} does not take {count}"))
            .mend(format!("write {takes}"));
    }
    if name.contains(' ') {
        // A sentence in the place of a name: `elements of different types cannot be sorted`.
        return ExprError::new(place, lower_first(name));
    }
    if name.starts_with(|c: char| c.is_alphabetic() || c == '_') {
        return unknown_function(place, name);
    }
    ExprError::new(place, format!("`{name}` does not take ({given})"))
}

fn lower_first(words: &str) -> String {
    let mut chars = words.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => String::new(),
    }
}
