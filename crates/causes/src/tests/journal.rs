//! Journals and logs of file systems: which file system it is, how it is mounted, and which remedies follow.

use super::paths::built;
use super::*;
use crate::journal::again::Again;
use crate::op_builder::OpBuilder;
use device::{Behind, Split};
use ledger::Reason;
use life::Io;
use operation::{Kind, Node, Part, Wait};
use trace::{Call, TextId};

const READ: Kind = Kind::Call(Call::Read);
const OPEN: Kind = Kind::Call(Call::Open);
const FSYNC: Kind = Kind::Call(Call::Fsync);
const WRITE: Kind = Kind::Call(Call::Write);

/// Three of 300 operations waited like this for 80 of 100 ms; sda is mounted like this.
fn mounted(kind: Kind, wait: Wait, reason: Reason, fstype: &str, options: &str) -> OpBuilder {
    let mut recording = TraceBuilder::default();
    quick_reads(&mut recording, 0, 10);
    recording.sync_write(900 * MS, 900 * MS, 901 * MS).settings("sda/queue/rotational: 0\n");
    if !fstype.is_empty() {
        recording.document("mounts.txt", &format!("/dev/sda /mnt/my\\040data {fstype} {options} 0 0\n"));
    }
    let mut built = built(kind, wait, reason, 80);
    built.over(recording);
    built
}

#[test]
fn options_that_write_access_times_once_a_day_are_none_for_every_read() {
    let of = |kind: Kind, options: &str| {
        mounted(kind, Wait::JournalHandle, Reason::Device, "ext4", options).verdict("access-time")
    };
    for option in ["noatime", "relatime", "lazytime"] {
        let v = of(READ, &format!("rw,{option}"));
        assert_eq!(rejected(&v), format!("/mnt/my data is mounted with {option} (mounts.txt:1)"));
        assert!(v.minor, "{v:?}");
    }
    let v = of(READ, "rw,strictatime");
    assert!(found(&v) > 0.7 && says(&v, "/mnt/my data is mounted without noatime or relatime"), "{v:?}");
    assert_eq!(commands(&v), ["mount -o remount,noatime '/mnt/my data'", "findmnt -o TARGET,OPTIONS"]);
    // How it is mounted is not known, so neither is where.
    assert_eq!(
        commands(&mounted(READ, Wait::JournalHandle, Reason::Device, "", "").verdict("access-time")).len(),
        1
    );
}

#[test]
fn only_a_change_waits_for_the_journal() {
    let of = |kind: Kind, wait: Wait| is_found(&built(kind, wait, Reason::Device, 80).verdict("access-time"));
    for kind in [READ, Kind::Call(Call::Getdents), Kind::RingRead, Kind::PageFault] {
        assert!(of(kind, Wait::JournalHandle), "{kind:?}");
    }
    for kind in [OPEN, FSYNC, Kind::Call(Call::Write), Kind::RingWrite] {
        assert!(!of(kind, Wait::JournalHandle), "{kind:?}");
    }
    for wait in
        [Wait::JournalBuffer, Wait::JournalCommit, Wait::JournalUpdates, Wait::LogForce, Wait::LogPush]
    {
        assert!(of(READ, wait), "{wait:?}");
    }
    assert!(!of(READ, Wait::Metadata));
}

