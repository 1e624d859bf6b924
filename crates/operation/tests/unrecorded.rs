//! What a recording lacks: the device that a task waited for, wakeups, or stacks.

use ledger::Reason;
use life::{IoObserver, Names};
use operation::{
    Account, Follow, History, Kind, Known, KnownFile, KnownSleep, Node, Operation, OperationObserver, Part,
    Wait,
};
use testkit::Script;
use trace::{Batch, Call, Context, Cpu, Detail, DevId, Fs, Left, Nanos, TaskEvent, TextId, Tid, What};

/// Who reads.
const READER: Tid = Tid(100);

#[derive(Default)]
struct All(Vec<(Operation, Account)>);

impl OperationObserver for All {
    fn operation(&mut self, o: &Operation, account: Account, _: &Names, _: &History) {
        self.0.push((*o, account));
    }
}

impl IoObserver for All {}

/// A read of 100 us from 0 on that an interrupt ends, right after a request of `tid` was completed on that
/// processor; task 200 reads too. With or without the wakeup.
fn read_beside(tid: u32, wakeups: bool) -> Account {
    let blocks =
        format!("10 Q R 0+8 tid={tid}\n11 G R 0+8 tid={tid}\n12 D R 0+8 tid={tid}\n99 C R 0+8 tid=0\n");
    let mut batch = Script::of(&blocks).batches(usize::MAX).remove(0);
    let Detail::Text(text) = batch.store(b"__iomap_dio_rw\niomap_dio_rw\nxfs_file_dio_read") else {
        panic!("a text")
    };
    let read = What::Enter { call: Call::Read, args: [3, 0, 4096, 0] };
    let script = [
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
    let told = script.into_iter().filter(|(.., what)| wakeups || !matches!(what, What::Wake(_)));
    of_reader(batch, told).expect("the read").1
}

/// What is told of the reader when the tasks did this, in microseconds.
fn of_reader(
    batch: Batch,
    script: impl IntoIterator<Item = (u64, Tid, u8, What)>,
) -> Option<(Operation, Account)> {
    all_of_reader(batch, script).into_iter().next()
}

fn all_of_reader(
    batch: Batch,
    script: impl IntoIterator<Item = (u64, Tid, u8, What)>,
) -> Vec<(Operation, Account)> {
    known_of_reader(Known::default(), batch, script, None)
}

/// Where that is also known, up to the end of the recording if it is told.
fn known_of_reader(
    known: Known,
    mut batch: Batch,
    script: impl IntoIterator<Item = (u64, Tid, u8, What)>,
    end: Option<Nanos>,
) -> Vec<(Operation, Account)> {
    for (time, tid, context, what) in script {
        let time = Nanos(time * 1000);
        let after =
            batch.events.partition_point(|e| e.time <= time && (time.0 > 0 || e.action.is_note())) as u32;
        batch.tasks.push(TaskEvent { time, after, tid, cpu: Cpu(0), context: Context(context), what });
    }
    let (mut follow, mut all) = (Follow::default(), All::default());
    follow.knows(known);
    follow.feed(&batch, &mut all);
    if end.is_some() {
        follow.finish(end, &mut all);
    }
    all.0.into_iter().filter(|(o, _)| o.tid == READER).collect()
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

/// The reader does `call`, is back in its own code from 5 us on, sleeps from 20 to 100 us, and a `kind` of request of `sender` is completed
/// then. No stacks are recorded.
fn slept_outside(call: Call, kind: &str, sender: u32, left: Left) -> Option<(Operation, Account)> {
    let runs = (102, Tid(0), 0, What::Switch { left: Left::Preempted, next: READER });
    slept_until(runs, call, kind, sender, left)
}

/// The same, where this is what is seen next.
fn slept_until(
    next: (u64, Tid, u8, What),
    call: Call,
    kind: &str,
    sender: u32,
    left: Left,
) -> Option<(Operation, Account)> {
    slept_woken(&[(100, Tid(0), Context::HARD, What::Wake(READER))], next, call, kind, sender, left)
}

/// The same, where this is how it is woken.
fn slept_woken(
    woken: &[(u64, Tid, u8, What)],
    next: (u64, Tid, u8, What),
    call: Call,
    kind: &str,
    sender: u32,
    left: Left,
) -> Option<(Operation, Account)> {
    let block = |time: u32, action: &str, tid: u32| format!("{time} {action} {kind} 0+8 tid={tid}\n");
    let sent = [(10, "Q"), (11, "G"), (12, "D")].map(|(time, action)| block(time, action, sender)).concat();
    let blocks = sent + &block(99, "C", 0);
    let batch = Script::of(&blocks).batches(usize::MAX).remove(0);
    let script = [
        (3, READER, 0, What::Enter { call, args: [0; 4] }),
        (5, READER, 0, What::Exit { call, result: 0 }),
        (20, READER, 0, What::Switch { left, next: Tid(0) }),
    ];
    let script = script.into_iter().chain(woken.iter().copied()).chain([next]);
    of_reader(batch, script).filter(|(o, _)| o.kind == Kind::PageFault)
}

#[test]
fn who_sleeps_outside_all_calls_until_its_own_read_is_done_waited_for_a_page() {
    let (fault, account) = slept_outside(Call::Other, "R", READER.0, Left::Uninterruptible).expect("a fault");
    assert_eq!((fault.from, fault.to), (Nanos(20_000), Nanos(102_000)));
    assert!(waits_for_a_request(&account), "{account:?}");
    let is_fault = |n: &Node| matches!(n.part, Part::Wait { wait: Wait::PageFault, .. });
    assert!(account.nodes.iter().any(is_fault), "{account:?}");
}

/// btrfs looks at the checksums of what was read in a worker, which then wakes who waits.
#[test]
fn a_worker_may_end_a_page_fault_when_the_read_is_done() {
    let runs = (122, Tid(0), 0, What::Switch { left: Left::Preempted, next: READER });
    let worker = Tid(300);
    let told = |sender: u32| {
        let script = [
            (90, worker, 0, What::Switch { left: Left::Idle, next: Tid(0) }),
            (100, Tid(0), Context::HARD, What::Wake(worker)),
            (101, Tid(0), 0, What::Switch { left: Left::Preempted, next: worker }),
            (120, worker, 0, What::Wake(READER)),
            (121, worker, 0, What::Switch { left: Left::Idle, next: Tid(0) }),
        ];
        slept_woken(&script, runs, Call::Other, "R", sender, Left::Uninterruptible)
    };
    let (fault, account) = told(READER.0).expect("a fault");
    assert_eq!((fault.from, fault.to), (Nanos(20_000), Nanos(122_000)));
    assert!(waits_for_a_request(&account), "{account:?}");
    assert_eq!((account.own_device(READER), account.own_device(worker)), (Some(testkit::DISK), None));
    assert!(told(200).is_none(), "another one's read");
}

#[test]
fn other_sleeps_outside_calls_are_no_page_faults() {
    let deep = Left::Uninterruptible;
    assert!(slept_outside(Call::Other, "R", 200, deep).is_none(), "another one's read");
    assert!(slept_outside(Call::Other, "W", READER.0, deep).is_none(), "a write");
    assert!(slept_outside(Call::Other, "R", READER.0, Left::Interruptible).is_none(), "it waits for input");
    // Only calls about storage are recorded: it may be in another one.
    assert!(slept_outside(Call::Read, "R", READER.0, deep).is_none());
}

/// Some kernels tell no switch from a processor's idle task: whatever a task does next shows that it runs.
#[test]
fn a_page_fault_ends_with_its_wake_where_no_switch_to_the_task_was_told() {
    let next = (150, READER, 0, What::Enter { call: Call::Other, args: [0; 4] });
    let deep = Left::Uninterruptible;
    let (fault, account) = slept_until(next, Call::Other, "R", READER.0, deep).expect("a fault");
    assert_eq!((fault.from, fault.to), (Nanos(20_000), Nanos(100_001)));
    assert!(waits_for_a_request(&account), "{account:?}");
}

/// Another task's call shows that calls are recorded. The reader's `fsync` had begun before: it is woken after `first` us, or seen to sleep in it
/// from 10 us on, and returns after `took`.
fn begun_before(seen_asleep: bool, stack: &[u8], took: u64) -> Vec<(Kind, bool, u64)> {
    let mut batch = Batch::default();
    let Detail::Text(text) = batch.store(stack) else { panic!("a text") };
    let sleeps = (10, READER, 0, What::Switch { left: Left::Uninterruptible, next: Tid(200) });
    let script = [
        (0, READER, 0, What::Text { id: TextId(0), text }),
        (1, Tid(200), 0, What::Enter { call: Call::Other, args: [0; 4] }),
        sleeps,
        (10, READER, 0, What::Stack(TextId(0))),
        (took - 10, Tid(300), 0, What::Wake(READER)),
        (took - 5, Tid(200), 0, What::Switch { left: Left::Interruptible, next: READER }),
        (took, READER, 0, What::Exit { call: Call::Fsync, result: 0 }),
        (took + 10, READER, 0, What::Enter { call: Call::Fsync, args: [3, 0, 0, 0] }),
        (took + 20, READER, 0, What::Exit { call: Call::Fsync, result: 0 }),
    ];
    let told = script
        .into_iter()
        .filter(|(.., what)| seen_asleep || !matches!(what, What::Stack(_)) && *what != sleeps.3);
    all_of_reader(batch, told)
        .into_iter()
        .map(|(o, _)| (o.kind, o.begun_before, o.total().0 / 1000))
        .collect()
}

/// Whoever asks for a recording on a bad day asks in the middle of it.
#[test]
fn a_call_that_had_begun_before_counts_if_it_took_long() {
    let fsync = Kind::Call(Call::Fsync);
    let within = b"schedule\njbd2_log_wait_commit\next4_sync_file\n__x64_sys_fsync\ndo_syscall_64";
    let own = (fsync, false, 10);
    assert_eq!(begun_before(true, within, 200_000), [(fsync, true, 200_000), own]);
    // Nothing says when it fell asleep, nor where.
    assert_eq!(begun_before(false, within, 200_000), [own]);
    // One of many.
    assert_eq!(begun_before(true, within, 90_000), [own]);
    // It slept in no call: in a page fault.
    let fault = (Kind::PageFault, false, 199_985);
    assert_eq!(begun_before(true, b"schedule\nfilemap_fault\nasm_exc_page_fault", 200_000), [fault, own]);
}

/// The recorder noted that the reader slept in `fsync` of descriptor 3 when recording began; it is woken at `woken` us, or never, and the
/// recording ends after 300 ms.
fn slept_when_recording_began(woken: Option<u64>) -> Vec<(Operation, Account)> {
    let stack = "jbd2_log_wait_commit\next4_sync_file\n__x64_sys_fsync\ndo_syscall_64".to_string();
    let (dev, inode) = (DevId::new(8, 1), 12);
    let file = KnownFile { process: READER, fd: 3, fs: Fs::Ext4, dev, inode, closed_on_exec: None };
    let known = Known {
        asleep: vec![KnownSleep { tid: READER, task: "ledger".into(), stack, argument: Some(3) }],
        files: vec![file],
        ..Known::default()
    };
    let other = [(1, Tid(200), 0, What::Enter { call: Call::Other, args: [0; 4] })];
    let ends = woken.map(|at| {
        [
            (at - 10, Tid(300), 0, What::Wake(READER)),
            (at - 5, Tid(200), 0, What::Switch { left: Left::Interruptible, next: READER }),
            (at, READER, 0, What::Exit { call: Call::Fsync, result: 0 }),
        ]
    });
    let script = other.into_iter().chain(ends.into_iter().flatten());
    known_of_reader(known, Batch::default(), script, Some(Nanos(300_000_000)))
}

/// It leaves no event of its own where it sleeps until the end.
#[test]
fn who_slept_when_recording_began_is_in_the_call_that_its_stack_tells() {
    for (woken, took, over) in [(Some(200_000), 199_999_000, true), (None, 299_999_000, false)] {
        let all = slept_when_recording_began(woken);
        let [(o, account)] = &all[..] else { panic!("{woken:?}: {all:?}") };
        assert_eq!((o.kind, o.begun_before, o.still_out.is_none()), (Kind::Call(Call::Fsync), true, over));
        assert_eq!((o.total(), o.fs, o.dev, o.inode), (Nanos(took), Fs::Ext4, DevId::new(8, 1), 12));
        let journal = |n: &Node| matches!(n.part, Part::Wait { wait: Wait::JournalCommit, .. });
        assert!(account.nodes.iter().any(journal), "{account:?}");
    }
    // One of many that any recording begins in the middle of.
    assert!(slept_when_recording_began(Some(90_000)).is_empty());
}

/// The reader sleeps in `call` from 20 us on, at `stack`, and has sent `blocks`; the last that another task does is at 300 us.
fn sleeps_until_the_end(call: Call, stack: &[u8], blocks: &str) -> Account {
    let mut batch = Script::of(blocks).batches(usize::MAX).remove(0);
    let Detail::Text(text) = batch.store(stack) else { panic!("a text") };
    let script = [
        (0, READER, 0, What::Text { id: TextId(0), text }),
        (1, Tid(200), 0, What::Enter { call: Call::Other, args: [0; 4] }),
        (3, READER, 0, What::Enter { call, args: [3, 0, 4096, 0] }),
        (20, READER, 0, What::Switch { left: Left::Uninterruptible, next: Tid(0) }),
        (20, READER, 0, What::Stack(TextId(0))),
        (300, Tid(200), 0, What::Exit { call: Call::Other, result: 0 }),
    ];
    let mut all = known_of_reader(Known::default(), batch, script, Some(Nanos(0)));
    all.pop().expect("a call that has not ended").1
}

/// What a request in flight has cost its sleeper so far, by its steps.
#[test]
fn who_sleeps_when_the_recording_ends_waits_for_its_request_in_flight() {
    let direct = b"__iomap_dio_rw\niomap_dio_rw\nxfs_file_dio_read";
    let of = |blocks: &str, reason| sleeps_until_the_end(Call::Read, direct, blocks).of(reason).0 / 1000;
    let queued = "10 Q R 0+8 tid=100\n12 G R 0+8 tid=100\n";
    assert_eq!(of(&format!("{queued}50 D R 0+8 tid=0\n"), Reason::Device), 250);
    assert_eq!(of(&format!("{queued}14 I R 0+8 tid=100\n"), Reason::Scheduler), 280);
    assert_eq!(of(queued, Reason::Prepare), 280);
    // Another's request, and one that has ended.
    let done = format!("{queued}13 D R 0+8 tid=0\n19 C R 0+8 tid=0\n");
    for blocks in ["10 Q R 0+8 tid=7\n12 G R 0+8 tid=7\n50 D R 0+8 tid=0\n", &done] {
        assert_eq!(of(blocks, Reason::Unexplained), 280, "{blocks}");
    }
}

/// The reader waits for a file's lock, which the only other task at that file has, or for a log that somebody writes for all.
#[test]
fn who_waits_for_a_lock_waits_for_what_its_holder_waits_for() {
    let of = |other_inode: u64, at: &[u8]| {
        let blocks = "10 Q W 0+8 tid=200\n12 G W 0+8 tid=200\n50 D W 0+8 tid=0\n";
        let mut batch = Script::of(blocks).batches(usize::MAX).remove(0);
        let mut text = |stack: &[u8]| {
            let Detail::Text(text) = batch.store(stack) else { panic!("a text") };
            text
        };
        let (mine, others) = (text(at), text(b"folio_wait_writeback\next4_sync_file"));
        let (dev, deep) = (DevId(8 << 20), Left::Uninterruptible);
        let file = |inode| What::File { fs: Fs::Ext4, dev, inode };
        let script = [
            (0, READER, 0, What::Text { id: TextId(0), text: mine }),
            (0, READER, 0, What::Text { id: TextId(1), text: others }),
            (1, Tid(200), 0, What::Enter { call: Call::Fsync, args: [4, 0, 0, 0] }),
            (2, Tid(200), 0, file(other_inode)),
            (15, Tid(200), 0, What::Switch { left: deep, next: READER }),
            (15, Tid(200), 0, What::Stack(TextId(1))),
            (16, READER, 0, What::Enter { call: Call::Write, args: [3, 0, 4096, 0] }),
            (17, READER, 0, file(12)),
            (20, READER, 0, What::Switch { left: deep, next: Tid(0) }),
            (20, READER, 0, What::Stack(TextId(0))),
            (300, Tid(7), 0, What::Exec),
        ];
        let mut all = known_of_reader(Known::default(), batch, script, Some(Nanos(0)));
        let (_, account) = all.pop().expect("a write that has not ended");
        account.of(Reason::Device).0 / 1000
    };
    let lock = b"rwsem_down_write_slowpath\next4_buffered_write_iter";
    assert_eq!((of(12, lock), of(13, lock)), (250, 0));
    assert_eq!(of(12, b"rwsem_down_write_slowpath\nvfs_rename"), 0, "whose lock is not known");
}

/// A sleeper in a lock has sent something, too, but does not wait for it.
#[test]
fn who_waits_for_a_lock_does_not_wait_for_its_own_request_in_flight() {
    let blocks = "10 Q W 0+8 tid=100\n12 G W 0+8 tid=100\n13 D W 0+8 tid=0\n";
    let lock = b"rwsem_down_write_slowpath\next4_buffered_write_iter";
    assert_eq!(sleeps_until_the_end(Call::Write, lock, blocks).of(Reason::Unexplained), Nanos(280_000));
}

/// An empty flush waits for the flush in the device, which carries no name; a second one for the next.
#[test]
fn a_flush_in_flight_is_what_it_waits_for() {
    let stack = b"submit_bio_wait\nblkdev_issue_flush\next4_sync_file";
    let asked = "10 Q FWS 0+0 tid=100\n12 G FWS 0+0 tid=100\n";
    let account = sleeps_until_the_end(Call::Fsync, stack, &format!("{asked}50 D FN 0+0 tid=0\n"));
    assert_eq!(
        (account.of(Reason::FlushQueue), account.of(Reason::Preflush)),
        (Nanos(30_000), Nanos(250_000))
    );
    let account = sleeps_until_the_end(Call::Fsync, stack, &format!("9 D FN 0+0 tid=0\n{asked}"));
    assert_eq!((account.of(Reason::FlushQueue), account.of(Reason::Preflush)), (Nanos(280_000), Nanos(0)));
}
