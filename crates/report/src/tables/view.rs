//! A recording with the selection of what is shown of it: what every table reads.

use super::table::Value;
use explain::{Asking, By, Explanation};
use stats::{Details, Device};
use trace::DevId;

/// A recording and the selection of what is shown of it.
pub(crate) struct View<'a> {
    pub(super) e: &'a Explanation,
    pub(super) details: &'a Details,
    pub(super) tasks: &'a [String],
}

impl View<'_> {
    /// The devices that are shown, in order of appearance.
    pub(super) fn devices(&self) -> impl Iterator<Item = &Device> {
        self.e.facts.devices.iter().filter(|d| self.shows(d.id))
    }

    /// Whether the filter selects no devices or mounts.
    pub(super) fn has_all_devices(&self) -> bool {
        let chosen =
            |asking: &Asking| [By::Device, By::Mount].into_iter().any(|by| !asking.of(by).is_empty());
        !self.e.subject.scope.as_ref().is_some_and(|scope| chosen(scope.asking()))
    }

    /// Whether neither tasks nor anything but devices and mounts is selected.
    pub(super) fn has_all_tasks(&self) -> bool {
        let others = |by: &By| !matches!(by, By::Device | By::Mount);
        let chosen =
            |asking: &Asking| By::ALL.iter().filter(|by| others(by)).any(|by| !asking.of(*by).is_empty());
        self.tasks.is_empty() && !self.e.subject.scope.as_ref().is_some_and(|scope| chosen(scope.asking()))
    }

    pub(super) fn shows(&self, dev: DevId) -> bool {
        self.e.asks_about(dev)
    }

    /// Like `shows`, for a device that is known only by the kernel's name.
    pub(super) fn shows_name(&self, name: &str) -> bool {
        self.has_all_devices() || self.devices().any(|d| self.e.name(d.id) == name)
    }

    pub(super) fn shows_task(&self, task: u32) -> bool {
        self.wants_task(self.e.facts.tasks.name(task))
    }

    /// Like `shows_task`, for a task that may have no number because it did no I/O.
    pub(super) fn wants_task(&self, name: &str) -> bool {
        self.tasks.is_empty() || self.tasks.iter().any(|task| task == name)
    }

    pub(super) fn name(&self, dev: DevId) -> Value {
        Value::Text(self.e.name(dev))
    }

    pub(super) fn task_name(&self, task: u32) -> Value {
        Value::Text(self.e.facts.tasks.name(task).to_string())
    }
}
