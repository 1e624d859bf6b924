//! Reads and writes on dm and md, followed down to the requests of the devices below.

mod bitmap;
mod crypt;
mod dm;
mod raid5;

use ledger::Reason;
use life::{IoObserver, Names};
use operation::{Account, Done, Follow, History, Kind, Operation, OperationObserver, Part};
use testkit::{expect, Script};
use trace::{Batch, Call, Context, Cpu, Left, Nanos, TaskEvent, TextId, Tid, What};

/// Who reads and writes in these stories: the task of their lines.
const TASK: Tid = Tid(100);

#[derive(Default)]
struct All(Vec<(Operation, Account)>);

impl OperationObserver for All {
    fn operation(&mut self, o: &Operation, account: Account, _: &Names, _: &History) {
        assert_eq!(account.imbalance(), None, "{o:?}: {account:?}");
        self.0.push((*o, account));
    }
}

impl IoObserver for All {}

/// A task makes a call at 0, sleeps from `asleep` on for its own I/O, is woken when all is over, and is done
/// a microsecond later. Times are microseconds.
fn called(call: Call, asleep: u64, blocks: &str) -> Vec<(Operation, Account)> {
    called_beside(call, asleep, blocks, &[])
}

/// The same, and what tasks did meanwhile: text 1 is `kcryptd_crypt`, text 2 an array's thread that waits for
/// its bitmap.
fn called_beside(
    call: Call,
    asleep: u64,
    blocks: &str,
    beside: &[(u64, Tid, u8, What)],
) -> Vec<(Operation, Account)> {
    let script = Script::of(blocks);
    let end = script.told.last().expect("something happens").event.time.0;
    let asleep = asleep * 1000;
    let mut batch = Batch::default();
    batch.events.extend(script.told.iter().map(|t| t.event));
    let trace::Detail::Text(text) = batch.store(b"submit_bio_wait") else { panic!("a text") };
    let trace::Detail::Text(crypt) = batch.store(b"kcryptd_crypt") else { panic!("a text") };
    let bitmap = b"md_super_wait\nmd_bitmap_unplug\nraid5d\nmd_thread";
    let trace::Detail::Text(bitmap_text) = batch.store(bitmap) else { panic!("a text") };
    let mut what = vec![
        (0, TASK, 0, What::Text { id: TextId(0), text }),
        (0, TASK, 0, What::Text { id: TextId(1), text: crypt }),
        (0, TASK, 0, What::Text { id: bitmap::BITMAP, text: bitmap_text }),
        (0, TASK, 0, What::Enter { call, args: [3, 0, 0, 0] }),
        (asleep, TASK, 0, What::Switch { left: Left::Uninterruptible, next: Tid(0) }),
        (asleep, TASK, 0, What::Stack(TextId(0))),
        (end, Tid(0), Context::HARD, What::Wake(TASK)),
        (end, Tid(0), 0, What::Switch { left: Left::Preempted, next: TASK }),
        (end + 1000, TASK, 0, What::Exit { call, result: 4096 }),
    ];
    what.extend(beside.iter().map(|(us, tid, context, what)| (us * 1000, *tid, *context, *what)));
    what.sort_by_key(|(time, ..)| *time);
    for (time, tid, context, what) in what {
        // Of the same moment, blocks come first.
        let after =
            batch.events.partition_point(|e| e.time.0 < time || (e.time.0 == time && time > 0)) as u32;
        let (time, context) = (Nanos(time), Context(context));
        batch.tasks.push(TaskEvent { time, after, tid, cpu: Cpu(0), context, what });
    }
    let (mut follow, mut all) = (Follow::default(), All::default());
    follow.feed(&batch, &mut all);
    all.0
}

/// The parts within requests, one per line: the device and its kind, or the reason, and the time in
/// microseconds.
fn parts(account: &Account) -> String {
    let line = |n: &operation::Node| {
        let what = match &n.part {
            Part::Leaf(reason) => reason.name().to_string(),
            Part::Request(e) => match &e.done {
                Done::Bio(b) => format!("{} {}", b.dev, b.op.name()),
                Done::Request(r) => format!("{} {}", r.dev, r.op.name()),
            },
            Part::Wait { .. } => "wait".into(),
            other => format!("{other:?}"),
        };
        format!("{} {what} {}\n", n.depth, n.length().0 / 1000)
    };
    account.nodes.iter().map(line).collect()
}
