//! An operation that the end of a recording cut off and that is no evidence: it makes progress, or waits for what its own task wrote.

use life::Names;
use operation::{Kind, Operation};
use trace::{DevId, Nanos};

/// The longest of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotOver {
    /// The task's name.
    pub task: Box<str>,
    /// What it asked for.
    pub kind: Kind,
    /// The device; 0 if not known.
    pub dev: DevId,
    /// How long it had taken at the end.
    pub time: Nanos,
}

impl NotOver {
    /// The longer of `known` and an operation on `dev`.
    pub(crate) fn longer(
        known: Option<NotOver>,
        o: &Operation,
        dev: DevId,
        names: &Names,
    ) -> Option<NotOver> {
        let time = o.total();
        if !o.kind.is_foreground() || known.as_ref().is_some_and(|known| known.time >= time) {
            return known;
        }
        Some(NotOver { task: names.text(o.task).into(), kind: o.kind, dev, time })
    }
}
