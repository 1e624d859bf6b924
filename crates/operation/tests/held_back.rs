//! Direct I/O that is cut: what is left of it is counted against the cgroup's limit again, behind its first `block_bio_queue`. And libaio, of
//! which the limit holds all until a worker queues it.

use ledger::Reason;
use life::{IoObserver, Names};
use operation::{Account, Follow, History, Operation, OperationObserver};
use testkit::Script;
use trace::{Batch, Call, Context, Cpu, Detail, Left, Nanos, TaskEvent, TextId, Tid, What};

const READER: Tid = Tid(100);
const WORKER: Tid = Tid(20);

#[derive(Default)]
struct All(Vec<Account>);

impl OperationObserver for All {
    fn operation(&mut self, o: &Operation, account: Account, _: &Names, _: &History) {
        assert_eq!(account.imbalance(), None, "{o:?}: {account:?}");
        self.0.extend((o.tid == READER).then_some(account));
    }
}

impl IoObserver for All {}

/// A read of two pieces, the second of which gets its request after 90 ms, while a worker runs an item of this function.
fn second_piece_sent_by(function: &str) -> Account {
    let blocks = "10 Q R 0+16 tid=100\n11 X R 0+16 / 8 tid=100\n12 G R 0+8 tid=100\n13 D R 0+8 tid=100\n500 C R 0+8 tid=0\n\
                  90000 G R 8+8 tid=20\n90001 D R 8+8 tid=20\n90400 C R 8+8 tid=0\n";
    let mut batch = Script::of(blocks).batches(usize::MAX).remove(0);
    let mut store = |text: &str| match batch.store(text.as_bytes()) {
        Detail::Text(text) => text,
        _ => panic!("a text"),
    };
    let (stack, item) = (store("__iomap_dio_rw\niomap_dio_rw\nxfs_file_dio_read"), store(function));
    let (work, function) = (7, TextId(1));
    let script = [
        (0, READER, 0, What::Text { id: TextId(0), text: stack }),
        (0, WORKER, 0, What::Text { id: function, text: item }),
        (0, WORKER, 0, What::WorkEnd),
        (3, READER, 0, What::Enter { call: Call::Read, args: [3, 0, 8192, 0] }),
        (20, READER, 0, What::Switch { left: Left::Uninterruptible, next: Tid(0) }),
        (20, READER, 0, What::Stack(TextId(0))),
        (89_990, WORKER, 0, What::WorkStart { work, function }),
        (90_010, WORKER, 0, What::WorkEnd),
        (90_401, Tid(0), Context::HARD, What::Wake(READER)),
        (90_402, Tid(0), 0, What::Switch { left: Left::Preempted, next: READER }),
        (90_405, READER, 0, What::Exit { call: Call::Read, result: 8192 }),
    ];
    told(batch, &script).remove(0)
}

/// The reader's operations, of block events and what tasks did meanwhile.
fn told(mut batch: Batch, script: &[(u64, Tid, u8, What)]) -> Vec<Account> {
    for (time, tid, context, what) in script {
        let time = Nanos(time * 1000);
        let after =
            batch.events.partition_point(|e| e.time <= time && (time.0 > 0 || e.action.is_note())) as u32;
        let (tid, context, what) = (*tid, Context(*context), *what);
        batch.tasks.push(TaskEvent { time, after, tid, cpu: Cpu(0), context, what });
    }
    let (mut follow, mut all) = (Follow::default(), All::default());
    follow.feed(&batch, &mut all);
    all.0
}

#[test]
fn a_piece_that_a_throttle_sends_was_held_back() {
    let account = second_piece_sent_by("blk_throtl_dispatch_work_fn");
    assert!(account.of(Reason::CgroupLimit) >= Nanos(89_000_000), "{account:?}");
    assert_eq!(account.of(Reason::GetRequest), Nanos(0), "{account:?}");
}

#[test]
fn a_piece_that_another_worker_sends_waited_for_a_request() {
    let account = second_piece_sent_by("blk_mq_run_work_fn");
    assert_eq!(account.of(Reason::CgroupLimit), Nanos(0), "{account:?}");
    assert!(account.of(Reason::GetRequest) >= Nanos(89_000_000), "{account:?}");
}