/// Both are on by default, and with both data is written before it enters a transaction.
#[test]
fn what_was_turned_off_at_the_mount_comes_first() {
    let of = |options: &str| {
        let v = mounted(FSYNC, Wait::OrderedData, Reason::Device, "ext4", options).verdict("journal-ordered");
        assert!(found(&v) > 0.7 && says(&v, &format!("/mnt/my data is mounted with {options}")), "{v:?}");
        v.remedies[0].command()
    };
    let usual = "sysctl vm.dirty_background_bytes=33554432 vm.dirty_bytes=268435456";
    for (options, first) in [
        ("rw,dioread_lock", "mount -o remount,dioread_nolock '/mnt/my data'"),
        ("rw,nodioread_nolock", "mount -o remount,dioread_nolock '/mnt/my data'"),
        ("rw,nodelalloc", "mount -o remount,delalloc '/mnt/my data'"),
        ("rw,nodelalloc,dioread_lock", "mount -o remount,dioread_nolock,delalloc '/mnt/my data'"),
        ("rw,delalloc,dioread_nolock", usual),
        ("rw,relatime", usual),
    ] {
        assert_eq!(of(options), first, "{options}");
    }
    let v = mounted(FSYNC, Wait::OrderedData, Reason::Device, "", "").verdict("journal-ordered");
    let new = "mkfs.ext4 /dev/NEW && mount /dev/NEW /NEW";
    assert_eq!(commands(&v)[1..], ["tune2fs -o journal_data_writeback /dev/DEV", new]);
    assert_eq!(commands(&v)[0], usual);
}

#[test]
fn only_jbd2_has_a_thread_that_commits() {
    for wait in [Wait::JournalCommit, Wait::JournalHandle, Wait::JournalBuffer] {
        for reason in [Reason::WaitCpu, Reason::OnCpu] {
            let of = |fs: &str| mounted(FSYNC, wait, reason, fs, "rw").verdict("journal-cpu");
            assert!(is_found(&of("ext4")) && is_found(&of("")), "{wait:?} {reason:?}");
            for fs in ["xfs", "btrfs", "f2fs"] {
                rejected(&of(fs));
            }
        }
        rejected(&mounted(FSYNC, wait, Reason::Device, "ext4", "rw").verdict("journal-cpu"));
    }
    rejected(&built(FSYNC, Wait::LogForce, Reason::OnCpu, 80).verdict("journal-cpu"));
    let v = mounted(FSYNC, Wait::JournalCommit, Reason::WaitCpu, "ext4", "rw").verdict("journal-cpu");
    assert_eq!(v.remedies[0].command(), "for p in $(pgrep '^jbd2/sda-'); do chrt -r -p 1 $p; done");
    // One of its partitions, and not sdaa's.
    let v = mounted(FSYNC, Wait::JournalCommit, Reason::WaitCpu, "", "").verdict("journal-cpu");
    assert_eq!(
        v.remedies[0].command(),
        "for p in $(pgrep '^jbd2/sda(p?[0-9]+)?-'); do chrt -r -p 1 $p; done"
    );
}

#[test]
fn what_is_proposed_for_a_log_names_its_mount() {
    let of = |cause: &str, kind: Kind, wait: Wait, fs: &str| {
        let v = mounted(kind, wait, Reason::Device, fs, "rw,logbsize=32k").verdict(cause);
        assert!(found(&v) > 0.7, "{v:?}");
        assert_eq!(says(&v, "/mnt/my data is mounted with rw,logbsize=32k"), !fs.is_empty(), "{v:?}");
        v
    };
    assert_eq!(commands(&of("log-space", OPEN, Wait::LogSpace, "xfs"))[0], "xfs_info '/mnt/my data'");
    assert!(commands(&of("log-space", OPEN, Wait::LogSpace, ""))[0].starts_with("mkfs.xfs"));
    for wait in [Wait::LogForce, Wait::LogPush] {
        let known = "umount '/mnt/my data' && mount -o logbsize=256k /dev/sda '/mnt/my data'";
        assert_eq!(commands(&of("log-force", FSYNC, wait, "xfs"))[1], known);
        let unknown = "umount /MOUNTPOINT && mount -o logbsize=256k /dev/DEV /MOUNTPOINT";
        assert_eq!(commands(&of("log-force", FSYNC, wait, ""))[1], unknown);
        assert_eq!(
            commands(&of("log-force", FSYNC, wait, "btrfs"))[1..],
            ["btrfs filesystem df '/mnt/my data'"]
        );
    }
}

