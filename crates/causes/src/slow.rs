//! What the slowest operations of a group waited for, as seen by the device that did the work.
//!
//! If a stacked device (LVM, md) and the devices below it were recorded, the operations in question are those of the
//! upper device, which only knows "reads below" and "writes below". The slowest bios below show what that time consists
//! of; they are nearly, not exactly, those that the slow operations above waited for, so this is a proportional
//! estimate.
//!
//! Example: the slowest reads of dm-0 waited 10 s for reads below. Of the slowest reads on sda, 80 % of the time was
//! D2C: so 8 s of the 10 count as device time. A claim on it is paid from "reads below" of dm-0.

use ledger::Reason;
use life::{Class, Op};
use operation::{Kind, Wait};
use stats::{Device, Facts, Group, Phases, TailRow, TailTime, UnderContention};
use trace::{Bytes, Call, DevId, Nanos};
use waits::{Link, Selection};

/// The slowest operations of a group, or the part of their time that passed below.
#[derive(Clone)]
pub struct Slow<'a> {
    /// The group whose tail this is.
    pub group: &'a Group,
    /// The group's index in `Focus::groups`.
    pub(crate) group_number: usize,
    /// The device that did the work; of several, the one with the most of it.
    pub on: &'a Device,
    /// The class of the requests there; reads if buffered writes mostly waited for pages to be read.
    pub class: Class,
    /// The tail on the devices that did the work.
    tail: TailTime,
    /// If the work was done below: the reason in the group's tail that this stands for, and its time.
    below: Option<(Reason, Nanos)>,
}

/// The class of a group's requests. Buffered writes of parts of pages read these pages first, and hardly wait for anything else.
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
    /// The tail of a group; if its work was done below, one for the reads there and one for the writes.
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

    /// The tail's time of one reason.
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

    /// The part of the scheduler time in which the driver accepted no request.
    pub fn refused(&self) -> Nanos {
        self.scaled(self.tail.refused)
    }

    /// The part of the device time after the device was done, until a processor handled the completion.
    pub fn late(&self) -> Nanos {
        self.scaled(self.tail.late)
    }

    /// The part of the device time of writes that are not whole blocks.
    pub fn unaligned(&self) -> Nanos {
        self.scaled(self.tail.unaligned)
    }

    /// The part of the device time in which the device served requests that were there before.
    pub fn behind(&self) -> Nanos {
        self.scaled(self.tail.behind)
    }

    /// The part of [`behind`](Slow::behind) that is due to other requests of the same task.
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

    /// The mean of a count of the tail per operation.
    pub fn each(&self, pick: impl Fn(&TailTime) -> u64) -> f64 {
        pick(&self.tail) as f64 / self.tail.time.operations.max(1) as f64
    }

    /// A time as a part of the group's tail, 0 to 1.
    pub fn share(&self, time: Nanos) -> f64 {
        time.0 as f64 / self.group.tail.sum.time.total.0.max(1) as f64
    }

    /// The plural noun for the operations: `reads`, `fsyncs`.
    pub fn words(&self) -> &'static str {
        self.group.words()
    }

    /// Whether these are writes that first read the pages that they change a part of.
    pub fn reads_before_writing(&self) -> bool {
        self.class == Class::Read && self.group.class != Class::Read
    }

    /// Whether the numbers are an estimate from the devices below.
    pub fn is_below(&self) -> bool {
        self.below.is_some()
    }

    /// Whether the group is one of bios, and what waited for them is not recorded.
    pub fn is_of_bios(&self) -> bool {
        self.group.op.is_none() && !self.is_below()
    }

    /// The requests of this class on the device.
    pub fn requests(&self) -> &'a Phases {
        &self.on.requests[self.class.index()]
    }

    /// Device times of this class by what else was in flight.
    pub fn contention(&self) -> &'a UnderContention {
        &self.on.contention[self.class.index()]
    }

    /// The reason in the group's tail from which a claim is paid.
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

/// Levels of stacking that are followed; LVM on crypt on md on multipath has four.
const MOST_LEVELS: usize = 16;

/// The devices with requests that are this device or lie below it, at any depth.
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
