//! The causes found, each with the moments in the pictures where it shows: see [`explain::findings`].

use super::input::Data;
use explain::findings::findings;
use ledger::Reason;
use serde::Serialize;

/// A cause that was found.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// The name of the cause.
    cause: &'static str,
    /// The part of the time that it explains, 0 to 1.
    share: f64,
    /// Where it shows: pairs of an index in `groups`, from 0, and a number in `reasons`, from 1.
    moments: Vec<(usize, usize)>,
}

impl Data<'_> {
    /// The causes found, each with the pairs of group and reason where it shows.
    pub(super) fn findings(&self) -> Vec<Finding> {
        let pair = |(group, reason): &(usize, Reason)| (*group, reason.index() + 1);
        let all = findings(&self.shown.explanation, &self.pictured());
        let one = |f: &explain::findings::Finding| Finding {
            cause: f.cause,
            share: f.share,
            moments: f.explains.iter().map(pair).collect(),
        };
        all.iter().map(one).collect()
    }
}
