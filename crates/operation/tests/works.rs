//! A task that waits for a work item: who queued it, how long it lay in the queue, what the worker did.

use ledger::Reason;
use life::{Names, Sink};
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

impl Sink for All {}

/// An fsync queues an item at 10 us and sleeps; a worker runs it from 40 to 90 and wakes the task `behind` us
/// after that.
fn flushed(behind: u64) -> Account {
    let mut batch = Batch::default();
    let trace::Detail::Text(text) = batch.store(b"xlog_cil_push_work") else { panic!("a text") };
    let (work, function) = (7, TextId(0));
    let end = 90 + behind;
    let what = [
        (0, TASK, What::Text { id: function, text }),
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
    for (time, tid, what) in what {
        let (time, context) = (Nanos(time * 1000), Context(0));
        batch.tasks.push(TaskEvent { time, after: 0, tid, cpu: Cpu(0), context, what });
    }
    let (mut follow, mut all) = (Follow::default(), All::default());
    follow.feed(&batch, &mut all);
    all.0.remove(0)
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
