//! `raid-stripe-cache`: a write waits until a stripe head of a RAID array is free.
//!
//! RAID 4, 5 and 6 handle a write in stripe heads, a page of each member. If all are in use the writer sleeps in
//! `raid5_get_active_stripe` (drivers/md/raid5.c) until a quarter of them is free again. Claims the time in that sleep,
//! whatever worked meanwhile, except for waits for a processor and for the array's bitmap: stripes that wait for the
//! bitmap are `raid-bitmap`'s. A small cache is no proof, nor is a full one: only writers that sleep there are. Refuted
//! if none did.

use crate::case::{Case, MIN_SHARE};
use crate::cause::{Cause, Judge, Nature};
use crate::paths::{Paths, Waited};
use crate::proof::proof;
use crate::raid;
use crate::slow::{leaves, lies_on};
use crate::thresholds::raid_stripe_cache::BUSY;
use crate::verdict::{Answer, Confidence, Verdict};
use ledger::Reason;
use operation::Wait;
use stats::Device;
use trace::DevId;
use units::words::percent;

/// What a larger cache brings.
const ROOM: &str = "room for more writes at once, and more of them in a stripe when it is written";

/// How long a larger cache stays.
const KEPT: &str = "until the array stops: a udev rule keeps it";

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "raid-stripe-cache",
    title: "writes wait for a free entry in the array's stripe cache",
    nature: Nature::Everyday,
    page: include_str!("../../pages/raid-stripe-cache.md"),
    judge: Judge::Whole(judge),
};

fn judge(case: &mut Case) -> Verdict {
    if case.facts.operations.is_empty() && raid::arrays(case).next().is_none() {
        return Verdict::out_of_the_question(CAUSE.name, "no RAID array was recorded");
    }
    let what = "waiting for a stripe head of the array (raid5_get_active_stripe)";
    let waited = Waited::new(what, |waits, reason| {
        waits.has(Wait::StripeCache) && !waits.has(Wait::RaidBitmap) && reason != Reason::WaitCpu
    });
    let (mut v, found) = waited.ask(case, CAUSE.name);
    if v.verdict != Answer::Found {
        return v;
    }
    let mut told = vec![];
    for paths in Paths::of(case).into_iter().filter(|p| found.contains(&p.number)) {
        let Some(array) = array_of(case, paths.group.dev).filter(|a| !told.contains(&a.id)) else {
            continue;
        };
        told.push(array.id);
        let reckoning = paths.share(paths.time(|w, r| w.has(Wait::StripeCache) && r == Reason::OnCpu));
        v = of_array(v, case, array, reckoning);
    }
    if told.is_empty() {
        v = raid::larger_cache(v, "mdN", None, ROOM, KEPT);
    }
    v.unless("writes just as slow with a larger stripe cache")
}

/// The array that a device is, or is a member of.
fn array_of<'a>(case: &Case<'a>, dev: DevId) -> Option<&'a Device> {
    let member = case.facts.device(dev)?;
    raid::arrays(case).find(|array| lies_on(case.facts, member, array.id))
}

/// Adds what is known of the array, and what to do. `reckoning`: the part of the writers' time in which they waited for
/// a stripe head while a processor worked for them.
fn of_array(mut v: Verdict, case: &Case, array: &Device, reckoning: f64) -> Verdict {
    let name = case.name(array.id);
    let md = case.settings(array.id).and_then(|s| s.md());
    let entries = md.as_ref().and_then(|md| md.stripe_cache_size.as_ref());
    if let Some(entries) = entries {
        v = v.because(proof!(
            "the stripe cache of {name} has {entries} stripe heads ({at})",
            name,
            entries = Text(entries.value.to_string()),
            at = entries.at
        ));
    }
    let busiest = leaves(case.facts, array.id)
        .into_iter()
        .map(|member| (member, member.depth.busy()))
        .max_by(|(_, a), (_, b)| a.total_cmp(b));
    if let Some((member, share)) = busiest {
        v = v.because(proof!(
            "{device}, the busiest member, had something in flight for {share} of the time",
            device = case.name(member.id),
            share = Share(share)
        ));
        if share > BUSY {
            v.confidence = v.confidence.map(Confidence::less);
        }
    }
    let v = raid::larger_cache(v, &name, md.as_ref(), ROOM, KEPT);
    if reckoning < MIN_SHARE {
        return v;
    }
    let here = format!("here writers waited for {} of their time while it computed", percent(reckoning));
    raid::more_threads(v, &name, md.as_ref(), &here)
}
