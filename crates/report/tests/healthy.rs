//! What the screen says where nothing was slow.

use evidence::System;
use explain::{Explanation, Subject};
use report::{render, Style};
use stats::Facts;
use testkit::Script;
use trace::{Call, Context, Cpu, Detail, Left, Nanos, Quality, TaskEvent, TextId, Tid, What};

/// Two hundred reads of 200 us, one every `every` us.
fn reads(every: u64) -> String {
    let read = |i: u64| {
        let (at, sector) = (i * every, 64 + 8 * 1000 * i);
        let event = |us: u64, action: char| format!("{} {action} R {sector}+8 tid=7\n", at + us);
        [event(0, 'Q'), event(1, 'G'), event(2, 'D'), event(200, 'C')]
    };
    let mut lines: Vec<String> = (0..200).flat_map(read).collect();
    lines.sort_by_key(|line| line.split(' ').next().and_then(|at| at.parse::<u64>().ok()));
    let script = Script::of(&format!("0 name dd tid=7\n{}", lines.concat()));
    let quality = Quality { events: script.told.len() as u64, ..Quality::default() };
    let e = Explanation::new(Subject { quality, ..Subject::default() }, Facts::of(&script.batches(100)));
    render(&e, Style::default())
}

#[test]
fn a_task_that_does_little_else_than_wait_for_one_read_at_a_time_is_told_so() {
    let busy = reads(210);
    assert!(busy.starts_with("Nothing was slow") && busy.contains("one request at a time"), "{busy}");
    // Less than half of the time; two at a time.
    let (seldom, pairs) = (reads(500), reads(110));
    assert!(!seldom.contains("at a time"), "{seldom}");
    assert!(!pairs.contains("at a time"), "{pairs}");
}

/// Two hundred reads of 200 us through the page cache, one every 400 us; in between the task is kept from running for 150 us. `limit`: of its
/// control group, as in system.json, where N stands for how often it was met, or for how long.
fn cached_reads(limit: &str, n: u64) -> String {
    beside_a_close(limit, n, u64::MAX)
}

/// And from `closed` us on another task closes a file on another processor, which takes longer than the recording and makes progress.
fn beside_a_close(limit: &str, n: u64, closed: u64) -> String {
    let read = |i: u64| {
        let (at, sector) = (400 * i + 10, 64 + 8 * 1000 * i);
        let event = |us: u64, action: char| format!("{} {action} R {sector}+8 tid=7\n", at + us);
        [event(0, 'Q'), event(1, 'G'), event(2, 'D'), event(180, 'C')].concat()
    };
    let script: String = (0..200).map(read).collect();
    let mut batch =
        Script::of(&format!("0 name fio tid=7\n0 name dd tid=8\n{script}")).batches(usize::MAX).remove(0);
    let stack =
        b"schedule\nfolio_wait_bit_common\nfilemap_get_pages\nfilemap_read\n__x64_sys_pread64\ndo_syscall_64";
    let Detail::Text(text) = batch.store(stack) else { panic!("a text") };
    let mut task = |us: u64, tid: u32, what| {
        let (time, cpu) = (Nanos(1000 * us), Cpu(u32::from(tid == 8)));
        let after = batch.events.partition_point(|e| e.time <= time) as u32;
        batch.tasks.push(TaskEvent { time, after, tid: Tid(tid), cpu, context: Context(0), what });
    };
    task(0, 7, What::Text { id: TextId(0), text });
    for at in (0..200).map(|i| 400 * i + 5) {
        task(at, 7, What::Enter { call: Call::Read, args: [3, 0, 4096, 0] });
        task(at + 10, 7, What::Switch { left: Left::Uninterruptible, next: Tid(9) });
        task(at + 10, 7, What::Stack(TextId(0)));
        task(at + 186, 9, What::Wake(Tid(7)));
        task(at + 187, 9, What::Switch { left: Left::Interruptible, next: Tid(7) });
        task(at + 200, 7, What::Exit { call: Call::Read, result: 4096 });
        task(at + 210, 7, What::Switch { left: Left::Preempted, next: Tid(9) });
        if (closed..closed.saturating_add(400)).contains(&at) {
            task(at + 340, 8, What::Enter { call: Call::Close, args: [4, 0, 0, 0] });
        }
        if at >= closed {
            task(at + 350, 8, What::Switch { left: Left::Uninterruptible, next: Tid(0) });
        }
        task(at + 360, 9, What::Switch { left: Left::Interruptible, next: Tid(7) });
        if at >= closed {
            task(at + 370, 7, What::Wake(Tid(8)));
            task(at + 371, 8, What::WaitPage { inode: 9 });
        }
    }
    let quality = Quality { events: batch.events.len() as u64, ..Quality::default() };
    let mut system = System::default();
    let at = |n: u64| {
        format!(
            r#"{{"limited": [{{"path": "db", "members": [7], {}}}]}}"#,
            limit.replace('N', &n.to_string())
        )
    };
    let both = format!(r#"{{"before": {}, "after": {}}}"#, at(3), at(3 + n));
    assert!(system.add_document("system.json", both.as_bytes()));
    let e = Explanation::new(Subject { quality, system, ..Subject::default() }, Facts::of(&[batch]));
    render(&e, Style::default())
}

const MEMORY: &str = r#""memory": {"file": "memory.max", "bytes": 1048576, "met": N}"#;

/// Each read was quick, and the task is slow nevertheless.
#[test]
fn what_a_control_group_limits_is_told_where_nothing_was_slow() {
    let quota =
        r#""cpu": {"file": "cpu.max", "quota_us": 1, "period_us": 2, "throttled": 9, "throttled_ns": N}"#;
    let told = |limit: &str, n: u64| {
        let page = cached_reads(limit, n);
        assert!(page.starts_with("Nothing was slow"), "{page}");
        let page = page.replace('\n', " ");
        ["held back by /sys/fs/cgroup/db/cpu.max", "met its limit of 1 MiB 12 times"]
            .map(|t| page.contains(t))
    };
    assert_eq!([told(MEMORY, 12), told(MEMORY, 0)], [[false, true], [false; 2]]);
    assert_eq!([told(quota, 30_000_000), told(quota, 1_000_000)], [[true, false], [false; 2]]);
}

/// Such a close is no evidence, but nobody should read that nothing was slow without a word of it.
#[test]
fn what_had_not_ended_is_told_where_nothing_else_was_slow() {
    let page = |closed| beside_a_close(MEMORY, 0, closed).replace('\n', " ");
    let (much, little) = (page(20_000), page(76_000));
    assert!(much.starts_with("Nothing was slow"), "{much}");
    let said = "dd's close had taken 59.6 ms when the recording ended, and was not over: record until it is";
    assert!(much.contains(said), "{much}");
    assert!(!little.contains("not over"), "{little}");
}
