//! Mounted file systems of this machine.

use capture::{mountinfo, Mount};
use std::fs;
use std::path::Path;

/// Limit on mounts; container hosts have thousands.
const MOST: usize = 10_000;

/// All mounts. `root` is /proc.
pub fn read(root: &Path) -> Vec<Mount> {
    let bytes = fs::read(root.join("self/mountinfo")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).lines().filter_map(mountinfo).map(|m| m.mount).take(MOST).collect()
}

/// The mount that contains `path`: the last of those with the longest mount point.
pub fn of<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    mounts.iter().filter(|m| path.starts_with(&m.point)).max_by_key(|m| m.point.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deepest_mount_wins() {
        let mount = |point: &str| Mount { point: point.into(), ..Mount::default() };
        let all = [mount("/"), mount("/mnt"), mount("/mn")];
        assert_eq!(of(&all, Path::new("/mnt/x")).unwrap().point, "/mnt");
        assert_eq!(of(&all, Path::new("/mntx")).unwrap().point, "/");
    }
}
