//! Causes about operations that are not about a wait of theirs: flushes of the device, and time between operations.

use super::*;
use crate::op_builder::OpBuilder;
use ledger::Reason;
use operation::{Kind, Wait};
use trace::Call;

const FSYNC: Kind = Kind::Call(Call::Fsync);
const READ: Kind = Kind::Call(Call::Read);

/// 297 quick fsyncs and three of 100 ms, of which so many passed in flushes of the device and the rest in a sleep; beside
/// them synchronous writes of the device, without which there is none to flush.
fn fsyncs(flushing: &[(Reason, u64)]) -> OpBuilder {
    syncs(FSYNC, flushing)
}

/// The same of another kind of operation.
fn syncs(kind: Kind, flushing: &[(Reason, u64)]) -> OpBuilder {
    syncs_by("fio", kind, flushing)
}

/// The same of a task.
fn syncs_by(task: &str, kind: Kind, flushing: &[(Reason, u64)]) -> OpBuilder {
    let mut recording = TraceBuilder::default();
    for i in 0..10 {
        recording.sync_write(2 * i * MS, 2 * i * MS, (2 * i + 1) * MS);
    }
    let mut built = OpBuilder::default();
    built.by(task).quick(kind, 297);
    let mut sleeps: Vec<_> =
        flushing.iter().map(|(reason, ms)| (Wait::JournalCommit, *reason, *ms)).collect();
    let flushed: u64 = flushing.iter().map(|(_, ms)| ms).sum();
    sleeps.push((Wait::Input, Reason::Sleep, 99 - flushed));
    for _ in 0..3 {
        built.slow(kind, 100, &sleeps);
    }
    built.over(recording);
    built
}

#[test]
fn flushes_within_operations_are_found_with_their_share() {
    let all = [(Reason::Preflush, 40), (Reason::Postflush, 30), (Reason::FlushQueue, 10)];
    let v = fsyncs(&all).verdict("flush-cost");
    // No flush of the device was recorded by itself.
    assert!(!says(&v, "sda was flushed"), "{v:?}");
    let share = found(&v);
    assert!((share - 0.8).abs() < 0.02, "{share}");
    for reason in [Reason::Preflush, Reason::Postflush, Reason::FlushQueue] {
        assert!(found(&fsyncs(&[(reason, 11)]).verdict("flush-cost")) > 0.1, "{reason:?}");
    }
}

/// strace does not see what is handed to io_uring.
#[test]
fn how_syncs_are_counted_follows_from_how_they_are_made() {
    let counted = |kind| commands(&syncs(kind, &[(Reason::Preflush, 80)]).verdict("flush-cost")).remove(0);
    assert!(counted(FSYNC).starts_with("strace -fc -e fsync,"));
    assert!(counted(Kind::RingSync)
        .starts_with("perf stat -a -e io_uring:io_uring_submit_req --filter 'opcode == 3'"));
    let by = |task: &str| commands(&syncs_by(task, FSYNC, &[(Reason::Preflush, 80)]).verdict("flush-cost"));
    assert!(by("iou-wrk-812")[0].starts_with("perf stat"), "a thread of the kernel calls nothing");
    // A write that is sent by itself only waits for a flush that it asks for: the file is opened with O_DSYNC.
    let flags = |kind| {
        let all = commands(&syncs(kind, &[(Reason::Preflush, 80)]).verdict("flush-cost"));
        all.iter().any(|command| command.contains("/fdinfo/"))
    };
    assert!(flags(Kind::AioWrite) && flags(Kind::RingWrite) && !flags(Kind::RingSync));
}

/// A program's own setting; a backup that is told apart from the others of its name is the same program.
#[test]
fn a_program_with_a_setting_for_its_commits_is_told_that() {
    let first = |task: &str| {
        commands(&syncs_by(task, FSYNC, &[(Reason::Preflush, 80)]).verdict("flush-cost")).remove(0)
    };
    for (task, begins) in [
        ("postgres", "psql -c 'ALTER SYSTEM SET synchronous_commit = off'"),
        ("postgres:4711", "psql -c"),
        ("mariadbd", "mariadb -e 'SET GLOBAL innodb_flush_log_at_trx_commit = 2"),
        ("redis-server", "redis-cli CONFIG SET appendfsync everysec"),
        ("postgresql-like", "strace -fc"),
        ("etcd", "strace -fc"),
    ] {
        assert!(first(task).starts_with(begins), "{task}: {}", first(task));
    }
}

