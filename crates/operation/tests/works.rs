//! A task that waits for a work item: who queued it, how long it lay in the queue, what the worker did.

use ledger::Reason;
use life::{IoObserver, Names};
use operation::{Account, Follow, History, Operation, OperationObserver, Part};
use trace::{Batch, Call, Context, Cpu, Left, Nanos, TaskEvent, TextId, Tid, What};

const TASK: Tid = Tid(10);
const WORKER: Tid = Tid(20);

#[derive(Default)]
struct All(Vec<Account>);

impl OperationObserver for All {
    fn operation(&mut self, o: &Operation, account: Account, _: &Names, _: &History) {
        assert_eq!(account.imbalance(), None, "{o:?}: {account:?}");
        self.0.push(account);
    }
}

impl IoObserver for All {}

/// An fsync queues an item at 10 us and sleeps; a worker runs it from 40 to 90 and wakes the task `behind` us
/// after that.
fn flushed(behind: u64) -> Account {
    let (work, function) = (7, TextId(0));
    let end = 90 + behind;
    let what = [
        (0, WORKER, What::WorkEnd),
        (0, TASK, What::Enter { call: Call::Fsync, args: [3, 0, 0, 0] }),
        (10, TASK, What::WorkQueued { work, function }),
        (12, TASK, What::Switch { left: Left::Uninterruptible, next: Tid(0) }),
        (40, WORKER, What::WorkStart { work, function }),
        (90, WORKER, What::WorkEnd),
        (end, WORKER, What::Wake(TASK)),
        (end + 5, WORKER, What::Switch { left: Left::Interruptible, next: TASK }),
        (end + 10, TASK, What::Exit { call: Call::Fsync, result: 0 }),
    ];
    let own = |(time, tid, what)| (time, tid, Context(0), what);
    account(&["xlog_cil_push_work"], what.map(own))
}

/// The account of the operation of which something was seen at these microseconds; names of functions are numbered from 0.
fn account(functions: &[&str], what: impl IntoIterator<Item = (u64, Tid, Context, What)>) -> Account {
    let mut batch = Batch::default();
    let see = |batch: &mut Batch, time: u64, tid, context, what| {
        batch.tasks.push(TaskEvent { time: Nanos(time * 1000), after: 0, tid, cpu: Cpu(0), context, what });
    };
    for (id, name) in (0..).zip(functions) {
        let trace::Detail::Text(text) = batch.store(name.as_bytes()) else { panic!("a text") };
        see(&mut batch, 0, TASK, Context(0), What::Text { id: TextId(id), text });
    }
    what.into_iter().for_each(|(time, tid, context, what)| see(&mut batch, time, tid, context, what));
    let (mut follow, mut all) = (Follow::default(), All::default());
    follow.feed(&batch, &mut all);
    all.0.remove(0)
}

/// An fsync sleeps from 12 to 90; a worker begins an item that an interrupt queues at 40, and in it queues another of its own, which wakes
/// the task.
fn behind_another(first: &str) -> Account {
    let (own, interrupt) = (Context(0), Context(Context::HARD));
    let [one, two] = [(7, TextId(0)), (8, TextId(1))];
    account(
        &[first, "orig_write_end_io_work"],
        [
            (0, WORKER, own, What::WorkEnd),
            (0, TASK, own, What::Enter { call: Call::Fsync, args: [3, 0, 0, 0] }),
            (12, TASK, own, What::Switch { left: Left::Uninterruptible, next: Tid(0) }),
            (40, Tid(0), interrupt, What::WorkQueued { work: one.0, function: one.1 }),
            (45, WORKER, own, What::WorkStart { work: one.0, function: one.1 }),
            (50, WORKER, own, What::WorkQueued { work: two.0, function: two.1 }),
            (55, WORKER, own, What::WorkEnd),
            (60, WORKER, own, What::WorkStart { work: two.0, function: two.1 }),
            (88, WORKER, own, What::Wake(TASK)),
            (89, WORKER, own, What::WorkEnd),
            (90, WORKER, own, What::Switch { left: Left::Interruptible, next: TASK }),
            (99, TASK, own, What::Exit { call: Call::Fsync, result: 0 }),
        ],
    )
}

#[test]
fn an_item_that_another_of_the_same_worker_queued_is_its_continuation() {
    let account = behind_another("clone_write_end_io_work");
    assert_eq!(account.of(Reason::Unexplained), Nanos(0), "{account:?}");
    assert_eq!(account.of(Reason::WorkQueue), Nanos(15_000), "{account:?}");
    assert_eq!(account.of(Reason::Timer), Nanos(28_000), "{account:?}");
}

/// Whatever the timer of a cgroup's limit lets go waited for that limit.
#[test]
fn what_a_throttles_timer_lets_go_was_held_back() {
    let account = behind_another("blk_throtl_dispatch_work_fn");
    assert_eq!(account.of(Reason::CgroupLimit), Nanos(28_000), "{account:?}");
}

fn work(account: &Account) -> Option<(Tid, Option<Tid>)> {
    account.nodes.iter().find_map(|n| match &n.part {
        Part::Work { worker, queued, .. } => Some((*worker, queued.map(|q| q.by))),
        _ => None,
    })
}

#[test]
fn who_waits_for_an_item_is_woken_behind_its_end() {
    for behind in [0, 1, 30] {
        let account = flushed(behind);
        assert_eq!(work(&account), Some((WORKER, Some(TASK))), "{behind}: {account:?}");
        // From 12, when the task slept, to 40, when a worker took it.
        assert_eq!(account.of(Reason::WorkQueue), Nanos(28_000), "{behind}: {account:?}");
    }
}

/// What a worker does long after its item is not the item's doing.
#[test]
fn a_wake_up_long_after_is_not_the_items() {
    assert_eq!(work(&flushed(200)), None);
}
