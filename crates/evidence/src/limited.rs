//! Cgroup limits on memory and processor time, and how often they were hit during the recording.

use capture::{Limited as Group, Snapshot};
use std::collections::{BTreeMap, BTreeSet};
use trace::{Bytes, Nanos, Tid};

/// A limit of a cgroup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limited {
    /// Path of the file that sets the limit, below /sys/fs/cgroup.
    pub file: String,
    /// Processes in the cgroup and its descendants, at the start or end of the recording.
    pub members: BTreeSet<Tid>,
    /// The limited resource, and how often the limit was hit.
    pub limit: Limit,
}

/// The limit of a cgroup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Limit {
    /// A limit on memory, including the page cache.
    Memory {
        /// The limit in bytes.
        bytes: Bytes,
        /// How often memory was reclaimed because of the limit during the recording.
        met: u64,
        /// The next higher limit: its file and bytes; `None` without one.
        above: Option<(String, Bytes)>,
    },
    /// A limit on processor time.
    Cpu {
        /// Processor time per period, in microseconds.
        quota: u64,
        /// Length of a period in microseconds.
        period: u64,
        /// Periods during the recording in which the quota was exhausted.
        periods: u64,
        /// Time that processes were throttled, summed over processors.
        stopped: Nanos,
    },
}

impl Limited {
    /// How often memory was reclaimed because of the limit; 0 for other limits.
    pub(crate) fn met(&self) -> u64 {
        match self.limit {
            Limit::Memory { met, .. } => met,
            Limit::Cpu { .. } => 0,
        }
    }

    /// Time that processes were throttled; 0 for other limits.
    pub(crate) fn stopped(&self) -> Nanos {
        match self.limit {
            Limit::Memory { .. } => Nanos(0),
            Limit::Cpu { stopped, .. } => stopped,
        }
    }
}

/// Limit on cgroups per snapshot; the recorder keeps fewer.
const MOST: usize = 1024;

/// Limit on processes per cgroup; the recorder keeps fewer.
const MOST_MEMBERS: usize = 4096;

/// Files that set limits. No other file name is ever suggested for a command.
const FILES: [&str; 6] = [
    "memory.high",
    "memory.max",
    "memory.limit_in_bytes",
    "memory.memsw.limit_in_bytes",
    "cpu.max",
    "cpu.cfs_quota_us",
];

/// The limits at the end, one per cgroup and resource, with the hits since the start; a cgroup that is only in the second snapshot counts from 0.
pub(crate) fn between(before: &Snapshot, after: &Snapshot) -> Vec<Limited> {
    let then: BTreeMap<&str, &Group> =
        before.limited.iter().take(MOST).map(|group| (&*group.path, group)).collect();
    let now: BTreeMap<&str, &Group> =
        after.limited.iter().take(MOST).map(|group| (&*group.path, group)).collect();
    let mut all = vec![];
    for (path, now) in now.into_iter().filter(|(path, _)| path.split('/').all(|name| name != "..")) {
        let then = then.get(path).copied();
        let of =
            |group: &Group| group.members.iter().take(MOST_MEMBERS).map(|pid| Tid(*pid)).collect::<Vec<_>>();
        let members: BTreeSet<Tid> = then.map(of).into_iter().flatten().chain(of(now)).collect();
        let whole = |file: &str| FILES.contains(&file).then(|| format!("/sys/fs/cgroup/{path}/{file}"));
        let mut put = |file: &str, limit| {
            all.extend(whole(file).map(|file| Limited { file, members: members.clone(), limit }));
        };
        if let Some(memory) = &now.memory {
            let then = then.and_then(|group| group.memory.as_ref()).filter(|then| then.file == memory.file);
            let met = memory.met.saturating_sub(then.map_or(0, |then| then.met));
            let above = memory.above.as_ref();
            let above = above.and_then(|above| Some((whole(&above.file)?, Bytes(above.bytes))));
            put(&memory.file, Limit::Memory { bytes: Bytes(memory.bytes), met, above });
        }
        if let Some(cpu) = &now.cpu {
            let then = then.and_then(|group| group.cpu.as_ref());
            let periods = cpu.throttled.saturating_sub(then.map_or(0, |cpu| cpu.throttled));
            let stopped = cpu.throttled_ns.saturating_sub(then.map_or(0, |cpu| cpu.throttled_ns));
            let [quota, period] = [cpu.quota_us, cpu.period_us];
            put(&cpu.file, Limit::Cpu { quota, period, periods, stopped: Nanos(stopped) });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::System;
    use capture::{CpuLimit, MemoryAbove, MemoryLimit};

    #[test]
    fn only_what_was_met_meanwhile_counts() {
        let of = |pid: u32, met: u64, throttled: u64| {
            let memory = MemoryLimit { file: "memory.max".into(), bytes: 1 << 20, met, above: None };
            let cpu = CpuLimit {
                file: "cpu.max".into(),
                quota_us: 50_000,
                period_us: 100_000,
                throttled,
                throttled_ns: throttled * 10,
            };
            let group = Group { path: "db".into(), members: vec![pid], memory: Some(memory), cpu: Some(cpu) };
            Snapshot { limited: vec![group], ..Snapshot::default() }
        };
        let limits = between(&of(1, 5, 7), &of(2, 9, 7));
        assert_eq!(limits[0].limit, Limit::Memory { bytes: Bytes(1 << 20), met: 4, above: None });
        assert_eq!(limits[0].file, "/sys/fs/cgroup/db/memory.max");
        assert_eq!(limits[0].members, BTreeSet::from([Tid(1), Tid(2)]));
        let none = Limit::Cpu { quota: 50_000, period: 100_000, periods: 0, stopped: Nanos(0) };
        assert_eq!(limits[1].limit, none);
        let system = System { limited: between(&of(1, 5, 7), &of(2, 9, 8)), ..System::default() };
        let met = |pid| {
            (
                system.memory_limit_met([Tid(pid)].into_iter()),
                system.quota_met([Tid(pid)].into_iter(), Nanos(10)),
            )
        };
        assert_eq!(met(2), (Some(&system.limited[0]), Some(&system.limited[1])));
        assert_eq!(met(3), (None, None));
        assert_eq!(system.quota_met([Tid(2)].into_iter(), Nanos(11)), None, "it stopped them for 10 ns");
        let begun = between(&Snapshot::default(), &of(2, 9, 7));
        let all = Limit::Memory { bytes: Bytes(1 << 20), met: 9, above: None };
        assert_eq!(begun[0].limit, all, "it began meanwhile");
        assert_eq!(between(&of(1, 5, 7), &Snapshot::default()), []);
    }

    /// A file name from a recording must not end up in a printed command.
    #[test]
    fn only_files_of_control_groups_are_named() {
        let of = |path: &str, file: &str| {
            let above = Some(MemoryAbove { file: format!("../{file}"), bytes: 1 });
            let memory = MemoryLimit { file: file.into(), bytes: 1, met: 9, above };
            let group = Group { path: path.into(), memory: Some(memory), ..Group::default() };
            between(
                &Snapshot::default(),
                &Snapshot { limited: vec![group.clone(), group], ..Snapshot::default() },
            )
        };
        let all = of("db", "memory.max");
        assert_eq!(all.len(), 1, "each once");
        assert_eq!(all[0].limit, Limit::Memory { bytes: Bytes(1), met: 9, above: None });
        assert_eq!(of("../../../etc", "memory.max"), []);
        assert_eq!(of("db", "passwd"), []);
    }
}
