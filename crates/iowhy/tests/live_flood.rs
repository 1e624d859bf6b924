//! Live, as root: readers beside buffered writes on a slow disk, recorded and explained from the beginning or from the middle on. The flood
//! must be found, and a disk that hangs.
//!
//! The disk is the project's own (`slowdisk`, a FUSE file under a loop device), so it is as slow everywhere. Says loudly
//! what it could not test.

use serde_json::Value as Json;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

fn skip(why: &str) {
    let thread = std::thread::current();
    let _ = writeln!(std::io::stderr(), "SKIPPED in {}: {why}", thread.name().unwrap_or("a test"));
}

/// Mounts a file system on a slow disk with the options `$DISK`, as `mnt`; `$dev` is its device. Writeback throttling is as on a new device: a
/// loop device keeps what its last user set.
const DISK: &str = "cd $DIR; mkdir m mnt; \
    \"$SLOWDISK\" m --backing b --size 512 $DISK & \
    for i in $(seq 50); do [ -e m/disk ] && break; sleep 0.1; done; \
    dev=$(losetup -f --show --direct-io=on m/disk); \
    trap 'umount mnt || true; losetup -d $dev; umount m' EXIT; \
    queue=/sys/block/${dev#/dev/}/queue/wbt_lat_usec; [ ! -e $queue ] || echo 2000 > $queue; \
    mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 $dev; mount $dev mnt; \
    basename $dev > name; ";

/// Two channels of 40 MB/s, 0.5 ms for a read; 4 MiB of writeback at a time keep both busy for 50 ms.
const FAST: &str = "--channels 2 --read-us 500 --write-us 500 --mbps 40";

const READERS: &str = "fio --name=lay --filename=mnt/f --rw=write --bs=1M --size=16M --direct=1 --output=lay.txt; \
    \"$IOWHY\" record --device $dev -o capture -- fio --output=fio.txt \
      --name=read --filename=mnt/f --rw=randread --bs=4k --size=16M --direct=1 --ioengine=libaio --iodepth=4 \
      --runtime=4 --time_based \
      --name=write --filename=mnt/g --rw=write --bs=1M --size=160M --startdelay=1 --ioengine=psync --sync_file_range=write:4";

/// Each write of `fio` is followed by an fdatasync, and a pause.
const LEDGER: &str =
    "fio --name=ledger --filename=mnt/log --rw=write --bs=4k --size=64M --fdatasync=1 --thinktime=10000 \
    --runtime=9 --time_based --output=fio.txt & ledger=$!; ";

/// A flood is at its height and the ledger stands when recording begins.
const BEGUN: &str = "dd if=/dev/zero of=mnt/flood bs=1M count=400 2>dd.txt & flood=$!; sleep 1.5; \
    $LEDGER sleep 1; \"$IOWHY\" record -o capture --for 4s; kill $ledger; wait $ledger $flood || true";

/// The disk has answered nothing for a while when recording begins, and answers after its end.
const HANGS: &str = "$LEDGER sleep 1; last=0; \
    for i in $(seq 50); do \
      done=$(awk '{print $1 + $5}' /sys/block/${dev#/dev/}/stat); [ $done -eq $last ] && break; last=$done; sleep 0.3; \
    done; \
    \"$IOWHY\" record -o capture --for 2s; wait $ledger || true";

#[test]
fn readers_beside_buffered_writes() {
    testkit::share_machine();
    testkit::steady(|| {
        let Some((said, name)) = explained(FAST, READERS) else { return Ok(()) };
        let flood =
            said["causes"].as_array().unwrap().iter().find(|c| c["cause"] == "writeback-flood").unwrap();
        assert_eq!(flood["verdict"], "found", "{said:#}");
        assert!(flood["share"].as_f64().unwrap() > 0.5, "{flood:#}");
        assert!(flood["evidence"].to_string().contains(&format!("writes on {name}")), "{flood:#}");
        Ok(())
    });
}

/// Most of what the ledger waits for was sent before the recording.
#[test]
fn a_flood_that_had_begun_before() {
    testkit::share_machine();
    testkit::steady(|| {
        let Some((said, name)) = explained("--channels 4 --write-us 800 --mbps 10", BEGUN) else {
            return Ok(());
        };
        let answer = &said["answer"];
        let told = [&answer["cause"], &answer["victim"], &answer["culprit"], &answer["device"]];
        assert_eq!(told, ["writeback-flood", "fio", "dd", &name], "{answer:#}");
        Ok(())
    });
}

/// No event is about the request that the ledger waits for.
#[test]
fn a_disk_that_hung_before() {
    testkit::share_machine();
    testkit::steady(|| {
        let disk = "--channels 1 --write-us 300 --stall-every 400 --stall-us 9000000";
        let Some((said, name)) = explained(disk, HANGS) else { return Ok(()) };
        let answer = &said["answer"];
        let told = [&answer["cause"], &answer["victim"], &answer["device"]];
        assert_eq!(told, ["device-stall", "fio", &name], "{answer:#}");
        Ok(())
    });
}

/// One disk at a time: their programs would take the processors from one another.
static ONE: Mutex<()> = Mutex::new(());

/// What `explain --json` says of the capture that a script records on such a disk, and the disk's name.
fn explained(disk: &str, script: &str) -> Option<(Json, String)> {
    let iowhy = env!("CARGO_BIN_EXE_iowhy");
    let slowdisk = Path::new(iowhy).with_file_name("slowdisk");
    if !slowdisk.exists() {
        skip("slowdisk is not built: cargo build -p iowhy-slowdisk");
        return None;
    }
    if !Path::new("/dev/fuse").exists() {
        skip("no /dev/fuse");
        return None;
    }
    for (program, argument) in
        [("unshare", "-V"), ("losetup", "-V"), ("fio", "--version"), ("mkfs.ext4", "-V")]
    {
        if Command::new(program).arg(argument).output().is_err() {
            skip(&format!("{program} is not installed"));
            return None;
        }
    }
    let able = Command::new(iowhy).args(["record", "--clean"]).output().unwrap();
    if !able.status.success() {
        skip(&String::from_utf8_lossy(&able.stderr));
        return None;
    }
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let dir = tempfile::tempdir_in("/dev/shm").unwrap();
    let script = format!("{DISK}{}", script.replace("$LEDGER", LEDGER));
    let out = Command::new("unshare")
        .args(["-m", "--propagation", "private", "sh", "-euc", &script])
        .env("DIR", dir.path())
        .env("DISK", disk)
        .env("IOWHY", iowhy)
        .env("SLOWDISK", slowdisk)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&out.stderr);
    if said.contains("Operation not permitted") || said.contains("cannot find an unused loop") {
        skip(&said);
        return None;
    }
    assert!(out.status.success(), "{said}");
    let explained =
        Command::new(iowhy).args(["explain", "--json"]).arg(dir.path().join("capture")).output().unwrap();
    assert!(explained.status.success(), "{explained:?}");
    let said: Json = serde_json::from_slice(&explained.stdout).unwrap();
    assert_eq!(said["quality"]["lost"], 0, "{}", said["quality"]);
    let name = std::fs::read_to_string(dir.path().join("name")).unwrap();
    Some((said, name.trim().into()))
}
