//! What becomes of an operation's account in the table: because of whom each part of it passed.

use device::Split;
use ledger::Reason;
use life::{Contention, Names, Op, Owner, Request, Timeline};
use operation::{
    Account, Done, Entry, History, Kind, Known, Node, Operation, OperationObserver, OperationTracker, Part,
    Wait,
};
use trace::{Call, DevId, Fs, Nanos, Tid};
use waits::{Accounts, CulpritKind, Link, Phase, Selection, Table};

const SDA: DevId = DevId(8 << 20);
/// A partition of it.
const SDA1: DevId = DevId(8 << 20 | 1);
/// It starts two of one name.
const CRON: Tid = Tid(7);
const JAVA: Tid = Tid(100);
const MS: u64 = 1_000_000;

/// Where a row's time passed, because of whom, and how many ms.
type RowOf = (Option<Phase>, CulpritKind, Option<String>, u64);

const TASKS: [(Tid, &str); 8] = [
    (CRON, "cron"),
    (JAVA, "java"),
    (Tid(200), "postgres"),
    (Tid(300), "jbd2/sda-8"),
    (Tid(400), "kworker/u8:1"),
    (Tid(401), "kworker/u8:2"),
    (Tid(500), "tar"),
    (Tid(600), "java"),
];

/// Listens to no operations.
struct Nobody;

impl OperationObserver for Nobody {
    fn operation(&mut self, _: &Operation, _: Account, _: &Names, _: &History) {}
}

/// Who sent a write, whose data it was, and for how many ms the device served it.
type Write = (Tid, Tid, u64);

/// The rows of a read of java's that took 10 ms, of which all is within these parts, each within the one before.
fn rows(parts: Vec<Part>) -> Vec<RowOf> {
    rows_beside(parts, &[])
}

/// Names of the tasks.
fn names() -> Names {
    let mut names = Names::default();
    [JAVA, Tid(600)].iter().for_each(|job| names.born(CRON, *job, false));
    for (tid, name) in TASKS {
        names.rename(tid, name.as_bytes());
    }
    names
}

/// A request to sda, whose own service was so many ms.
fn served(op: Op, (sender, owner, ms): Write, time: Timeline) -> Request {
    let split = Split { known: true, own: Nanos(ms * MS), ..Split::default() };
    Request {
        dev: SDA,
        op,
        task: names().of(sender),
        owner: Some(Owner { task: names().of(owner), journal: false }),
        contention: Contention { split, ..Contention::default() },
        time,
        ..Request::default()
    }
}

/// The same while the device served these writes.
fn rows_beside(parts: Vec<Part>, writes: &[Write]) -> Vec<RowOf> {
    let time = Timeline { completed: Nanos(5 * MS), ..Timeline::default() };
    let requests: Vec<Request> = writes.iter().map(|write| served(Op::Write, *write, time)).collect();
    rows_among(parts, SDA, &requests)
}

/// The same of a read on this file system, while the device served these requests.
fn rows_among(parts: Vec<Part>, dev: DevId, requests: &[Request]) -> Vec<RowOf> {
    let names = names();
    let mut tracker = OperationTracker::default();
    tracker.knows(Known { partitions: vec![(SDA1, SDA)], ..Known::default() });
    requests.iter().for_each(|r| tracker.request(r, &names, &mut Nobody));
    let (from, to) = (Nanos(0), Nanos(10 * MS));
    let nodes = (0..).zip(parts).map(|(depth, part)| Node { part, depth, from, to }).collect();
    let account = Account { from, to, nodes, hops: vec![] };
    assert_eq!(account.imbalance(), None);
    let operation = Operation {
        kind: Kind::Call(Call::Read),
        tid: JAVA,
        process: None,
        task: names.of(JAVA),
        from,
        to,
        fd: None,
        fs: Fs::Ext4,
        dev,
        inode: 12,
        told: false,
        result: 4096,
        is_storage: true,
        still_out: None,
        begun_before: false,
    };
    let mut table = Table::default();
    Accounts::default().add(&mut table, &operation, dev, &account, &names, tracker.history());
    let victim = table.victims().next().expect("it was added").0;
    let mut all: Vec<RowOf> = vec![];
    for row in table.rows_of(victim, Selection::default()) {
        let phase = table.links(row.chain).last().and_then(|link| match link {
            Link::Phase(phase) => Some(*phase),
            _ => None,
        });
        let culprit = table.culprit_of(row.culprit);
        all.push((phase, culprit.kind, culprit.name.as_deref().map(str::to_string), row.time.0 / MS));
    }
    all.sort_by_key(|(.., ms)| std::cmp::Reverse(*ms));
    all
}

