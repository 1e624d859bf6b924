//! The changes between two samples.

use super::counters::gone;
use super::quality::SampleQuality;
use capture::Sample;
use std::collections::BTreeMap;
use std::sync::Arc;
use trace::{Bytes, Nanos};

/// Nominal time between samples.
const SECOND: Nanos = Nanos::SECOND;
/// Index of "I/Os in progress" in /proc/diskstats, the only value there that is no counter.
const IN_PROGRESS: usize = 8;
/// Fewest values of a device, on any kernel. 4.18 added four on discards, 5.5 two on flushes.
const LEAST_NUMBERS: usize = 11;

/// The time from one sample to the next, or from the first to the last of several joined samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interval {
    /// Start, on the trace's clock.
    pub from: Nanos,
    /// End, on the trace's clock.
    pub to: Nanos,
    /// Devices by name. A device that appears, vanishes or restarts its counters within the interval is missing.
    pub disks: BTreeMap<Arc<str>, DiskUse>,
    /// Processors by name: `cpu` is the sum of all, then `cpu0`, ...
    pub cpus: BTreeMap<Arc<str>, CpuUse>,
    /// Number of running or runnable tasks at the end.
    pub running: u64,
    /// Number of tasks in uninterruptible sleep at the end.
    pub blocked: u64,
    /// Dirty memory not yet under writeback at the end (`Dirty`).
    pub dirty: Option<Bytes>,
    /// Memory under writeback at the end (`Writeback`).
    pub writeback: Option<Bytes>,
    /// Time that tasks were stalled for lack of a resource.
    pub stalled: Stalled,
    /// How often a user dropped the page cache, or dentries and inodes (`drop_pagecache`, `drop_slab`; fs/drop_caches.c); both at once count once.
    pub dropped: Option<u64>,
}

/// Activity of a device in an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskUse {
    /// The time that the counts cover: the interval, or less of it.
    pub time: Nanos,
    /// Completed reads.
    pub reads: Io,
    /// Completed writes.
    pub writes: Io,
    /// Completed discards; `None` on kernels that do not count them (before 4.18).
    pub discards: Option<Io>,
    /// Completed flushes, only count and time; `None` on kernels that do not count them (before 5.5).
    pub flushes: Option<Io>,
    /// I/Os in flight when it was sampled: the smallest number.
    pub in_flight: u64,
    /// Milliseconds with at least one I/O in flight.
    pub busy_ms: u64,
    /// Milliseconds in flight, summed over all I/Os (`aveq`).
    pub weighted_ms: u64,
}

/// I/Os of one kind (Documentation/admin-guide/iostats.rst).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Io {
    /// Number of completed requests.
    pub count: u64,
    /// Number of I/Os merged into others while queued.
    pub merged: u64,
    /// Number of sectors of 512 bytes.
    pub sectors: u64,
    /// Milliseconds of the completed requests, summed.
    pub ms: u64,
}

/// Time of a processor by state, in the kernel's ticks (proc_stat(5)). `user` includes guests' time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuUse {
    /// User mode.
    pub user: u64,
    /// User mode at low priority.
    pub nice: u64,
    /// Kernel mode.
    pub system: u64,
    /// Idle.
    pub idle: u64,
    /// Idle while some task waited for I/O.
    pub iowait: u64,
    /// Hardware interrupts.
    pub irq: u64,
    /// Software interrupts.
    pub softirq: u64,
    /// Time that the hypervisor gave to others.
    pub steal: u64,
}

/// Pressure (Documentation/accounting/psi.rst): time in which some, or all, tasks were stalled. `None` if not recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stalled {
    /// Some tasks waited for a processor.
    pub cpu_some: Option<Nanos>,
    /// Some tasks waited for I/O.
    pub io_some: Option<Nanos>,
    /// All tasks waited for I/O.
    pub io_full: Option<Nanos>,
    /// Some tasks waited for memory.
    pub memory_some: Option<Nanos>,
    /// All tasks waited for memory.
    pub memory_full: Option<Nanos>,
}