/// An fdatasync that waits for the journal writes to a file that grows; an fsync commits times, too.
#[test]
fn a_file_that_grows_is_told() {
    let of =
        |call| commands(&syncs(Kind::Call(call), &[(Reason::Preflush, 80)]).verdict("flush-cost")).remove(0);
    assert!(of(Call::Fdatasync).starts_with("strace -fy -e write,pwrite64,fallocate,fdatasync"));
    assert!(of(Call::Fsync).starts_with("strace -fc"));
}

#[test]
fn flushes_within_operations_are_rejected_below_a_tenth() {
    assert!(rejected(&fsyncs(&[(Reason::Preflush, 9)]).verdict("flush-cost")).contains("fsyncs"));
    rejected(&fsyncs(&[(Reason::Device, 80)]).verdict("flush-cost"));
}

/// 297 quick reads and three of 10 ms; between them the task had no processor for these times.
fn between(waits_ms: &[u64]) -> OpBuilder {
    let mut built = OpBuilder::default();
    built.quick(READ, 297);
    for _ in 0..3 {
        built.slow(READ, 10, &[(Wait::DirectIo, Reason::Device, 9)]);
    }
    for ms in waits_ms {
        built.kept_from_running(*ms);
    }
    built
}

#[test]
fn time_between_operations_is_found_where_it_is_as_long_as_the_slowest() {
    // Four pauses of three hundred: more than one in a hundred.
    let v = between(&[[1; 296].as_slice(), &[80; 4]].concat()).verdict("outside-io");
    // It is in none of their times, so it explains none of it.
    assert_eq!(found(&v), 0.0);
    assert!(v.evidence[0].sentence().contains("up to 80 ms"), "{v:?}");
}

#[test]
fn time_between_operations_is_rejected_where_it_is_short_or_rare() {
    assert!(rejected(&between(&[9]).verdict("outside-io")).contains("up to 9 ms"));
    rejected(&between(&[]).verdict("outside-io"));
    // Longer than any operation, and one in three hundred.
    let once = between(&[[1; 299].as_slice(), &[80]].concat()).verdict("outside-io");
    assert!(rejected(&once).contains("up to 80 ms"), "{once:?}");
    // Of three pauses one in a hundred is too little: less than a tenth of what the slowest took; of four it is not.
    rejected(&between(&[80; 3]).verdict("outside-io"));
    assert_eq!(found(&between(&[80; 4]).verdict("outside-io")), 0.0);
    // Many short ones are long in all, but no call looks slower for any of them.
    rejected(&between(&[5; 100]).verdict("outside-io"));
}

/// One pause in three hundred that is long, in a recording of 200 ms: a quota of processor time.
#[test]
fn few_long_pauses_that_are_most_of_the_recording_are_found() {
    let of = |long: &[u64]| {
        let mut recording = TraceBuilder::default();
        quick_reads(&mut recording, 0, 2);
        recording.read(199 * MS, 199 * MS, 200 * MS);
        between(&[[0; 900].as_slice(), long].concat()).over(recording).verdict("outside-io")
    };
    let v = of(&[35, 35, 40]);
    assert!(says(&v, "of the recording, in none of the operations' times"), "{v:?}");
    assert_eq!(found(&v), 0.0);
    rejected(&of(&[35, 35, 20]));
}

/// Without system calls it is not known what is within and what between; nor where events are missing.
#[test]
fn without_operations_or_with_losses_neither_can_be_told() {
    let mut recording = TraceBuilder::default();
    quick_reads(&mut recording, 0, 200);
    assert!(cannot_tell(&recording.verdict("outside-io")).contains("iowhy record"));
    for cause in ["outside-io", "flush-cost", "cpu-wait", "journal-ordered", "cgroup-limit"] {
        cannot_tell(&recording.lost(500).verdict(cause));
    }
}
