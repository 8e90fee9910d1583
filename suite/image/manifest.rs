//! `ptx/manifest.json`: of which source, by which compiler and with which options each committed PTX was made.
//!
//! Owns the file's format. Imports nothing of this crate but [`super::hash`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::hash::text_sha256;

pub const SCHEMA: &str = "cuda-gates.kernels/1";

/// The manifest, whole. Its text is the same for the same content, so that a rebuild leaves no difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    pub schema: String,
    pub modules: BTreeMap<String, Entry>,
}

/// One module's PTX.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Of the source over LF endings, lower-case hex.
    pub source_sha256: String,
    /// Of the PTX over LF endings, lower-case hex.
    pub ptx_sha256: String,
    /// `NVRTC 11.8`
    pub compiler: String,
    pub options: Vec<String>,
    /// `.version` of the PTX: `7.8`.
    pub isa: String,
    /// `.target` of the PTX: `sm_75`.
    pub target: String,
}

/// Why a committed PTX cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stale {
    #[error("has no PTX")]
    Missing,
    #[error("has PTX that no manifest lists")]
    Unlisted,
    #[error("has changed since its PTX was compiled")]
    Source,
    #[error("has PTX that was changed after it was compiled")]
    Ptx,
    #[error("has PTX that was compiled with other options")]
    Options,
}

impl Default for Manifest {
    fn default() -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            modules: BTreeMap::new(),
        }
    }
}

impl Manifest {
    /// # Errors
    /// A message for text that is no manifest of this version.
    pub fn parse(text: &str) -> Result<Self, String> {
        let manifest: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if manifest.schema == SCHEMA {
            Ok(manifest)
        } else {
            Err(format!("schema `{}` is not `{SCHEMA}`", manifest.schema))
        }
    }

    /// Sorted by module, ending in a newline.
    pub fn to_text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("strings and maps are JSON");
        text.push('\n');
        text
    }
}

impl Entry {
    /// Whether `ptx` is what `source` was compiled to.
    ///
    /// # Errors
    /// What differs from this entry.
    pub fn check(&self, source: &str, ptx: &str) -> Result<(), Stale> {
        if self.source_sha256 != text_sha256(source) {
            Err(Stale::Source)
        } else if self.ptx_sha256 != text_sha256(ptx) {
            Err(Stale::Ptx)
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> Entry {
        Entry {
            source_sha256: text_sha256("source\n"),
            ptx_sha256: text_sha256("ptx\n"),
            compiler: "NVRTC 11.8".to_owned(),
            options: vec!["-lineinfo".to_owned()],
            isa: "7.8".to_owned(),
            target: "sm_75".to_owned(),
        }
    }

    #[test]
    fn text_and_back() {
        let mut manifest = Manifest::default();
        manifest.modules.insert("faulty/scan".to_owned(), entry());
        manifest.modules.insert("compaction".to_owned(), entry());
        let text = manifest.to_text();
        assert_eq!(Manifest::parse(&text), Ok(manifest));
        assert!(text.find("compaction") < text.find("faulty/scan"), "sorted");
        assert!(text.ends_with("}\n"));
    }

    #[test]
    fn another_schema_or_key_is_refused() {
        let text = Manifest::default().to_text();
        let newer = Manifest::parse(&text.replace("kernels/1", "kernels/2"));
        assert!(newer.is_err_and(|message| message.contains("kernels/2")));
        let unknown = Manifest::parse(&text.replace("\"modules\"", "\"module\""));
        assert!(unknown.is_err_and(|message| message.contains("module")));
    }

    #[test]
    fn one_changed_byte_is_stale_and_line_endings_are_not() {
        assert_eq!(entry().check("source\n", "ptx\n"), Ok(()));
        assert_eq!(entry().check("source\r\n", "ptx\r\n"), Ok(()));
        assert_eq!(entry().check("source\n\n", "ptx\n"), Err(Stale::Source));
        assert_eq!(entry().check("source\n", "ptx"), Err(Stale::Ptx));
    }
}
