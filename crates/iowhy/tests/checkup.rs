//! Checkups of the project's disk model, from end to end: a disk with a fault is named for it, a good one gets a clean
//! bill, two runs agree; killed at any stage nothing is left; without fio, with an old one, on a disk that fills up, with a
//! load that never ends. Real fio, real recordings; what the machine lacks for it is said loudly.

use serde_json::Value as Json;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

const IOWHY: &str = env!("CARGO_BIN_EXE_iowhy");
/// A disk that is good: eight reads at once, a cache that needs no flush.
const GOOD: &str = "--channels 8 --read-us 800 --write-us 800 --mbps 400";

// All of it runs before usual processes (SCHED_RR): the machines of tests are busy.

/// One at a time: one must not be slowed down by another.
static ALONE: Mutex<()> = Mutex::new(());

fn skip(why: &str) {
    let thread = std::thread::current();
    let _ = writeln!(std::io::stderr(), "SKIPPED in {}: {why}", thread.name().unwrap_or("a test"));
}

const SCRIPT: &str = r#"
cd "$DIR"; mkdir m mnt
# What moves the loop device's data runs before what else the machine does, as the disk does: a slow disk is to be slow
# because it says so.
workers() { for p in $(pgrep '^kworker/[0-9u]'); do chrt $1 -p $2 $p 2>/dev/null || true; done; }
workers -r 1
"$SLOWDISK" m --backing b --size 1024 $DISK &
for i in $(seq 50); do [ -e m/disk ] && break; sleep 0.1; done
dev=$(losetup -f --show --direct-io=on m/disk); name=$(basename $dev); queue=/sys/block/$name/queue
# A loop device keeps its settings for the next one that gets it.
usual() {
  echo none > $queue/scheduler; echo 64 > $queue/nr_requests; echo 128 > $queue/nr_requests; echo 0 > $queue/stable_writes
  echo 1280 > $queue/max_sectors_kb; echo 2000 > $queue/wbt_lat_usec 2>/dev/null || true
}
trap 'cd /; workers -o 0; umount "$DIR/mnt" 2>/dev/null || true; usual; losetup -d $dev; sleep 0.1; umount "$DIR/m"' EXIT
usual; eval "$SETUP"
mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0,nodiscard $dev; mount $dev mnt
checkup() { "$IOWHY" checkup mnt "$@"; }
left() { find mnt -mindepth 1 ! -name lost+found ! -name fill; }
clean() {
  [ -z "$(left)" ] || { echo "LEFT:"; left; exit 7; }
  # shellcheck disable=SC2009
  ! ps ax -o args= | grep "[f]io .*--output fio.json" || { echo "LEFT: fio"; exit 7; }
  for i in /sys/kernel/tracing/instances/iowhy-$1-* /sys/kernel/debug/tracing/instances/iowhy-$1-*; do [ ! -e "$i" ] || { echo "LEFT: $i"; exit 7; }; done
}
"#;

/// What a script did on a disk.
struct Done {
    dir: tempfile::TempDir,
    out: Output,
}

impl Done {
    fn json(&self, name: &str) -> Json {
        let text = std::fs::read(self.dir.path().join(name))
            .unwrap_or_else(|e| panic!("{name}: {e}\n{}", self.said()));
        serde_json::from_slice(&text).unwrap()
    }

    fn said(&self) -> String {
        String::from_utf8_lossy(&self.out.stdout).into_owned() + &String::from_utf8_lossy(&self.out.stderr)
    }
}

