//! Reads cgroups that limit memory or processor time.
//!
//! v2: `memory.max`, `memory.high`, `memory.events`, `cpu.max`, `cpu.stat` (Documentation/admin-guide/cgroup-v2.rst). v1:
//! `memory.limit_in_bytes`, `memory.failcnt`, `memory.memsw.failcnt` (cgroup-v1/memory.rst), `cpu.cfs_quota_us`, `cpu.cfs_period_us`, `cpu.stat`
//! (scheduler/sched-bwc.rst). A memory limit of at least the machine's memory has no effect and is left out.

use super::cgroup::folders;
use crate::text;
use capture::{CpuLimit, Limited, MemoryAbove, MemoryLimit};
use std::path::{Path, PathBuf};

/// Limit on cgroups per hierarchy.
const MOST_KEPT: usize = 512;
/// Limit on processes per cgroup.
const MOST_MEMBERS: usize = 1024;

/// Cgroups below /sys with a limit. `memory` is the machine's memory in bytes.
pub fn read(sys: &Path, memory: u64) -> Vec<Limited> {
    let top = sys.join("fs/cgroup");
    let roots: Vec<PathBuf> = match top.join("cgroup.controllers").exists() {
        true => vec![top.clone()],
        false => ["memory", "cpu"].iter().map(|n| top.join(n)).filter(|p| p.is_dir()).collect(),
    };
    let of = |dir: PathBuf| {
        let (memory, cpu) = (memory_of(&dir, memory), cpu_of(&dir));
        if memory.is_none() && cpu.is_none() {
            return None;
        }
        let path = dir.strip_prefix(&top).unwrap_or(&dir).to_string_lossy().into_owned();
        let all = folders(&dir).flat_map(|below| members(&below));
        Some(Limited { path, members: all.take(MOST_MEMBERS).collect(), memory, cpu })
    };
    roots.iter().flat_map(|root| folders(root).filter_map(of).take(MOST_KEPT)).collect()
}

fn members(dir: &Path) -> Vec<u32> {
    let procs = text::small(&dir.join("cgroup.procs")).unwrap_or_default();
    procs.lines().filter_map(|line| line.parse().ok()).collect()
}

fn number(dir: &Path, file: &str) -> Option<u64> {
    text::small(&dir.join(file))?.parse().ok()
}

/// A value in a file with a name and a number on each line.
fn counted(dir: &Path, file: &str, name: &str) -> Option<u64> {
    let text = text::small(&dir.join(file))?;
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
}

fn memory_of(dir: &Path, machine: u64) -> Option<MemoryLimit> {
    // Counts of the cgroup alone (since Linux 5.2); otherwise those that include its descendants.
    let own = |name| counted(dir, "memory.events.local", name);
    let events = |name| own(name).or_else(|| counted(dir, "memory.events", name)).unwrap_or(0);
    let limits = [
        ("memory.high", events("high"), Some("memory.max")),
        ("memory.max", events("max"), None),
        (
            "memory.limit_in_bytes",
            // If memory alone and memory with swap have the same limit, the latter is hit first (mm/memcontrol.c, `try_charge_memcg`).
            ["memory.failcnt", "memory.memsw.failcnt"].iter().filter_map(|file| number(dir, file)).sum(),
            Some("memory.memsw.limit_in_bytes"),
        ),
    ];
    let limit = |(file, met, above): (&str, u64, Option<&str>)| {
        let bytes = number(dir, file)?;
        let above = above.and_then(|file| Some(MemoryAbove { file: file.into(), bytes: number(dir, file)? }));
        Some(MemoryLimit {
            file: file.into(),
            bytes,
            met,
            above: above.filter(|above| above.bytes / 2 < machine),
        })
    };
    // The lower limit is hit first.
    limits.into_iter().filter_map(limit).filter(|limit| limit.bytes < machine).min_by_key(|limit| limit.bytes)
}

