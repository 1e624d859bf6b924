//! Which operations the question "why was it slow?" is about.
//!
//! Writeback is slow by nature and nobody waits for any one of its writes; what hurts are the operations that
//! somebody waits for: reads, synchronous writes, flushes. They are taken per device and class, each with its own
//! slowest 1 %, because reads of 200 ms and commits of 5 s are two troubles and not one distribution. Bios sent
//! by a stacked device count with their parent, not once more below. Where nobody waits for anything, everything
//! counts.
//!
//! Where operations were recorded (system calls, page faults) these are what somebody waits for, and the groups are
//! theirs: per kind, file system and device. A bio that nobody slept for is in nobody's time then.

use crate::analysis::Facts;
use crate::device::Device;
use crate::operations::{OpKey, OpStats};
use crate::tail::{Slowest, TailTime};
use ledger::{Reason, RollUp};
use life::{Class, Op};
use operation::Kind;
use trace::{Call, DevId, Fs, Nanos};

/// The part of the operations that is called the tail: the slowest 1 %.
pub const TAIL_SHARE: f64 = 0.01;

/// The operations of one class on one device, and their tail.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// The device.
    pub dev: DevId,
    /// The class: for operations that of the requests they wait for.
    pub class: Class,
    /// Which operations these are; `None` for bios.
    pub op: Option<OpKey>,
    /// How many operations there were.
    pub operations: u64,
    /// The slowest of them.
    pub tail: Slowest,
    /// All of them.
    pub all: TailTime,
}

impl Group {
    /// What they are called: `reads`, `synchronous writes`.
    pub fn words(&self) -> &'static str {
        self.op.map_or(class_words(self.class), |op| op.kind.plural())
    }
}

/// A class in plain words.
pub fn class_words(class: Class) -> &'static str {
    match class {
        Class::Read => "reads",
        Class::SyncWrite => "synchronous writes",
        Class::Background => "background writes",
        Class::Flush => "flushes",
        Class::Other => "discards and commands",
    }
}

/// The operation of a class.
pub fn class_op(class: Class) -> Op {
    match class {
        Class::Read => Op::Read,
        Class::SyncWrite | Class::Background => Op::Write,
        Class::Flush => Op::Flush,
        Class::Other => Op::Discard,
    }
}

/// The groups in focus, the one with the most time in its tail first.
#[derive(Clone, Debug, Default)]
pub struct Focus {
    /// The groups.
    pub groups: Vec<Group>,
}

impl Focus {
    /// Finds the groups in focus.
    pub fn of(facts: &Facts) -> Focus {
        let waited = |c: &Class| matches!(c, Class::Read | Class::SyncWrite | Class::Flush);
        let mut groups = operations(facts);
        if groups.is_empty() {
            groups = self::groups(facts, waited);
        }
        if groups.is_empty() {
            groups = self::groups(facts, |_| true);
        }
        groups.sort_by_key(|g| std::cmp::Reverse(g.tail.sum.time.total));
        Focus { groups }
    }

    /// The tail of all groups together.
    pub fn time(&self) -> RollUp {
        let mut sum = RollUp::default();
        self.groups.iter().for_each(|g| sum.merge(&g.tail.sum.time));
        sum
    }

    /// The lowest threshold of all groups.
    pub fn threshold(&self) -> Nanos {
        self.groups.iter().map(|g| g.tail.threshold).min().unwrap_or_default()
    }

    /// The tail's time of one reason over all groups.
    pub fn of_reason(&self, reason: Reason) -> Nanos {
        self.time().of(reason)
    }
}

/// The groups of operations that applications wait for. Calls of which no file system is known and that never had a
/// request in a device are left out: most are device files and pseudo files.
fn operations(facts: &Facts) -> Vec<Group> {
    // sync(2) names no file, and its work is done by others. Whatever else has no place of its own and only waited for
    // somebody else's request was not about that device.
    let of_all = |k: &OpKey| k.kind == Kind::Call(Call::Sync);
    let known = |k: &OpKey, s: &OpStats| {
        k.dev != DevId(0) || k.fs != Fs::Unknown || (of_all(k) && s.main_device().is_some())
    };
    // Nor was a call that makes data safe about a device that nothing was written to: it is another file system's, of a
    // device that was not recorded, and only met this one's requests.
    let safe = |k: &OpKey| {
        matches!(k.kind, Kind::Call(Call::Fsync | Call::Fdatasync | Call::Syncfs) | Kind::RingSync)
    };
    let written = |dev: DevId| {
        let wrote = |d: &Device| {
            let count = |c: Class| d.requests[c.index()].count + d.bios[c.index()].phases.count;
            [Class::SyncWrite, Class::Background, Class::Flush].into_iter().any(|c| count(c) > 0)
        };
        facts.device(dev).is_none_or(wrote)
    };
    let strange = |k: &OpKey, s: &OpStats| {
        safe(k) && k.fs == Fs::Unknown && s.main_device().is_some_and(|dev| !written(dev))
    };
    let all = facts.operations.groups.iter();
    let all = all.filter(|(k, s)| k.kind.is_foreground() && known(k, s) && !strange(k, s));
    all.map(|(key, stats)| Group {
        dev: stats.main_device().unwrap_or(key.dev),
        class: key.kind.class(),
        op: Some(*key),
        operations: stats.tail.count(),
        tail: stats.tail.slowest(TAIL_SHARE),
        all: stats.tail.all(),
    })
    .collect()
}

fn groups(facts: &Facts, wanted: impl Fn(&Class) -> bool) -> Vec<Group> {
    let top = |d: &&Device| d.upper.is_none();
    let mut found = Vec::new();
    for device in facts.devices.iter().filter(top) {
        for class in Class::ALL.into_iter().filter(&wanted) {
            let tail = &device.bios[class.index()].tail;
            if tail.count() > 0 {
                found.push(Group {
                    dev: device.id,
                    class,
                    op: None,
                    operations: tail.count(),
                    tail: tail.slowest(TAIL_SHARE),
                    all: tail.all(),
                });
            }
        }
    }
    found
}
