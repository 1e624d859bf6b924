//! The disk as a disk: under a loop device, measured by fio. Needs root, FUSE, losetup and fio.
//!
//! It is never faster than its model. How much slower it may be depends on the machine and what else runs there: what
//! each hand-over between fio, the loop device and the disk's threads costs is measured with a disk that answers at
//! once, before and after.

use std::io::Write;
use std::process::Command;

/// Reads of 4 KiB, eight at a time.
const READS: f64 = 400.0;
/// Writes of 4 KiB, one at a time, each with a flush.
const WRITES: f64 = 100.0;
/// Milliseconds that the model takes for one read, and for one write with its flush.
const MODEL: (f64, f64) = (1.0, 2.0 + 5.0);
/// What fio counts may differ from the model's times: it says whole milliseconds and takes some to start.
const TOLERANCE: f64 = 1.1;

fn skip(why: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED slowdisk under a loop device: {why}");
}

#[test]
fn as_slow_as_it_says() {
    testkit::share_machine();
    for program in ["unshare", "losetup", "fio"] {
        if Command::new(program).arg("--version").output().is_err() {
            return skip(&format!("{program} is not installed"));
        }
    }
    if !std::path::Path::new("/dev/fuse").exists() {
        return skip("no /dev/fuse");
    }
    let dir = tempfile::tempdir_in("/dev/shm").unwrap();
    let script = format!(
        "cd {dir}; mkdir m; \
         disk() {{ \
           \"$SLOWDISK\" m --backing b --size 64 \"$@\" & \
           for i in $(seq 50); do [ -e m/disk ] && break; sleep 0.1; done; \
           dev=$(losetup -f --show --direct-io=on m/disk); trap 'losetup -d $dev; umount m' EXIT; \
           f='fio --filename='$dev' --direct=1 --output-format=terse --name=x --bs=4k'; \
           $f --rw=randread --ioengine=libaio --iodepth=8 --number_ios={READS} --size=32M; \
           $f --rw=write --number_ios={WRITES} --fdatasync=1 --size=400k; \
           $f --rw=write --bs=1M --size=8M --verify=crc32c --do_verify=1 --ioengine=psync; \
           losetup -d $dev; umount m; trap - EXIT; wait; }}; \
         at_once='--read-us 0 --write-us 0 --flush-us 0'; \
         disk $at_once; disk --read-us 1000 --write-us 2000 --flush-us 5000; disk $at_once",
        dir = dir.path().display()
    );
    // Other work that comes and goes between the three disks can still make it late, never early.
    let mut wrong = None;
    testkit::steady(|| {
        let _ = std::fs::remove_dir(dir.path().join("m"));
        let out = Command::new("unshare")
            .args(["-m", "--propagation", "private", "sh", "-euc", &script])
            .env("SLOWDISK", env!("CARGO_BIN_EXE_slowdisk"))
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&out.stderr);
        if !out.status.success()
            && (error.contains("Operation not permitted") || error.contains("cannot find"))
        {
            skip(&error);
            return Ok(());
        }
        let late = match out.status.success() {
            true => lateness(&String::from_utf8_lossy(&out.stdout)),
            false => Err(error.into_owned()),
        };
        match late {
            Ok(late) if !late.is_empty() => Err(late),
            late => {
                wrong = late.err();
                Ok(())
            }
        }
    });
    // No machine excuses this.
    assert_eq!(wrong, None);
}

/// What took longer than it may by fio's output for the three disks, in words; an error is what no other work excuses.
fn lateness(said: &str) -> Result<String, String> {
    let lines: Vec<Vec<&str>> = said.lines().map(|l| l.split(';').collect()).collect();
    // fio's terse format (version 3): field 5 is the error, 9 the milliseconds of reading, 50 those of writing.
    let ms = |line: usize, field: usize| lines[line][field - 1].parse::<f64>().unwrap();
    for disk in 0..3 {
        if lines[3 * disk + 2][4] != "0" {
            return Err("fio found an error in what it read back".into());
        }
    }
    let mut late = String::new();
    for (what, line, field, model) in [("reads", 0, 9, READS * MODEL.0), ("writes", 1, 50, WRITES * MODEL.1)]
    {
        let [before, took, after] = [ms(line, field), ms(line + 3, field), ms(line + 6, field)];
        if took < model / 1.01 {
            return Err(format!("{what} took {took} ms, less than the model's {model}"));
        }
        if took > TOLERANCE * model + before + after {
            late += &format!(
                "{what} took {took} ms, the model says {model}, a disk that answers at once took {before} before and {after} after. "
            );
        }
    }
    Ok(late)
}
