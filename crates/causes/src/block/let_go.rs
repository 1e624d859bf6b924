//! What a control group's limit held and let go, in a recording of blocks alone: it was queued by a worker that is bound to a processor.
//!
//! `kthrotld` (block/blk-throttle.c) sends what was held from such a worker. Hardly anybody else reads or writes synchronously from one: a
//! file system's own such work is metadata, and is marked as that. How long it was held, and for whom, is not recorded.

use crate::case::Case;
use crate::proof::{proof, Proof};
use life::Class;
use stats::{FEW, WORKERS};
use trace::{is_bound_worker, DevId, Flags};
use waits::Asked;

/// What was let go, and of how many, of the device with the most.
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

/// Reads and synchronous writes of data. The table of waits knows each worker's name, requests are known by their flags.
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
