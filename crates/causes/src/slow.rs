//! What the slowest operations of a group waited for, as the device that did the work saw it.
//!
//! Where a stacked device (LVM, md) and the devices below it were recorded, the operations in question are those of
//! the upper one, and all that it knows is "reads below" and "writes below". The slowest bios below tell what that
//! time was made of; they are nearly, not exactly, those that the slow ones above waited for, so this is an estimate
//! in proportion.
//!
//! Example: the slowest reads of dm-0 waited 10 s for reads below. Of the slowest reads on sda 80 % of the time was
//! D2C: so 8 s of the 10 count as device time. A claim of it is paid from "reads below" of dm-0.

use crate::growth::Growth;
use ledger::Reason;
use life::{Class, Op};
use operation::{Kind, Wait};
use stats::{Device, Facts, Group, Phases, TailRow, TailTime, UnderContention};
use trace::{Bytes, Call, DevId, Nanos};
use waits::{Link, Selection};

/// The slowest operations of a group, or the part of their time that passed below.
#[derive(Clone)]
pub struct Slow<'a> {
    /// The group.
    pub group: &'a Group,
    /// Its number.
    pub(crate) group_number: usize,
    /// The device that did the work, or of several that with the most of it.
    pub on: &'a Device,
    /// The class of what it did there.
    pub class: Class,
    /// The tail of the devices that did the work.
    tail: TailTime,
    /// The time of the group that this stands for, where it was done below.
    below: Option<(Reason, Nanos)>,
}

/// The class of what a group's operations did: buffered writes of parts of pages read these first, and hardly wait for anything else.
fn did(facts: &Facts, group: &Group) -> Class {
    if group.op.map(|op| op.kind) != Some(Kind::Call(Call::Write)) {
        return group.class;
    }
    let rows = group.rows(&facts.waits, Selection::default());
    let is_request = |row: &&TailRow, is: &dyn Fn(Op) -> bool| {
        let links = facts.waits.links(row.chain);
        links.into_iter().any(|link| matches!(link, Link::Request(op, ..) if is(op)))
    };
    let is_read = |row: &&TailRow| {
        let for_a_page = row.waits.has(Wait::PageRead) || row.waits.has(Wait::Metadata);
        for_a_page && is_request(row, &|op| op == Op::Read)
    };
    let reads: Nanos = rows.iter().filter(is_read).map(|row| row.time).sum();
    let all: Nanos = rows.iter().filter(|row| is_request(row, &|_| true)).map(|row| row.time).sum();
    if 2 * reads.0 > all.0 {
        Class::Read
    } else {
        group.class
    }
}

