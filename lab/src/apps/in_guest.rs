//! Runs in a virtual machine: rig.sh as it is here, in a guest that has this machine's programs.
//!
//! All runs of a condition are in the same one, which has made its own disk; what a run left lies in the guest's share.

use super::apart::APART;
use super::catalogue::folder;
use crate::machine::exports;
use crate::outcome::Outcome;
use std::ffi::OsString;
use std::time::Duration;

/// What the run before left, in the share.
pub const LEFT: &str = "left";
/// What a run takes besides the time after which it is given up.
const BESIDES: u64 = 60;

/// bash: what a guest needs before all. The memory controller of version 1 may not be there: its folder then is one like any other.
const READY: &str = r#"
set -eu
mount -t tracefs trace /sys/kernel/tracing; mount -t debugfs debug /sys/kernel/debug
chroot /proc/1/root /bin/busybox ip link set lo up
for module in fuse loop ext4 xfs btrfs bfq mq-deadline kyber-iosched; do chroot /proc/1/root modprobe $module || true; done
mount -t tmpfs groups /sys/fs/cgroup
for kind in blkio memory; do mkdir /sys/fs/cgroup/$kind; mount -t cgroup -o $kind $kind /sys/fs/cgroup/$kind || true; done
mkdir /tmp/making; export DIR=/tmp/making HOME=/tmp
"#;

/// How long a run may take that is given up after so many seconds.
pub fn limit(give_up: u64) -> Duration {
    Duration::from_secs(give_up + BESIDES)
}

/// bash: the disk of a condition.
pub fn image(variables: Vec<(&'static str, OsString)>) -> Outcome<String> {
    Ok(format!("{}{READY}{} image /tmp/image\n", exports(variables)?, begun()))
}

/// bash: a run in a new folder.
pub fn run(variables: Vec<(&'static str, OsString)>) -> Outcome<String> {
    let here = "export HOME=/tmp DIR=/tmp/run IMAGE=/tmp/image CAPTURE=/tmp/run/capture\n";
    let before =
        format!("rm -rf --one-file-system /tmp/run /mnt/share/{LEFT}; mkdir /tmp/run /mnt/share/{LEFT}\n");
    let after = format!("cd /tmp/run; cp -r $(ls -d reported capture 2>/dev/null) /mnt/share/{LEFT}/\n");
    Ok(format!("{}{here}{before}{} run || exit\n{after}", exports(variables)?, begun()))
}

fn begun() -> String {
    format!("timeout -k 20 $GIVE_UP {} {}/rig.sh", APART.join(" "), folder().display())
}
