//! I/O that a control group's limit held and released, as a recording of blocks shows it: a worker bound to a processor queued it.
//!
//! `kthrotld` (block/blk-throttle.c) sends held bios from such a worker. Hardly anything else reads or writes synchronously from one: a
//! file system's own work there is metadata, and flagged as that. How long a bio was held, and for which task, is not recorded.

use crate::case::Case;
use crate::proof::{proof, Proof};
use life::Class;
use stats::{FEW, WORKERS};
use trace::{is_bound_worker, DevId, Flags};
use waits::Asked;

/// How many requests were released, of how many, on the device with the most; `None` if they are few.
pub(crate) fn proof(case: &Case) -> Option<Proof> {
    let devices = case.facts.devices.iter().map(|d| (sent_by_bound_workers(case, d.id), d.id));
    let (let_go, dev) = devices.max()?;
    let all = case.requests_by_task(dev, &[Class::Read, Class::SyncWrite]).values().sum();
    (let_go >= FEW).then(|| {
        proof!(
            "{let_go} of {all} reads and synchronous writes on {name} were sent by per-CPU kworkers, as a cgroup limit \
                 sends what it held back",
            let_go = Count(let_go),
            all = Count(all),
            name = case.name(dev)
        )
    })
}

/// Reads and synchronous writes of data from bound workers: the table of waits has the workers' names, requests have the flags.
fn sent_by_bound_workers(case: &Case, dev: DevId) -> u64 {
    let is_wanted = |class| matches!(class, Class::Read | Class::SyncWrite);
    let is_theirs = |asked, task: &str| match asked {
        Asked::Bio(class) => is_wanted(class) && is_bound_worker(task),
        _ => false,
    };
    let sent = case.facts.waits.victims().filter(|(_, v, _)| v.dev == dev && is_theirs(v.asked, &v.task));
    let sent: u64 = sent.map(|(.., sums)| sums.ops).sum();
    let of_workers = case.facts.cells.iter().filter(|(key, _)| {
        let is_data = is_wanted(Class::of(key.op, key.flags)) && !key.flags.has(Flags::META);
        key.dev == dev && is_data && case.facts.tasks.name(key.task) == WORKERS
    });
    sent.min(of_workers.map(|(_, phases)| phases.count).sum())
}
