//! Who sent a request, whose it is, and who ran meanwhile.

use life::{Holding, Io, Names, Op, Owner, TaskName};
use operation::{runners, History, Node};
use trace::Tid;

/// Who sent what is in the device.
pub(crate) struct By {
    pub tid: Tid,
    pub task: TaskName,
    pub owner: Option<Owner>,
    pub op: Op,
    pub holding: Holding,
}

/// Whether a holder is the victim itself: it issued them, or they are its data.
pub(crate) fn is_of(h: &Holding, task: TaskName) -> bool {
    (h.task == task || h.owner == task) && h.io != Io::Journal
}

/// Who had the processor for most of a wait.
pub(crate) fn runner(history: &History, names: &Names, tid: Tid, node: &Node) -> Option<Box<str>> {
    let (who, _) = runners(history, tid, node.from, node.to).into_iter().next()?;
    Some(names.text(names.of(who)).into())
}
