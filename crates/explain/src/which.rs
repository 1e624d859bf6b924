//! The operations that a question is about.

use serde::Serialize;

/// The operations that the stacks cover.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Which {
    /// All operations: the stacks sum to the table's time.
    #[default]
    All,
    /// Each victim's slowest 1 %.
    #[serde(rename = "tail")]
    Slowest,
}
