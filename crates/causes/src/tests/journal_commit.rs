//! Operations that wait for what the journal writes.

use super::*;
use crate::journal::growing;
use crate::op_builder::{OpBuilder, READER};
use device::Split;
use ledger::Reason;
use operation::{Kind, Wait};
use trace::{Call, Fs};

const FDATASYNC: Kind = Kind::Call(Call::Fdatasync);
const OPEN: Kind = Kind::Call(Call::Open);
const MS_IN_US: u64 = 1000;

/// On a device that does not turn writes of 1 ms, and one more after so many seconds.
fn quick_writes(idle_s: u64) -> TraceBuilder {
    let mut recording = TraceBuilder::default();
    recording.settings("sda/queue/rotational: 0\n");
    for at in (0..200).map(|i| i * 10 * MS).chain([(2000 + idle_s * 1000) * MS]) {
        recording.sync_write(at, at, at + 1000);
    }
    recording
}

/// On a device that takes so long (us) for a write: quick fdatasyncs, and 300 that wait for so long for a write that the device serves alone,
/// asleep so.
fn waiting(write_us: u64, quick: u64, wait: Wait, us: u64) -> OpBuilder {
    let mut recording = TraceBuilder::default();
    recording.settings("sda/queue/rotational: 0\n");
    for i in 0..200 {
        let at = i * 10 * MS;
        recording.sync_write(at, at, at + write_us);
    }
    let mut built = OpBuilder::default();
    built.over(recording).quick(FDATASYNC, quick).waiting_for(wait);
    for _ in 0..300 {
        built.inside_of(FDATASYNC, READER, Split { known: true, own: Nanos(us * 1000), ..Split::default() });
    }
    built
}

#[test]
fn what_waits_for_the_journals_writes_is_told() {
    let v = waiting(1000, 100, Wait::JournalCommit, 3 * MS_IN_US).verdict("journal-commit");
    assert!(found(&v) > 0.9, "{v:?}");
    assert!(says(&v, "fdatasyncs waited for what the journal wrote for"), "{v:?}");
    // Its own data, or another file system's log.
    for wait in [Wait::DirectIo, Wait::LogForce] {
        assert!(!is_found(&waiting(1000, 100, wait, 3 * MS_IN_US).verdict("journal-commit")));
    }
}

/// btrfs writes to a new place whether a file grows or is overwritten.
#[test]
fn only_a_file_system_that_overwrites_gets_files_of_fixed_size() {
    let of = |fs| {
        let mut built = OpBuilder::default();
        built.on_fs(fs).by("db").quick(FDATASYNC, 100);
        for _ in 0..3 {
            built.slow(FDATASYNC, 40, &[(Wait::JournalCommit, Reason::Device, 30)]);
        }
        built.asked(|case| {
            let group = case.focus.groups.iter().find(|group| group.task == "db").expect("a group");
            let v = growing::told(Verdict::begin("journal-commit"), case, group);
            v.remedies.iter().any(|r| r.what.contains("overwrite a file of fixed size"))
        })
    };
    assert!(of(Fs::Ext4) && !of(Fs::Btrfs));
}

/// What is quick is healthy, however it is composed; if a device takes long for each write, that explains more.
#[test]
fn neither_what_is_quick_nor_a_slow_device_is_the_journals() {
    assert!(!is_found(&waiting(300, 100, Wait::JournalCommit, MS_IN_US).verdict("journal-commit")));
    let mut slow = waiting(5000, 100, Wait::JournalCommit, 15 * MS_IN_US);
    let v = slow.verdict("journal-commit");
    assert!(rejected(&v).contains("sda takes 5"), "{v:?}");
    assert!(is_found(&slow.verdict("slow-device")));
}

/// A mount option makes each change wait for the journal, although no task calls fsync.
#[test]
fn a_mount_that_makes_each_change_safe_is_told_first() {
    let of = |options: &str| {
        let mut recording = TraceBuilder::default();
        recording.settings("sda/queue/rotational: 0\n");
        recording.document("mounts.txt", &format!("/dev/sda /mnt ext4 {options} 0 0\n"));
        for i in 0..200 {
            recording.sync_write(i * 10 * MS, i * 10 * MS, i * 10 * MS + 1000);
        }
        let mut built = OpBuilder::default();
        built.over(recording).quick(OPEN, 100).waiting_for(Wait::JournalCommit);
        for _ in 0..300 {
            built.inside_of(OPEN, READER, Split { known: true, own: Nanos(3_000_000), ..Split::default() });
        }
        let v = built.verdict("journal-commit");
        found(&v);
        (v.evidence[0].sentence(), commands(&v).remove(0))
    };
    let (proof, command) = of("rw,sync");
    assert!(proof.starts_with("/mnt is mounted with sync"), "{proof}");
    assert_eq!(command, "mount -o remount,async /mnt");
    let (proof, command) = of("rw");
    assert!(!proof.contains("sync") || proof.contains("folder"), "{proof}");
    assert!(!command.contains("remount"), "{command}");
}

/// A quarter of what opens wait for is the journal's: they ask for no commit, and nor does their folder.
#[test]
fn who_waits_for_a_commit_now_and_then_does_not_ask_for_it() {
    let of = |others: u64| {
        let mut built = OpBuilder::default();
        built.over(quick_writes(0)).quick(OPEN, 100);
        let own = Split { known: true, own: Nanos(3_000_000), ..Split::default() };
        for (wait, count) in [(Wait::JournalCommit, 300), (Wait::DirectIo, others)] {
            built.waiting_for(wait);
            (0..count).for_each(|_| {
                built.inside_of(OPEN, READER, own);
            });
        }
        let v = built.verdict("journal-commit");
        found(&v);
        says(&v, "the folder has the attribute D or S")
    };
    assert!(of(0) && of(200) && !of(400));
}

/// A quarter of 3.6 s is a tenth of the recording up to 9 s.
#[test]
fn what_the_journal_takes_is_a_tenth_of_the_recording_or_nothing_to_act_on() {
    let of = |idle_s: u64| {
        let mut built = OpBuilder::default();
        built.over(quick_writes(idle_s)).quick(FDATASYNC, 100);
        let own = Split { known: true, own: Nanos(3_000_000), ..Split::default() };
        for (wait, count) in [(Wait::JournalCommit, 300), (Wait::DirectIo, 900)] {
            built.waiting_for(wait);
            (0..count).for_each(|_| {
                built.inside_of(FDATASYNC, READER, own);
            });
        }
        is_found(&built.verdict("journal-commit"))
    };
    assert!(of(0) && !of(20));
}

/// From a fifth of their time on.
#[test]
fn a_little_of_the_journal_is_none() {
    let of = |others: u64| {
        let mut built = waiting(1000, 100, Wait::JournalCommit, 3 * MS_IN_US);
        built.waiting_for(Wait::DirectIo);
        for _ in 0..others {
            built.inside_of(
                FDATASYNC,
                READER,
                Split { known: true, own: Nanos(3_000_000), ..Split::default() },
            );
        }
        is_found(&built.verdict("journal-commit"))
    };
    assert!(of(1100) && !of(1300));
}
