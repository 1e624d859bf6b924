//! A disk model to check up, with a file system on it: `slowdisk` behind a loop device, in a namespace of its own.
//!
//! All of it runs before usual processes (SCHED_RR), since the machines of tests are busy: a slow disk is to be slow because
//! it says so. That is not enough on a machine that stands still for a second: what depends on time is tried again
//! ([`testkit::steady`]).

use serde_json::Value as Json;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};

pub const IOWHY: &str = env!("CARGO_BIN_EXE_iowhy");
/// A disk that is good: eight reads at once, a cache that needs no flush.
pub const GOOD: &str = "--channels 8 --read-us 800 --write-us 800 --mbps 400";

/// Past the test runner's capture: a test that is silently skipped looks like one that passed.
pub fn skip(why: &str) {
    let thread = std::thread::current();
    let _ = writeln!(std::io::stderr(), "SKIPPED in {}: {why}", thread.name().unwrap_or("a test"));
}

/// The functions of every script: `attach OPTIONS` makes a disk with a file system at mnt, `detach` takes it away.
const SCRIPT: &str = r#"
cd "$DIR"; chmod 755 .; mkdir m mnt
# In this namespace only: so that it can be seen whether an instance is left.
mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing
# The kernel's threads for the loop device and the journal come and go.
workers() { for p in $(pgrep "^(kworker/[0-9u]|jbd2/loop)"); do chrt $1 -p $2 $p 2>/dev/null || true; done; }
# A loop device keeps its settings for the next one that gets it.
usual() {
  echo none > $queue/scheduler; echo 64 > $queue/nr_requests; echo 128 > $queue/nr_requests; echo 0 > $queue/stable_writes
  echo 1280 > $queue/max_sectors_kb; echo 2000 > $queue/wbt_lat_usec 2>/dev/null || true
  echo 'write back' > $queue/write_cache 2>/dev/null || true
}
attach() {
  rm -f b; "$SLOWDISK" m --backing b --size 1024 "$@" &
  for i in $(seq 100); do [ -e m/disk ] && break; sleep 0.1; done
  dev=$(losetup -f --show --direct-io=on m/disk); name=$(basename $dev); queue=/sys/block/$name/queue
  usual; eval "$SETUP"
  mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0,nodiscard $dev; mount $dev mnt
}
detach() {
  cd "$DIR"
  # Whatever a script has left behind may still have a file open.
  for i in $(seq 50); do mountpoint -q mnt || break; umount mnt 2>/dev/null || sleep 0.1; done
  usual; losetup -d $dev
  for i in $(seq 50); do umount m 2>/dev/null && break; sleep 0.1; done
}
trap 'workers -o 0; detach' EXIT
attach $DISK
checkup() { workers -r 1; "$IOWHY" checkup mnt "$@"; }
left() { find mnt -mindepth 1 ! -name lost+found ! -name fill; }
clean() {
  [ -z "$(left)" ] || { echo "LEFT:"; left; exit 7; }
  # Loads work in the folder; other checkups of this machine do not concern us.
  ! ls -l /proc/[0-9]*/cwd 2>/dev/null | grep -F "$DIR/mnt" || { echo "LEFT: a load"; exit 7; }
  for i in /sys/kernel/tracing/instances/iowhy-$1-*; do [ ! -e "$i" ] || { echo "LEFT: $i"; exit 7; }; done
}
"#;

/// What a script did on a disk.
pub struct Done {
    dir: tempfile::TempDir,
    out: Output,
}

impl Done {
    pub fn text(&self, name: &str) -> String {
        let text = std::fs::read(self.dir.path().join(name));
        String::from_utf8_lossy(&text.unwrap_or_else(|e| panic!("{name}: {e}\n{}", self.said()))).into_owned()
    }

    pub fn json(&self, name: &str) -> Json {
        serde_json::from_str(&self.text(name)).unwrap()
    }

    pub fn said(&self) -> String {
        String::from_utf8_lossy(&self.out.stdout).into_owned() + &String::from_utf8_lossy(&self.out.stderr)
    }
}

/// Whether disks can be made here; says why not.
fn possible(slowdisk: &Path) -> bool {
    if !slowdisk.exists() || !Path::new("/dev/fuse").exists() {
        skip("no slowdisk (cargo build -p iowhy-slowdisk) or no /dev/fuse");
        return false;
    }
    for program in ["unshare", "chrt", "pgrep", "losetup", "fio", "mkfs.ext4", "setpriv"] {
        if Command::new(program).arg("-V").output().is_err() {
            skip(&format!("{program} is not installed"));
            return false;
        }
    }
    let able = Command::new(IOWHY).args(["record", "--clean"]).output().unwrap();
    if !able.status.success() {
        skip(&String::from_utf8_lossy(&able.stderr));
    }
    able.status.success()
}

/// Runs a script with a disk. `None`, and a word why, where something is missing.
pub fn on_disk(disk: &str, setup: &str, run: &str) -> Option<Done> {
    // One must not be slowed down by another, nor by what other tests record.
    let _alone = testkit::alone_on_machine();
    let slowdisk = Path::new(IOWHY).with_file_name("slowdisk");
    if !possible(&slowdisk) {
        return None;
    }
    let dir = tempfile::tempdir_in("/dev/shm").unwrap();
    let script = [SCRIPT, run].join("\n");
    let words = ["-r", "1", "unshare", "-m", "--propagation", "private", "bash", "-euc", &script];
    let out = Command::new("chrt")
        .args(words)
        .env("DIR", dir.path())
        .env("DISK", disk)
        .env("SETUP", setup)
        .env("IOWHY", IOWHY)
        .env("SLOWDISK", slowdisk)
        .output()
        .unwrap();
    let done = Done { dir, out };
    let said = done.said();
    if ["Operation not permitted", "cannot find an unused loop"].iter().any(|m| said.contains(m)) {
        skip(&said);
        return None;
    }
    assert!(done.out.status.success(), "{said}");
    Some(done)
}

/// Findings, each with its causes: `2 writers-starve-readers writeback-flood device-saturated`.
pub fn findings(checkup: &Json) -> Vec<String> {
    let mut all = Vec::new();
    for s in checkup["scenarios"].as_array().unwrap() {
        for f in s["findings"].as_array().unwrap() {
            let causes: Vec<&str> = f["causes"].as_array().unwrap().iter().filter_map(Json::as_str).collect();
            all.push(format!("{} {} {}", s["number"], f["name"].as_str().unwrap(), causes.join(" ")));
        }
    }
    all
}
