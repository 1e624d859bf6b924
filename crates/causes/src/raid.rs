//! RAID arrays of the kernel (md) in a recording: what they said, and which slow operations passed through them.

use crate::case::Case;
use crate::slow::lies_on;
use ledger::Reason;
use life::Class;
use stats::{Device, Group, TAIL_SHARE};
use trace::Nanos;

/// The major number of md arrays (`MD_MAJOR`, include/uapi/linux/major.h).
const MD_MAJOR: u32 = 9;

/// An array and a group of slow writes that passed through it.
pub(crate) struct Array<'a> {
    pub device: &'a Device,
    pub group: &'a Group,
    pub group_number: usize,
    /// Stripes that were read before they were written, by the kernel's notes.
    pub read_modify_writes: u64,
    /// Stripes of which the rest was read to compute parity.
    pub reconstruct_writes: u64,
    /// Times at which writes waited until the write-intent bitmap was on the disks.
    pub bitmap_unplugs: u64,
    /// Whether there are notes of the kernel at all.
    pub has_notes: bool,
}

impl<'a> Array<'a> {
    /// All arrays that slow writes passed through.
    pub fn all(case: &Case<'a>) -> Vec<Array<'a>> {
        let mut found = vec![];
        for (group_number, group) in case.slow_groups().filter(|(_, g)| g.class != Class::Read) {
            let below = case.facts.devices.iter().filter(|d| lies_on(case.facts, d, group.dev));
            for device in below.filter(|d| is_array(case, d)) {
                let notes = &device.traffic.messages;
                found.push(Array {
                    device,
                    group,
                    group_number,
                    read_modify_writes: notes.beginning("raidN rmw"),
                    reconstruct_writes: notes.beginning("raidN rcw"),
                    bitmap_unplugs: notes.beginning("md bitmap_unplug"),
                    has_notes: !notes.by_count().is_empty(),
                });
            }
        }
        found
    }

    /// The account of the group that time in this array is paid from, and how much of it is of this reason.
    pub fn time(&self, reason: Reason) -> (Reason, Nanos) {
        if self.device.id == self.group.dev {
            return (reason, self.group.tail.sum.time.of(reason));
        }
        let own = self.device.bios[self.group.class.index()].tail.slowest(TAIL_SHARE).sum.time;
        let whole = self.group.tail.sum.time.of(Reason::LowerWrite);
        (Reason::LowerWrite, Nanos((whole.0 as f64 * own.share(reason)) as u64))
    }

    /// A time as a part of the group's tail.
    pub fn share(&self, time: Nanos) -> f64 {
        time.0 as f64 / self.group.tail.sum.time.total.0.max(1) as f64
    }

    /// Writes that the array was asked for.
    pub fn writes(&self) -> u64 {
        [Class::SyncWrite, Class::Background].iter().map(|c| self.device.bios[c.index()].phases.count).sum()
    }
}

fn is_array(case: &Case, device: &Device) -> bool {
    let by_settings = || case.settings(device.id).is_some_and(|s| s.md().is_some());
    !device.has_requests() && (device.id.major() == MD_MAJOR || by_settings())
}
