//! What causes judge by, and the account that lets each nanosecond of the tail be claimed once.

use evidence::System;
use ledger::Reason;
use life::Class;
use stats::{Device, Facts, Focus, Group};
use trace::{DevId, Nanos, Quality};

/// The facts of a recording, for causes.
pub struct Case<'a> {
    /// What one pass found out.
    pub facts: &'a Facts,
    /// Whose time is asked about.
    pub focus: &'a Focus,
    /// The host's settings, as far as files beside the trace tell.
    pub system: &'a System,
    /// What was lost.
    pub quality: &'a Quality,
    /// What devices are called.
    pub names: &'a dyn Fn(DevId) -> String,
    /// Time of each group's tail that no cause has claimed yet, by reason.
    unclaimed: Vec<[Nanos; Reason::COUNT]>,
}

impl<'a> Case<'a> {
    /// A case in which nothing is claimed.
    pub fn new(
        facts: &'a Facts,
        focus: &'a Focus,
        system: &'a System,
        quality: &'a Quality,
        names: &'a dyn Fn(DevId) -> String,
    ) -> Case<'a> {
        let of = |g: &Group| {
            Reason::ALL.iter().fold([Nanos(0); Reason::COUNT], |mut all, r| {
                all[r.index()] = g.tail.sum.time.of(*r);
                all
            })
        };
        Case { facts, focus, system, quality, names, unclaimed: focus.groups.iter().map(of).collect() }
    }

    /// Claims up to `wanted` of a group's time of one reason; what others have claimed before is not given again.
    pub fn claim(&mut self, group: usize, reason: Reason, wanted: Nanos) -> Nanos {
        let left = &mut self.unclaimed[group][reason.index()];
        let given = wanted.min(*left);
        *left = *left - given;
        given
    }

    /// What of a group's time of one reason is unclaimed.
    pub fn unclaimed(&self, group: usize, reason: Reason) -> Nanos {
        self.unclaimed[group][reason.index()]
    }

    /// The tail's time in all.
    pub fn total(&self) -> Nanos {
        self.focus.time().total
    }

    /// The device of a group.
    pub fn device(&self, group: &Group) -> &'a Device {
        self.facts.device(group.dev).expect("a group's device has facts")
    }

    /// Settings of a device.
    pub fn settings(&self, dev: DevId) -> Option<&'a evidence::Device> {
        self.system.device_at(dev).or_else(|| self.system.device(&(self.names)(dev)))
    }

    /// What a device is called.
    pub fn name(&self, dev: DevId) -> String {
        (self.names)(dev)
    }

    /// Background writes of a device, by request where it has requests.
    pub fn background<'b>(&self, device: &'b Device) -> &'b stats::Phases {
        device.phases(Class::Background)
    }
}
