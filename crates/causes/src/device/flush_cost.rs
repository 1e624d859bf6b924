//! `flush-cost`: writes wait while the device flushes its volatile cache.
//!
//! Claims the time of the flush before the data, of the flush after it, of the wait for a flush that others began, and
//! of requests that were in the device behind a flush: most devices complete nothing while they flush. Time behind
//! another task's flush is due to that task ([`background_task`](crate::device::background_task)), which is asked
//! before. Proof: that time was measured, flush by flush. Refuted if it is a small part of what was slow.
//!
//! Example: a read that takes 0.2 ms alone is issued while a flush of 6 ms by postgres is in the device: 5.8 ms are due to the flush.

use crate::case::{is_named, Case, Claimable, MIN_SHARE};
use crate::cause::{Cause, Each, Judge, Nature, Otherwise, Said};
use crate::claimable::FLUSHING;
use crate::journal::again::Again;
use crate::journal::durable;
use crate::journal::{commit_setting, growing};
use crate::proof::proof;
use crate::remedy::{Action, Acts};
use crate::risk::Risk;
use crate::slow::Slow;
use crate::target::{count_syncs, fewer_syncs};
use crate::thresholds::healthy::NOT_ITS_OWN;
use crate::verdict::{Confidence, Verdict};
use evidence::WriteCache;
use life::{Class, Io, Op};
use operation::Wait;
use stats::TailRow;
use trace::{works_for_others, Nanos};
use units::words::percent;
use waits::{ChainId, CulpritId, CulpritKind, Link, Phase};

const NO_FLUSH: &str = "no slow operation waited for a flush or behind one";

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "flush-cost",
    title: "synchronous writes wait while the device flushes its cache",
    nature: Nature::Everyday,
    page: include_str!("../../pages/flush-cost.md"),
    judge: Judge::Each(Each {
        of,
        unless: "a device without a volatile cache, or one that empties it in no time",
        otherwise: Otherwise::Nothing(NO_FLUSH),
        above: false,
    }),
};

fn of(case: &mut Case, slow: &Slow, v: Verdict) -> Said {
    let flushes: Vec<CulpritId> = flushes(case);
    let is_behind = |row: &TailRow| {
        flushes.contains(&row.culprit) || is_own(case, row.culprit) && is_of_flush(case, row.chain)
    };
    let is_flush =
        |row: &TailRow| FLUSHING.contains(&row.reason) || row.phase == Phase::Behind && is_behind(row);
    let is_unclaimed_flush = |row: &Claimable| is_flush(row);
    let flushing = case.unclaimed_rows(slow.group_number, is_unclaimed_flush);
    if flushing == Nanos(0) {
        return Said::Hardly(NO_FLUSH.into());
    }
    // Without log forces: these are reported as a whole where the slowest have little of them.
    let of_all = case.share_of_all(slow, |row| is_flush(row) && !row.waits.has(Wait::LogForce));
    let of_each = case.share_of_all(slow, is_flush);
    let its: Vec<bool> = case.rows(slow.group_number).iter().map(|row| is_flush(row)).collect();
    if slow.share(flushing) < MIN_SHARE && of_all < NOT_ITS_OWN {
        return Said::Little(proof!(
            "flushes are {flushing} of the time of the slowest {what}",
            flushing = Share(slow.share(flushing)),
            what = slow.words()
        ));
    }
    let claimed = case.claim_numbered(slow.group_number, flushing, |number| its[number]);
    let sure = if slow.is_below() { Confidence::Medium } else { Confidence::High };
    let v = v.plus(claimed, sure);
    Said::Found(prove(v, case, slow, [slow.share(flushing), of_each]))
}

/// Whether the culprit is the victim itself.
fn is_own(case: &Case, culprit: CulpritId) -> bool {
    case.facts.waits.culprit_of(culprit).kind == CulpritKind::Own
}

/// Whether a chain leads through a flush: time behind the victim's own data there is due to the flush.
fn is_of_flush(case: &Case, chain: ChainId) -> bool {
    case.facts.waits.links(chain).into_iter().any(|link| matches!(link, Link::Request(Op::Flush, ..)))
}

/// The culprits of time behind flushes.
fn flushes(case: &Case) -> Vec<CulpritId> {
    case.facts.waits.culprits().filter(|(_, c)| c.io == Some(Io::Flush)).map(|(id, _)| id).collect()
}

