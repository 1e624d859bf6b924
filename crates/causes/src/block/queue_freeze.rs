//! `queue-freeze`: somebody changes a setting of the queue, and nothing may enter it meanwhile.
//!
//! Writing `scheduler`, `nr_requests`, `wbt_lat_usec` and others freezes the queue: the kernel waits until all requests in it
//! are done (`blk_mq_freeze_queue_wait`, block/blk-mq.c) while new bios sleep in `__bio_queue_enter`, before anything of them
//! is recorded. Refuted if nobody slept there.

use crate::case::Case;
use crate::device::background_task::works_for_others;
use crate::paths;
use crate::proof::proof;
use crate::remedy::Acts;
use crate::verdict::{Answer, Verdict};
use crate::words::shell;
use crate::Cause;
use ledger::Reason;
use operation::Part;
use std::collections::BTreeMap;

/// The cause.
pub const CAUSE: Cause = Cause {
    name: "queue-freeze",
    title: "somebody changes settings of the device's queue, which freezes it each time",
    page: include_str!("../../pages/queue-freeze.md"),
    judge,
};

fn judge(case: &mut Case) -> Verdict {
    let what = "waiting for the queue, which was frozen while a setting of it was changed";
    let (mut v, found) = paths::judge(case, CAUSE.name, what, |_, reason| reason == Reason::QueueFreeze);
    if v.verdict != Answer::Found {
        return v;
    }
    if let Some((who, times)) = who(case, &found) {
        v = v
            .because(proof!("{who} woke the slowest of them {times}: who thaws a queue is who had frozen it", who = Text(who.to_string()), times = Counted(times, "time", "times")))
            .try_on(
Acts::Culprit(who.clone()),

                format!("pause {who} (kill -CONT goes on), look what it is for, and let it write settings once, not under load"),
                format!("kill -STOP $(pgrep -x {})", shell(&who)),
            );
    }
    for number in found {
        let name = case.name(case.focus.groups[number].dev);
        v = v
            .try_this(
                format!("find out who writes to the settings of {name}, and make it stop while there is load: udev rules, tuned, a cron job"),
                format!("auditctl -w /sys/block/{name}/queue -p w -k iowhy; sleep 60; ausearch -k iowhy -i | tail; auditctl -W /sys/block/{name}/queue -p w -k iowhy"),
            )
            .try_this(
                "see which rules of udev set something of block devices at each event",
                "grep -rn 'ATTR{queue/' /etc/udev/rules.d /usr/lib/udev/rules.d",
            );
    }
    v.unless("operations as slow while nobody writes to /sys/block/DEVICE/queue")
}

/// Who woke most of the kept operations out of a frozen queue, and how often. The queue is thawed by the task that wrote the setting
/// (`blk_mq_unfreeze_queue`, block/blk-mq.c); a kernel thread does it for somebody else.
fn who(case: &Case, groups: &[usize]) -> Option<(String, u64)> {
    let mut all = BTreeMap::<&str, u64>::new();
    let stats = groups.iter().filter_map(|g| case.facts.operations.groups.get(&case.focus.groups[*g].op?));
    for kept in stats.flat_map(|s| s.slowest.all()) {
        let thawed: Vec<_> = kept
            .account
            .nodes
            .iter()
            .filter(|n| n.part == Part::Leaf(Reason::QueueFreeze))
            .map(|n| n.to)
            .collect();
        let woke = kept.account.hops.iter().filter(|h| !h.interrupt && thawed.contains(&h.at));
        for name in woke.filter_map(|h| kept.names.get(&h.by)).filter(|n| !works_for_others(n)) {
            *all.entry(name).or_default() += 1;
        }
    }
    let (who, times) = all.into_iter().max_by_key(|(_, n)| *n)?;
    Some((who.to_string(), times))
}
