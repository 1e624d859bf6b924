//! Waits for a processor: which task waits, which tasks had the processors, and how many there are.

use super::*;
use crate::op_builder::OpBuilder;
use ledger::Reason;
use operation::{Kind, Wait};
use stats::{Ran, SampledOperation};
use std::collections::BTreeSet;
use trace::{Call, Nanos};

const READ: Kind = Kind::Call(Call::Read);
const FSYNC: Kind = Kind::Call(Call::Fsync);

/// Three reads among hundreds waited for a processor 80 of 100 ms; each is by one of these tasks, and these ran so many ms meanwhile.
fn waited(by: [&str; 3], ran: &[(&str, u64)], cpus: &str) -> Verdict {
    let mut built = OpBuilder::default();
    for task in BTreeSet::from(by) {
        built.by(task).quick(READ, 297);
    }
    for task in by {
        built.by(task);
        let know = |sampled: &mut SampledOperation| {
            let ran = ran.iter().map(|(who, ms)| Ran { task: who.to_string(), time: Nanos(ms * 1_000_000) });
            sampled.ran.insert(1, ran.collect());
        };
        built.slow_with(READ, 100, &[(Wait::DirectIo, Reason::WaitCpu, 80)], know);
    }
    let mut recording = TraceBuilder::default();
    quick_reads(&mut recording, 0, 10);
    if !cpus.is_empty() {
        recording.document("system.json", cpus);
    }
    let v = built.over(recording).verdict("cpu-wait");
    assert!(found(&v) > 0.6, "{v:?}");
    v
}

#[test]
fn who_had_the_processors_is_named_the_longest_first() {
    let v = waited(["fio"; 3], &[("cc", 5), ("ld", 20), ("sh", 1), ("make", 2)], "");
    assert!(says(&v, "the processors ran ld (60 ms), cc (15 ms), make (6 ms)"), "{v:?}");
    assert!(!says(&v, "sh (") && !says(&v, "the host has"), "{v:?}");
    let alone = waited(["fio"; 3], &[], r#"{"before": {"cpus": {"online": "0-3"}}}"#);
    assert!(!says(&alone, "the processors ran"), "{alone:?}");
    assert!(says(&alone, "the host has 4 processors (system.json: before.cpus.online)"), "{alone:?}");
}

#[test]
fn the_task_that_waited_most_often_is_let_before_others() {
    let let_before = |by: [&str; 3]| {
        let v = waited(by, &[], "");
        commands(&v).into_iter().find(|c| c.contains("chrt -f -p 1"))
    };
    let my_db = Some("for t in $(pgrep -w -x 'my db'); do chrt -f -p 1 $t; done".to_string());
    assert_eq!(let_before(["my db"; 3]), my_db);
    assert_eq!(let_before(["my db", "zsh", "my db"]), my_db);
    // `pgrep -x '?'` would find every task whose name is one letter.
    assert_eq!(let_before(["?", "?", "my db"]), my_db);
    assert_eq!(let_before(["?", "", "(1234)"]), None);
}

/// Three of 300 reads take so long; so many of these three waited for a processor for 1 ms.
fn waited_a_millisecond(of_three: u64, ms: u64) -> OpBuilder {
    let mut built = OpBuilder::default();
    built.quick(READ, 297);
    for i in 0..3 {
        built.slow(
            READ,
            ms,
            &[
                (Wait::DirectIo, Reason::WaitCpu, u64::from(i < of_three)),
                (Wait::Input, Reason::Sleep, ms - 1),
            ],
        );
    }
    built
}

/// Too little for `completion-cpu`, and the same processors.
#[test]
fn requests_that_were_done_waited_for_the_same_processors() {
    let with = |late_us: u64| {
        let mut recording = TraceBuilder::default();
        quick_reads(&mut recording, 0, 10);
        let mut built = OpBuilder::default();
        built.over(recording).quick(READ, 297);
        for _ in 0..3 {
            built.slow(READ, 10, &[(Wait::DirectIo, Reason::WaitCpu, 10)]);
            built.completed_late(READ, 4000, late_us);
        }
        rejected(&built.verdict("completion-cpu"));
        found(&built.verdict("cpu-wait"))
    };
    assert!((with(300) - with(0) - 0.9 / 42.0).abs() < 0.002, "{} {}", with(0), with(300));
}

#[test]
fn of_what_is_fast_even_for_flash_it_must_be_most() {
    // Beside something slow; else nothing was.
    let beside = |of_three: u64| {
        let mut built = waited_a_millisecond(of_three, 2);
        built.quick(FSYNC, 297);
        (0..3).for_each(|_| {
            built.slow(FSYNC, 40, &[(Wait::Input, Reason::Sleep, 40)]);
        });
        built.verdict("cpu-wait")
    };
    found(&beside(3));
    rejected(&beside(2));
    assert!(rejected(&waited_a_millisecond(3, 2).verdict("cpu-wait")).contains("for a processor"));
    // As large a part of what is slow for flash.
    found(&waited_a_millisecond(3, 3).verdict("cpu-wait"));
}

#[test]
fn less_than_a_hundredth_of_all_is_not_why() {
    let beside = |fsync_ms: u64| {
        let mut built = waited_a_millisecond(3, 3);
        built.quick(FSYNC, 297);
        (0..3).for_each(|_| {
            built.slow(FSYNC, fsync_ms, &[(Wait::Input, Reason::Sleep, fsync_ms)]);
        });
        built.verdict("cpu-wait")
    };
    assert!((found(&beside(90)) - 0.0107).abs() < 0.0005);
    let insignificant = beside(120);
    assert!(
        rejected(&insignificant)
            .ends_with("waiting for a processor, not for storage: 0.8 % of all slow time"),
        "{insignificant:?}"
    );
    assert!(insignificant.claims.is_empty() && insignificant.remedies.is_empty());
}

/// Three page faults of 4 ms, of which the processor saw so much late.
#[test]
fn a_completion_that_is_seen_late_is_no_page_faults_doing() {
    let claimed = |late_us: u64| {
        let mut recording = TraceBuilder::default();
        quick_reads(&mut recording, 0, 10);
        let mut built = OpBuilder::default();
        built.over(recording).quick(Kind::PageFault, 297);
        (0..3).for_each(|_| {
            built.completed_late(Kind::PageFault, 4000, late_us);
        });
        built.verdict("page-fault-read").explains
    };
    assert_eq!(claimed(0).since(claimed(1500)), Nanos(3 * 1_500_000));
}
