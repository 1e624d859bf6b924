//! A folder on the recorded disk, a stream, and what a stream holds.

use crate::machine::{events, have, json, ok, private, record, report, tracefs, LoopDisk};
use std::process::Command;

#[test]
fn on_the_recorded_device_it_stays_in_memory() {
    if tracefs().is_none() || !have(&["unshare", "mkfs.ext4", "trace-cmd", "dd"]) {
        return;
    }
    let Some(disk) = LoopDisk::new(64) else { return };
    let kept = tempfile::tempdir_in("/dev/shm").unwrap();
    let script = format!(
        "mkfs.ext4 -q -F {dev}; mount {dev} /mnt; \
         \"$RECORD\" --block -o /mnt/c --device {dev} -- sh -c 'ls -A /mnt/c >&2; \
         dd if=/dev/zero of=/mnt/f bs=64k count=16 oflag=direct status=none'; cp -r /mnt/c {to}",
        dev = disk.device,
        to = kept.path().display()
    );
    let out = ok(private(&script));
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(said.contains("it stays in memory until the end"), "{said}");
    assert!(!said.contains("trace."), "nothing may be written while recording: {said}");
    let capture = kept.path().join("c");
    let text = report(&capture.join("trace.dat"));
    assert_eq!(events(&text), json(&capture.join("capture.json"))["events"].as_u64().unwrap());
    assert!(text.contains("block_rq_complete"));
    assert!(capture.join("samples.jsonl").metadata().unwrap().len() > 0);
}

#[test]
fn a_stream_is_the_same_capture() {
    if tracefs().is_none() || !have(&["tar", "trace-cmd", "dd", "sh"]) {
        return;
    }
    let dir = tempfile::tempdir_in("/dev/shm").unwrap();
    let at = dir.path();
    let out =
        record(&["-o", "-", "--", "sh", "-c", "echo said; dd if=/dev/zero of=/dev/null bs=1 count=30000"]);
    let out = ok({ out }.output().unwrap());
    assert!(
        String::from_utf8_lossy(&out.stderr).contains("said"),
        "the command's output goes to standard error"
    );
    std::fs::write(at.join("c.tar"), &out.stdout).unwrap();
    ok(Command::new("tar").arg("xf").arg("c.tar").current_dir(at).output().unwrap());

    // Parts joined in order are the file; trace-cmd puts head and pages together.
    let about = json(&at.join("capture.json"));
    assert_eq!(about["trace"], "trace.head");
    let script = "for c in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do \
                    cat trace.cpu$c.raw.* > cpu$c 2>/dev/null || rm -f cpu$c; done; \
                  cat samples.jsonl.* > samples.jsonl; \
                  trace-cmd restore -i trace.head -o trace.dat $(ls cpu? cpu?? 2>/dev/null)";
    ok(Command::new("sh").args(["-c", script]).current_dir(at).output().unwrap());
    let text = report(&at.join("trace.dat"));
    assert_eq!(events(&text), about["events"].as_u64().unwrap());
    assert!(std::fs::read_to_string(at.join("samples.jsonl")).unwrap().lines().count() >= 2);
    assert!(json(&at.join("system.json"))["after"]["kernel"]["release"].is_string());

    // iowhy does the same by itself.
    let own = at.join("own");
    std::fs::create_dir(&own).unwrap();
    let done = capture::unpack(&out.stdout[..], &own).unwrap();
    assert!(done.whole && done.notes.is_empty(), "{done:?}");
    assert_eq!(report(&own.join("trace.dat")), text);
}

#[test]
fn tracefs_that_nobody_mounted() {
    if tracefs().is_none() || !have(&["unshare", "umount", "trace-cmd"]) {
        return;
    }
    let dir = tempfile::tempdir_in("/dev/shm").unwrap();
    let script = format!(
        "while umount /sys/kernel/tracing 2>/dev/null; do :; done; umount /sys/kernel/debug 2>/dev/null || true; \
         ! grep -q tracefs /proc/mounts; \"$RECORD\" -o {}/c -- cat /proc/mounts",
        dir.path().display()
    );
    let out = ok(private(&script));
    let seen = String::from_utf8_lossy(&out.stdout);
    assert!(seen.contains("proc") && !seen.contains("tracefs"), "the command must not see our mount");
    assert!(events(&report(&dir.path().join("c/trace.dat"))) > 0);
}

#[test]
fn a_redacted_pack_holds_no_names() {
    if tracefs().is_none() || !have(&["trace-cmd", "dd", "cp", "tar", "zstd"]) {
        return;
    }
    let dir = tempfile::tempdir_in("/dev/shm").unwrap();
    let (at, capture) = (dir.path(), dir.path().join("c"));
    // A program and a file with names that occur nowhere else.
    let script = format!(
        "cp $(command -v dd) {0}/quxlorem; for i in 1 2 3; do {0}/quxlorem if=/dev/zero of={0}/ipsumfile bs=1 count=200; done",
        at.display()
    );
    ok(record(&["-o", capture.to_str().unwrap(), "--", "sh", "-c", &script]).output().unwrap());
    let (text, about) = (report(&capture.join("trace.dat")), json(&capture.join("capture.json")));
    assert!(text.contains("quxlorem"));
    std::fs::write(capture.join("fio.json"), "quxlorem").unwrap();

    let packed = capture::pack(&capture, Some(&at.join("p.tar.zst")), true).unwrap();
    assert_eq!(packed.left_out, ["fio.json: it may hold names"]);
    ok(Command::new("tar").args(["--zstd", "-xf", "p.tar.zst"]).current_dir(at).output().unwrap());
    let clean = at.join("capture");
    for file in std::fs::read_dir(&clean).unwrap().flatten() {
        let bytes = String::from_utf8_lossy(&std::fs::read(file.path()).unwrap()).into_owned();
        for name in ["quxlorem", "ipsumfile", "xlorem", "sumfile"] {
            assert!(!bytes.contains(name), "{} holds {name}", file.path().display());
        }
    }
    // The same events at the same times, only with other names.
    let other = report(&clean.join("trace.dat"));
    assert_eq!(events(&other), about["events"].as_u64().unwrap());
    let times = |t: &str| -> Vec<String> {
        let stamp = |l: &str| Some(l.split_once("] ")?.1.trim().split_once(": ")?.0.to_string());
        t.lines().filter(|l| !l.starts_with("=>")).filter_map(stamp).collect()
    };
    assert_eq!(times(&text), times(&other));
    assert!(other.contains("entry_SYSCALL_64"), "stacks stay");
}