/// The log's write was in the device, and there behind another task's writeback or by itself.
#[test]
fn a_log_behind_others_is_theirs() {
    let waited = |own: u64, behind: u64| {
        let mut built = OpBuilder::default();
        let mut recording = TraceBuilder::default();
        quick_reads(&mut recording, 0, 200);
        built.over(recording).quick(FSYNC, 297).waiting_for(Wait::LogForce);
        let holder = built.holder("dd", Io::BackgroundWrite);
        let mut split = Split { known: true, own: Nanos(own * 1000), ..Split::default() };
        split.behind[0] = Behind { holder, time: Nanos(behind * 1000) };
        for _ in 0..3 {
            built.inside(FSYNC, split);
        }
        built.verdict("log-force")
    };
    assert!(found(&waited(10 * MS, 0)) > 0.9);
    assert!(found(&waited(5 * MS, 5 * MS)) < 0.6);
    rejected(&waited(0, 10 * MS));
}

/// A reader and a writer wait for the log; only the writer can sync less often.
#[test]
fn syncs_are_counted_of_who_syncs() {
    let mut built = OpBuilder::default();
    for (task, kind) in [("tar", READ), ("etcd", FSYNC)] {
        built.by(task).quick(kind, 297);
        (0..3).for_each(|_| {
            built.slow(kind, 100, &[(Wait::LogForce, Reason::Device, 80)]);
        });
    }
    let v = built.verdict("log-force");
    found(&v);
    let counts = v.remedies.iter().filter(|r| r.command().starts_with("strace -fc"));
    let counts: Vec<_> = counts.map(|r| (r.command(), r.about.len())).collect();
    assert_eq!(counts, [("strace -fc -e fsync,fdatasync,msync -p \"$(pgrep -wx etcd)\"".to_string(), 1)]);
}

const MAKING_ROOM: [&str; 2] =
    ["__jbd2_log_wait_for_space\nstart_this_handle", "jbd2_log_do_checkpoint\nkjournald2"];
const FOR_A_COMMIT: &str = "schedule\nwait_transaction_locked\nadd_transaction_credits\nstart_this_handle";

/// Three opens of 100 ms, all with a stack; they waited in it for so many. sda has so many sectors.
fn handles(stack: &str, wait: Wait, of_100: u64, sectors: &str) -> Verdict {
    let mut built = OpBuilder::default();
    let mut recording = TraceBuilder::default();
    recording
        .settings(&format!("sda/size: {sectors}\n"))
        .document("mounts.txt", "/dev/sda /mnt ext4 rw 0 0\n");
    built.quick(OPEN, 297);
    for _ in 0..3 {
        built.slow_in(OPEN, 100, &[(wait, Reason::Device, of_100)], stack);
    }
    // Each was kept once without its stack.
    built.over(recording).verdict("journal-space")
}

#[test]
fn room_in_the_journal_is_a_tenth_of_the_kept_ones() {
    for stack in MAKING_ROOM {
        assert!(is_found(&handles(stack, Wait::JournalHandle, 90, "")), "{stack}");
    }
    assert!(rejected(&handles(FOR_A_COMMIT, Wait::JournalHandle, 90, "")).contains("spent 0 % of their time"));
    // Of what is kept of each of the three, and of 29 quick ones, half has a stack.
    assert!(is_found(&handles(MAKING_ROOM[0], Wait::JournalHandle, 22, "")));
    let v = handles(MAKING_ROOM[0], Wait::JournalHandle, 18, "");
    assert!(rejected(&v).contains("spent 9.0 % of their time") && !v.minor, "{v:?}");
    // The same stack in a wait that is none for a place in the journal claims nothing.
    rejected(&handles(MAKING_ROOM[0], Wait::Metadata, 90, ""));
}

