//! One fact about a card, or why it is not known.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A field NVML could or could not give.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    Value(serde_json::Value),
    Unavailable(String),
}