impl<'a> Slow<'a> {
    /// Of a group: one, or where it was done below one for its reads and one for its writes there.
    pub(crate) fn of(facts: &'a Facts, number: usize, group: &'a Group) -> Vec<Slow<'a>> {
        let Some(own) = facts.device(group.dev) else { return vec![] };
        if own.has_requests() {
            let tail = group.tail.sum;
            return vec![Slow {
                group,
                group_number: number,
                on: own,
                class: did(facts, group),
                tail,
                below: None,
            }];
        }
        let leaves = leaves(facts, group.dev);
        let part = |reason: Reason, class: Class| {
            let time = group.tail.sum.time.of(reason);
            let slowest = |d: &Device| facts.slowest_bios(d.id, class).sum;
            let on = leaves.iter().copied().max_by_key(|d| slowest(d).time.total)?;
            let mut tail = TailTime::default();
            leaves.iter().for_each(|d| tail.merge(&slowest(d)));
            let below = Some((reason, time));
            (time.0 > 0 && tail.time.total.0 > 0).then_some(Slow {
                group,
                group_number: number,
                on,
                class,
                tail,
                below,
            })
        };
        let writes = if group.class == Class::Read { Class::SyncWrite } else { group.class };
        [part(Reason::LowerRead, Class::Read), part(Reason::LowerWrite, writes)]
            .into_iter()
            .flatten()
            .collect()
    }

    /// The time of one reason.
    pub fn time(&self, reason: Reason) -> Nanos {
        self.scaled(self.tail.time.of(reason))
    }

    /// The part of the device time in which the device was flooded with background writes.
    pub fn flooded(&self) -> Nanos {
        self.scaled(self.tail.flooded)
    }

    /// The part of the scheduler time of operations that background writes overtook.
    pub fn overtaken(&self) -> Nanos {
        self.scaled(self.tail.overtaken)
    }

    /// The part of the scheduler time in which the driver took nothing.
    pub fn refused(&self) -> Nanos {
        self.scaled(self.tail.refused)
    }

    /// The part of the device time in which the device was done, and no processor had come to complete it yet.
    pub fn late(&self) -> Nanos {
        self.scaled(self.tail.late)
    }

    /// The part of the device time of writes that are not whole blocks.
    pub fn unaligned(&self) -> Nanos {
        self.scaled(self.tail.unaligned)
    }

    /// The part of the device time in which the device served those that were there before.
    pub fn behind(&self) -> Nanos {
        self.scaled(self.tail.behind)
    }

    /// The part of that behind other requests of the same task.
    pub fn own_queue(&self) -> Nanos {
        self.scaled(self.tail.own_queue)
    }

    /// The part of the device time in which the device completed nothing.
    pub fn paused(&self) -> Nanos {
        self.scaled(self.tail.paused)
    }

    /// The part of the time to get a request in which all tags were taken.
    pub fn no_tag(&self) -> Nanos {
        self.scaled(self.tail.full)
    }

    /// The part of the device time of operations that were cut into several requests.
    pub fn split_device(&self) -> Nanos {
        self.scaled(self.tail.split_device)
    }

    /// The mean size of the operations that were cut, and of their pieces.
    pub fn cut(&self) -> (Bytes, Bytes) {
        let mean = |of: u64| Bytes(self.tail.split_bytes.0 / of.max(1));
        (mean(self.tail.split), mean(self.tail.pieces))
    }

    /// A number of the tail for each of its operations on average.
    pub fn each(&self, pick: impl Fn(&TailTime) -> u64) -> f64 {
        pick(&self.tail) as f64 / self.tail.time.operations.max(1) as f64
    }

    /// A time as a part of the group's tail, 0 to 1.
    pub fn share(&self, time: Nanos) -> f64 {
        time.0 as f64 / self.group.tail.sum.time.total.0.max(1) as f64
    }

    /// What the operations are called.
    pub fn words(&self) -> &'static str {
        self.group.words()
    }

    /// Whether they are writes that read first what they change a part of.
    pub fn reads_before_writing(&self) -> bool {
        self.class == Class::Read && self.group.class != Class::Read
    }

    /// Whether it is an estimate from the devices below.
    pub fn is_below(&self) -> bool {
        self.below.is_some()
    }

    /// Requests of this class there.
    pub fn requests(&self) -> &'a Phases {
        &self.on.requests[self.class.index()]
    }

    /// How requests of this class fared there with others in flight.
    pub fn contention(&self) -> &'a UnderContention {
        &self.on.contention[self.class.index()]
    }

    /// How the device's time for a request grows with others in it, if both few and many were there.
    pub fn growth(&self) -> Option<Growth> {
        Growth::of(self)
    }

    /// From which account of the group a claim is paid.
    pub(crate) fn account(&self, reason: Reason) -> Reason {
        self.below.map_or(reason, |(account, _)| account)
    }

    fn scaled(&self, time: Nanos) -> Nanos {
        match self.below {
            None => time,
            Some((_, whole)) => {
                let all = self.tail.time.total.0.max(1) as u128;
                Nanos((time.0 as u128 * whole.0 as u128 / all) as u64)
            }
        }
    }
}

/// Levels of stacking that are followed: LVM on crypt on md on multipath are four.
const MOST_LEVELS: usize = 16;

/// The devices with requests that lie below a device, however deep.
pub(crate) fn leaves(facts: &Facts, top: DevId) -> Vec<&Device> {
    facts.devices.iter().filter(|d| d.has_requests() && lies_on(facts, d, top)).collect()
}

/// Whether a device is `top` or lies below it.
pub(crate) fn lies_on(facts: &Facts, device: &Device, top: DevId) -> bool {
    let mut at = Some(device.id);
    for _ in 0..MOST_LEVELS {
        match at {
            Some(id) if id == top => return true,
            Some(id) => at = facts.device(id).and_then(|d| d.upper),
            None => return false,
        }
    }
    false
}