/// A log force that is mostly the device's flushes is due to what these take.
#[test]
fn behind_a_log_force_lie_its_flushes() {
    let root = |reason| {
        let v = built(FSYNC, Wait::LogForce, reason, 80).verdict("log-force");
        found(&v);
        v.root
    };
    assert_eq!((root(Reason::Preflush), root(Reason::Device)), (Some("flush-cost"), None));
}

/// A flush takes as long with any journal.
#[test]
fn a_flush_within_making_room_is_a_flush() {
    let of = |reason| {
        let mut built = OpBuilder::default();
        built.quick(OPEN, 297);
        for _ in 0..3 {
            built.slow_in(OPEN, 100, &[(Wait::JournalHandle, reason, 90)], MAKING_ROOM[0]);
        }
        built.verdict("journal-space")
    };
    assert!(is_found(&of(Reason::Device)) && !is_found(&of(Reason::Preflush)));
}

/// Commits that nobody asked for are made for room, and so is what they flush; with all data in the journal they are made for data. Changes that
/// are committed at once ask for it, too.
#[test]
fn commits_that_nobody_asks_for_are_made_for_room() {
    let of = |syncs: u64, options: &str, at_once: usize| {
        let mut built = OpBuilder::default();
        let mut recording = TraceBuilder::default();
        recording.settings("sda/size: 8388608\n");
        recording.document("mounts.txt", &format!("/dev/sda /mnt ext4 {options} 0 0\n"));
        built.over(recording).quick(OPEN, 396).quick(Kind::JournalCommit, 20).quick(FSYNC, syncs);
        for i in 0..4 {
            let stack = if i < at_once { "jbd2_journal_stop" } else { MAKING_ROOM[0] };
            built.slow_in(OPEN, 100, &[(Wait::JournalCommit, Reason::Preflush, 90)], stack);
        }
        is_found(&built.verdict("journal-space"))
    };
    assert!(of(9, "rw", 0) && !of(10, "rw", 0), "every second one was asked for");
    assert!(!of(9, "rw,data=journal", 0));
    assert_eq!([of(9, "rw,dirsync", 0), of(9, "rw", 3)], [false; 2], "the open itself asked for it");
}

#[test]
fn who_asks_for_flushes_without_a_sync_is_told() {
    let first = |kind, options: &str| {
        let v = mounted(kind, Wait::JournalCommit, Reason::Preflush, "ext4", options).verdict("flush-cost");
        (commands(&v).remove(0), says(&v, "/mnt/my data is mounted with"))
    };
    let (sync, dirsync) =
        ("mount -o remount,async '/mnt/my data'", "umount '/mnt/my data' && mount /dev/sda '/mnt/my data'");
    assert_eq!(first(OPEN, "rw,dirsync"), (dirsync.to_string(), true));
    assert_eq!(first(WRITE, "rw,sync"), (sync.to_string(), true));
    let all_data = "umount '/mnt/my data' && mount -o data=ordered /dev/sda '/mnt/my data'";
    assert_eq!(first(FSYNC, "rw,data=journal"), (all_data.to_string(), true));
    // An fsync waits whatever the mount says; dirsync is not about writes.
    for (kind, options) in [(FSYNC, "rw,sync"), (WRITE, "rw,dirsync")] {
        let (command, built) = first(kind, options);
        assert!(command.starts_with("strace -fc -e fsync") && !built, "{command}");
    }
    // Only a folder that asks for it makes such a call commit.
    for kind in [OPEN, Kind::Call(Call::Link), Kind::Call(Call::Mkdir)] {
        assert_eq!(first(kind, "rw"), ("lsattr -d FOLDER".to_string(), false));
    }
}

