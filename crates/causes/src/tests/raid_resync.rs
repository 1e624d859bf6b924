//! md's pass over an array, in the members and in front of other requests.

use super::*;
use crate::op_builder::OpBuilder;
use ledger::Reason;
use operation::{Kind, Wait};
use trace::{Bytes, Call};

const READ: Kind = Kind::Call(Call::Read);
const SMALL: Bytes = Bytes(4096);

/// Three reads of 40 ms behind three requests of a task each, which moved 100 MiB, and so many as slow behind nobody.
fn behind(task: &str, alone: u32) -> OpBuilder {
    let mut recording = TraceBuilder::default();
    recording.called("reader", task);
    for i in 0..100 {
        recording.writeback(i * 10 * MS, i * 10 * MS, i * 10 * MS + MS, MIB);
    }
    let mut built = OpBuilder::default();
    built.over(recording).quick(READ, 297);
    for _ in 0..3 {
        built.behind(READ, 40, 3, task, SMALL);
    }
    for _ in 0..alone {
        built.behind(READ, 40, 0, task, SMALL);
    }
    built
}

#[test]
fn reads_behind_the_pass_are_found_and_no_background_task() {
    let v = behind("md0_resync", 0).verdict("raid-resync");
    // Of each, what is kept by itself met nobody: half of three in four turns.
    assert!((found(&v) - 0.375).abs() < 0.02, "{v:?}");
    assert_eq!(v.confidence, Some(Confidence::High));
    assert!(v.evidence[0].sentence().contains("completed 9 requests of md0_resync"), "{v:?}");
    assert!(
        v.evidence[1].sentence().contains("md0_resync moved 100 % of all that sda moved (100 MiB"),
        "{v:?}"
    );
    rejected(&behind("md0_resync", 0).verdict("background-task"));
}

#[test]
fn a_tenth_is_the_threshold() {
    // Three of ten, of twelve.
    assert!(found(&behind("md0_reshape", 7).verdict("raid-resync")) > 0.1);
    let v = behind("md0_reshape", 9).verdict("raid-resync");
    assert!(rejected(&v).contains("behind requests of md0_reshape for 9.4 %"), "{v:?}");
}

#[test]
fn anybody_else_is_not_md() {
    for task in ["tar", "db_resync", "md5sum"] {
        assert!(rejected(&behind(task, 0).verdict("raid-resync")).contains("synchronised nothing"), "{task}");
        found(&behind(task, 0).verdict("background-task"));
    }
}

/// Reads of 1 ms, and some of 50 ms behind md's requests; block events alone.
fn blocks(task: &str) -> TraceBuilder {
    let mut recording = TraceBuilder::default();
    recording.called("reader", task);
    quick_reads(&mut recording, 0, 200);
    for i in 0..10 {
        let at = (1000 + 100 * i) * MS;
        for _ in 0..4 {
            recording.writeback(at, at, at + 40 * MS, MIB);
        }
        recording.read(at + 1, at + 1, at + 50 * MS);
    }
    recording
}

#[test]
fn from_block_events_alone_it_is_less_sure() {
    let v = blocks("md0_resync").verdict("raid-resync");
    assert!(found(&v) > 0.3, "{v:?}");
    assert_eq!(v.confidence, Some(Confidence::Medium));
    rejected(&blocks("kworker/u8:1").verdict("raid-resync"));
}

/// An array of one disk that was asked for 50 writes of 4 KiB; its own thread wrote so many KiB before each.
fn own_thread(kib: u64, action: &str) -> Verdict {
    let mut recording = TraceBuilder::default();
    recording.called("reader", "md0_raid1");
    for i in 0..50 {
        let at = 100 * i * MS;
        recording.writeback(at, at, at + 30 * MS, kib).raid_write(at + 1, 0, 0, 40 * MS);
    }
    recording.settings(&format!("md0/md/level: raid1\nmd0/md/sync_action: {action}\n")).verdict("raid-resync")
}

#[test]
fn of_the_arrays_own_thread_counts_what_nobody_asked_for() {
    let v = own_thread(1024, "recover");
    assert!(found(&v) > 0.3, "{v:?}");
    assert!(says(&v, "sync_action recover") && says(&v, "md's pass over md0 moved"), "{v:?}");
    assert!(!v.remedies.iter().any(|r| r.command().contains("idle")), "{v:?}");
    // Twice as much as the array was asked for, and as much.
    assert!(is_found(&own_thread(8, "recover")));
    assert!(rejected(&own_thread(4, "recover")).contains("synchronised nothing"));
    assert!(rejected(&own_thread(1024, "idle")).contains("synchronised nothing"));
}

