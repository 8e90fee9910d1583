//! The record as JSON: writing, reading with version rules, and its JSON Schema.

use serde::Deserialize;

use super::record::{CaseRecord, Report, SCHEMA};

/// Why a record could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("not a cuda-gates report: {0}")]
    Json(serde_json::Error),
    #[error("the report is cut short: it ends at line {line}, column {column}, in the middle")]
    Truncated { line: usize, column: usize },
    #[error("not a cuda-gates report: {0}")]
    NotUtf8(std::str::Utf8Error),
    #[error("not a cuda-gates report: its schema is `{0}`, want `{SCHEMA}`")]
    Foreign(String),
    #[error(
        "the report has schema `{found}`, and this cuda-gates reads `{SCHEMA}` and older: \
         read it with a newer cuda-gates"
    )]
    Newer { found: String },
}

impl From<serde_json::Error> for ReadError {
    fn from(error: serde_json::Error) -> Self {
        match error.is_eof() {
            true => Self::Truncated {
                line: error.line(),
                column: error.column(),
            },
            false => Self::Json(error),
        }
    }
}

/// Pretty-printed, with a newline at the end. Equal records give equal bytes.
///
/// # Errors
/// Only when a value cannot be written as JSON.
pub fn to_json(report: &Report) -> Result<String, serde_json::Error> {
    let mut text = serde_json::to_string_pretty(report)?;
    text.push('\n');
    Ok(text)
}

/// Reads a record. Unknown fields and newer minor versions are accepted.
///
/// # Errors
/// When the text is not a report, or of a newer major version.
pub fn from_json(text: &str) -> Result<Report, ReadError> {
    #[derive(Deserialize)]
    struct Head {
        schema: String,
    }
    // The version first: a newer major need not have this version's fields.
    let head: Head = serde_json::from_str(text)?;
    let version = |schema: &str| -> Option<u32> {
        let (name, version) = schema.split_once('/')?;
        (name == "cuda-gates.report").then_some(())?;
        version.split_once('.')?.0.parse().ok()
    };
    let (Some(found), Some(known)) = (version(&head.schema), version(SCHEMA)) else {
        return Err(ReadError::Foreign(head.schema));
    };
    if found > known {
        return Err(ReadError::Newer { found: head.schema });
    }
    Ok(serde_json::from_str(text)?)
}

/// One line of `results.jsonl`, with its newline.
///
/// # Errors
/// Only when a value cannot be written as JSON.
pub fn case_to_line(case: &CaseRecord) -> Result<String, serde_json::Error> {
    let mut line = serde_json::to_string(case)?;
    line.push('\n');
    Ok(line)
}

/// Reads one line of `results.jsonl`.
///
/// # Errors
/// When the line is not a whole record: the writer died in the middle of it, for instance.
pub fn case_from_line(line: &str) -> Result<CaseRecord, serde_json::Error> {
    serde_json::from_str(line)
}

/// The JSON Schema of `report.json`, with a newline at the end: committed as `docs/schema/report.schema.json`.
pub fn schema() -> String {
    let schema = schemars::schema_for!(Report);
    // A schema is plain maps and strings: printing it cannot fail.
    format!("{:#}\n", schema.as_value())
}
