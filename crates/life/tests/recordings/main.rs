//! Real recordings, asked by other means: what a naive calculation and blkparse's summary say, the lives must say too.
//!
//! The bundled recordings always; with env `CAPTURES`, every folder in it that holds blktrace files.

mod known;
mod naive;

use naive::{Kind, Naive};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use testkit::{observed_from, Observed};
use trace::Nanos;

/// The bundled recordings and those of `CAPTURES`.
fn recordings() -> Vec<PathBuf> {
    let bundled = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut folders = vec![bundled];
    match std::env::var_os("CAPTURES") {
        Some(more) => folders.push(more.into()),
        None => testkit::tools::skipped("CAPTURES names no folder: only the bundled recordings are compared"),
    }
    let mut found = vec![];
    for folder in folders {
        let entries = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        found.extend(entries.map(|e| e.expect("a folder").path()).filter(|p| !per_cpu_files(p).is_empty()));
    }
    found.sort();
    assert!(found.len() >= 8, "the bundled recordings are missing: {found:?}");
    found
}

/// The per-CPU files of a folder as they were before they were compressed: name and bytes.
fn per_cpu_files(folder: &Path) -> BTreeMap<String, PathBuf> {
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path());
    let named = names
        .filter_map(|p| Some((p.file_name()?.to_str()?.trim_end_matches(".zst").to_string(), p.clone())));
    named
        .filter(|(name, _)| name.rsplit_once(".blktrace.").is_some_and(|(_, n)| n.parse::<u32>().is_ok()))
        // An empty or broken file is no recording to compare with.
        .filter(|_| folder.file_name().is_some_and(|f| f != "bad"))
        .collect()
}

fn bytes(path: &Path) -> Vec<u8> {
    let raw = std::fs::read(path).expect("a recording");
    match path.extension() {
        Some(e) if e == "zst" => zstd::decode_all(&raw[..]).expect("zstd"),
        _ => raw,
    }
}

fn kind(op: life::Op) -> Option<Kind> {
    match op {
        life::Op::Read => Some(Kind::Read),
        life::Op::Write => Some(Kind::Write),
        life::Op::Discard => Some(Kind::Discard),
        life::Op::Flush => Some(Kind::Flush),
        life::Op::Passthrough => None,
    }
}

/// Per device and direction: how many D2C, mean, p50, p99, maximum.
type Table = BTreeMap<(u32, Kind), (usize, u64, Nanos, Nanos, Nanos)>;

fn table(times: impl Iterator<Item = (u32, Kind, Nanos)>) -> Table {
    let mut columns: BTreeMap<_, Vec<Nanos>> = BTreeMap::new();
    times.for_each(|(dev, kind, d2c)| columns.entry((dev, kind)).or_default().push(d2c));
    let row = |mut v: Vec<Nanos>| {
        v.sort();
        let mean = v.iter().map(|t| t.0).sum::<u64>() / v.len() as u64;
        let at = |share: f64| v[(v.len() as f64 * share) as usize];
        (v.len(), mean, at(0.5), at(0.99), v[v.len() - 1])
    };
    columns.into_iter().map(|(key, v)| (key, row(v))).collect()
}

/// D2C per device and direction, to the nanosecond, against the naive calculation.
#[test]
fn device_times_equal_the_naive_ones() {
    for folder in recordings() {
        let files: Vec<_> = per_cpu_files(&folder).values().map(|p| bytes(p)).collect();
        let Some(naive) = Naive::of(&files) else {
            testkit::tools::skipped(&format!("{} is damaged, or not of version 7", folder.display()));
            continue;
        };
        let observed = observed_from(&folder);
        let of_lives =
            table(observed.requests.iter().filter_map(|r| Some((r.dev.0, kind(r.op)?, r.time.d2c()?))));
        assert_eq!(of_lives, table(naive.d2c.into_iter()), "{}", folder.display());
    }
}

/// What blkparse counts: bios queued, requests issued, completions. Requests issued are those completed, given back, or
/// still in the device.
#[test]
fn totals_equal_blkparses() {
    if !testkit::tools::installed("blkparse", &["-V"]) {
        return;
    }
    for folder in recordings() {
        let blkparse = Counts::of_blkparse(&folder);
        let observed = observed_from(&folder);
        assert_eq!(blkparse, Counts::of_lives(&observed, &blkparse), "{}", folder.display());
    }
}

#[derive(Debug, PartialEq)]
struct Counts {
    queued: u64,
    dispatched: u64,
    completed: u64,
}

impl Counts {
    /// The sums of blkparse's blocks per CPU and device.
    fn of_blkparse(folder: &Path) -> Counts {
        let scratch = tempfile::tempdir().expect("a folder");
        let mut blkparse = Command::new("blkparse");
        let mut devices = vec![];
        for (name, path) in per_cpu_files(folder) {
            let unpacked = scratch.path().join(&name);
            match path.extension() {
                Some(e) if e == "zst" => std::fs::write(&unpacked, bytes(&path)).expect("unpacking"),
                _ => std::os::unix::fs::symlink(std::fs::canonicalize(&path).unwrap(), &unpacked)
                    .expect("a link"),
            }
            devices.push(name.rsplit_once(".blktrace.").map(|(d, _)| d.to_string()).unwrap_or_default());
        }
        devices.dedup();
        for device in &devices {
            blkparse.arg("-i").arg(scratch.path().join(device));
        }
        // A format that prints nothing for any event: the summary is what is wanted.
        let out = blkparse.args(["-f", ""]).output().expect("running blkparse");
        let mut sums = Counts { queued: 0, dispatched: 0, completed: 0 };
        let mut in_cpu = false;
        for line in String::from_utf8_lossy(&out.stdout).lines() {
            if line.starts_with("CPU") || line.starts_with("Total") || line.starts_with("Throughput") {
                in_cpu = line.starts_with("CPU");
            } else if in_cpu {
                for (label, sum) in [
                    ("s Queued:", &mut sums.queued),
                    (" Dispatches:", &mut sums.dispatched),
                    ("s Completed:", &mut sums.completed),
                ] {
                    let after = line.split(label).skip(1);
                    *sum += after
                        .filter_map(|t| t.trim_start().split(',').next()?.parse::<u64>().ok())
                        .sum::<u64>();
                }
            }
        }
        sums
    }

    /// The same from the lives; completions that ended nothing of their own (the extra one of a flush sequence, those of
    /// bio-based devices, those without a beginning) are in neither of the lives' lists, so they are only bounded.
    fn of_lives(observed: &Observed, blkparse: &Counts) -> Counts {
        let mut depth = BTreeMap::new();
        for (dev, _, n) in &observed.depths {
            depth.insert(*dev, *n);
        }
        let issues_seen = observed.requests.iter().filter(|r| r.time.issued.is_some());
        let dispatched =
            issues_seen.map(|r| 1 + r.time.requeues as u64).sum::<u64>() + depth.values().sum::<u64>();
        let steps: u64 = observed.requests.iter().map(|r| r.completions as u64).sum();
        let extra = observed.requests.iter().filter(|r| r.time.flushed).count() as u64;
        let without_request =
            observed.bios.iter().filter(|b| !b.by_request).map(|b| b.pieces as u64).sum::<u64>();
        let empty_flushes =
            observed.bios.iter().filter(|b| b.by_request && b.op == life::Op::Flush).count() as u64;
        let least = steps + extra + empty_flushes;
        let most =
            least + without_request + observed.tally.completions_unmatched + observed.tally.began_before;
        let completed = blkparse.completed.clamp(least, most);
        Counts { queued: observed.tally.bios, dispatched, completed }
    }
}