impl Interval {
    /// The interval between two samples; `None` if the second is not later.
    pub(super) fn between(before: &Sample, after: &Sample, quality: &mut SampleQuality) -> Option<Interval> {
        let (from, to) = (Nanos(before.mono_ns?), Nanos(after.mono_ns.unwrap_or(0)));
        if to <= from {
            quality.backwards += 1;
            return None;
        }
        let time = to.since(from);
        quality.missing_seconds += ((time.0 + SECOND.0 / 2) / SECOND.0).saturating_sub(1);
        quality.left_out += after.disks.left_out + after.cpus.left_out;
        let memory = |name: &str| after.memory.get(name).map(|n| Bytes(*n));
        Some(Interval {
            from,
            to,
            disks: disks(before, after, time, quality),
            cpus: cpus(before, after),
            running: after.running,
            blocked: after.blocked,
            dirty: memory("Dirty"),
            writeback: memory("Writeback"),
            stalled: Stalled::between(before, after),
            dropped: dropped(before, after),
        })
    }

    /// Memory that it takes, as a number of entries.
    pub(super) fn cells(&self) -> usize {
        1 + self.disks.len() + self.cpus.len()
    }

    /// Extends this interval by `next`, which follows it.
    pub(super) fn join(&mut self, next: &Interval) {
        for (name, disk) in &next.disks {
            self.disks.entry(name.clone()).or_default().add(disk);
        }
        for (name, cpu) in &next.cpus {
            self.cpus.entry(name.clone()).or_default().add(cpu);
        }
        (self.to, self.running, self.blocked) = (next.to, next.running, next.blocked);
        (self.dirty, self.writeback) = (next.dirty, next.writeback);
        self.stalled.add(&next.stalled);
        self.dropped = self.dropped.into_iter().chain(next.dropped).reduce(u64::saturating_add);
    }
}

fn disks(
    before: &Sample,
    after: &Sample,
    time: Nanos,
    quality: &mut SampleQuality,
) -> BTreeMap<Arc<str>, DiskUse> {
    let (old, new) = (&*before.disks, &*after.disks);
    quality.vanished += old.keys().filter(|name| !new.contains_key(*name)).count() as u64;
    let mut disks = BTreeMap::new();
    for (name, after) in new {
        let Some(before) = old.get(name) else {
            quality.appeared += 1;
            continue;
        };
        if before.len().min(after.len()) < LEAST_NUMBERS {
            quality.too_short += 1;
            continue;
        }
        match gone(before, after, IN_PROGRESS) {
            Some(gone) => {
                quality.wrapped += gone.wrapped;
                let in_flight = before[IN_PROGRESS].min(after[IN_PROGRESS]);
                disks.insert(name.clone(), DiskUse::of(&gone.by, in_flight, time));
            }
            None => quality.began_anew += 1,
        }
    }
    disks
}

fn dropped(before: &Sample, after: &Sample) -> Option<u64> {
    let went_up = |name: &str| Some(after.vmstat.get(name)?.saturating_sub(*before.vmstat.get(name)?));
    ["drop_pagecache", "drop_slab"].into_iter().filter_map(went_up).max()
}

fn cpus(before: &Sample, after: &Sample) -> BTreeMap<Arc<str>, CpuUse> {
    let both = after.cpus.iter().filter_map(|(name, a)| Some((name, before.cpus.get(name)?, a)));
    both.map(|(name, b, a)| (name.clone(), CpuUse::between(b, a))).collect()
}

impl DiskUse {
    /// `by`: the differences in the order of /proc/diskstats, starting with "reads completed".
    fn of(by: &[u64], in_flight: u64, time: Nanos) -> DiskUse {
        let io = |at: usize| Io { count: by[at], merged: by[at + 1], sectors: by[at + 2], ms: by[at + 3] };
        DiskUse {
            time,
            reads: io(0),
            writes: io(4),
            discards: (by.len() >= 15).then(|| io(11)),
            flushes: (by.len() >= 17).then(|| Io { count: by[15], ms: by[16], ..Io::default() }),
            in_flight,
            busy_ms: by[9],
            weighted_ms: by[10],
        }
    }

