//! libaio operations that are completed, until their application takes them.

use ledger::Reason;
use life::{IoObserver, Names};
use operation::{Account, Follow, History, Kind, Operation, OperationObserver, Part};
use testkit::Script;
use trace::{Call, Context, Cpu, Left, Nanos, TaskEvent, Tid, What};

const READER: Tid = Tid(100);
const TAKER: Tid = Tid(101);
const OTHER: Tid = Tid(7);
const SUBMIT: Call = Call::IoSubmit;
const TAKE: Call = Call::IoGetevents;

/// Three reads of libaio, completed after 400, 500 and 600 us.
const READS: &str = "10 Q R 8+8 tid=100\n11 G R 8+8 tid=100\n12 D R 8+8 tid=100\n20 Q R 80+8 tid=100\n21 G R 80+8 tid=100\n\
                     22 D R 80+8 tid=100\n30 Q R 800+8 tid=100\n31 G R 800+8 tid=100\n32 D R 800+8 tid=100\n400 C R 8+8 tid=7\n\
                     500 C R 80+8 tid=7\n600 C R 800+8 tid=7\n";

#[derive(Default)]
struct All(Vec<Account>);

impl OperationObserver for All {
    fn operation(&mut self, o: &Operation, account: Account, _: &Names, _: &History) {
        assert_eq!(account.imbalance(), None, "{o:?}: {account:?}");
        assert_eq!((o.from, o.to), (account.from, account.to));
        self.0.extend((o.kind == Kind::AioRead).then_some(account));
    }
}

impl IoObserver for All {}

fn exit(at: u64, tid: Tid, result: i64) -> (u64, Tid, u8, What) {
    (at, tid, 0, What::Exit { call: TAKE, result })
}

fn enter(at: u64, tid: Tid, context: u64, most: u64) -> (u64, Tid, u8, What) {
    (at, tid, 0, What::Enter { call: TAKE, args: [context, 1, most, 0] })
}

/// The accounts of these reads, in the order in which they are over. Meanwhile this happens.
fn reads(meanwhile: &[(u64, Tid, u8, What)]) -> Vec<Account> {
    let mut batch = Script::of(READS).batches(usize::MAX).remove(0);
    let mut script = vec![
        (0, Tid(1), 0, What::Born { tid: READER, thread: false, shares_files: false }),
        (1, READER, 0, What::Born { tid: TAKER, thread: true, shares_files: true }),
        (5, READER, 0, What::Enter { call: SUBMIT, args: [0xa1, 3, 2, 0] }),
        (40, READER, 0, What::Exit { call: SUBMIT, result: 3 }),
    ];
    script.extend_from_slice(meanwhile);
    for (time, tid, context, what) in script {
        let time = Nanos(time * 1000);
        let after = batch.events.partition_point(|e| e.time <= time) as u32;
        batch.tasks.push(TaskEvent { time, after, tid, cpu: Cpu(0), context: Context(context), what });
    }
    let (mut follow, mut all) = (Follow::default(), All::default());
    follow.feed(&batch, &mut all);
    follow.finish(Some(Nanos(9_000_000)), &mut all);
    all.0
}

fn ends(accounts: &[Account]) -> Vec<u64> {
    accounts.iter().map(|a| a.to.0 / 1000).collect()
}

/// The task sleeps until the first completion wakes it, and has a processor only after 5 ms.
#[test]
fn who_waits_for_a_processor_has_not_got_its_data() {
    let all = reads(&[
        enter(50, READER, 0xa1, 8),
        (60, READER, 0, What::Switch { left: Left::Interruptible, next: OTHER }),
        (402, OTHER, Context::HARD, What::Wake(READER)),
        (5402, OTHER, 0, What::Switch { left: Left::Preempted, next: READER }),
        exit(5410, READER, 3),
    ]);
    assert_eq!(ends(&all), [5410; 3]);
    assert_eq!(all[0].of(Reason::WakeUp), Nanos(2_000), "{:?}", all[0]);
    let waited: Vec<u64> = all.iter().map(|a| a.of(Reason::WaitCpu).0 / 1000).collect();
    assert_eq!(waited, [5000, 4902, 4802]);
    assert_eq!(
        all[2].of(Reason::OnCpu),
        Nanos(19_000),
        "11 us until it was sent, and 8 until the call returned"
    );
}

#[test]
fn the_oldest_are_taken_first_if_the_call_takes_only_some() {
    let some = |most, result| {
        ends(&reads(&[
            enter(50, READER, 0xa1, most),
            exit(60, READER, 0),
            enter(700, READER, 0xa1, most),
            exit(710, READER, result),
            enter(800, READER, 0xa1, 8),
            exit(810, READER, 3 - result),
        ]))
    };
    assert_eq!(some(2, 2), [710, 710, 810]);
    assert_eq!(some(1, 1), [710, 810, 810]);
    assert_eq!(some(8, 3), [710; 3]);
}

/// As far as is known they end when they are completed: the ring is in the application's memory.
#[test]
fn without_a_call_they_are_over_when_they_are_completed() {
    assert_eq!(ends(&reads(&[])), [400, 500, 600]);
    let another = [enter(50, READER, 0xb2, 8), exit(710, READER, 1)];
    assert_eq!(ends(&reads(&another)), [400, 500, 600], "of another context");
    let nothing = [enter(50, READER, 0xa1, 8), exit(90, READER, 0), exit(710, READER, 3)];
    assert_eq!(ends(&reads(&nothing)), [400, 500, 600], "nobody took them until the end");
    let gone = [enter(50, READER, 0xa1, 8), (700, READER, 0, What::Gone)];
    assert_eq!(ends(&reads(&gone)), [400, 500, 600], "nor will anybody");
}

#[test]
fn another_thread_may_take_them() {
    let all = reads(&[enter(50, TAKER, 0xa1, 8), exit(710, TAKER, 3)]);
    assert_eq!(ends(&all), [710; 3]);
    let by_another = |a: &Account| a.nodes.iter().any(|n| n.part == Part::Task(TAKER) && n.to == a.to);
    assert!(all.iter().all(by_another), "{all:?}");
}
