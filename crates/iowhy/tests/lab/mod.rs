//! A slow disk for live tests: made in a mount namespace of its own, recorded while a command runs, taken apart again.
//!
//! The disk is the project's own (`slowdisk`, a FUSE file under a loop device), so it is as slow everywhere. Whatever
//! is missing for it is said loudly. Recordings are made one at a time: one must not be slowed down by another.

// Each test uses a part of it.
#![allow(dead_code)]

use life::{IoObserver, Names};
use operation::{Account, Follow, History, Kind, Operation, OperationObserver, Outside};
use serde_json::Value as Json;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use trace::{Batch, Call, DevId};

/// Bytes of a sector.
const SECTOR: i64 = 512;

const IOWHY: &str = env!("CARGO_BIN_EXE_iowhy");

/// Past the test runner's capture: a test that is silently skipped looks like one that passed.
fn skip(why: &str) {
    let thread = std::thread::current();
    let _ = writeln!(std::io::stderr(), "SKIPPED in {}: {why}", thread.name().unwrap_or("a test"));
}

/// A disk, and what is done with it, in bash. There are `$dev` (`/dev/loop3`), `$name` (`loop3`), the folder `mnt`, `fio`
/// that writes JSON, and `record FOLDER COMMAND...`, whose command may be a function that was exported. Who cannot go on
/// for what the machine lacks says `CANNOT: ...` and exits.
pub struct Case {
    /// Options of `slowdisk`; where it is `None` the disk is a file in the folder for tests, on a real file system.
    pub disk: Option<&'static str>,
    /// `ext4`, `xfs`, `btrfs`, or `none`.
    pub fs: &'static str,
    /// Before the file system is mounted.
    pub setup: &'static str,
    /// After that.
    pub run: &'static str,
    /// Other programs that are needed.
    pub needs: &'static [&'static str],
}

const SCRIPT: &str = r#"
cd "$DIR"; mkdir m mnt
record() { to=$1; shift; "$IOWHY" record --device $dev -o "$to" -- bash -euc "$*" 2>record.txt || { cat record.txt >&2; exit 1; }; }
fio() { command fio --output-format=json "$@"; }; export -f fio
if [ -n "$DISK" ]; then
  "$SLOWDISK" m --backing b --size 512 $DISK &
  for i in $(seq 50); do [ -e m/disk ] && break; sleep 0.1; done
  file=m/disk
else
  file=b; truncate -s 256M b
fi
dev=$(losetup -f --show --direct-io=on $file); name=$(basename $dev); export dev name
# A loop device keeps its settings for the next one that gets it. Only a number that differs changes the tags.
usual() {
  echo none > $queue/scheduler; echo 64 > $queue/nr_requests; echo 128 > $queue/nr_requests; echo 0 > $queue/stable_writes
  echo 2000 > $queue/wbt_lat_usec 2>/dev/null || true
  echo 'write back' > $queue/write_cache 2>/dev/null || true
}
queue=/sys/block/$name/queue
trap 'cd /; umount "$DIR/mnt" 2>/dev/null || true; usual; losetup -d $dev; [ -z "$DISK" ] || umount "$DIR/m"' EXIT
usual
case $FS in
  ext4) mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0,nodiscard $dev;;
  xfs) mkfs.xfs -q -f -K $dev;;
  btrfs) mkfs.btrfs -q -f -K $dev;;
esac
cat /sys/block/$name/dev > dev
"#;

/// One at a time.
static LAB: Mutex<()> = Mutex::new(());

impl Case {
    /// Makes the disk and does it all. `None`, and a word why, where something is missing.
    pub fn run(&self) -> Option<Recorded> {
        let _alone = LAB.lock().unwrap_or_else(PoisonError::into_inner);
        testkit::share_machine();
        let slowdisk = Path::new(IOWHY).with_file_name("slowdisk");
        if self.disk.is_some() && !slowdisk.exists() {
            skip("slowdisk is not built: cargo build -p iowhy-slowdisk");
            return None;
        }
        if self.disk.is_some() && !Path::new("/dev/fuse").exists() {
            skip("no /dev/fuse");
            return None;
        }
        let mkfs = ["mkfs.ext4", "mkfs.xfs", "mkfs.btrfs"].into_iter().filter(|m| m.ends_with(self.fs));
        let programs = ["unshare", "losetup", "fio"].into_iter().chain(mkfs);
        for program in programs.chain(self.needs.iter().copied()) {
            if Command::new(program).arg("-V").output().is_err() {
                skip(&format!("{program} is not installed"));
                return None;
            }
        }
        let able = Command::new(IOWHY).args(["record", "--clean"]).output().unwrap();
        if !able.status.success() {
            skip(&String::from_utf8_lossy(&able.stderr));
            return None;
        }
        // In memory, but for the disk that is to lie on a real file system.
        let parent = if self.disk.is_some() { "/dev/shm" } else { env!("CARGO_TARGET_TMPDIR") };
        let dir = tempfile::tempdir_in(parent).unwrap();
        let mount = if self.fs == "none" { "" } else { "mount $dev mnt" };
        let script = [SCRIPT, self.setup, mount, self.run].join("\n");
        let out = Command::new("unshare")
            .args(["-m", "--propagation", "private", "bash", "-euc", &script])
            .env("DIR", dir.path())
            .env("DISK", self.disk.unwrap_or_default())
            .env("FS", self.fs)
            .env("IOWHY", IOWHY)
            .env("SLOWDISK", slowdisk)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&out.stderr);
        let missing = ["Operation not permitted", "cannot find an unused loop", "CANNOT:"];
        if missing.iter().any(|m| said.contains(m)) {
            skip(&said);
            return None;
        }
        assert!(out.status.success(), "{said}");
        Some(Recorded { dir })
    }
}