#[test]
fn what_a_task_computes_for_another_is_that_tasks() {
    let on_cpu = Some(Phase::Reason(Reason::OnCpu));
    let by = |tid: u32| {
        let wait = Part::Wait { wait: Wait::JournalCommit, stack: None };
        rows(vec![wait, Part::Task(Tid(tid)), Part::Leaf(Reason::OnCpu)])
    };
    assert_eq!(by(200), [(on_cpu, CulpritKind::Task, Some("postgres".into()), 10)]);
    assert_eq!(by(300), [(on_cpu, CulpritKind::Kernel, Some("jbd2/sda-8".into()), 10)]);
    assert_eq!(by(600), [(on_cpu, CulpritKind::Task, Some("java:600".into()), 10)]);
    // Its own time is nobody else's.
    assert_eq!(rows(vec![Part::Leaf(Reason::OnCpu)]), [(on_cpu, CulpritKind::Own, None, 10)]);
    assert_eq!(by(100), [(on_cpu, CulpritKind::Own, None, 10)]);
}

#[test]
fn time_in_the_scheduler_in_which_the_driver_takes_nothing_is_the_devices() {
    let refused = |ms: u64| {
        let contention = Contention { refused: Nanos(ms * MS), ..Contention::default() };
        let request = Request { dev: SDA, tid: JAVA, contention, ..Request::default() };
        let entry = Entry::of(Done::Request(request));
        let wait = Part::Wait { wait: Wait::DirectIo, stack: None };
        rows(vec![wait, Part::Request(Box::new(entry)), Part::Leaf(Reason::Scheduler)])
    };
    let waited = Some(Phase::Reason(Reason::Scheduler));
    let device = |ms| (Some(Phase::Refused), CulpritKind::Device, None, ms);
    assert_eq!(refused(7), [device(7), (waited, CulpritKind::Unknown, None, 3)]);
    assert_eq!(refused(0), [(waited, CulpritKind::Unknown, None, 10)]);
    // It was refused before, too.
    assert_eq!(refused(12), [device(10)]);
}

/// Two workers write tar's data: it is tar that the device served.
#[test]
fn who_has_data_written_by_several_workers_is_one_culprit() {
    let (postgres, [one, other], tar) = (Tid(200), [Tid(400), Tid(401)], Tid(500));
    let throttled = vec![Part::Leaf(Reason::WritebackThrottle)];
    let told = rows_beside(throttled, &[(one, tar, 5), (postgres, postgres, 3), (other, tar, 2)]);
    let waited = Some(Phase::Reason(Reason::WritebackThrottle));
    let for_a_task = |name: &str, ms| (waited, CulpritKind::Task, Some(name.to_string()), ms);
    assert_eq!(told, [for_a_task("tar", 7), for_a_task("postgres", 3)]);
}

/// A flush of 3 ms, 4 ms of postgres' data, whose flush after it takes 2 ms and is told with it, and another ms until the turn comes. The file
/// system lies on a partition, requests are the disk's.
#[test]
fn in_line_for_a_flush_one_is_behind_data_between_two_others() {
    let at = |issued: u64, done: u64, all: u64| Timeline {
        issued: Some(Nanos(issued * MS)),
        data_completed: Some(Nanos(done * MS)),
        completed: Nanos(all * MS),
        flushed: true,
        ..Timeline::default()
    };
    let (worker, postgres) = (Tid(400), Tid(200));
    let requests = [
        served(Op::Flush, (worker, worker, 3), at(0, 3, 3)),
        served(Op::Flush, (worker, worker, 2), at(7, 9, 9)),
        served(Op::Write, (postgres, postgres, 4), at(3, 7, 9)),
    ];
    let flush = |ms| (Some(Phase::Flush), CulpritKind::Device, None, ms);
    let behind = (Some(Phase::Behind), CulpritKind::Task, Some("postgres".to_string()), 4);
    for dev in [SDA, SDA1] {
        assert_eq!(
            rows_among(vec![Part::Leaf(Reason::FlushQueue)], dev, &requests),
            [flush(6), behind.clone()]
        );
    }
    assert_eq!(rows(vec![Part::Leaf(Reason::FlushQueue)]), [flush(10)]);
}

/// Another of java's threads writes for 10 ms and holds the file's lock meanwhile: it is its own write that the victim is behind. What such a
/// thread reads ahead for it, under no lock, is the victim's own service.
#[test]
fn what_the_holder_of_a_lock_writes_is_not_the_waiters_own_service() {
    let within = |wait: Wait| {
        let split = Split { known: true, own: Nanos(10 * MS), ..Split::default() };
        let contention = Contention { split, ..Contention::default() };
        let task = names().of(JAVA);
        let owner = Some(Owner { task, journal: false });
        let by_thread =
            Request { dev: SDA, op: Op::Write, tid: Tid(101), task, owner, contention, ..Request::default() };
        let entry = Entry::of(Done::Request(by_thread));
        let parts = [Part::Wait { wait, stack: None }, Part::Task(Tid(101)), Part::Request(Box::new(entry))];
        rows(parts.into_iter().chain([Part::Leaf(Reason::Device)]).collect())
    };
    let own = |phase| [(Some(phase), CulpritKind::Own, None, 10)];
    assert_eq!(within(Wait::InodeLock), own(Phase::Behind));
    assert_eq!(within(Wait::PageRead), own(Phase::Service));
}