/// The accounts of two reads of libaio, handed over after 10 and 20 us, of which a throttle's worker queues these bios.
fn held_reads(blocks: &str, beside: &[(u64, Tid, u8, What)]) -> Vec<Account> {
    let mut batch = Script::of(blocks).batches(usize::MAX).remove(0);
    let Detail::Text(item) = batch.store(b"blk_throtl_dispatch_work_fn") else { panic!("a text") };
    let (work, function) = (7, TextId(1));
    let (submit, reap) = (Call::IoSubmit, Call::IoGetevents);
    let mut script = vec![
        (0, WORKER, 0, What::Text { id: function, text: item }),
        (0, WORKER, 0, What::WorkEnd),
        (10, READER, 0, What::Enter { call: submit, args: [1, 1, 2, 0] }),
        (15, READER, 0, What::Exit { call: submit, result: 1 }),
        (20, READER, 0, What::Enter { call: submit, args: [1, 1, 2, 0] }),
        (25, READER, 0, What::Exit { call: submit, result: 1 }),
        (26, READER, 0, What::Enter { call: reap, args: [1, 1, 2, 0] }),
        (27, READER, 0, What::Switch { left: Left::Interruptible, next: Tid(0) }),
    ];
    script.extend_from_slice(beside);
    script.extend([
        (89_990, WORKER, 0, What::WorkStart { work, function }),
        (90_100, WORKER, 0, What::WorkEnd),
        (90_401, Tid(0), Context::HARD, What::Wake(READER)),
        (90_402, Tid(0), 0, What::Switch { left: Left::Preempted, next: READER }),
        (90_405, READER, 0, What::Exit { call: reap, result: 2 }),
    ]);
    told(batch, &script).into_iter().filter(|a| a.to == Nanos(90_405_000) && a.from.0 < 26_000).collect()
}

const ONE_DISK: &str = "90000 Q R 8+8 tid=20\n90001 G R 8+8 tid=20\n90002 D R 8+8 tid=20\n90010 Q R 80+8 tid=20\n\
                        90011 G R 80+8 tid=20\n90012 D R 80+8 tid=20\n90400 C R 8+8 tid=0\n90400 C R 80+8 tid=0\n";

fn begins(accounts: &[Account]) -> Vec<u64> {
    accounts.iter().map(|a| a.from.0 / 1000).collect()
}

#[test]
fn reads_of_libaio_that_a_throttle_queues_were_held_back() {
    let reads = held_reads(ONE_DISK, &[]);
    assert_eq!(begins(&reads), [10, 20]);
    assert_eq!(reads[0].of(Reason::CgroupLimit), Nanos(89_990_000), "{reads:?}");
}

#[test]
fn what_a_volume_sends_below_is_no_other_operation() {
    let blocks = "90000 Q R 8+8 dev=253,0 tid=20\n90001 A R 108+8 <- 253,0 8 tid=20\n90002 Q R 108+8 dev=8,0 tid=20\n\
                  90003 G R 108+8 dev=8,0 tid=20\n90004 D R 108+8 dev=8,0 tid=20\n\
                  90010 Q R 80+8 dev=253,0 tid=20\n90011 A R 180+8 <- 253,0 80 tid=20\n90012 Q R 180+8 dev=8,0 tid=20\n\
                  90013 G R 180+8 dev=8,0 tid=20\n90014 D R 180+8 dev=8,0 tid=20\n\
                  90390 C R 108+8 dev=8,0 tid=0\n90391 C R 180+8 dev=8,0 tid=0\n\
                  90400 C R 8+8 dev=253,0 tid=0\n90400 C R 80+8 dev=253,0 tid=0\n";
    assert_eq!(begins(&held_reads(blocks, &[])), [10, 20]);
}

#[test]
fn a_reader_that_sleeps_beside_it_may_be_meant() {
    let other = Tid(101);
    let beside = [
        (30, other, 0, What::Enter { call: Call::Fsync, args: [3, 0, 0, 0] }),
        (31, other, 0, What::Switch { left: Left::Uninterruptible, next: Tid(0) }),
    ];
    assert!(held_reads(ONE_DISK, &beside).is_empty());
}

/// What is told where a thread of this name sends such a request at 90 ms, after something in this context has woken it, and a reader that
/// did this before sleeps until it is done, and then leaves a call.
fn sent_for(
    reader: &[(u64, Tid, u8, What)],
    call: Call,
    name: &str,
    kind: &str,
    context: u8,
) -> Vec<Account> {
    let steps = [(90_000, "Q", 20), (90_001, "G", 20), (90_002, "D", 20), (90_400, "C", 0)];
    let steps = steps.map(|(at, step, tid)| format!("{at} {step} {kind} 8+8 tid={tid}\n"));
    let blocks = format!("0 name {name} tid=20\n{}", steps.concat());
    let before = (0, WORKER, 0, What::Switch { left: Left::Uninterruptible, next: Tid(0) });
    let after = [
        (20, READER, 0, What::Switch { left: Left::Uninterruptible, next: Tid(0) }),
        (89_980, Tid(55), context, What::Wake(WORKER)),
        (89_990, Tid(0), 0, What::Switch { left: Left::Preempted, next: WORKER }),
        (90_100, WORKER, 0, What::Switch { left: Left::Uninterruptible, next: Tid(0) }),
        (90_401, Tid(0), Context::HARD, What::Wake(READER)),
        (90_402, Tid(0), 0, What::Switch { left: Left::Preempted, next: READER }),
        (90_405, READER, 0, What::Exit { call, result: 0 }),
    ];
    let script = [&[before], reader, &after].concat();
    told(Script::of(&blocks).batches(usize::MAX).remove(0), &script)
}

