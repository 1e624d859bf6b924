//! `journal-space`: a change to ext4 waits for room in the journal, until older changes have been written in place.
//!
//! A task that needs room does the checkpoint itself: it writes the oldest metadata in place and waits for that
//! (`__jbd2_log_wait_for_space`, fs/jbd2/checkpoint.c). A wait for a commit before new changes may begin is something
//! else and not claimed: the stacks of the sampled operations tell the two apart.

use crate::case::{Case, MIN_SHARE};
use crate::cause::{Cause, Judge, Nature};
use crate::claimable::FLUSHING;
use crate::journal::again::Again;
use crate::journal::durable;
use crate::paths::{self, Paths};
use crate::proof::proof;
use crate::remedy::Action;
use crate::risk::Risk;
use crate::thresholds::journal_space::{LARGER, SOME};
use crate::verdict::{Confidence, Verdict};
use operation::{Kind, Wait, Waits};
use stats::{Group, OpKey, TailRow};
use trace::{Bytes, Nanos};
use waits::Phase;

/// Functions that wait for room, and for nothing else (fs/jbd2/checkpoint.c).
const MAKING_ROOM: [&str; 2] = ["__jbd2_log_wait_for_space", "jbd2_log_do_checkpoint"];

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "journal-space",
    title: "the ext4 journal is full: changes wait until older ones are checkpointed",
    nature: Nature::Everyday,
    page: include_str!("../../pages/journal-space.md"),
    judge: Judge::Whole(judge),
};

/// Whether the journal commits because it has no room: more than twice as often as tasks sync, or change what is synced at once. A larger
/// journal saves these commits and what they write and flush (4 MiB instead of 128: 640 commits in 5 s of creating files without a
/// sync, and a ninth of the files). Not if all data goes through the journal, which then takes what the device takes.
fn is_forced(case: &Case, group: &Group) -> bool {
    let here = || case.facts.operations.groups.iter().filter(|(key, _)| key.dev == group.dev);
    let count = |is: &dyn Fn(&OpKey) -> bool| -> u64 {
        here().filter(|(key, _)| is(key)).map(|(_, stats)| stats.latency.count()).sum()
    };
    let durable: Vec<OpKey> = durable::groups_on(case, group.dev).filter_map(|g| g.op).collect();
    let syncs = |kind| kind == Kind::RingSync || matches!(kind, Kind::Call(call) if call.is_sync());
    let commits = count(&|key| key.kind == Kind::JournalCommit);
    let asked = count(&|key| syncs(key.kind) || durable.contains(key));
    commits >= SOME && 2 * asked < commits && durable::of_all_data(case, group).is_none()
}

/// Whether a row is time of making room, or of a commit made for room. Time behind another task or in a flush is as long with any journal: with
/// 400 MiB instead of 32 an append with `data=journal` beside a copy took 86 ms instead of 76, an insert of MariaDB's 3.6 instead of 3.5.
fn makes_room(case: &Case, group: &Group, row: &TailRow, forced: bool) -> bool {
    if forced && row.waits.has(Wait::JournalCommit) {
        return !paths::is_behind_another(case, group, row);
    }
    let is_flush = row.phase == Phase::Flush || FLUSHING.contains(&row.reason);
    let is_place = row.phase == Phase::Paused || is_flush || paths::is_behind_another(case, group, row);
    row.waits.has(Wait::JournalHandle) && !is_place
}

fn judge(case: &mut Case) -> Verdict {
    if case.facts.operations.is_empty() {
        return paths::unrecorded(CAUSE.name);
    }
    let (mut verdict, mut found, mut best) = (None::<Verdict>, vec![], 0.0f64);
    for paths in Paths::of(case) {
        let of_kept = paths.kept_share(&MAKING_ROOM);
        best = best.max(of_kept);
        if of_kept < MIN_SHARE {
            continue;
        }
        // Sampled operations are the slowest of the tail: this is an estimate, and at most all waits for a handle.
        let whole = paths.group.tail.sum.time.total;
        let forced = is_forced(case, paths.group);
        let handle =
            |waits: Waits, _| waits.has(Wait::JournalHandle) || forced && waits.has(Wait::JournalCommit);
        let wanted = paths.time(handle).min(Nanos((whole.0 as f64 * of_kept) as u64));
        let before = case.unclaimed_now();
        let (number, group) = (paths.number, paths.group);
        let its: Vec<bool> =
            case.rows(number).iter().map(|row| makes_room(case, group, row, forced)).collect();
        let claimed = case.claim_numbered(number, wanted, |row| its[row]);
        if paths.share(claimed) < MIN_SHARE {
            case.rollback(before);
            continue;
        }
        found.push(number);
        let proof = verdict.take().unwrap_or_else(|| Verdict::begin(CAUSE.name));
        let words = paths.group.words();
        verdict = Some(proof.about(number).plus(claimed, Confidence::Medium).because(proof!(
            "the sampled slowest {words} ({threshold} or more) spent {of_kept} of their time making room in the journal \
                 (__jbd2_log_wait_for_space)",
            words,
            threshold = paths.group.tail.threshold,
            of_kept = Share(of_kept)
        )));
    }
    let Some(v) = verdict else {
        let mut v = Verdict::rejected(
            CAUSE.name,
            proof!(
                "the slowest operations spent {best} of their time making room in the journal",
                best = Share(best)
            ),
        );
        v.minor = best == 0.0;
        return v;
    };
    let v = case.of_each(v, &found, |v, group| larger(v, case, group));
    v.unless("operations just as slow with a larger journal")
}

/// Adds a larger journal for a group's file system.
fn larger(v: Verdict, case: &Case, group: &Group) -> Verdict {
    let dev = group.dev;
    let again = Again::of(case.mount_of(group), &case.name(dev));
    let eighth = case
        .settings(dev)
        .and_then(|s| s.number("size"))
        .map_or(LARGER, |sectors| Bytes(sectors.value.saturating_mul(512) / 8));
    let mib = eighth.min(LARGER).0 >> 20;
    v.try_this(
        "see how large the journal is",
        Action::look(format!("dumpe2fs -h {} | grep -i journal", again.source)),
    )
    .try_this(
        format!(
            "make the journal {mib} MiB: costs its space, and \
                 a little more time to recover after a crash"
        ),
        Risk::Downtime
            .of(again
                .after(&format!("tune2fs -O ^has_journal {0} && tune2fs -J size={mib} {0}", again.source))),
    )
}
