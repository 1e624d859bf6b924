//! Any events in any order: every account balances, nothing panics, nothing grows without bound.

use life::{Bio, IoObserver, IoTracker, Names, Request};
use operation::{Account, History, Operation, OperationObserver, OperationTracker, Outside};
use proptest::prelude::*;
use trace::{
    Action, Batch, Bytes, Call, CommitPhase, Context, Cpu, Detail, DevId, Event, Flags, Fs, Left, Nanos,
    Sector, TaskEvent, TextId, Tid, What,
};

/// Checks each operation that is over.
#[derive(Default)]
struct Checked {
    operations: usize,
    longest: usize,
}

impl OperationObserver for Checked {
    fn operation(&mut self, o: &Operation, account: Account, _: &Names, _: &History) {
        assert_eq!((account.from, account.to), (o.from, o.to), "{o:?}");
        assert_eq!(account.imbalance(), None, "{o:?}: {account:?}");
        let leaves: Nanos = account.leaves().map(|(_, n)| n.length()).sum();
        assert_eq!(leaves, o.total());
        self.operations += 1;
        self.longest = self.longest.max(account.nodes.len());
    }

    fn outside(&mut self, o: &Outside) {
        assert!(o.wait_cpu <= o.to.since(o.from), "{o:?}");
    }
}

struct Requests<'a>(&'a mut OperationTracker, &'a mut Checked);

impl IoObserver for Requests<'_> {
    fn request(&mut self, r: &Request, names: &Names) {
        self.0.request(r, names, self.1);
    }

    fn bio(&mut self, b: &Bio, names: &Names) {
        self.0.bio(b, names, self.1);
    }
}

#[derive(Clone, Debug)]
enum Given {
    Task { wait: u64, tid: u32, cpu: u32, context: u8, what: What },
    Block { wait: u64, tid: u32, cpu: u32, action: Action, sector: u64, dev: u32 },
}

fn what() -> impl Strategy<Value = What> {
    let tid = (0u32..6).prop_map(Tid);
    let call = prop_oneof![Just(Call::Read), Just(Call::Fsync), Just(Call::IoSubmit), Just(Call::Other)];
    let left = prop_oneof![
        Just(Left::Preempted),
        Just(Left::Interruptible),
        Just(Left::Uninterruptible),
        Just(Left::Stopped)
    ];
    let phase = prop_oneof![
        Just(CommitPhase::Start),
        Just(CommitPhase::Locking),
        Just(CommitPhase::Flushing),
        Just(CommitPhase::Logging),
        Just(CommitPhase::End)
    ];
    let text = (0u32..8).prop_map(TextId);
    prop_oneof![
        3 => (call.clone(), any::<[u64; 4]>()).prop_map(|(call, args)| What::Enter { call, args }),
        3 => (call, -5i64..100).prop_map(|(call, result)| What::Exit { call, result }),
        6 => (left, tid.clone()).prop_map(|(left, next)| What::Switch { left, next }),
        3 => text.clone().prop_map(What::Stack),
        6 => tid.prop_map(What::Wake),
        2 => (0u64..4, text.clone()).prop_map(|(work, function)| What::WorkQueued { work, function }),
        2 => (0u64..4, text).prop_map(|(work, function)| What::WorkStart { work, function }),
        1 => Just(What::WorkEnd),
        1 => Just(What::File { fs: Fs::Ext4, dev: DevId::new(8, 0), inode: 12 }),
        2 => phase.prop_map(|phase| What::Commit { dev: DevId::new(8, 0), phase }),
        1 => (0u64..3).prop_map(|cgroup| What::Writeback { dev: DevId::new(8, 0), inode: 12, cgroup }),
        1 => (11u64..14).prop_map(|inode| What::DirtiedFile { disk: DevId::new(8, 0), inode }),
        1 => (11u64..14).prop_map(|inode| What::Created { dev: DevId::new(8, 0), inode }),
        1 => (11u64..14).prop_map(|inode| What::Freed { dev: DevId::new(8, 0), inode }),
        1 => any::<i32>().prop_map(|blocks| What::Changes { fs: Fs::Ext4, dev: DevId::new(8, 0), blocks }),
        1 => (0u32..6, any::<bool>(), any::<bool>())
            .prop_map(|(tid, thread, shares_files)| What::Born { tid: Tid(tid), thread, shares_files }),
        1 => (0u32..6, 0u32..2).prop_map(|(tid, hierarchy)| {
            What::CgroupAttach { tid: Tid(tid), hierarchy, path: TextId(0) }
        }),
        1 => Just(What::Exec),
        1 => Just(What::WritebackEnd),
        1 => Just(What::Dirtied { dev: DevId::new(8, 0) }),
        1 => (0u64..3, any::<u8>()).prop_map(|(request, opcode)| What::RingSubmit { request, opcode }),
        1 => (0u64..3).prop_map(|request| What::RingComplete { request, result: 4096 }),
        1 => Just(What::Gone),
        1 => (0u64..5_000).prop_map(|since| What::Lost { since: Nanos(since) }),
    ]
}

fn given() -> impl Strategy<Value = Given> {
    let action = prop_oneof![
        Just(Action::Queue),
        Just(Action::Get),
        Just(Action::Insert),
        Just(Action::Issue),
        Just(Action::Remap),
        Just(Action::Complete)
    ];
    let context = prop_oneof![Just(0u8), Just(8), Just(16)];
    prop_oneof![
        3 => (0u64..2_000, 0u32..6, 0u32..2, context, what())
            .prop_map(|(wait, tid, cpu, context, what)| Given::Task { wait, tid, cpu, context, what }),
        2 => (0u64..2_000, 0u32..6, 0u32..2, action, 0u64..4, 0u32..3)
            .prop_map(|(wait, tid, cpu, action, sector, dev)| Given::Block { wait, tid, cpu, action, sector, dev }),
    ]
}

