//! What is mounted where, with which options (`/proc/self/mountinfo`, proc(5)).

use crate::text::unescaped;
use serde::Serialize;
use std::fs;
use std::path::Path;

/// The most mounts that are kept; container hosts have thousands.
const MOST: usize = 10_000;

/// One mount.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mount {
    /// Number of the file system's device, `254:0`; btrfs and memory file systems have made-up ones.
    pub dev: String,
    /// What is mounted: a device's path for file systems on disks.
    pub source: String,
    /// Where.
    pub point: String,
    /// Which folder of the file system is there.
    pub root: String,
    /// `xfs`, `ext4`, ...
    pub fstype: String,
    /// Options of this mount (`rw`, `relatime`).
    pub options: String,
    /// Options of the file system (`logbsize=32k`, `data=ordered`).
    pub super_options: String,
}

/// All mounts. `root` is /proc.
pub fn read(root: &Path) -> Vec<Mount> {
    let bytes = fs::read(root.join("self/mountinfo")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).lines().filter_map(parse).take(MOST).collect()
}

/// The mount that `path` lies on: the last of those with the longest mount point.
pub fn of<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    mounts.iter().filter(|m| path.starts_with(&m.point)).max_by_key(|m| m.point.len())
}

/// `36 35 98:0 /root /mnt rw,noatime shared:1 - ext3 /dev/sda1 rw,errors=continue`
fn parse(line: &str) -> Option<Mount> {
    let (left, right) = line.split_once(" - ")?;
    let mut left = left.split(' ').skip(2);
    let mut right = right.split(' ');
    Some(Mount {
        dev: left.next()?.to_string(),
        root: unescaped(left.next()?),
        point: unescaped(left.next()?),
        options: left.next()?.to_string(),
        fstype: right.next()?.to_string(),
        source: unescaped(right.next()?),
        super_options: right.next().unwrap_or_default().to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line() {
        let m =
            parse("36 35 98:0 /r\\040x /mnt rw,noatime shared:1 master:2 - ext3 /dev/sda1 rw,data=ordered")
                .unwrap();
        assert_eq!((m.dev.as_str(), m.root.as_str(), m.point.as_str()), ("98:0", "/r x", "/mnt"));
        assert_eq!((m.fstype.as_str(), m.super_options.as_str()), ("ext3", "rw,data=ordered"));
        assert_eq!(parse("nonsense"), None);
        assert_eq!(parse("1 2 - x"), None);
    }

    #[test]
    fn the_deepest_mount_wins() {
        let mount = |point: &str| Mount {
            point: point.into(),
            ..parse("1 2 8:0 / / rw - ext4 /dev/sda rw").unwrap()
        };
        let all = [mount("/"), mount("/mnt"), mount("/mn")];
        assert_eq!(of(&all, Path::new("/mnt/x")).unwrap().point, "/mnt");
        assert_eq!(of(&all, Path::new("/mntx")).unwrap().point, "/");
    }
}
