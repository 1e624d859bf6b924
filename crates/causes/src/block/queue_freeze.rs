//! `queue-freeze`: a task changes a setting of the queue, and no request may enter the queue meanwhile.
//!
//! Writing `scheduler`, `nr_requests`, `wbt_lat_usec` and others freezes the queue: the kernel waits until all requests in it
//! are done (`blk_mq_freeze_queue_wait`, block/blk-mq.c) while new bios sleep in `__bio_queue_enter`, before anything of them
//! is recorded. Refuted if no task slept there.

use crate::case::Case;
use crate::cause::{Cause, Judge, Nature};
use crate::paths::{awakener, Waited};
use crate::proof::proof;
use crate::remedy::{Action, Acts};
use crate::target::Target;
use crate::verdict::Verdict;
use ledger::Reason;
use operation::Part;

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "queue-freeze",
    title: "settings of the device's queue keep changing, and each change freezes the queue",
    nature: Nature::Rare,
    page: include_str!("../../pages/queue-freeze.md"),
    judge: Judge::Waited(
        Waited::new(
            "waiting for the queue, which was frozen while a setting of it was changed",
            |_, reason| reason == Reason::QueueFreeze,
        ),
        found,
    ),
};

fn found(case: &Case, mut v: Verdict, groups: &[usize]) -> Verdict {
    if let Some((who, times)) = who(case, groups) {
        v = v.because(proof!(
            "{who} woke the slowest of them {times}: the task that unfreezes a queue is the one that froze it",
            who,
            times = Counted(times, "time", "times")
        ));
        let target = Target::of(case, &who);
        v = v.try_on(
            Acts::Culprit(who.clone()),
            format!(
                "pause {} (kill -CONT resumes it), find out what it is for, and make it write settings once, \
                 not under load",
                target.who
            ),
            Action::Pause { had_ended: target.has_ended(), who: target.pids + &target.remark },
        );
    }
    for &number in groups {
        let name = case.name(case.focus.groups[number].dev);
        v = v
            .try_this(
                format!(
                    "find out who writes the settings of {name}, and stop that while there is load: udev \
                         rules, tuned, a cron job"
                ),
                Action::look(format!(
                    "auditctl -w /sys/block/{name}/queue -p w -k iowhy; sleep 60; ausearch -k iowhy -i | \
                     tail; auditctl -W /sys/block/{name}/queue -p w -k iowhy"
                )),
            )
            .try_this(
                "see which udev rules set queue attributes at each event",
                Action::look("grep -rn 'ATTR{queue/' /etc/udev/rules.d /usr/lib/udev/rules.d"),
            );
    }
    v.unless("operations just as slow while nothing writes to /sys/block/DEVICE/queue")
}

/// The task that woke most of the sampled operations out of a frozen queue, and how often: the task that wrote the
/// setting also unfreezes the queue (`blk_mq_unfreeze_queue`, block/blk-mq.c).
fn who(case: &Case, groups: &[usize]) -> Option<(String, u64)> {
    awakener(case, groups, |kept, woken| {
        kept.account.nodes.iter().any(|n| n.part == Part::Leaf(Reason::QueueFreeze) && n.to == woken.at)
    })
}
