//! Makes a scenario on this machine and records it.
//!
//! Everything happens in a mount namespace and a folder in memory of its own: a FUSE file as slow as the scenario says
//! (`slowdisk`), a loop device on it, a file system, `iowhy record` around the load. In the end all is taken apart, also
//! after an error. The machine needs root, tracefs, /dev/fuse, loop devices and fio, no particular hardware.
//!
//! The lab's own processes run before usual ones (`SCHED_RR`), and while it records the kernel's workers do, which move the loop
//! device's data: so what else the machine does is hardly what is recorded. A witness that knows nothing of the recording, a thread that sleeps a millisecond again and
//! again, says how late a usual task came to run meanwhile ([`Made::late`]). Who records can try again in a quieter moment.

use crate::outcome::Outcome;
use crate::scenario::{Remedy, Setting};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The programs.
#[derive(Clone, Debug)]
pub struct Tools {
    /// What is judged.
    pub iowhy: PathBuf,
    /// The slow disk.
    pub slowdisk: PathBuf,
    /// This program: it picks the remedy while the disk is still there.
    pub lab: PathBuf,
}

/// What came of it; the folder is removed with it.
pub struct Made {
    pub(crate) dir: tempfile::TempDir,
    /// How late a usual task came to run meanwhile: one wake-up in a hundred was later.
    pub late: Duration,
}

impl Made {
    /// The recording.
    pub fn capture(&self) -> PathBuf {
        self.dir.path().join("capture")
    }

    /// A text that the scenario left, if it did.
    pub fn text(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.dir.path().join(name)).ok()
    }

    /// Keeps the folder, to look into.
    pub fn leave(self) -> PathBuf {
        self.dir.keep()
    }
}

/// bash: the slow disk and the loop device on it. Its functions `ready`, `workers` and `take_apart` are what differs from another disk.
pub(crate) const DISK: &str = r#"
cd "$DIR"; mkdir m mnt data
# A host that swaps to this disk must not swap out what is on it: it would wait for the disk to be read by the disk (noswap: Linux 6.4).
mount -t tmpfs -o noswap data data 2>/dev/null || mount -t tmpfs data data
"$SLOWDISK" m --backing data/b --size $SIZE $DISK & disk=$!
for i in $(seq 50); do [ -e m/disk ] && break; sleep 0.1; done
on $(losetup -f --show ${LOSETUP:---direct-io=on} m/disk); lowest=$dev
# The slow disk says that it turns: it is as slow as one that does. A loop device keeps its settings for the next one that gets it. Only a number that differs changes the tags.
ready() {
  echo none > $queue/scheduler; echo 64 > $queue/nr_requests; echo 128 > $queue/nr_requests; echo 0 > $queue/stable_writes
  echo 0 > $queue/nomerges; echo 1 > $queue/rotational; echo 1280 > $queue/max_sectors_kb; echo 128 > $queue/read_ahead_kb
  echo 2000 > $queue/wbt_lat_usec 2>/dev/null || true; echo 'write back' > $queue/write_cache
  bdi=/sys/class/bdi/$(cat /sys/block/$name/dev)
  [ ! -e $bdi/strict_limit ] || echo 0 > $bdi/strict_limit
  echo 100 > $bdi/max_ratio
}
workers() { for p in $(pgrep '^kworker/[0-9u]'); do chrt $1 -p $2 $p 2>/dev/null || true; done; }
take_apart() { on $lowest; ready; losetup -d $dev; sleep 0.2; umount m || umount -l m; wait $disk 2>/dev/null || true; umount data; }
"#;

/// bash: which device is recorded; `setup` may say another one.
pub(crate) const ON: &str = r#"
on() { dev=$1; name=$(basename $(readlink -f $dev)); queue=/sys/block/$name/queue; export dev name queue; }
"#;

/// bash: all else, on whatever disk.
pub(crate) const BODY: &str = r#"
[ -z "$LOAD" ] || { printf '%s\n' "$LOAD" > load.fio; RUN="fio --output-format=json --output=fio.json load.fio"; }
# fio's jobs leave the group they are started in (setsid), and would go on beside the next recording.
below() { local child; for child in $(pgrep -P $1); do echo $child; below $child; done; }
end_beside() {
  [ -n "${beside:-}" ] || return 0
  kill -KILL -- -$beside $(below $beside) 2>/dev/null || true; wait $beside 2>/dev/null || true; beside=
}
end() {
  trap - EXIT; cd "$DIR"; workers -o 0
  end_beside
  eval "$AFTER" || true
  ! mountpoint -q mnt || umount mnt || umount -l mnt
  take_apart
}
trap end EXIT
ready
eval "$SETUP"
set -- $FS; fs=$1; shift
case $fs in
  ext4) mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0,nodiscard "$@" $dev;;
  xfs) mkfs.xfs -q -f -K "$@" $dev > mkfs.txt;;
  none) ;;
  *) mkfs -t $fs "$@" $dev;;
