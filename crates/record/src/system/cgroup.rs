//! Reads cgroups that limit, weigh or protect I/O.
//!
//! Supports v2 (Documentation/admin-guide/cgroup-v2.rst, "IO Interface Files") and v1 (blkio). Cgroups without
//! settings are left out: hosts have thousands of them.

use super::files::names;
use crate::text;
use capture::{Cgroup, Cgroups, Settings};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Files that are settings if not empty.
const LIMITS: &[&str] = &[
    "io.max",
    "io.latency",
    "io.cost.qos",
    "io.cost.model",
    "io.prio.class",
    "blkio.throttle.read_bps_device",
    "blkio.throttle.write_bps_device",
    "blkio.throttle.read_iops_device",
    "blkio.throttle.write_iops_device",
];
/// Files that are settings if they differ from this default.
const WEIGHTS: &[(&str, &str)] = &[
    ("io.weight", "default 100"),
    ("io.bfq.weight", "default 100"),
    ("blkio.weight", "500"),
    ("blkio.bfq.weight", "100"),
];
/// Limit on folders that are examined.
const MOST_LOOKED_AT: usize = 20_000;
/// Limit on cgroups that are kept.
const MOST_KEPT: usize = 1_000;

/// Limit on cgroups whose paths are kept: some 100 bytes each.
const MOST_PATHS: usize = 4096;

/// Reads all cgroups. `sys` is /sys.
pub fn read(sys: &Path) -> Cgroups {
    let top = sys.join("fs/cgroup");
    let roots: Vec<PathBuf> = match top.join("cgroup.controllers").exists() {
        true => vec![top.clone()],
        false => ["unified", "blkio"].iter().map(|n| top.join(n)).filter(|p| p.is_dir()).collect(),
    };
    let mut found = Cgroups::default();
    for (looked_at, dir) in roots.iter().flat_map(|root| folders(root)).enumerate() {
        if looked_at == MOST_LOOKED_AT || found.list.len() == MOST_KEPT {
            found.cut = true;
            break;
        }
        let settings = settings(&dir);
        let path = dir.strip_prefix(&top).unwrap_or(&dir).to_string_lossy().into_owned();
        let id = std::fs::metadata(&dir).map_or(0, |m| m.ino());
        if dir.join("cgroup.controllers").exists() && found.paths.len() < MOST_PATHS {
            found.paths.insert(id, path.clone());
        }
        if !settings.is_empty() {
            found.list.push(Cgroup { path, id, settings });
        }
    }
    found
}

/// A folder and all folders below it, parents first.
pub(super) fn folders(root: &Path) -> impl Iterator<Item = PathBuf> {
    let mut queue = vec![root.to_path_buf()];
    let next = move || {
        let dir = queue.pop()?;
        let below = names(&dir).into_iter().rev().map(|n| dir.join(n));
        queue.extend(below.filter(|p| std::fs::symlink_metadata(p).is_ok_and(|m| m.is_dir())));
        Some(dir)
    };
    std::iter::from_fn(next).take(MOST_LOOKED_AT + 1)
}

fn settings(dir: &Path) -> Settings {
    let read = |name: &str| Some((name.to_string(), text::small(&dir.join(name))?));
    let limits = LIMITS.iter().filter_map(|n| read(n)).filter(|(_, v)| !v.is_empty());
    let weights =
        WEIGHTS.iter().filter_map(|(n, usual)| read(n).filter(|(_, v)| v != usual && !v.is_empty()));
    limits.chain(weights).collect()
}