/// Runs a script with a disk. `None`, and a word why, where something is missing.
fn on_disk(disk: &str, setup: &str, run: &str) -> Option<Done> {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let slowdisk = Path::new(IOWHY).with_file_name("slowdisk");
    if !slowdisk.exists() || !Path::new("/dev/fuse").exists() {
        skip("no slowdisk (cargo build -p iowhy-slowdisk) or no /dev/fuse");
        return None;
    }
    for program in ["unshare", "chrt", "pgrep", "losetup", "fio", "mkfs.ext4"] {
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
    let dir = tempfile::tempdir_in("/dev/shm").unwrap();
    let out = Command::new("chrt")
        .args([
            "-r",
            "1",
            "unshare",
            "-m",
            "--propagation",
            "private",
            "bash",
            "-euc",
            &[SCRIPT, run].join("\n"),
        ])
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

/// Findings, each with its causes: `writers-starve-readers writeback-flood device-saturated`.
fn findings(checkup: &Json) -> Vec<String> {
    let mut all = Vec::new();
    for s in checkup["scenarios"].as_array().unwrap() {
        for f in s["findings"].as_array().unwrap() {
            let causes: Vec<&str> = f["causes"].as_array().unwrap().iter().filter_map(Json::as_str).collect();
            all.push(format!("{} {} {}", s["number"], f["name"].as_str().unwrap(), causes.join(" ")));
        }
    }
    all
}

/// A disk with a fault is named for it: the finding, and the cause where a recording shows it.
fn named(disk: &str, setup: &str, only: &str, finding: &str, cause: &str) {
    let Some(done) = on_disk(disk, setup, &format!("checkup --only {only} --seconds 1 -o r.json; clean 0"))
    else {
        return;
    };
    let found = findings(&done.json("r.json"));
    assert!(found.iter().any(|f| f.contains(finding) && f.contains(cause)), "{found:#?}\n{}", done.said());
}

#[test]
fn a_disk_that_flushes_slowly() {
    named(
        "--channels 8 --read-us 500 --write-us 500 --flush-us 15000",
        "",
        "5",
        "5 slow-fsync",
        "flush-cost",
    );
}

#[test]
fn a_disk_whose_writers_starve_its_readers() {
    // Each large write takes 50 ms, and a read behind two of them 100.
    let disk = "--channels 1 --read-us 500 --write-us 30000 --mbps 60";
    named(disk, "echo 0 > $queue/wbt_lat_usec", "2", "2 writers-starve-readers", "");
}

#[test]
fn a_disk_that_stalls() {
    named(&format!("{GOOD} --stall-every 60 --stall-us 300000"), "", "1", "1 stalls", "");
}

#[test]
fn a_disk_that_serves_one_at_a_time() {
    named("--channels 1 --read-us 2000", "", "1", "1 one-at-a-time", "");
}

#[test]
fn a_disk_whose_requests_are_cut() {
    named(
        "--channels 1 --read-us 1000 --write-us 1000 --mbps 400",
        "echo 32 > $queue/max_sectors_kb",
        "4",
        "4 requests-cut",
        "request-size",
    );
}

#[test]
fn a_remedy_is_tried_and_taken_back() {
    let run = r#"
limit() { cat $queue/max_sectors_kb; }
echo yes | checkup --only 4 --seconds 0.3 --apply-trial -o r.json; [ "$(limit)" = 32 ]; clean 0
echo no | checkup --only 4 --seconds 0.15 --apply-trial -o no.json; [ "$(limit)" = 32 ]
# Killed in the middle of it: the next one restores.
set -m; echo yes | bash -c 'echo $$ > trial.pid; exec "$IOWHY" checkup mnt --only 4 --seconds 0.3 --apply-trial' >/dev/null 2>said.txt & set +m
for i in $(seq 400); do [ "$(limit)" = 32 ] || break; sleep 0.05; done
[ "$(limit)" != 32 ] || { cat said.txt; exit 6; }
kill -KILL $(cat trial.pid); sleep 0.2
PATH= "$IOWHY" checkup mnt 2>next.txt && exit 9 || true
[ "$(limit)" = 32 ] || { cat next.txt; exit 5; }
"$IOWHY" record --clean > /dev/null; clean 0
"#;
    let disk = "--channels 1 --read-us 1000 --write-us 1000 --mbps 400";
    let Some(done) = on_disk(disk, "echo 32 > $queue/max_sectors_kb", run) else { return };
    let trial = &done.json("r.json")["trial"];
    assert_eq!((&trial["helped"], &trial["was"]), (&true.into(), &"32".into()), "{}", done.said());
    assert!(done.json("no.json")["trial"].is_null());
}

#[test]
fn a_disk_that_asks_for_stable_pages() {
    let disk = "--channels 2 --read-us 200 --write-us 15000";
    named(disk, "echo 1 > $queue/stable_writes", "3", "3 appends-stall", "stable-page");
}

#[test]
fn a_good_disk_gets_a_clean_bill_and_two_runs_agree() {
    let run = "checkup --seconds 0.4 -o a.json; checkup --seconds 0.4 -o b.json --compare a.json > compared.txt; clean 0";
    let Some(done) = on_disk(GOOD, "", run) else { return };
    for file in ["a.json", "b.json"] {
        let checkup = done.json(file);
        assert_eq!(checkup["schema"], "iowhy.checkup/1");
        assert_eq!(findings(&checkup), [""; 0], "{}", done.said());
        assert_eq!(checkup["scenarios"].as_array().unwrap().len(), 7);
        assert_eq!(checkup["recorded"], true, "{}", checkup["not_seen"]);
        assert!(checkup["written_bytes"].as_u64() <= checkup["most_bytes"].as_u64());
    }
    let compared = std::fs::read_to_string(done.dir.path().join("compared.txt")).unwrap();
    assert!(compared.contains("no change beyond"), "{compared}");
    assert!(compared.contains("A CLEAN BILL"), "{compared}");
}

#[test]
fn killed_at_any_stage_nothing_is_left() {
    let run = r#"
before=$(cat $queue/scheduler $queue/nr_requests $queue/wbt_lat_usec 2>/dev/null)
for stage in INT:0.3 TERM:1.5 INT:3.6; do signal=${stage%:*} after=${stage#*:}
  # bash starts what is in the background with SIGINT ignored, unless it has job control.
  set -m; "$IOWHY" checkup mnt --seconds 1 --only 2 -o r.json >/dev/null 2>said.txt & pid=$!; set +m
  sleep $after; kill -$signal $pid; wait $pid && { echo "$signal after $after did not end it"; exit 8; } || true
  clean $pid; [ ! -e r.json ]
done
for after in 0.2 0.9 3.6; do
  set -m; "$IOWHY" checkup mnt --seconds 1 --only 2 -o r.json >/dev/null 2>said.txt & pid=$!; set +m
  sleep $after; kill -KILL $pid; wait $pid || true
  # The next one removes it before it does anything else; this one then has no fio.
  PATH= "$IOWHY" checkup mnt 2>next.txt && exit 9 || true
  "$IOWHY" record --clean > /dev/null
  clean $pid
done
[ "$before" = "$(cat $queue/scheduler $queue/nr_requests $queue/wbt_lat_usec 2>/dev/null)" ]
"#;
    on_disk(GOOD, "", run);
}

#[test]
fn a_disk_that_fills_up_in_the_middle() {
    let run = r#"
( for i in $(seq 200); do [ -e mnt/.iowhy-checkup-*/load.pid ] && break; sleep 0.05; done
  fallocate -l 2G mnt/fill 2>/dev/null || dd if=/dev/zero of=mnt/fill bs=1M status=none 2>/dev/null || true ) &
filler=$!
checkup --seconds 1 --only 2,3 -o r.json || true
wait $filler; clean 0
"#;
    let Some(done) = on_disk(GOOD, "", run) else { return };
    let text = done.json("r.json").to_string();
    assert!(text.contains("No space left"), "{text}");
    assert!(text.contains("cannot-tell"), "{text}");
}

/// A program called fio in a folder of its own.
fn fake_fio(script: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("fio");
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    dir
}

/// A folder in memory, checked anyway, with this search path.
fn with_path(path: &str, more: &[&str]) -> (Output, PathBuf, tempfile::TempDir) {
    let dir = tempfile::tempdir_in("/dev/shm").unwrap();
    let result = dir.path().join("r.json");
    let target = dir.path().join("target");
    std::fs::create_dir(&target).unwrap();
    let out = Command::new(IOWHY)
        .args(["checkup", "--anyway", "--seconds", "0.1", "-o"])
        .arg(&result)
        .args(more)
        .arg(&target)
        .env("PATH", path)
        .output()
        .unwrap();
    assert_eq!(std::fs::read_dir(&target).unwrap().count(), 0, "something is left");
    (out, result, dir)
}

#[test]
fn without_fio_and_with_an_old_one() {
    let said = |out: &Output| String::from_utf8_lossy(&out.stderr).into_owned();
    let (out, ..) = with_path("", &[]);
    assert!(
        !out.status.success()
            && said(&out).contains("fio is not installed")
            && said(&out).contains("install"),
        "{}",
        said(&out)
    );
    let old = fake_fio("echo fio-2.2.10");
    let (out, ..) = with_path(old.path().to_str().unwrap(), &[]);
    assert!(
        !out.status.success() && said(&out).contains("fio-2.2.10") && said(&out).contains("3.0 or later"),
        "{}",
        said(&out)
    );
    let other = fake_fio("echo something else");
    let (out, ..) = with_path(other.path().to_str().unwrap(), &[]);
    assert!(!out.status.success() && said(&out).contains("does not say which fio"), "{}", said(&out));
}

#[test]
fn a_load_that_never_ends_is_ended() {
    let endless = fake_fio(
        "[ \"$1\" = --version ] && { echo fio-3.33; exit; }\ntrap '' INT TERM\nsleep 1000 & wait; sleep 1000",
    );
    let path = format!("{}:/usr/bin:/bin", endless.path().display());
    let began = std::time::Instant::now();
    let (out, result, _dir) = with_path(&path, &["--only", "1"]);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    assert!(began.elapsed().as_secs() < 30, "{:?}", began.elapsed());
    let json: Json = serde_json::from_slice(&std::fs::read(result).unwrap()).unwrap();
    let trouble = json["scenarios"][0]["steps"][0]["trouble"].as_str().unwrap();
    assert!(trouble.contains("did not end"), "{trouble}");
    assert_eq!(json["scenarios"][0]["verdict"], "cannot-tell");
}

#[test]
fn what_is_no_directory_of_a_disk_is_refused() {
    let refused = |dir: &str| {
        let out = Command::new(IOWHY).args(["checkup", dir]).output().unwrap();
        assert!(!out.status.success(), "{dir}");
        String::from_utf8_lossy(&out.stderr).into_owned()
    };
    assert!(refused("/dev/null").contains("never to a device"));
    assert!(refused("/dev/shm").contains("in memory"));
    assert!(refused("/no/such/folder").contains("No such file"));
    let jobs = Command::new(IOWHY).args(["checkup", "--print-jobs"]).output().unwrap();
    assert!(String::from_utf8_lossy(&jobs.stdout).contains("rw=randread"));
}
