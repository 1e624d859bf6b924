//! A task that sleeps from before the recording to its end, whose request is in no event: it was sent before and not completed.

use ledger::Reason;
use life::{with_hung, IoObserver, Names};
use operation::{Account, Follow, History, Known, KnownFile, KnownSleep, Operation, OperationObserver};
use trace::{Batch, Call, Context, Cpu, DevId, Fs, Nanos, TaskEvent, Tid, What};

const LEDGER: Tid = Tid(100);
const DISK: DevId = DevId(8 << 20);
/// In `fdatasync`, for its own data.
const DATA: &str = "folio_wait_writeback\next4_sync_file\n__x64_sys_fdatasync\ndo_syscall_64";

#[derive(Default)]
struct All(Vec<Account>);

impl OperationObserver for All {
    fn operation(&mut self, o: &Operation, account: Account, _: &Names, _: &History) {
        if o.tid == LEDGER {
            self.0.push(account);
        }
    }
}

impl IoObserver for All {}

/// What `ledger` waited for in 4 s at this stack, while another task did nothing about storage. `hung`: the devices that hang.
fn waited(stack: &str, hung: &[DevId]) -> Account {
    let file = KnownFile { process: LEDGER, fd: 3, fs: Fs::Ext4, dev: DISK, inode: 12, closed_on_exec: None };
    let sleeps = KnownSleep { tid: LEDGER, task: "ledger".into(), stack: stack.into(), argument: Some(3) };
    let (mut follow, mut all, mut batch) = (Follow::default(), All::default(), Batch::default());
    follow.knows(Known { asleep: vec![sleeps], files: vec![file], ..Known::default() });
    follow.knows_underway(with_hung(vec![], hung));
    let what = What::Enter { call: Call::Other, args: [0; 4] };
    batch.tasks.push(TaskEvent {
        time: Nanos(1000),
        after: 0,
        tid: Tid(9),
        cpu: Cpu(0),
        context: Context(0),
        what,
    });
    follow.feed(&batch, &mut all);
    follow.finish(Some(Nanos(4_000_001_000)), &mut all);
    all.0.pop().expect("a sync that has not ended")
}

#[test]
fn who_sleeps_all_the_time_waits_for_the_device_that_hangs() {
    let all = Nanos(4_000_000_000);
    assert_eq!(waited(DATA, &[DISK]).of(Reason::Device), all);
    // It is not known what other devices do, and which of them a lock waits for.
    assert_eq!(waited(DATA, &[DevId::new(8, 16)]).of(Reason::Unexplained), all);
    assert_eq!(waited(DATA, &[]).of(Reason::Unexplained), all);
    let lock = DATA
        .replace("folio_wait_writeback", "rwsem_down_write_slowpath\ndown_write\next4_buffered_write_iter");
    assert_eq!(waited(&lock, &[DISK]).of(Reason::Device), Nanos(0));
}
