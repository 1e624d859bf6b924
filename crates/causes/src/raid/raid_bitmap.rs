//! `raid-bitmap`: writes wait until a RAID array's write-intent bitmap is on the disks.
//!
//! With recorded operations: claims the time in which a slow operation, or the array's thread that was to send it to
//! the members, slept until the bitmap was written (`md_bitmap_unplug`, drivers/md/md-bitmap.c). Proof: the stack of
//! that sleep. Refuted if no task slept there.
//!
//! With block events alone: claims the time in which a slow write had nothing in flight on the members and waited in md
//! itself, if md wrote its bitmap often enough. Proof: the kernel's messages in the trace (`md bitmap_unplug`) count
//! how often. Refuted if that was seldom, or if writes did not wait in md.

use crate::case::{Case, MIN_SHARE};
use crate::cause::{Cause, Judge, Nature};
use crate::paths::{Paths, Waited};
use crate::proof::{proof, Proof};
use crate::raid::{Array, Judged, Question};
use crate::thresholds::raid_bitmap::WRITES_PER_UPDATE;
use crate::verdict::{Answer, Confidence, Verdict};
use ledger::Reason;
use operation::Wait;
use trace::Nanos;

/// What would refute it.
const UNLESS: &str = "writes that wait as long in md without a bitmap";

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "raid-bitmap",
    title: "writes wait until the RAID array's write-intent bitmap is on the disks",
    nature: Nature::Everyday,
    page: include_str!("../../pages/raid-bitmap.md"),
    judge: Judge::Whole(judge),
};

fn judge(case: &mut Case) -> Verdict {
    match case.facts.operations.is_empty() {
        true => by_notes(case),
        false => by_sleeps(case),
    }
}

/// Judges by the sleeps of recorded operations.
fn by_sleeps(case: &mut Case) -> Verdict {
    let arrays = Array::all(case);
    let what = "waiting until the array's bitmap was on the disks (md_bitmap_unplug)";
    let waited = Waited::new(what, |waits, reason| waits.has(Wait::RaidBitmap) && reason != Reason::WaitCpu);
    let (mut v, found) = waited.ask(case, CAUSE.name);
    if v.verdict == Answer::Found {
        let of_found = arrays.iter().filter(|a| found.contains(&a.group_number));
        let mut told = vec![];
        for array in of_found {
            if !told.contains(&array.device.id) {
                told.push(array.device.id);
                v = with_own_writes(v, case, array);
                v = remedies(v, &case.name(array.device.id));
            }
        }
        if told.is_empty() {
            v = remedies(v, "mdN");
        }
        return v.unless(UNLESS);
    }
    let Some(array) = arrays.first() else {
        return Verdict::out_of_the_question(CAUSE.name, "no slow write passed through a RAID array");
    };
    if let Some(without) = without_bitmap(case, array) {
        return Verdict::rejected(CAUSE.name, without);
    }
    let (_, waiting) = array.time(Reason::Stacking);
    let stacks = || Paths::of(case).iter().any(Paths::has_stacks);
    if array.share(waiting) >= MIN_SHARE && !stacks() {
        let waited = array.waited("waited in md", waiting);
        let missing = "but where tasks sleep was not recorded (sudo iowhy record does)";
        return Verdict::cannot_tell(CAUSE.name, proof!("{waited}, {missing}", waited = waited, missing));
    }
    v
}

/// Judges by the kernel's messages, with block events alone.
fn by_notes(case: &mut Case) -> Verdict {
    let updates = |array: &Array, name: &str| {
        proof!(
            "{updates} (md bitmap_unplug) for {writes} on {device}",
            updates = Counted(array.bitmap_unplugs, "bitmap update", "bitmap updates"),
            writes = Counted(array.writes(), "write", "writes"),
            device = name
        )
    };
    let question = Question {
        cause: CAUSE.name,
        reason: Reason::Stacking,
        noted: &|array, name| proof!("the kernel reported {array}", array = updates(array, name)),
        too_little: &|array, name, waiting| {
            proof!(
                "{updates}; {waited}",
                updates = updates(array, name),
                waited = array.waited("waited in md", waiting)
            )
        },
        unless: UNLESS,
    };
    question.ask(case, |case, array, name, waiting| {
        if let Some(without) = without_bitmap(case, array) {
            return Judged::Against(without);
        }
        if !array.has_notes {
            let waited = array.waited("waited in md", waiting);
            return Judged::Missing(proof!(
                "{waited}, but the kernel's messages about {name} were not recorded",
                waited = waited,
                name
            ));
        }
        let unplugs = array.bitmap_unplugs;
        if unplugs.saturating_mul(WRITES_PER_UPDATE) < array.writes() || unplugs == 0 {
            return Judged::Against(updates(array, name));
        }
        Judged::Found(found(case, array, name, waiting))
    })
}

fn found(case: &Case, array: &Array, name: &str, waiting: Nanos) -> Verdict {
    let v = Verdict::found(CAUSE.name, Nanos(0), Confidence::Medium).because(proof!(
        "the kernel wrote the bitmap of {name} {bitmap_unplugs} (md bitmap_unplug) for {writes}",
        name,
        bitmap_unplugs = Counted(array.bitmap_unplugs, "time", "times"),
        writes = Counted(array.writes(), "write", "writes")
    ));
    let v = with_own_writes(v, case, array)
        .because(array.waited("waited in md, with nothing in flight on the members,", waiting));
    remedies(v, name)
}
/// Evidence that an array has no bitmap; `None` if it has one or that is not known.
fn without_bitmap(case: &Case, array: &Array) -> Option<Proof> {
    let none = case.settings(array.device.id)?.md()?.bitmap().filter(|b| !b.value)?;
    let name = case.name(array.device.id);
    Some(proof!("{device} has no bitmap (consistency_policy, {at})", device = name, at = none.at))
}

fn with_own_writes(v: Verdict, case: &Case, array: &Array) -> Verdict {
    let Some((member, own)) = array.own_writes(case) else { return v };
    v.because(proof!(
        "md wrote its bitmap and superblock to {device} {own}, {own2} each (mean Q2C), {own3} of {duration} in all",
        device = case.name(member.id),
        own = Counted(own.count, "time", "times"),
        own2 = Nanos(own.q2c.mean().round() as u64),
        own3 = Nanos(u64::try_from(own.q2c.sum()).unwrap_or(u64::MAX)),
        duration = case.facts.duration()
    ))
}

fn remedies(v: Verdict, name: &str) -> Verdict {
    v.try_this(
        "larger chunks: a bit covers more, so it is set less often; after a crash more is resynced",
        format!(
            "mdadm --grow --bitmap=none /dev/{name} && mdadm --grow --bitmap=internal --bitmap-chunk=128M \
                 /dev/{name}"
        ),
    )
    .try_this(
        "no bitmap: after a crash the whole array is resynced",
        format!("mdadm --grow --bitmap=none /dev/{name}"),
    )
}
