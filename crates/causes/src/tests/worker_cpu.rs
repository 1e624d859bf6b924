//! Operations that wait for a kworker's computing.

use super::*;
use crate::op_builder::OpBuilder;
use ledger::Reason;
use operation::{Kind, Wait};
use trace::Call;

const FSYNC: Kind = Kind::Call(Call::Fsync);

/// 297 quick fsyncs and three of 100 ms, which slept for so many of them while a kworker did what they wait for: this.
fn computed(reason: Reason, of_100: u64) -> OpBuilder {
    let mut built = OpBuilder::default();
    built.quick(FSYNC, 297);
    for _ in 0..3 {
        built.slow_by_worker(FSYNC, 100, Wait::Unknown, reason, of_100);
    }
    built
}

#[test]
fn what_a_worker_computes_is_told_from_what_it_waits_for() {
    let share = found(&computed(Reason::OnCpu, 80).verdict("worker-cpu"));
    assert!((share - 0.8).abs() < 0.02, "{share}");
    assert!(is_found(&computed(Reason::OnCpu, 11).verdict("worker-cpu")));
    rejected(&computed(Reason::OnCpu, 9).verdict("worker-cpu"));
    rejected(&computed(Reason::WaitCpu, 80).verdict("worker-cpu"));
    // The task itself.
    let mut own = OpBuilder::default();
    own.quick(FSYNC, 297);
    for _ in 0..3 {
        own.slow(FSYNC, 100, &[(Wait::Unknown, Reason::OnCpu, 80)]);
    }
    rejected(&own.verdict("worker-cpu"));
}

#[test]
fn a_mount_that_compresses_is_told() {
    let of = |options: &str| {
        let mut recording = TraceBuilder::default();
        recording.document("mounts.txt", &format!("/dev/sda /mnt btrfs rw{options} 0 0\n"));
        let mut built = computed(Reason::OnCpu, 80);
        let v = built.over(recording).verdict("worker-cpu");
        found(&v);
        (says(&v, "/mnt is mounted with compress"), commands(&v).remove(0))
    };
    let less = "mount -o remount,compress=no /mnt".to_string();
    assert_eq!(of(",compress-force=zstd:15"), (true, less.clone()));
    assert_eq!(of(",compress=lzo"), (true, less));
    for none in [",compress=no", ""] {
        let (is_told, command) = of(none);
        assert!(!is_told && command.starts_with("perf top"), "{none}: {command}");
    }
}
