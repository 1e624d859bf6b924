//! The culprit of a wait.

use life::Io;
use serde::Serialize;

/// A culprit's number in its table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CulpritId(pub u32);

/// What kind of culprit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CulpritKind {
    /// The victim's own process: its work, its queue.
    #[serde(rename = "self")]
    Own,
    /// Another task.
    Task,
    /// A kernel thread whose principal is not known, a journal, md.
    Kernel,
    /// The device.
    Device,
    /// A configured limit.
    Limit,
    /// The task that ran on the processor.
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

/// The culprit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Culprit {
    /// The kind of culprit.
    pub kind: CulpritKind,
    /// Who: the issuer's name, or, where a kernel thread issued, the name of the task whose data it is.
    pub name: Option<Box<str>>,
    /// Whose data the issuer wrote, if another task's.
    pub dirtied_by: Option<Box<str>>,
    /// By which kind of I/O.
    pub io: Option<Io>,
}

impl Culprit {
    /// One without a name.
    pub fn of(kind: CulpritKind) -> Culprit {
        Culprit { kind, ..Culprit::default() }
    }

    /// Those that are not told apart.
    pub fn others() -> Culprit {
        Culprit { name: Some("others".into()), ..Culprit::of(CulpritKind::Unknown) }
    }

    /// Whether it can be taken away: somebody, or who ran on the processor.
    pub(crate) fn can_leave(&self) -> bool {
        self.is_somebody() || self.name.is_some() && self.kind == CulpritKind::Cpu
    }

    /// Whether it is nobody who could be asked: processors, the device's own pauses, what nothing explains.
    pub(crate) fn is_unclear(&self) -> bool {
        match self.kind {
            CulpritKind::Cpu | CulpritKind::Unknown => true,
            CulpritKind::Device => self.io.is_none(),
            _ => false,
        }
    }

    /// Whether it is a task of another name, and that name is known. Who is nobody's kernel thread, such as a journal's, works for
    /// whoever waits for it.
    pub fn is_another_than(&self, task: &str) -> bool {
        self.kind == CulpritKind::Task && self.name.as_deref().is_some_and(|name| name != "?" && name != task)
    }

    /// Whether it is a task that sends I/O.
    #[inline]
    pub fn is_somebody(&self) -> bool {
        self.name.is_some() && matches!(self.kind, CulpritKind::Task | CulpritKind::Kernel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only tasks send I/O, and only those whose name is known can be asked to send less.
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
        // Who ran on the processor sends nothing, but is in the way.
        assert!(of(CulpritKind::Cpu, "make").can_leave() && !of(CulpritKind::Cpu, "").can_leave());
    }
}
