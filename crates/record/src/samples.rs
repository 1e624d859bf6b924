//! Samples the kernel's counters once per second.

use crate::clock::mono;
use capture::{Named, Sample};
use std::path::Path;
use std::time::UNIX_EPOCH;

/// Fields of /proc/vmstat to keep: dirty pages, reclaim, swap, and drops of the page cache. Pages and events, since boot.
const VMSTAT: &[&str] = &[
    "nr_dirty",
    "nr_writeback",
    "nr_dirtied",
    "nr_written",
    "nr_dirty_threshold",
    "nr_dirty_background_threshold",
    "pgpgin",
    "pgpgout",
    "pswpin",
    "pswpout",
    "pgmajfault",
    "pgscan_direct",
    "pgscan_kswapd",
    "pgsteal_direct",
    "allocstall_normal",
    "allocstall_movable",
    "drop_pagecache",
    "drop_slab",
];
/// Fields of /proc/meminfo to keep.
const MEMINFO: &[&str] = &["MemTotal", "MemFree", "MemAvailable", "Cached", "Dirty", "Writeback", "SwapFree"];
/// Limit on the fields of a line in /proc/diskstats (17 since Linux 5.5).
const MOST_FIELDS: usize = 32;
/// Limit on the lines of one file.
const MOST_LINES: usize = 100_000;

/// Takes a sample. `root` is /proc. Missing files leave their fields empty.
pub fn take(root: &Path) -> Sample {
    let read = |name: &str| {
        let bytes = std::fs::read(root.join(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let mut s = Sample {
        mono_ns: Some(mono().0),
        wall_ns: UNIX_EPOCH.elapsed().map_or(0, |d| d.as_nanos() as u64),
        ..Sample::default()
    };
    for line in read("diskstats").lines().take(MOST_LINES) {
        let mut words = line.split_ascii_whitespace().skip(2);
        if let Some(name) = words.next() {
            s.disks.insert(name.into(), numbers(words));
        }
    }
    for line in read("stat").lines().take(MOST_LINES) {
        let mut words = line.split_ascii_whitespace();
        let name = words.next().unwrap_or_default();
        match name {
            "procs_running" => s.running = numbers(words).first().copied().unwrap_or(0),
            "procs_blocked" => s.blocked = numbers(words).first().copied().unwrap_or(0),
            _ if name.starts_with("cpu") => {
                s.cpus.insert(name.into(), numbers(words));
            }
            _ => {}
        }
    }
    s.memory = pick(&read("meminfo"), MEMINFO, 1024);
    s.vmstat = pick(&read("vmstat"), VMSTAT, 1);
    for what in ["cpu", "io", "memory"] {
        let stalled = stalled(&read(&format!("pressure/{what}")));
        if !stalled.is_empty() {
            s.pressure.insert(what.into(), stalled);
        }
    }
    s
}
fn numbers<'a>(words: impl Iterator<Item = &'a str>) -> Vec<u64> {
    words.map_while(|w| w.parse().ok()).take(MOST_FIELDS).collect()
}

/// Parses `Name: 12 kB` or `name 12` for the wanted names; values are multiplied by `unit`.
fn pick(text: &str, wanted: &[&str], unit: u64) -> Named<u64> {
    let value = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        let name = words.next()?.trim_end_matches(':');
        let n: u64 = words.next()?.parse().ok()?;
        wanted.contains(&name).then(|| (name.into(), n.saturating_mul(unit)))
    };
    text.lines().filter_map(value).collect()
}

/// Parses `some avg10=0.00 avg60=0.00 avg300=0.00 total=123`.
fn stalled(text: &str) -> Named<u64> {
    let total = |line: &str| {
        let (name, rest) = line.split_once(' ')?;
        let n = rest.split(' ').find_map(|w| w.strip_prefix("total="))?.parse().ok()?;
        Some((name.into(), n))
    };
    text.lines().filter_map(total).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fake_proc() {
        let dir = tempfile::tempdir().unwrap();
        let put = |n: &str, t: &str| {
            let p = dir.path().join(n);
            std::fs::create_dir_all(p.parent().unwrap()).unwrap();
            std::fs::write(p, t).unwrap();
        };
        put("diskstats", " 254       0 vda 5 0 40 2 7 1 64 3 0 4 5 0 0 0 0 2 1\nshort\n");
        put("stat", "cpu  1 2 3 4\ncpu0 1 2 3 4\nintr 5 6\nprocs_running 3\nprocs_blocked 1\n");
        put("meminfo", "Dirty:   3 kB\nSlab: 4 kB\n");
        put("vmstat", "nr_dirty 9\nnr_foo 1\n");
        put("pressure/io", "some avg10=0.00 avg60=0.00 avg300=0.00 total=12\nfull avg10=0.00 total=5\n");
        let s = take(dir.path());
        assert_eq!(s.disks["vda"].len(), 17);
        assert_eq!(s.disks.len(), 1);
        assert_eq!(s.cpus["cpu0"], [1, 2, 3, 4]);
        assert_eq!((s.running, s.blocked), (3, 1));
        assert_eq!(s.memory["Dirty"], 3072);
        assert_eq!(s.vmstat["nr_dirty"], 9);
        assert_eq!(s.pressure["io"]["full"], 5);
        assert!(s.line().ends_with(b"}\n"));
    }

    #[test]
    fn nothing_there() {
        let dir = tempfile::tempdir().unwrap();
        let s = take(dir.path());
        assert!(s.disks.is_empty() && s.pressure.is_empty());
    }
}
