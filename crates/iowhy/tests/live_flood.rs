//! Live, as root: readers beside buffered writes on a slow disk, recorded and explained. The flood must be found.
//!
//! The disk is the project's own (`slowdisk`, a FUSE file under a loop device), so it is as slow everywhere. Says loudly
//! what it could not test.

use serde_json::Value as Json;
use std::io::Write;
use std::path::Path;
use std::process::Command;

fn skip(why: &str) {
    let thread = std::thread::current();
    let _ = writeln!(std::io::stderr(), "SKIPPED in {}: {why}", thread.name().unwrap_or("a test"));
}

/// Two channels of 40 MB/s, 0.5 ms for a read; 4 MiB of writeback at a time keep both busy for 50 ms.
const SCRIPT: &str = "cd $DIR; mkdir m mnt; \
    \"$SLOWDISK\" m --backing b --size 512 --channels 2 --read-us 500 --write-us 500 --mbps 40 & \
    for i in $(seq 50); do [ -e m/disk ] && break; sleep 0.1; done; \
    dev=$(losetup -f --show --direct-io=on m/disk); \
    trap 'umount mnt || true; losetup -d $dev; umount m' EXIT; \
    mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 $dev; mount $dev mnt; \
    fio --name=lay --filename=mnt/f --rw=write --bs=1M --size=16M --direct=1 --output=lay.txt; \
    \"$IOWHY\" record --device $dev -o capture -- fio --output=fio.txt \
      --name=read --filename=mnt/f --rw=randread --bs=4k --size=16M --direct=1 --ioengine=libaio --iodepth=4 \
      --runtime=4 --time_based \
      --name=write --filename=mnt/g --rw=write --bs=1M --size=160M --startdelay=1 --ioengine=psync --sync_file_range=write:4; \
    basename $dev > name";

#[test]
fn readers_beside_buffered_writes() {
    testkit::share_machine();
    testkit::steady(|| {
        the_flood_is_found();
        Ok(())
    });
}

fn the_flood_is_found() {
    let iowhy = env!("CARGO_BIN_EXE_iowhy");
    let slowdisk = Path::new(iowhy).with_file_name("slowdisk");
    if !slowdisk.exists() {
        return skip("slowdisk is not built: cargo build -p iowhy-slowdisk");
    }
    if !Path::new("/dev/fuse").exists() {
        return skip("no /dev/fuse");
    }
    for (program, argument) in
        [("unshare", "-V"), ("losetup", "-V"), ("fio", "--version"), ("mkfs.ext4", "-V")]
    {
        if Command::new(program).arg(argument).output().is_err() {
            return skip(&format!("{program} is not installed"));
        }
    }
    let able = Command::new(iowhy).args(["record", "--clean"]).output().unwrap();
    if !able.status.success() {
        return skip(&String::from_utf8_lossy(&able.stderr));
    }
    let dir = tempfile::tempdir_in("/dev/shm").unwrap();
    let out = Command::new("unshare")
        .args(["-m", "--propagation", "private", "sh", "-euc", SCRIPT])
        .env("DIR", dir.path())
        .env("IOWHY", iowhy)
        .env("SLOWDISK", slowdisk)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&out.stderr);
    if said.contains("Operation not permitted") || said.contains("cannot find an unused loop") {
        return skip(&said);
    }
    assert!(out.status.success(), "{said}");
    let explained =
        Command::new(iowhy).args(["explain", "--json"]).arg(dir.path().join("capture")).output().unwrap();
    assert!(explained.status.success(), "{explained:?}");
    let said: Json = serde_json::from_slice(&explained.stdout).unwrap();
    assert_eq!(said["quality"]["lost"], 0, "{}", said["quality"]);
    let flood = said["causes"].as_array().unwrap().iter().find(|c| c["cause"] == "writeback-flood").unwrap();
    assert_eq!(flood["verdict"], "found", "{said:#}");
    assert!(flood["share"].as_f64().unwrap() > 0.5, "{flood:#}");
    let name = std::fs::read_to_string(dir.path().join("name")).unwrap();
    assert!(flood["evidence"].to_string().contains(&format!("writes on {}", name.trim())), "{flood:#}");
}