/// What was recorded, and the files that the commands wrote.
pub struct Recorded {
    dir: tempfile::TempDir,
}

/// Of all operations on the disk.
#[derive(Default)]
pub struct All {
    /// Each with its account and the name of its task, in the order in which they ended.
    pub operations: Vec<(Operation, Account, String)>,
    /// Time between the operations of a task.
    pub outside: Vec<Outside>,
}

impl IoObserver for All {}

impl OperationObserver for All {
    fn operation(&mut self, o: &Operation, account: Account, names: &Names, _: &History) {
        assert_eq!((account.from, account.to), (o.from, o.to), "{o:?}");
        assert_eq!(account.imbalance(), None, "{o:?}");
        self.operations.push((*o, account, names.text(o.task).to_string()));
    }

    fn outside(&mut self, o: &Outside) {
        self.outside.push(*o);
    }
}

impl All {
    /// Those of fio's jobs of one kind, in order. They read whole sectors; what does not is its loader, which had to wait for the
    /// head of a library (832 bytes).
    pub fn of_fio(&self, kind: Kind) -> Vec<&(Operation, Account, String)> {
        let of_a_job =
            |o: &Operation| kind != Kind::Call(Call::Read) || o.result < 0 || o.result % SECTOR == 0;
        self.operations
            .iter()
            .filter(|(o, _, task)| o.kind == kind && task == "fio" && o.is_storage && of_a_job(o))
            .collect()
    }
}

impl Recorded {
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// What fio wrote of a job.
    pub fn fio(&self, file: &str, job: &str) -> Json {
        let all: Json = serde_json::from_str(&self.text(file)).unwrap();
        let found = all["jobs"].as_array().unwrap().iter().find(|j| j["jobname"] == job);
        found.unwrap_or_else(|| panic!("{file} has no job {job}")).clone()
    }

    /// The disk's number.
    pub fn dev(&self) -> DevId {
        let text = self.text("dev");
        let (major, minor) = text.trim().split_once(':').unwrap();
        DevId::new(major.parse().unwrap(), minor.parse().unwrap())
    }

    /// All operations; every account is found to be exact.
    pub fn operations(&self, capture: &str) -> All {
        let folder = self.path(capture);
        let mut source = trace::open(&folder).unwrap().source;
        let (mut follow, mut all, mut batch) = (Follow::default(), All::default(), Batch::default());
        follow.knows(explain::known(&evidence::System::read(&folder)));
        while source.fill(&mut batch).unwrap() {
            follow.feed(&batch, &mut all);
        }
        let quality = source.quality();
        assert!(quality.lost.is_empty(), "{quality:?}");
        all
    }

    /// `iowhy COMMAND --json`.
    pub fn iowhy(&self, command: &[&str], capture: &str) -> Json {
        let out = Command::new(IOWHY).args(command).arg("--json").arg(self.path(capture)).output().unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        serde_json::from_slice(&out.stdout).unwrap()
    }

    /// What `iowhy explain` says of one cause.
    pub fn verdict(&self, capture: &str, cause: &str) -> Json {
        let said = self.iowhy(&["explain"], capture);
        assert_eq!(said["quality"]["lost"], 0, "{}", said["quality"]);
        let found = said["causes"].as_array().unwrap().iter().find(|c| c["cause"] == cause);
        found.unwrap_or_else(|| panic!("{cause} was not judged: {said:#}")).clone()
    }

    /// The causes that `iowhy explain` found, each with its share and evidence.
    pub fn found(&self, capture: &str) -> Vec<String> {
        let said = self.iowhy(&["explain"], capture);
        let found = said["causes"].as_array().unwrap().iter().filter(|c| c["verdict"] == "found");
        found.map(|c| format!("{} {} {}", c["cause"], c["share"], c["evidence"])).collect()
    }
}

/// Makes tests of functions that look at what a disk does in real time: `tried::NAME` is tried again ([`testkit::steady`]).
macro_rules! tried {
    ($($name:ident),+) => {
        mod tried {
            $(
                #[test]
                fn $name() {
                    testkit::steady(|| {
                        super::$name();
                        Ok(())
                    });
                }
            )+
        }
    };
}
pub(crate) use tried;
