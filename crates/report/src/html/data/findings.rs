//! What was found, and which moments of what is drawn are its: see [`explain::findings`].

use super::Data;
use explain::findings::findings;
use ledger::Reason;
use serde_json::{json, Value};

impl Data<'_> {
    /// The findings: cause, and pairs of a group (a place in `groups`) and a reason (a place in all, counted from 1).
    pub(super) fn findings(&self) -> Vec<Value> {
        let pair = |(group, reason): &(usize, Reason)| json!([group, reason.index() + 1]);
        let all = findings(&self.shown.explanation, &self.pictured());
        let one = |f: &explain::findings::Finding| {
            let moments: Vec<Value> = f.explains.iter().map(pair).collect();
            json!({ "cause": f.cause, "share": f.share, "moments": moments })
        };
        all.iter().map(one).collect()
    }
}
