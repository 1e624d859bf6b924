//! Victims without a culprit: those that are predicted come first.

use explain::answer::{without_somebody, NotPredictable};
use explain::Input;
use std::path::Path;
use waits::Absent;

#[test]
fn victims_that_are_not_predicted_are_told_behind_those_that_are() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/fsync-ordered-data");
    let e = Input::recording(&fixture).unwrap().explain().unwrap();
    let who = Absent::Everybody;
    let mut victims = without_somebody(&e, &who);
    let refused = victims.iter().position(|(group, _)| &*e.focus.groups[*group].task == "dd").unwrap();
    victims[refused].1.then = Err(NotPredictable::Limit);
    let text = report::without(&e, &who, &victims, 80);
    let (predicted, rest) = text.split_once("\nnot predicted: ").unwrap();
    assert!(predicted.contains("fio fsyncs on loop0") && !predicted.contains("not known"), "{text}");
    assert!(rest.starts_with("dd writes on loop0 (") && rest.contains("Predicted from"), "{text}");
}