fn cpu_of(dir: &Path) -> Option<CpuLimit> {
    let both = || {
        let text = text::small(&dir.join("cpu.max"))?;
        let (quota, period) = text.split_once(' ')?;
        Some(("cpu.max", quota.parse().ok()?, period.parse().ok()?))
    };
    let first =
        || Some(("cpu.cfs_quota_us", number(dir, "cpu.cfs_quota_us")?, number(dir, "cpu.cfs_period_us")?));
    let (file, quota_us, period_us) = both().or_else(first)?;
    let count = |name| counted(dir, "cpu.stat", name);
    let micros = || Some(count("throttled_usec")?.saturating_mul(1000));
    Some(CpuLimit {
        file: file.into(),
        quota_us,
        period_us,
        throttled: count("nr_throttled").unwrap_or(0),
        throttled_ns: count("throttled_time").or_else(micros).unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn put(root: &Path, file: &str, text: &str) {
        let path = root.join("fs/cgroup").join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn limits_of_version_2_are_of_those_below_too() {
        let root = tempfile::tempdir().unwrap();
        let put = |file: &str, text: &str| put(root.path(), file, text);
        put("cgroup.controllers", "cpu memory\n");
        put("pod/memory.max", "100000000\n");
        put("pod/memory.high", "max\n");
        put("soft/memory.high", "50000000\n");
        put("soft/memory.max", "60000000\n");
        put("pod/memory.events", "low 0\nhigh 3\nmax 7\n");
        put("pod/cpu.max", "20000 100000\n");
        put("pod/cpu.stat", "usage_usec 5\nnr_periods 9\nnr_throttled 4\nthrottled_usec 250\n");
        put("pod/db/cgroup.procs", "12\n13\n");
        put("slice/memory.max", "200000000\n");
        put("slice/memory.events", "high 0\nmax 9\n");
        put("slice/memory.events.local", "high 0\nmax 0\n");
        put("free/memory.max", "max\n");
        put("free/cpu.max", "max 100000\n");
        put("large/memory.max", "9000000000\n");
        let found = read(root.path(), 1 << 30);
        let memory = MemoryLimit { file: "memory.max".into(), bytes: 100_000_000, met: 7, above: None };
        let cpu = CpuLimit {
            file: "cpu.max".into(),
            quota_us: 20_000,
            period_us: 100_000,
            throttled: 4,
            throttled_ns: 250_000,
        };
        let pod = Limited { path: "pod".into(), members: vec![12, 13], memory: Some(memory), cpu: Some(cpu) };
        assert_eq!(found[0], pod);
        let met: Vec<u64> = found[1..].iter().filter_map(|l| l.memory.as_ref().map(|m| m.met)).collect();
        assert_eq!(met, [0, 0], "what a group below met is that one's");
        let above = found.iter().find(|l| l.path == "soft").and_then(|l| l.memory.clone()?.above);
        assert_eq!(above, Some(MemoryAbove { file: "memory.max".into(), bytes: 60_000_000 }));
    }

    #[test]
    fn limits_of_version_1_are_of_two_hierarchies() {
        let root = tempfile::tempdir().unwrap();
        let put = |file: &str, text: &str| put(root.path(), file, text);
        put("memory/a/memory.limit_in_bytes", "31457280\n");
        put("memory/a/memory.failcnt", "5\n");
        put("memory/a/memory.memsw.failcnt", "3\n");
        put("memory/a/memory.memsw.limit_in_bytes", "9223372036854771712\n");
        put("memory/a/cgroup.procs", "7\n");
        put("memory/b/memory.limit_in_bytes", "9223372036854771712\n");
        put("cpu/a/cpu.cfs_quota_us", "20000\n");
        put("cpu/a/cpu.cfs_period_us", "100000\n");
        put("cpu/a/cpu.stat", "nr_periods 3\nnr_throttled 2\nthrottled_time 99\n");
        put("cpu/b/cpu.cfs_quota_us", "-1\n");
        put("cpu/b/cpu.cfs_period_us", "100000\n");
        let found = read(root.path(), 1 << 30);
        let told: Vec<_> = found.iter().map(|l| (&*l.path, l.memory.is_some(), l.cpu.is_some())).collect();
        assert_eq!(told, [("memory/a", true, false), ("cpu/a", false, true)]);
        let memory = found[0].memory.clone().unwrap();
        assert_eq!((&*found[0].members, memory.met, memory.above), (&[7][..], 8, None));
        let cpu = found[1].cpu.clone().unwrap();
        assert_eq!((&*cpu.file, cpu.throttled, cpu.throttled_ns), ("cpu.cfs_quota_us", 2, 99));
    }
}