/// The account of a call that waits for it.
fn sent_by(name: &str, call: Call, kind: &str, context: u8) -> Account {
    let enters = [(3, READER, 0, What::Enter { call, args: [3, 0, 4096, 0] })];
    sent_for(&enters, call, name, kind, context).remove(0)
}

#[test]
fn a_read_that_a_worker_sends_after_a_timer_was_held_back_where_no_work_was_recorded() {
    let held = |name, context| sent_by(name, Call::Read, "R", context).of(Reason::CgroupLimit);
    assert!(held("kworker/1:0", Context::SOFT) >= Nanos(89_900_000));
    assert_eq!(held("kworker/1:0", 0), Nanos(0), "a task gave it the read");
    assert_eq!(held("kworker/u8:1", Context::SOFT), Nanos(0), "of no processor");
    assert_eq!(held("reader", Context::SOFT), Nanos(0));
    let synced = |kind| sent_by("kworker/1:0", Call::Fsync, kind, Context::SOFT).of(Reason::CgroupLimit);
    assert!(synced("WS") >= Nanos(89_900_000));
    assert_eq!(synced("W"), Nanos(0), "written back at its time");
}

/// Outside of all calls, in a recording without stacks: a page that its limit held is a page fault, as one that it had sent itself is.
#[test]
fn a_page_that_a_limit_held_is_waited_for() {
    let outside = [
        (3, READER, 0, What::Enter { call: Call::Other, args: [0; 4] }),
        (5, READER, 0, What::Exit { call: Call::Other, result: 0 }),
    ];
    let faults = |name, context| sent_for(&outside, Call::Other, name, "R", context);
    let held = faults("kworker/1:0", Context::SOFT);
    assert_eq!(held.iter().map(|account| account.from).collect::<Vec<_>>(), [Nanos(20_000)]);
    assert!(held[0].of(Reason::CgroupLimit) >= Nanos(89_900_000));
    assert!(faults("kworker/1:0", 0).is_empty() && faults("reader", Context::SOFT).is_empty());
}

/// The account of a read that a worker wakes at 9 ms: it slept like this until somebody gave it work at 8.9 ms, and had waited for others'
/// I/O before that.
fn read_behind_a_worker(between: Left) -> Account {
    let batch = Script::of("0 name kworker/1:0 tid=20\n").batches(usize::MAX).remove(0);
    let script = [
        (0, WORKER, 0, What::Switch { left: Left::Idle, next: Tid(0) }),
        (3, READER, 0, What::Enter { call: Call::Read, args: [3, 0, 4096, 0] }),
        (20, READER, 0, What::Switch { left: Left::Uninterruptible, next: Tid(0) }),
        (100, Tid(0), Context::HARD, What::Wake(WORKER)),
        (110, Tid(0), 0, What::Switch { left: Left::Preempted, next: WORKER }),
        (4_000, WORKER, 0, What::Switch { left: between, next: Tid(0) }),
        (8_900, Tid(0), Context::HARD, What::Wake(WORKER)),
        (8_910, Tid(0), 0, What::Switch { left: Left::Preempted, next: WORKER }),
        (9_000, WORKER, 0, What::Wake(READER)),
        (9_010, WORKER, 0, What::Switch { left: Left::Idle, next: READER }),
        (9_020, READER, 0, What::Exit { call: Call::Read, result: 4096 }),
    ];
    told(batch, &script).remove(0)
}

#[test]
fn what_a_worker_did_before_it_was_idle_was_for_others() {
    let on_cpu = |left| read_behind_a_worker(left).of(Reason::OnCpu);
    assert!(on_cpu(Left::Idle) < Nanos(200_000), "{:?}", on_cpu(Left::Idle));
    assert!(read_behind_a_worker(Left::Idle).of(Reason::Timer) >= Nanos(8_800_000));
    // It waited in the middle of its work.
    assert!(on_cpu(Left::Uninterruptible) >= Nanos(3_800_000));
}