    /// Whether no I/O was completed or in flight.
    pub fn is_idle(&self) -> bool {
        self.weighted_ms == 0 && self.has_completed_nothing()
    }

    /// Whether no I/O was completed.
    pub fn has_completed_nothing(&self) -> bool {
        let some = [Some(self.reads), Some(self.writes), self.discards, self.flushes];
        some.iter().flatten().all(|io| io.count == 0)
    }

    fn add(&mut self, next: &DiskUse) {
        self.time = Nanos(self.time.0.saturating_add(next.time.0));
        self.reads.add(&next.reads);
        self.writes.add(&next.writes);
        for (sum, next) in [(&mut self.discards, next.discards), (&mut self.flushes, next.flushes)] {
            if let Some(next) = next {
                sum.get_or_insert_default().add(&next);
            }
        }
        self.in_flight = self.in_flight.min(next.in_flight);
        self.busy_ms = self.busy_ms.saturating_add(next.busy_ms);
        self.weighted_ms = self.weighted_ms.saturating_add(next.weighted_ms);
    }
}

impl Io {
    fn add(&mut self, next: &Io) {
        self.count = self.count.saturating_add(next.count);
        self.merged = self.merged.saturating_add(next.merged);
        self.sectors = self.sectors.saturating_add(next.sectors);
        self.ms = self.ms.saturating_add(next.ms);
    }
}

impl CpuUse {
    /// A counter that fell counts as 0, as in sysstat: idle and iowait may fall (proc_stat(5)), and so may the counters of a processor
    /// that was taken offline and came back.
    fn between(before: &[u64], after: &[u64]) -> CpuUse {
        let by = |i: usize| match (before.get(i), after.get(i)) {
            (Some(b), Some(a)) => a.saturating_sub(*b),
            _ => 0,
        };
        let [user, nice, system, idle, iowait, irq, softirq, steal] = std::array::from_fn(by);
        CpuUse { user, nice, system, idle, iowait, irq, softirq, steal }
    }

    fn parts(&mut self) -> [&mut u64; 8] {
        let CpuUse { user, nice, system, idle, iowait, irq, softirq, steal } = self;
        [user, nice, system, idle, iowait, irq, softirq, steal]
    }

    fn add(&mut self, next: &CpuUse) {
        let mut next = *next;
        for (sum, n) in self.parts().into_iter().zip(next.parts()) {
            *sum = sum.saturating_add(*n);
        }
    }

    /// The sum of all ticks.
    pub fn total(&self) -> u64 {
        let mut all = *self;
        all.parts().iter().fold(0, |sum, n| u64::saturating_add(sum, **n))
    }

    /// `ticks` as a part of all ticks, 0 to 1.
    pub fn share(&self, ticks: u64) -> f64 {
        ticks as f64 / self.total().max(1) as f64
    }
}

impl Stalled {
    fn between(before: &Sample, after: &Sample) -> Stalled {
        // Values are microseconds since boot.
        let of = |what: &str, how: &str| {
            let total = |line: &Sample| line.pressure.get(what)?.get(how).copied();
            Some(Nanos(total(after)?.saturating_sub(total(before)?).saturating_mul(1000)))
        };
        Stalled {
            cpu_some: of("cpu", "some"),
            io_some: of("io", "some"),
            io_full: of("io", "full"),
            memory_some: of("memory", "some"),
            memory_full: of("memory", "full"),
        }
    }

    fn add(&mut self, next: &Stalled) {
        for (sum, next) in [
            (&mut self.cpu_some, next.cpu_some),
            (&mut self.io_some, next.io_some),
            (&mut self.io_full, next.io_full),
            (&mut self.memory_some, next.memory_some),
            (&mut self.memory_full, next.memory_full),
        ] {
            *sum = sum.zip(next).map(|(a, b)| Nanos(a.0.saturating_add(b.0)));
        }
    }
}
