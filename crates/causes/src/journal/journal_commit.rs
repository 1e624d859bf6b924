//! `journal-commit`: each operation waits for a commit of the journal, whose writes follow its own data.
//!
//! On ext4 a commit adds two writes, one after the other: the changes, and the block that completes the commit. On a device that takes a
//! millisecond for a write, and needs no flushes, an operation takes three. Claims the time in which the device served the journal alone, for the
//! victim's own changes or for no known task. If the device takes long for each write, `slow-device` says more. Logs of XFS and btrfs are
//! `log-force`, flushes within a commit `flush-cost`, a journal thread that runs or waits for a processor `journal-cpu`.
//!
//! Example: fdatasyncs of 1.8 ms after writes of 0.8 ms into a file that grows; 0.9 ms if the file was written before.

use crate::case::{is_named, Case, MIN_SHARE};
use crate::cause::{Cause, Each, Judge, Nature, Otherwise, Said};
use crate::device::alone::is_alone;
use crate::device::expected::{expected, rotational, EXPECTED_FLASH};
use crate::journal::{commit_setting, durable, growing};
use crate::proof::proof;
use crate::remedy::Acts;
use crate::slow::Slow;
use crate::target::count_syncs;
use crate::thresholds::healthy::NOT_ITS_OWN;
use crate::verdict::{Confidence, Verdict};
use life::Class;
use operation::Wait;
use stats::TailRow;
use trace::Nanos;

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "journal-commit",
    title: "each operation waits for a commit of the journal: more writes, one after the other",
    nature: Nature::Everyday,
    page: include_str!("../../pages/journal-commit.md"),
    judge: Judge::Each(Each {
        of,
        unless: "operations just as slow while the journal has nothing to write",
        otherwise: Otherwise::Explained,
        above: false,
    }),
};

fn of(case: &mut Case, slow: &Slow, v: Verdict) -> Said {
    let commits = |case: &Case, row: &TailRow| {
        row.waits.has(Wait::JournalCommit) && is_alone(case, &slow.group.task, row)
    };
    let of_all = case.share_of_all(slow, |row| commits(case, row));
    if of_all < MIN_SHARE {
        return Said::Nothing;
    }
    let what = slow.words();
    if of_all < NOT_ITS_OWN {
        return Said::Not(proof!(
            "{what} waited for the journal's own writes for {of_all} of their time",
            what,
            of_all = Share(of_all)
        ));
    }
    let each = Nanos(writes(slow).quantile(0.5));
    if each > EXPECTED_FLASH {
        return Said::Not(proof!("{name} takes {each} for each write", name = case.name(slow.on.id), each));
    }
    let (enough, kind) = expected(&rotational(case, slow.on.id));
    let time = of_all * slow.group.all.time.total.0 as f64;
    if slow.group.tail.p99 <= enough || time < MIN_SHARE * case.facts.duration().0 as f64 {
        return Said::Not(proof!(
            "{what} waited for the journal's own writes for {of_all} of their time, the slowest took {from}; Linux expects {enough} of {kind}",
            what,
            of_all = Share(of_all),
            from = slow.group.tail.p99,
            enough,
            kind
        ));
    }
    let picked: Vec<bool> = case.rows(slow.group_number).iter().map(|row| commits(case, row)).collect();
    let claimed = case.claim_numbered(slow.group_number, Nanos(u64::MAX), |number| picked[number]);
    let of_each = of_all * slow.group.all.time.total.0 as f64 / slow.group.all.time.operations.max(1) as f64;
    let (v, is_asked) = durable::told(v.plus(claimed, Confidence::High), case, slow);
    let v = v.because(proof!(
        "{what} waited for what the journal wrote for {of_all} of their time, {each} of each on average",
        what,
        of_all = Share(of_all),
        each = Nanos(of_each as u64)
    ));
    let d2c = writes(slow);
    let v = match d2c.count() {
        0 => v,
        _ => v.because(proof!(
            "{name} took {p50} for a write (p50; p99 {p99}): a commit is two, one after the other",
            name = case.name(slow.on.id),
            p50 = Nanos(d2c.quantile(0.5)),
            p99 = Nanos(d2c.quantile(0.99))
        )),
    };
    Said::Found(if is_asked { v } else { remedies(v, case, slow) })
}

/// Device times of the journal's writes. If no task waits for them by a sync (a file system mounted with `sync`), they
/// are not flagged as synchronous.
fn writes<'s>(slow: &'s Slow) -> &'s stats::Distribution {
    let of = |class: Class| &slow.on.requests[class.index()].d2c;
    match of(Class::SyncWrite) {
        none if none.count() == 0 => of(Class::Background),
        some => some,
    }
}

fn remedies(v: Verdict, case: &Case, slow: &Slow) -> Verdict {
    let task = Some(&*slow.group.task).filter(|task| is_named(task));
    let v = match task.and_then(commit_setting::of) {
        Some((what, action)) => v.try_on(Acts::Victim, what, action),
        None => v,
    };
    growing::told(v, case, slow.group).try_on(
        Acts::Victim,
        "make several changes safe at once: a commit is as many writes for all of them; see how often it is asked for",
        count_syncs(case, slow.group, task),
    )
}