/// An array of which a member is missing has to read others for what that had.
#[test]
fn what_a_degraded_array_reads_was_asked_for() {
    let of = |degraded: u32| {
        let mut recording = TraceBuilder::default();
        recording.called("reader", "md0_raid1");
        for i in 0..50 {
            let at = 100 * i * MS;
            recording.own_read(at, at + 30 * MS).array_read(at + 1, at + 60 * MS);
        }
        let settings =
            format!("md0/md/level: raid1\nmd0/md/sync_action: recover\nmd0/md/degraded: {degraded}\n");
        recording.settings(&settings).verdict("raid-resync")
    };
    assert!(is_found(&of(0)));
    assert!(rejected(&of(1)).contains("md synchronised nothing here"));
}

#[test]
fn with_events_missing_it_cannot_tell() {
    let mut recording = blocks("md0_resync");
    let events = recording.len();
    recording.lost(events);
    cannot_tell(&recording.verdict("raid-resync"));
}

/// 300 writes to an array, of which three waited so many of 100 ms for md's pass, in a member that this task moved 50 MiB of.
fn at_the_barrier(of_100: u64, task: &str, settings: &str) -> Verdict {
    const WRITE: Kind = Kind::Call(Call::Write);
    let mut recording = TraceBuilder::default();
    recording.called("writer", task).raid_write(0, 0, 0, 10 * MS);
    for i in 0..50 {
        recording.writeback(i * 10 * MS, i * 10 * MS, i * 10 * MS + MS, MIB);
    }
    recording.document("queue-md0.txt", settings);
    let mut built = OpBuilder::default();
    built.quick(WRITE, 297);
    for _ in 0..3 {
        let rest = (Wait::Input, Reason::Sleep, 99 - of_100);
        built.slow(WRITE, 100, &[(Wait::RaidBarrier, Reason::Stacking, of_100), rest]);
    }
    built.over(recording).verdict("raid-resync")
}

#[test]
fn a_tenth_at_the_barrier_is_the_threshold() {
    let v = at_the_barrier(80, "md0_resync", "");
    assert!((found(&v) - 0.8).abs() < 0.02, "{v:?}");
    assert!(
        v.evidence[0]
            .sentence()
            .contains("until md0_resync was done with the part of the array that they are in"),
        "{v:?}"
    );
    assert!(is_found(&at_the_barrier(11, "md0_resync", "")));
    assert!(!is_found(&at_the_barrier(9, "md0_resync", "")));
    // No task is seen that resyncs.
    assert!(rejected(&at_the_barrier(80, "kworker/u8:1", "")).contains("md synchronised nothing here"));
}

#[test]
fn what_is_proposed_depends_on_what_md_is_at() {
    let of = |settings: &str| {
        let v = at_the_barrier(80, "md0_resync", &format!("md0/md/level: raid1\n{settings}"));
        commands(&v)
            .into_iter()
            .map(|c| c.split(" > /sys/block/md0/md/").collect::<Vec<_>>().join(" "))
            .collect::<Vec<_>>()
    };
    let half = of("")[0].clone();
    assert!(half.starts_with("echo ") && half.ends_with(" sync_speed_max"), "{half}");
    let half = half.as_str();
    let timers = "systemctl list-timers 'mdcheck*'; cat /etc/cron.d/mdadm";
    for action in ["check", "repair"] {
        assert_eq!(of(&format!("md0/md/sync_action: {action}\n")), ["echo idle sync_action", half, timers]);
    }
    assert_eq!(of("md0/md/sync_action: recover\n"), [half]);
    // The kernel's default speed is no less than that.
    assert_eq!(of("md0/md/sync_speed_min: 1001\n"), ["echo 1000 sync_speed_min", half]);
    assert_eq!(of("md0/md/sync_speed_min: 1000\n"), [half]);
    // What it costs to let it take longer depends on why it runs.
    let costs = |action: &str| {
        let v =
            at_the_barrier(80, "md0_resync", &format!("md0/md/level: raid1\nmd0/md/sync_action: {action}\n"));
        v.remedies.iter().any(|r| r.what.ends_with("another failing disk may lose data"))
    };
    assert_eq!((costs("check"), costs("recover")), (false, true));
    let bitmap = "mdadm --grow --bitmap=internal --bitmap-chunk=128M /dev/md0";
    let without = "md0/md/consistency_policy: resync\n";
    assert_eq!(of(&format!("{without}md0/md/sync_action: resync\n")), [half, bitmap]);
    assert_eq!(of(&format!("{without}md0/md/sync_action: recover\n")), [half]);
    assert_eq!(of("md0/md/consistency_policy: bitmap\nmd0/md/sync_action: resync\n"), [half]);
}
