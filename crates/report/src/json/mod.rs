//! `explain --json`, schema `iowhy.explain/2`: fields that were shipped keep their names, new ones may be added.

pub(crate) mod explained;
pub(crate) mod operations;
pub(crate) mod quality;
pub(crate) mod tail;

use crate::answer;
use explain::{Answer, Explanation};
use explained::{Capture, Explained, SCHEMA};
use quality::Quality;
use tail::Tail;

/// The whole object: for texts alone with all their numbers, for a recording without the texts beside it.
pub fn to_json(e: &Explanation) -> Explained<'_> {
    to_json_of(e, &Answer::of(e))
}

/// Like [`to_json`], for an answer that was computed before.
pub(crate) fn to_json_of<'a>(e: &'a Explanation, a: &Answer) -> Explained<'a> {
    let answered = answer::to_json(e, a);
    if e.is_of_texts() {
        return crate::texts::explained(e, answered);
    }
    Explained {
        schema: SCHEMA,
        capture: Capture::of(e),
        quality: Quality::of(e),
        operations: operations::of(e),
        tail: Tail::of(e),
        sent_for: Some(tail::sent_for(e)),
        causes: &e.verdicts,
        texts_alone: None,
        answered,
        predictions: e.predictions.as_deref(),
        texts_remarks: (!e.texts.outputs.is_empty()).then_some(&e.texts.remarks),
        texts_beside: None,
    }
}

/// Like [`to_json`], with the texts beside a recording.
pub fn to_json_with_texts(e: &Explanation) -> Explained<'_> {
    let texts_beside = (!e.is_of_texts()).then_some(&e.texts.outputs[..]);
    Explained { texts_beside, ..to_json(e) }
}