esac
[ $fs = none ] || mount ${MOUNT:+-o $MOUNT} $dev mnt
[ $fs != ext4 ] || for p in $(pgrep "^jbd2/$name-"); do chrt -r -p 1 $p; done
cat /sys/block/$name/dev > dev
eval "$BEFORE"
[ $fs = none ] || sync -f mnt; sync "$dev"
during=:
record() {
  beside=
  if [ -n "$BESIDE" ]; then set -m; (eval "$BESIDE") > beside.txt 2>&1 & beside=$!; set +m; sleep ${LEAD:-0.2}; fi
  $during
  workers -r 1
  "$IOWHY" record ${devices:---device $dev} -o $1 -- bash -euc "$RUN" > run.txt 2> record.txt || { cat run.txt record.txt >&2; return 1; }
  workers -o 0
  end_beside
}
remedy() {
  (eval "$command") > remedy.txt 2>&1 || { echo "the remedy failed: $command" >&2; cat remedy.txt >&2; exit 1; }
}
record capture
if [ -n "$REMEDY" ]; then
  "$IOWHY" explain --json capture > first.json
  if "$LAB" pick first.json "$CAUSE" "$REMEDY" > command.txt 2> pick.txt; then
    # Who was recorded is gone; who runs now has the name that stands behind the command.
    command=$(sed -E 's/^(kill -STOP|ionice -c 3 -p) [0-9 ]+# ([^,]*).*$/\1 $(pgrep -x \2)/' command.txt)
    eval "$FILL"
    if [ -n "$REMEDY_BESIDE" ]; then during=remedy; else remedy; fi
    eval "$THEN"
    record remedied
    "$IOWHY" compare --json capture remedied > compare.json
    "$IOWHY" explain --json remedied > second.json
  fi
fi
"#;

/// Makes it, records it, and tries the remedy if it has one.
pub fn run(tools: &Tools, cause: &str, s: &Setting) -> Outcome<Made> {
    for program in
        ["fio", "losetup", "unshare", "chrt", "pgrep"].into_iter().chain(s.needs.iter().map(String::as_str))
    {
        let found = Command::new("sh").args(["-c", "command -v \"$0\"", program]).output()?;
        if !found.status.success() {
            return Err(format!("{program} is not installed").into());
        }
    }
    let dir = folder()?;
    let witness = Witness::begin();
    let out = Command::new("chrt")
        .args(["-r", "1", "unshare", "-m", "--propagation", "private", "bash", "-euc"])
        .arg([ON, DISK, BODY].concat())
        .env("DIR", dir.path())
        .envs(variables(tools, cause, s))
        .output();
    let late = witness.end();
    let out = out?;
    if !out.status.success() {
        return Err(String::from_utf8_lossy(&out.stderr).trim().to_string().into());
    }
    Ok(Made { dir, late })
}

/// Where a scenario is made: in memory.
pub(crate) fn folder() -> Outcome<tempfile::TempDir> {
    Ok(tempfile::Builder::new().prefix("iowhy-lab-").tempdir_in("/dev/shm")?)
}

/// What the script is told of a scenario.
pub(crate) fn variables(tools: &Tools, cause: &str, s: &Setting) -> Vec<(&'static str, OsString)> {
    let none = Remedy::default();
    let remedy = s.remedy.as_ref().unwrap_or(&none);
    // Which of a command's words only the user knows, and what they are here.
    let fill: String = remedy
        .fill
        .iter()
        .map(|(word, here)| format!("here={here}; command=${{command//'{word}'/$here}}\n"))
        .collect();
    let lead = if s.lead > 0.0 { s.lead.to_string() } else { String::new() };
    let size = s.size.to_string();
    let of_scenario: [(&str, &str); 17] = [
        ("CAUSE", cause),
        ("DISK", &s.disk),
        ("SIZE", &size),
        ("LOSETUP", &s.losetup),
        ("FS", &s.fs),
        ("MOUNT", &s.mount),
        ("SETUP", &s.setup),
        ("BEFORE", &s.before),
        ("BESIDE", &s.beside),
        ("LEAD", &lead),
        ("LOAD", &s.load),
        ("RUN", &s.run),
        ("AFTER", &s.after),
        ("REMEDY", &remedy.command),
        ("REMEDY_BESIDE", if remedy.beside { "yes" } else { "" }),
        ("FILL", &fill),
        ("THEN", &remedy.then),
    ];
    let programs = [("IOWHY", &tools.iowhy), ("SLOWDISK", &tools.slowdisk), ("LAB", &tools.lab)];
    let texts = of_scenario.into_iter().map(|(name, text)| (name, OsString::from(text)));
    texts.chain(programs.into_iter().map(|(name, path)| (name, path.into()))).collect()
}

/// How long it sleeps each time.
const NAP: Duration = Duration::from_millis(1);

/// A thread that sleeps and looks at the clock.
struct Witness {
    over: std::sync::Arc<AtomicBool>,
    thread: std::thread::JoinHandle<Vec<Duration>>,
}

impl Witness {
    fn begin() -> Witness {
        let over = std::sync::Arc::new(AtomicBool::new(false));
        let told = over.clone();
        let thread = std::thread::spawn(move || {
            let mut late = Vec::new();
            while !told.load(Ordering::Relaxed) {
                let from = Instant::now();
                std::thread::sleep(NAP);
                late.push(from.elapsed().saturating_sub(NAP));
            }
            late
        });
        Witness { over, thread }
    }

    /// One in a hundred was later.
    fn end(self) -> Duration {
        self.over.store(true, Ordering::Relaxed);
        let mut late = self.thread.join().unwrap_or_default();
        late.sort_unstable();
        late.get(late.len() * 99 / 100).copied().unwrap_or_default()
    }
}

/// Beside `lab`: all three come out of one build.
pub fn tools_beside(lab: &Path) -> Outcome<Tools> {
    let find = |name: &str| {
        let path = lab.with_file_name(name);
        match path.is_file() {
            true => Ok(path),
            false => Err(format!("{} is not there: cargo build -p iowhy -p iowhy-slowdisk", path.display())),
        }
    };
    Ok(Tools { iowhy: find("iowhy")?, slowdisk: find("slowdisk")?, lab: lab.to_path_buf() })
}