/// Adds the proof; `part`: what is due to flushes of the slowest operations' time, and of all operations' time.
fn prove(v: Verdict, case: &Case, slow: &Slow, part: [f64; 2]) -> Verdict {
    // If a mount or a file asks for the flushes, nothing else reduces them, and a cache that is not flushed loses more.
    let (mut v, is_asked) = durable::told(v, case, slow);
    let (what, [of_slowest, of_all]) = (slow.words(), part);
    // The answer is about all that was lost; what made the slowest operations slow may be something else.
    v = v.because(match of_all > of_slowest {
        true => proof!(
            "all {what} waited for flushes of the device's cache for {flushing} of their time, the slowest for {part} of theirs",
            what,
            flushing = Share(of_all),
            part = Share(of_slowest)
        ),
        false => proof!(
            "the slowest {what} waited for flushes of the device's cache for {flushing} of their time",
            what,
            flushing = Share(of_slowest)
        ),
    });
    let name = case.name(slow.on.id);
    let flushes = &slow.on.requests[Class::Flush.index()];
    let data = &slow.on.requests[Class::SyncWrite.index()];
    if flushes.count > 0 && data.count > 0 {
        v = v
            .because(proof!(
                "{name} was flushed {flushes} for {data}",
                name,
                flushes = Counted(flushes.count, "time", "times"),
                data = Counted(data.count, "synchronous write", "synchronous writes")
            ))
            .because(proof!(
                "a flush took {p50} (p50; p99 {p99}), the data itself {d2c_p50} (p99 {d2c_p99})",
                p50 = Nanos(flushes.d2c.quantile(0.5)),
                p99 = Nanos(flushes.d2c.quantile(0.99)),
                d2c_p50 = Nanos(data.d2c.quantile(0.5)),
                d2c_p99 = Nanos(data.d2c.quantile(0.99))
            ));
    }
    if is_asked {
        return v;
    }
    remedied(v, case, slow, &name)
}

/// Adds remedies: fewer syncs, a cache that need not be flushed, a log on another device.
fn remedied(mut v: Verdict, case: &Case, slow: &Slow, name: &str) -> Verdict {
    let cache = case.settings(slow.on.id).and_then(|s| s.write_cache());
    let (task, sender) = sender(case, slow);
    v = match task.as_deref().and_then(commit_setting::of) {
        Some((what, action)) => v.try_on(Acts::Victim, what, action),
        None => growing::told(v, case, slow.group).try_on(
            Acts::Victim,
            fewer_syncs(&sender),
            count_syncs(case, slow.group, task.as_deref()),
        ),
    };
    match &cache {
        Some(c) if c.value == WriteCache::Back => {
            v = v.because(proof!(
                "{name} says it has a volatile cache: write_cache is \"write back\" ({at})",
                name,
                at = c.at
            ));
            v = v.try_this(
                format!(
                    "write_cache \"write back\" -> \"write through\": the kernel sends no flushes any more. Only if \
                     the cache of {name} survives a power cut (battery, capacitors, a host that guarantees \
                     it): \
                     otherwise a power cut loses data that was reported safe"
                ),
                Action::set(name, "queue/write_cache", "write through"),
            );
        }
        Some(c) => v = v.unless(proof!("write_cache is \"write through\" already ({at})", at = c.at)),
        None => {
            v = v.without(proof!(
                "whether {name} has a volatile cache: /sys/block/{name}/queue/write_cache was not recorded",
                name
            ))
        }
    }
    let mount = case.mount_of(slow.group);
    match mount.map(|m| m.fstype.as_str()) {
        Some("xfs") => v.try_this(
            "make a new file system with its log on a device with power-loss protection (FAST): commits wait \
                 only for that device",
            Risk::Data("/dev/NEW and /dev/FAST").of("mkfs.xfs -l logdev=/dev/FAST,size=512m /dev/NEW"),
        ),
        Some("ext4") => {
            let again = Again::of(mount, name);
            let moved = again.after(&format!(
                "mke2fs -O journal_dev /dev/FAST && tune2fs -O ^has_journal {0} && tune2fs -J device=/dev/FAST {0}",
                again.source
            ));
            v.try_this(
                "move the journal to a device with power-loss protection (FAST); the file system is unmounted meanwhile (downtime)",
                Risk::Data("/dev/FAST").of(moved),
            )
        }
        _ => v,
    }
}

/// The task that asks for the flushes, and the same in words: the victim if its operations sync, else the task that
/// sent most of the synchronous writes and does not work for others, as a journal does.
fn sender(case: &Case, slow: &Slow) -> (Option<String>, String) {
    let syncs = matches!(slow.class, Class::Flush | Class::SyncWrite) && slow.group.op.is_some();
    if syncs && is_named(&slow.group.task) {
        return (Some(slow.group.task.clone()), slow.group.task.clone());
    }
    match case.main_task_of(slow.on, &[Class::SyncWrite], |task| !works_for_others(task)) {
        Some((task, share)) => {
            let words = format!("{task}, which sent {} of the synchronous writes", percent(share));
            (Some(task.to_string()), words)
        }
        None => (None, "the writing task".into()),
    }
}
