//! The culprit of a wait: the task, device or limit that caused it.

use life::Io;
use serde::Serialize;

/// The number of a culprit in its table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CulpritId(pub u32);

/// The kind of culprit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CulpritKind {
    /// The victim's own process: its work, its queue.
    #[serde(rename = "self")]
    Own,
    /// Another task.
    Task,
    /// A kernel thread that works for no known task, a journal, md.
    Kernel,
    /// The device.
    Device,
    /// A configured limit.
    Limit,
    /// The task that ran on the processor, or the processors.
    Cpu,
    /// Unknown: nothing recorded shows it.
    #[default]
    Unknown,
}

impl CulpritKind {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            CulpritKind::Own => "self",
            CulpritKind::Task => "task",
            CulpritKind::Kernel => "kernel",
            CulpritKind::Device => "device",
            CulpritKind::Limit => "limit",
            CulpritKind::Cpu => "cpu",
            CulpritKind::Unknown => "unknown",
        }
    }
}

/// A culprit, with its kind of I/O.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Culprit {
    /// The kind of culprit.
    pub kind: CulpritKind,
    /// The name of the task that issued the I/O; if a kernel thread did, the name of the task whose data it is.
    pub name: Option<Box<str>>,
    /// The task whose data the issuer wrote, if it is another one.
    pub dirtied_by: Option<Box<str>>,
    /// The kind of I/O by which it interfered; `None` if it was not I/O, or for all kinds.
    pub io: Option<Io>,
}

impl Culprit {
    /// A culprit without a name.
    pub fn of(kind: CulpritKind) -> Culprit {
        Culprit { kind, ..Culprit::default() }
    }

    /// Stands for all culprits that are not distinguished.
    pub fn others() -> Culprit {
        Culprit { name: Some("others".into()), ..Culprit::of(CulpritKind::Unknown) }
    }

    /// Whether it can be removed: a task that sends I/O, or a named task on the processor.
    pub(crate) fn can_leave(&self) -> bool {
        self.is_somebody() || self.name.is_some() && self.kind == CulpritKind::Cpu
    }

    /// Whether no task is responsible: processors, the device's own pauses, time without an explanation.
    pub(crate) fn is_unclear(&self) -> bool {
        match self.kind {
            CulpritKind::Cpu | CulpritKind::Unknown => true,
            CulpritKind::Device => self.io.is_none(),
            _ => false,
        }
    }

    /// Whether it is a task with a known other name. A kernel thread that works for no known task, such as the journal's, does not count:
    /// it works for everyone who waits for it.
    pub fn is_another_than(&self, task: &str) -> bool {
        self.kind == CulpritKind::Task && self.name.as_deref().is_some_and(|name| name != "?" && name != task)
    }

    /// Whether it is a named task or kernel thread that sends I/O.
    #[inline]
    pub fn is_somebody(&self) -> bool {
        self.name.is_some() && matches!(self.kind, CulpritKind::Task | CulpritKind::Kernel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only tasks send I/O, and only those with a known name can be asked to send less.
    #[test]
    fn somebody_is_a_task_with_a_name() {
        let of = |kind, name: &str| Culprit {
            name: Some(name).filter(|n| !n.is_empty()).map(Into::into),
            ..Culprit::of(kind)
        };
        assert!(
            of(CulpritKind::Task, "tar").is_somebody()
                && of(CulpritKind::Kernel, "jbd2/sda1-8").is_somebody()
        );
        assert!(!of(CulpritKind::Task, "").is_somebody() && !of(CulpritKind::Kernel, "").is_somebody());
        for kind in [CulpritKind::Own, CulpritKind::Device, CulpritKind::Limit, CulpritKind::Cpu] {
            assert!(!of(kind, "tar").is_somebody(), "{kind:?}");
        }
        assert!(!Culprit::others().is_somebody(), "those that are not told apart");
        // A task that ran on the processor sends nothing, but delays others.
        assert!(of(CulpritKind::Cpu, "make").can_leave() && !of(CulpritKind::Cpu, "").can_leave());
    }
}