/// A file whose writes sync themselves is opened for that, as the stack shows.
#[test]
fn a_write_that_syncs_its_file_is_of_one_that_is_opened_so() {
    let first = |stack: &str| {
        let mut built = OpBuilder::default();
        let mut recording = TraceBuilder::default();
        recording.sync_write(900 * MS, 900 * MS, 901 * MS);
        built.over(recording).quick(WRITE, 297);
        for _ in 0..3 {
            built.slow_in(WRITE, 100, &[(Wait::JournalCommit, Reason::Preflush, 90)], stack);
            built.slow_in(WRITE, 100, &[(Wait::JournalCommit, Reason::Preflush, 90)], stack);
        }
        commands(&built.verdict("flush-cost")).remove(0)
    };
    assert!(
        first("jbd2_log_wait_commit\next4_sync_file\next4_buffered_write_iter").contains("/proc/$p/fdinfo/*")
    );
    assert!(first("jbd2_log_wait_commit\n__jbd2_log_wait_for_space").starts_with("strace -fc"));
    let direct = mounted(WRITE, Wait::DirectIo, Reason::Postflush, "ext4", "rw").verdict("flush-cost");
    assert!(commands(&direct)[0].contains("/proc/$p/fdinfo/*"), "{direct:?}");
}

/// A sleep within a sleep on the same stack is the same time.
#[test]
fn time_on_a_stack_counts_once() {
    let of = |ms: u64| {
        let mut built = OpBuilder::default();
        built.quick(OPEN, 297);
        for _ in 0..3 {
            built.slow_with(OPEN, 100, &[(Wait::JournalHandle, Reason::Device, ms)], |kept| {
                let outer = &mut kept.account.nodes[0];
                outer.part = Part::Wait { wait: Wait::JournalHandle, stack: Some(TextId(0)) };
                let inner = Node { depth: 1, ..outer.clone() };
                kept.account.nodes.insert(1, inner);
                kept.texts.insert(TextId(0), MAKING_ROOM[0].to_string());
            });
        }
        built.verdict("journal-space")
    };
    assert!(is_found(&of(22)));
    assert!(rejected(&of(18)).contains("spent 9.0 % of their time"));
}

#[test]
fn a_larger_journal_is_an_eighth_of_the_device_and_256_mib_at_most() {
    let of = |sectors: &str| {
        let v = handles(MAKING_ROOM[0], Wait::JournalHandle, 90, sectors);
        commands(&v)[1].split(" && ").nth(2).unwrap_or_default().to_string()
    };
    // 1 GiB, 2 GiB, 1 TiB.
    assert_eq!(of("2097152"), "tune2fs -J size=128 /dev/sda");
    assert_eq!(of("4194304"), "tune2fs -J size=256 /dev/sda");
    assert_eq!(of("2147483648"), "tune2fs -J size=256 /dev/sda");
    let v = handles(MAKING_ROOM[0], Wait::JournalHandle, 90, "");
    assert!(commands(&v)[1].starts_with("umount /mnt && tune2fs -O ^has_journal /dev/sda"), "{v:?}");
}

/// A file system is mounted again as it was: with its partition and its options.
#[test]
fn a_file_system_is_mounted_again_as_it_was() {
    let of = |mounts: &str| {
        let mut recording = TraceBuilder::default();
        recording.settings("sda/size: 100000000\nsda1/size: 50000000\n").document("mounts.txt", mounts);
        let (_, system) = recording.parts();
        Again::of(system.mounts.first(), "sda").with("logbsize=256k")
    };
    let options = "rw,noatime,nodev,relatime,attr2,inode64,logbsize=32k,noquota";
    let again = of(&format!("/dev/sda1 /mnt/a\\040b xfs {options} 0 0\n"));
    assert_eq!(again, "umount '/mnt/a b' && mount -o noatime,nodev,logbsize=256k /dev/sda1 '/mnt/a b'");
    assert_eq!(Again::of(None, "sda").with("x=1"), "umount /MOUNTPOINT && mount -o x=1 /dev/sda /MOUNTPOINT");
    let plain = Again::of(None, "sda").after("true");
    assert_eq!(plain, "umount /MOUNTPOINT && true && mount /dev/sda /MOUNTPOINT");
}