fn play(all: &[Given]) -> Checked {
    let (mut watch, mut tracker, mut over) =
        (OperationTracker::default(), IoTracker::default(), Checked::default());
    let mut batch = Batch::default();
    let mut now = 1_000_000u64;
    let stacks: [&[u8]; 4] = [
        b"folio_wait_writeback\nfile_write_and_wait_range",
        b"blk_mq_get_tag",
        b"filemap_fault",
        b"schedule",
    ];
    for (id, stack) in stacks.iter().enumerate() {
        if let trace::Detail::Text(text) = batch.store(stack) {
            let what = What::Text { id: TextId(id as u32), text };
            let e =
                TaskEvent { time: Nanos(0), after: 0, tid: Tid(0), cpu: Cpu(0), context: Context(0), what };
            watch.task(&e, &batch, tracker.names(), &mut over);
        }
    }
    for g in all {
        match *g {
            Given::Task { wait, tid, cpu, context, what } => {
                now += wait;
                let what = match what {
                    // Now and then it ends before it begins, as where pages are out of order.
                    What::Lost { since } if since.0 % 5 == 0 => What::Lost { since: Nanos(now + since.0) },
                    What::Lost { since } => What::Lost { since: Nanos(now.saturating_sub(since.0)) },
                    other => other,
                };
                let (time, tid, cpu) = (Nanos(now), Tid(tid), Cpu(cpu));
                let e = TaskEvent { time, after: 0, tid, cpu, context: Context(context), what };
                watch.task(&e, &batch, tracker.names(), &mut over);
            }
            Given::Block { wait, tid, cpu, action, sector, dev } => {
                now += wait;
                // Devices lie on one another in a circle, which no machine has.
                let upper = DevId::new(8, (dev + 1) % 3);
                let detail = match action {
                    Action::Remap => Detail::Remap { dev: upper, sector: Sector(sector * 8) },
                    _ => Detail::None,
                };
                let e = Event {
                    time: Nanos(now),
                    tid: Tid(tid),
                    cpu: Cpu(cpu),
                    dev: DevId::new(8, dev),
                    detail,
                    sector: Sector(sector * 8),
                    bytes: Bytes(4096),
                    flags: Flags::READ,
                    action,
                    ..Event::default()
                };
                watch.block(&e, tracker.names());
                tracker.feed_some(std::slice::from_ref(&e), &batch, &mut Requests(&mut watch, &mut over));
            }
        }
        watch.end_of_batch();
    }
    over
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]
    #[test]
    fn every_account_balances(all in prop::collection::vec(given(), 1..300)) {
        play(&all);
    }
}

/// Tasks that wake each other in a circle: the walk goes round only so often.
#[test]
fn a_circle_of_waiting_tasks_ends() {
    let mut all = vec![];
    let task = |tid, what| Given::Task { wait: 10, tid, cpu: 0, context: 0, what };
    for tid in 1..5 {
        all.push(task(tid, What::Enter { call: Call::Fsync, args: [3, 0, 0, 0] }));
        all.push(task(tid, What::Switch { left: Left::Uninterruptible, next: Tid(tid % 4 + 1) }));
    }
    for round in 0..200u32 {
        let tid = round % 4 + 1;
        all.push(task(tid, What::Wake(Tid(tid % 4 + 1))));
        all.push(task(tid, What::Switch { left: Left::Uninterruptible, next: Tid(tid % 4 + 1) }));
    }
    for tid in 1..5 {
        all.push(task(tid, What::Exit { call: Call::Fsync, result: 0 }));
    }
    let over = play(&all);
    assert_eq!(over.operations, 4);
    assert!(over.longest < 21_000, "{} parts", over.longest);
}

/// A task that nobody wakes, and the end of whose sleep is missing: what it waited for is not known.
#[test]
fn a_sleep_without_an_end_is_unexplained() {
    let task = |wait, what| Given::Task { wait, tid: 1, cpu: 0, context: 0, what };
    let over = play(&[
        task(10, What::Enter { call: Call::Read, args: [3, 0, 0, 0] }),
        task(10, What::Switch { left: Left::Uninterruptible, next: Tid(2) }),
        task(5_000_000, What::Exit { call: Call::Read, result: 1 }),
    ]);
    assert_eq!(over.operations, 1);
}

/// Each item of a worker queues the next one, a thousand times, and the last one wakes who waits: as deep as an account may be, and no deeper.
#[test]
fn a_chain_of_work_items_ends() {
    let (waiting, worker, function) = (Tid(1), Tid(2), TextId(3));
    let at = |tid: Tid, what| Given::Task { wait: 10, tid: tid.0, cpu: 0, context: 0, what };
    let mut all = vec![
        at(worker, What::WorkEnd),
        at(waiting, What::Enter { call: Call::Fsync, args: [3, 0, 0, 0] }),
        at(waiting, What::Switch { left: Left::Uninterruptible, next: worker }),
        at(worker, What::WorkQueued { work: 0, function }),
    ];
    for work in 0..1000 {
        all.extend([
            at(worker, What::WorkStart { work, function }),
            at(worker, What::WorkQueued { work: work + 1, function }),
        ]);
        if work == 999 {
            all.push(at(worker, What::Wake(waiting)));
        }
        all.push(at(worker, What::WorkEnd));
    }
    all.extend([
        at(worker, What::Switch { left: Left::Interruptible, next: waiting }),
        at(waiting, What::Exit { call: Call::Fsync, result: 0 }),
    ]);
    let over = play(&all);
    assert_eq!(over.operations, 1);
    assert!(over.longest > 24, "{}", over.longest);
}
