//! What becomes of an operation's account in the table: because of whom each part of it passed.

use ledger::Reason;
use life::{Company, Names, Request};
use operation::{Account, Done, Entry, History, Kind, Node, Operation, Part, Wait};
use trace::{Call, DevId, Fs, Nanos, Tid};
use waits::{Accounts, CulpritKind, Link, Phase, Selection, Table};

const SDA: DevId = DevId(8 << 20);
const JAVA: Tid = Tid(100);
const MS: u64 = 1_000_000;

/// Where a row's time passed, because of whom, and how many ms.
type Told = (Option<Phase>, CulpritKind, Option<String>, u64);

/// The rows of a read of java's that took 10 ms, of which all is within these parts, each within the one before.
fn rows(parts: Vec<Part>) -> Vec<Told> {
    let mut names = Names::default();
    for (tid, name) in [(JAVA, "java"), (Tid(200), "postgres"), (Tid(300), "jbd2/sda-8")] {
        names.rename(tid, name.as_bytes());
    }
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
        dev: SDA,
        inode: 12,
        told: false,
        result: 4096,
        is_storage: true,
    };
    let mut table = Table::default();
    Accounts::default().add(&mut table, &operation, SDA, &account, &names, &History::default());
    let victim = table.victims().next().expect("it was added").0;
    let mut all: Vec<Told> = vec![];
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
    // Its own time is nobody else's.
    assert_eq!(rows(vec![Part::Leaf(Reason::OnCpu)]), [(on_cpu, CulpritKind::Own, None, 10)]);
    assert_eq!(by(100), [(on_cpu, CulpritKind::Own, None, 10)]);
}

#[test]
fn time_in_the_scheduler_in_which_the_driver_takes_nothing_is_the_devices() {
    let refused = |ms: u64| {
        let company = Company { refused: Nanos(ms * MS), ..Company::default() };
        let request = Request { dev: SDA, tid: JAVA, company, ..Request::default() };
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
