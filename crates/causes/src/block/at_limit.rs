//! Whether a task reads or writes at just the rate that a control group's limit admits. If only blocks were recorded, nothing else
//! shows such a limit: bios wait for it before they are queued, and held bios are sent by a worker of the kernel.
//!
//! Example: `blkio.throttle.write_iops_device` says 150; in each second but the first and the last redis-server sent 135 writes and
//! kworker/0:2 15, which were in the device for a tenth of the time.

use crate::thresholds::cgroup_limit::{BUSY, ENOUGH, MEAN, ROUNDS, SLICE};
use life::Class;
use stats::Facts;
use std::collections::BTreeMap;
use trace::{is_bound_worker, DevId, Nanos};
use waits::{Asked, Second, Table};

/// A limit of a control group for one device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit {
    /// Whether it limits reads; else it limits writes.
    pub reads: bool,
    /// Whether it limits bytes; else it limits operations.
    pub bytes: bool,
    /// Bytes or operations a second.
    pub a_second: u64,
}

/// The limits that a file of a control group sets for a device (version 1 or 2); empty if it sets none.
pub(crate) fn limits(file: &str, value: &str, dev: DevId) -> Vec<Limit> {
    let of_it = format!("{}:{} ", dev.major(), dev.minor());
    let told = value.lines().find_map(|line| line.trim().strip_prefix(&of_it)).unwrap_or("");
    let limit = |name: &str, number: &str| {
        let (reads, bytes) = match name {
            "rbps" | "read_bps" => (true, true),
            "wbps" | "write_bps" => (false, true),
            "riops" | "read_iops" => (true, false),
            "wiops" | "write_iops" => (false, false),
            _ => return None,
        };
        let a_second = number.trim().parse().ok().filter(|n| *n > 0)?;
        Some(Limit { reads, bytes, a_second })
    };
    match file.strip_prefix("blkio.throttle.").and_then(|kind| kind.strip_suffix("_device")) {
        Some(kind) => limit(kind, told).into_iter().collect(),
        None => told
            .split_whitespace()
            .filter_map(|pair| pair.split_once('='))
            .filter_map(|(name, number)| limit(name, number))
            .collect(),
    }
}

/// The pace of a task's I/O, set by a limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pace {
    /// Bytes or operations a second.
    pub rate: u64,
    /// The part of the time in which its requests were in the device, below [`BUSY`].
    pub in_device: f64,
    /// How it was measured, in words.
    pub when: &'static str,
}

impl Limit {
    /// The pace of a task's I/O to a device, if it is that of the limit and the device does not set it.
    pub fn sets_the_pace_of(&self, task: &str, dev: DevId, facts: &Facts) -> Option<Pace> {
        let few_seconds = facts.recorded().seconds() < (ENOUGH + 2) as f64;
        let by_rounds = || self.by_rounds(task, dev, facts).filter(|_| few_seconds);
        self.by_seconds(task, dev, &facts.waits).or_else(by_rounds)
    }

    /// Measured from one release of held bios to another: more exact than whole seconds if there are few of them.
    fn by_rounds(&self, task: &str, dev: DevId, facts: &Facts) -> Option<Pace> {
        let let_go = &facts.device(dev)?.let_go[usize::from(!self.reads)];
        let number = facts.tasks.all().find(|(_, name)| *name == task)?.0;
        let passed = let_go.of(number);
        let seconds = let_go.span().seconds();
        let rate = if self.bytes { passed.bytes.0 } else { passed.bios } as f64 / seconds;
        let in_device = passed.time.seconds() / seconds;
        let limit = self.a_second as f64;
        // A limit holds as long as there is any I/O: so for most of the recording.
        let is_long = 2.0 * seconds >= facts.recorded().seconds();
        let is_it = is_long && let_go.rounds() >= ROUNDS && (rate - limit).abs() <= MEAN * limit;
        let when = "from one release of held requests by a kernel worker to another";
        (is_it && in_device < BUSY).then_some(Pace { rate: rate as u64, in_device, when })
    }

    fn by_seconds(&self, task: &str, dev: DevId, table: &Table) -> Option<Pace> {
        let mut seconds = BTreeMap::<Nanos, Second>::new();
        let is_its = |asked: Asked| matches!(asked, Asked::Bio(class) if self.is_of(class));
        let all = table.victims().filter(|(_, v, _)| v.dev == dev && is_its(v.asked));
        // A worker like this sends the bios that a limit held back, for any task (`kthrotld`, block/blk-throttle.c).
        for (id, _, _) in all.filter(|(_, v, _)| *v.task == *task || is_bound_worker(&v.task)) {
            for (at, second) in table.seconds().of(id) {
                seconds.entry(at).or_default().add(&second);
            }
        }
        let width = table.seconds().width();
        let (from, to) = (seconds.keys().next()?, seconds.keys().next_back()?);
        let has_gaps = to.since(*from).0 / (width * 1_000_000_000) >= seconds.len() as u64;
        let step = width as f64;
        // The I/O begins and ends within a second: the first and the last are left out.
        let whole: Vec<Second> = seconds.into_values().skip(1).collect();
        let (_, whole) = whole.split_last().filter(|_| !has_gaps)?;
        let mean = |of: &dyn Fn(&Second) -> f64| {
            whole.iter().map(|second| of(second) / step).sum::<f64>() / whole.len() as f64
        };
        let rate = mean(&|second| self.count(second));
        let limit = self.a_second as f64;
        let is_near = |second: &Second| (self.count(second) / step - limit).abs() <= SLICE * limit;
        let is_it =
            whole.len() >= ENOUGH && (rate - limit).abs() <= MEAN * limit && whole.iter().all(is_near);
        let in_device = mean(&|second| second.ns as f64 / 1e9);
        (is_it && in_device < BUSY).then_some(Pace { rate: rate as u64, in_device, when: "second by second" })
    }

    /// Whether it limits I/O of this class.
    pub fn is_of(&self, class: Class) -> bool {
        match class {
            Class::Read => self.reads,
            Class::SyncWrite | Class::Background => !self.reads,
            Class::Flush | Class::Other => false,
        }
    }

    fn count(&self, second: &Second) -> f64 {
        if self.bytes {
            second.bytes as f64
        } else {
            second.ops as f64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_both_versions_are_read() {
        let dev = DevId::new(8, 0);
        let read = |bytes, a_second| Limit { reads: true, bytes, a_second };
        assert_eq!(
            limits("blkio.throttle.read_bps_device", "8:16 5\n8:0 3000000", dev),
            [read(true, 3_000_000)]
        );
        assert_eq!(limits("io.max", "8:0 rbps=max wbps=max riops=150 wiops=max", dev), [read(false, 150)]);
        assert_eq!(limits("blkio.throttle.read_iops_device", "8:0 0", dev), []);
        assert_eq!(limits("io.latency", "8:0 target=100", dev), []);
    }
}
