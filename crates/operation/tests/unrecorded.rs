//! What a recording lacks: the device that a task waited for, or wakeups.

use ledger::Reason;
use life::{Names, Sink};
use operation::{Account, Follow, History, Operation, OperationObserver, Part};
use testkit::Story;
use trace::{Call, Context, Cpu, Detail, Left, Nanos, TaskEvent, TextId, Tid, What};

/// Who reads.
const READER: Tid = Tid(100);

#[derive(Default)]
struct All(Vec<(Tid, Account)>);

impl OperationObserver for All {
    fn operation(&mut self, o: &Operation, account: Account, _: &Names, _: &History) {
        self.0.push((o.tid, account));
    }
}

impl Sink for All {}

/// A read of 100 us from 0 on that an interrupt ends, right after a request of `tid` was completed on that
/// processor; task 200 reads too. With or without the wakeup.
fn read_beside(tid: u32, wakeups: bool) -> Account {
    let blocks =
        format!("10 Q R 0+8 tid={tid}\n11 G R 0+8 tid={tid}\n12 D R 0+8 tid={tid}\n99 C R 0+8 tid=0\n");
    let mut batch = Story::of(&blocks).batches(usize::MAX).remove(0);
    let Detail::Text(text) = batch.store(b"__iomap_dio_rw\niomap_dio_rw\nxfs_file_dio_read") else {
        panic!("a text")
    };
    let read = What::Enter { call: Call::Read, args: [3, 0, 4096, 0] };
    let story = [
        (0, READER, 0, What::Text { id: TextId(0), text }),
        (1, Tid(200), 0, read),
        (2, Tid(200), 0, What::Exit { call: Call::Read, result: 4096 }),
        (3, READER, 0, read),
        (20, READER, 0, What::Switch { left: Left::Uninterruptible, next: Tid(0) }),
        (20, READER, 0, What::Stack(TextId(0))),
        (100, Tid(0), Context::HARD, What::Wake(READER)),
        (100, Tid(0), 0, What::Switch { left: Left::Preempted, next: READER }),
        (103, READER, 0, What::Exit { call: Call::Read, result: 4096 }),
    ];
    for (time, tid, context, what) in story {
        if matches!(what, What::Wake(_)) && !wakeups {
            continue;
        }
        let time = Nanos(time * 1000);
        let after =
            batch.events.partition_point(|e| e.time <= time && (time.0 > 0 || e.action.is_note())) as u32;
        batch.tasks.push(TaskEvent { time, after, tid, cpu: Cpu(0), context: Context(context), what });
    }
    let (mut follow, mut all) = (Follow::default(), All::default());
    follow.feed(&batch, &mut all);
    all.0.into_iter().find(|(tid, _)| *tid == READER).expect("the read").1
}

fn waits_for_a_request(account: &Account) -> bool {
    account.nodes.iter().any(|n| matches!(n.part, Part::Request(_)))
}

#[test]
fn a_read_waits_for_its_own_request() {
    let account = read_beside(READER.0, true);
    assert!(waits_for_a_request(&account), "{account:?}");
    assert_eq!(account.of(Reason::Unexplained), Nanos(0), "{account:?}");
}

/// Another task's request, completed by chance just before, explains nothing: its own went where nobody
/// recorded.
#[test]
fn a_read_does_not_wait_for_a_strangers_request() {
    let account = read_beside(200, true);
    assert!(!waits_for_a_request(&account), "{account:?}");
    assert_eq!(account.of(Reason::Unexplained), Nanos(80_000), "{account:?}");
}

/// Nothing says what woke it: it slept uninterruptibly until its own request was completed.
#[test]
fn without_wakeups_a_read_waits_for_its_own_request_alone() {
    let account = read_beside(READER.0, false);
    assert!(waits_for_a_request(&account), "{account:?}");
    assert_eq!(account.of(Reason::Unexplained), Nanos(0), "{account:?}");
    let account = read_beside(200, false);
    assert!(!waits_for_a_request(&account), "{account:?}");
    assert_eq!(account.of(Reason::Unexplained), Nanos(80_000), "{account:?}");
}
