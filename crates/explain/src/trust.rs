//! How far a result can be trusted.

use causes::Damage;
use serde::Serialize;

/// How far the result can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// Complete or almost complete.
    Good,
    /// Some data is missing; the numbers are close to the truth.
    Degraded,
    /// Too much data is missing.
    Unusable,
}

impl Trust {
    /// By the part of the recording that is missing or odd.
    pub(crate) fn of(damage: &Damage) -> Trust {
        match damage {
            Damage::None => Trust::Good,
            Damage::Odd | Damage::Some(_) => Trust::Degraded,
            Damage::TooMuch(_) => Trust::Unusable,
        }
    }

    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Trust::Good => "good",
            Trust::Degraded => "degraded",
            Trust::Unusable => "unusable",
        }
    }
}
