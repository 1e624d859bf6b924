//! io_uring: what blocks is done by a worker, which then wakes the task that asked.

use ledger::Reason;
use life::{IoObserver, Names};
use operation::{Account, Follow, History, Kind, Operation, OperationObserver, Part, Wait};
use testkit::Script;
use trace::{Context, Cpu, Detail, Left, Nanos, TaskEvent, TextId, Tid, What};

const ASKS: Tid = Tid(812);
const WORKER: Tid = Tid(900);
/// `IORING_OP_FSYNC` and `IORING_OP_READ`.
const FSYNC: u8 = 3;
const READ: u8 = 22;

#[derive(Default)]
struct All(Vec<(Kind, Account)>);

impl OperationObserver for All {
    fn operation(&mut self, o: &Operation, account: Account, names: &Names, _: &History) {
        assert_eq!(account.imbalance(), None, "{o:?}: {account:?}");
        assert_eq!(names.text(o.task), "postgres");
        self.0.push((o.kind, account));
    }
}

impl IoObserver for All {}

/// An operation that is handed over after 10 us; a worker sends a flush, which takes 3 ms, and wakes who asked.
fn done_by_a_worker(opcode: u8, worker: &str) -> (Kind, Account) {
    let blocks = format!(
        "0 name {worker} tid=900\n1 name postgres tid=812\n20 Q FWS 0+0 tid=900\n21 G FWS 0+0 tid=900\n22 D FF 0+0 tid=900\n3022 C FF 0+0 tid=0\n\
         3023 C WS 0+0 tid=0\n"
    );
    let mut batch = Script::of(&blocks).batches(usize::MAX).remove(0);
    let hard = Context::HARD;
    for (time, tid, context, what) in [
        (10, ASKS, 0, What::RingSubmit { request: 7, opcode }),
        (11, ASKS, 0, What::Wake(WORKER)),
        (12, ASKS, 0, What::Switch { left: Left::Interruptible, next: WORKER }),
        (25, WORKER, 0, What::Switch { left: Left::Uninterruptible, next: Tid(0) }),
        (3024, Tid(0), hard, What::Wake(WORKER)),
        (3025, Tid(0), 0, What::Switch { left: Left::Preempted, next: WORKER }),
        (3030, WORKER, 0, What::Wake(ASKS)),
        (3031, WORKER, 0, What::Switch { left: Left::Interruptible, next: ASKS }),
        (3040, ASKS, 0, What::RingComplete { request: 7, result: 0 }),
    ] {
        let time = Nanos(time * 1000);
        let after = batch.events.partition_point(|e| e.time <= time) as u32;
        batch.tasks.push(TaskEvent { time, after, tid, cpu: Cpu(0), context: Context(context), what });
    }
    let (mut follow, mut all) = (Follow::default(), All::default());
    follow.feed(&batch, &mut all);
    all.0.remove(0)
}

#[test]
fn a_sync_is_what_its_worker_waited_for() {
    let (kind, account) = done_by_a_worker(FSYNC, "iou-wrk-812");
    assert_eq!(kind, Kind::RingSync);
    assert!(account.of(Reason::Sleep) < Nanos(20_000), "{account:?}");
    assert!(account.of(Reason::Preflush) + account.of(Reason::Device) >= Nanos(2_900_000), "{account:?}");
}

#[test]
fn so_is_a_read_for_which_the_task_sent_nothing_itself() {
    let (kind, account) = done_by_a_worker(READ, "iou-wrk-812");
    assert_eq!(kind, Kind::RingRead);
    assert!(account.of(Reason::Sleep) < Nanos(20_000), "{account:?}");
}

/// Another task that wakes it has done nothing for it.
#[test]
fn who_else_wakes_the_task_is_not_followed() {
    let (_, account) = done_by_a_worker(FSYNC, "iou-wrk-7");
    assert!(account.of(Reason::Sleep) >= Nanos(2_900_000), "{account:?}");
}

/// A read that the task sends itself, and for which it first sleeps three milliseconds in this function.
fn sent_after_a_sleep_in(function: &str) -> Account {
    let blocks = "1 name postgres tid=812\n20 Q R 0+8 tid=812\n3020 G R 0+8 tid=812\n3021 D R 0+8 tid=812\n4000 C R 0+8 tid=0\n";
    let mut batch = Script::of(blocks).batches(usize::MAX).remove(0);
    let Detail::Text(text) = batch.store(function.as_bytes()) else { panic!("a text") };
    let (id, hard) = (TextId(0), Context::HARD);
    for (time, tid, context, what) in [
        (0, ASKS, 0, What::Text { id, text }),
        (10, ASKS, 0, What::RingSubmit { request: 7, opcode: READ }),
        (22, ASKS, 0, What::Switch { left: Left::Uninterruptible, next: Tid(0) }),
        (22, ASKS, 0, What::Stack(id)),
        (3010, Tid(0), hard, What::Wake(ASKS)),
        (3015, Tid(0), 0, What::Switch { left: Left::Preempted, next: ASKS }),
        (4001, Tid(0), hard, What::RingComplete { request: 7, result: 4096 }),
    ] {
        let time = Nanos(time * 1000);
        let after =
            batch.events.partition_point(|e| e.time <= time && (time.0 > 0 || e.action.is_note())) as u32;
        batch.tasks.push(TaskEvent { time, after, tid, cpu: Cpu(0), context: Context(context), what });
    }
    let (mut follow, mut all) = (Follow::default(), All::default());
    follow.feed(&batch, &mut all);
    all.0.remove(0).1
}

/// Who sends it sleeps until there is a tag: that is where the read is, whoever asked for it.
#[test]
fn a_tag_that_the_sender_slept_for_is_what_the_read_waited_for() {
    let waits = |account: &Account| {
        let all = account.nodes.iter().filter_map(|node| match node.part {
            Part::Wait { wait, .. } => Some((wait, node.length())),
            _ => None,
        });
        all.collect::<Vec<_>>()
    };
    let account = sent_after_a_sleep_in("blk_mq_get_tag\n__blk_mq_alloc_requests\nblk_mq_submit_bio");
    assert_eq!(waits(&account), [(Wait::Tag, Nanos(2_988_000))], "{account:?}");
    assert!(account.of(Reason::GetRequest) >= Nanos(2_988_000), "{account:?}");
    let throttled = sent_after_a_sleep_in("rq_qos_wait\nwbt_wait\nblk_mq_submit_bio");
    assert_eq!(throttled.of(Reason::WritebackThrottle), Nanos(2_988_000), "{throttled:?}");
    let other = sent_after_a_sleep_in("mutex_lock\next4_file_read_iter");
    assert_eq!(waits(&other), [], "{other:?}");
}
