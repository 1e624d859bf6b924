//! A victim that waits in a scheduler for longer than that lets requests of one class wait: another task's have a higher class or weight.
//!
//! mq-deadline sends a request of the served class when its time is over (`read_expire`, `write_expire`), and BFQ gives each task of one
//! class the device for at most `timeout_sync` at a time, so that who waits longer than one such turn for each of the others is not of
//! their class, or has less weight. Classes are those of ioprio_set(2); weights are those of control groups, and what BFQ gives tasks
//! that it takes for interactive (`low_latency`). mq-deadline serves a lower class after 10 s at the latest (`prio_aging_expire`).

use crate::case::{Case, MIN_SHARE};
use crate::interfering::leads_to_the_device;
use crate::remedy::Acts;
use crate::slow::Slow;
use crate::target::Target;
use crate::thresholds::lower_class::{BATCHES, READ_EXPIRE_MS, TIMEOUT_SYNC_MS, WRITE_EXPIRE_MS};
use crate::verdict::Verdict;
use ledger::Reason;
use life::Class;
use std::collections::BTreeMap;
use trace::Nanos;
use units::words::time;
use waits::{CulpritKind, Selection};

/// Adds that both tasks get the same class, if the victim waits too long for one of the culprit's.
pub(crate) fn told(v: Verdict, case: &Case, slow: &Slow, culprit: &str) -> Verdict {
    let operations = slow.group.tail.sum.time.operations.max(1) as f64;
    let others = Others::of(case, slow);
    let each = Nanos((slow.time(Reason::Scheduler).0 as f64 * others.part / operations) as u64);
    let Some(longest) = longest(case, slow, others.tasks).filter(|longest| each > *longest) else { return v };
    let both = Target::of(case, culprit).ionice_both(&Target::of(case, &slow.group.task), "-c 2 -n 4");
    v.try_on(
        Acts::Culprit(culprit.into()),
        format!(
            "the slowest waited {} for others in the scheduler, which lets requests of one class wait for at most about {}: {culprit} has a higher I/O class or \
             weight; this gives both the usual class; weights are those of control groups (io.weight, blkio.bfq.weight)",
            time(each),
            time(longest)
        ),
        both,
    )
}

/// How long the scheduler lets a request wait behind others of its class; `None` if it has no classes.
fn longest(case: &Case, slow: &Slow, others: u64) -> Option<Nanos> {
    let settings = case.settings(slow.on.id)?;
    let scheduler = settings.scheduler()?;
    let ms = |name: &str, usual: u64| {
        let set = settings.iosched(name).and_then(|set| set.value.parse().ok()).unwrap_or(usual);
        Nanos(1_000_000 * set)
    };
    match (scheduler.value.as_str(), slow.class) {
        ("mq-deadline", Class::Read) => Some(Nanos(BATCHES * ms("read_expire", READ_EXPIRE_MS).0)),
        ("mq-deadline", _) => Some(Nanos(BATCHES * ms("write_expire", WRITE_EXPIRE_MS).0)),
        ("bfq", _) => Some(Nanos(others * ms("timeout_sync", TIMEOUT_SYNC_MS).0)),
        _ => None,
    }
}

/// Whom a victim's operations waited behind on the device.
struct Others {
    /// Other tasks that had a part of that time worth naming; at least 1.
    tasks: u64,
    /// The part of that time that was not behind the victim's own requests, 0 to 1.
    part: f64,
}

impl Others {
    fn of(case: &Case, slow: &Slow) -> Others {
        let table = &case.facts.waits;
        let (mut by_name, mut own, mut all) = (BTreeMap::<&str, u64>::new(), 0, 0);
        for row in
            slow.group.rows(table, Selection::default()).iter().filter(|row| leads_to_the_device(row.phase))
        {
            let culprit = table.culprit_of(row.culprit);
            let name = culprit.name.as_deref();
            all += row.time.0;
            match name {
                _ if culprit.kind == CulpritKind::Own || name == Some(&*slow.group.task) => own += row.time.0,
                Some(name) => *by_name.entry(name).or_default() += row.time.0,
                None => {}
            }
        }
        by_name.retain(|_, time| *time as f64 >= MIN_SHARE * all as f64);
        Others { tasks: by_name.len().max(1) as u64, part: 1.0 - own as f64 / all.max(1) as f64 }
    }
}
