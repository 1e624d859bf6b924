//! The outcome of a comparison, in one word.

use serde::Serialize;

/// The outcome of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Operations that a task waits for are faster.
    Better,
    /// Operations that a task waits for are slower.
    Worse,
    /// Some of them are faster and some slower.
    Mixed,
    /// No difference is shown.
    NoDifference,
    /// There is too little to compare.
    CannotTell,
}

impl Outcome {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Better => "better",
            Outcome::Worse => "worse",
            Outcome::Mixed => "mixed",
            Outcome::NoDifference => "no-difference",
            Outcome::CannotTell => "cannot-tell",
        }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Outcome::Better => "Better",
            Outcome::Worse => "Worse",
            Outcome::Mixed => "Better in part, worse in part",
            Outcome::NoDifference => "No difference that the data shows",
            Outcome::CannotTell => "Cannot tell",
        }
    }
}
