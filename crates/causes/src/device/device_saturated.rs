//! `device-saturated`: the device is busy, and requests stand in line in it.
//!
//! Claims the device time in which the device served those that were there first
//! ([`queued_behind`](life::Company::queued_behind)), less what a request takes with few others there. Proof: what a
//! request had to wait for is counted, and the device takes longer with more of them in it. Refuted if it takes as
//! long with few others as with many: then it works on many at once, and it is the requests themselves that are slow.
//!
//! Example (Little's law): 7 requests in the device on average and 1,000 completed a second are 7 ms each.

use crate::case::{Case, MIN_SHARE};
use crate::growth::Growth;
use crate::proof::proof;
use crate::remedy::Acts;
use crate::slow::Slow;
pub(crate) use crate::thresholds::device_saturated::A_LINE;
use crate::thresholds::device_saturated::{LEFT, MEETS_ONE, SERVED_FIRST, SLOWER};
use crate::verdict::{Confidence, Verdict};
use crate::words::{count, percent};
use crate::Cause;
use ledger::Reason;
use life::Class;
use trace::Nanos;

/// The cause.
pub const CAUSE: Cause = Cause {
    name: "device-saturated",
    title: "the device has more to do than it can, and requests stand in line in it",
    page: include_str!("../../../../docs/causes/device-saturated.md"),
    judge,
};

fn judge(case: &mut Case) -> Verdict {
    let mut verdict: Option<Verdict> = None;
    let mut against = None;
    for slow in case.slow() {
        let device = slow.time(Reason::Device);
        let left = case.unclaimed(&slow, Reason::Device);
        let growth = slow.growth();
        let outside = Outside::of(case, &slow, growth);
        if slow.share(left + outside.all()) < MIN_SHARE || (left.0 as f64) < LEFT * device.0 as f64 {
            against.get_or_insert_with(|| match case.main_finding() {
                Some((other, _)) if slow.share(device) >= MIN_SHARE => proof!(
                    "{other} leaves {left} of the time of the slowest {what}",
                    other = Text(other.into()),
                    left = Share(slow.share(left)),
                    what = Text(slow.words().into())
                ),
                _ => proof!(
                    "the slowest {what} spent {device} of their time in the device",
                    what = Text(slow.words().to_string()),
                    device = Share(slow.share(device))
                ),
            });
            continue;
        }
        if let Some(growth) = growth.filter(|g| !g.grows()) {
            against = Some(growth.told(slow.words()));
            continue;
        }
        // What a request takes with few others there is no queue.
        let own = growth.map_or(Nanos(0), |g| g.few());
        let operations = slow.each(|_| 1).min(1.0) * slow.group.tail.sum.time.operations as f64;
        let own_time = Nanos((own.0 as f64 * operations) as u64);
        let behind = slow.behind().min(device - own_time);
        let wanted = Nanos((left.0 as f64 * behind.0 as f64 / device.0.max(1) as f64) as u64);
        if slow.share(wanted + outside.all()) < MIN_SHARE {
            against = Some(proof!("while one of the slowest {what} was in the device, it completed {served:.1} others: that is {wanted} of their time", what = Text(slow.words().to_string()), served = Ratio(slow.each(|t| t.served)), wanted = Share(slow.share(wanted))));
            continue;
        }
        let (busy, served) = (slow.on.depth.busy(), slow.each(|t| t.served));
        if busy < MEETS_ONE && served < A_LINE && slow.share(outside.all()) < MIN_SHARE {
            against = Some(proof!("{device} was busy {busy} of the time, and the slowest {what} met {served:.1} others there: two that come at the same time \
                 are no line", device = Text(case.name(slow.on.id).to_string()), busy = Share(busy), what = Text(slow.words().to_string()), served = Ratio(served)));
            continue;
        }
        // Who stands in a line sees those before him served. What the device takes without one is not known here.
        let at_once = at_once(&slow);
        if growth.is_none() && served < SERVED_FIRST * at_once {
            against = Some(proof!("while one of the slowest {what} was in {device}, it completed {served:.1} others, and {at_once:.1} are there usually: it serves \
                 them at the same time, not one after the other", what = Text(slow.words().to_string()), device = Text(case.name(slow.on.id).to_string()), served = Ratio(served), at_once = Ratio(at_once)));
            continue;
        }
        let claimed = case.claim(&slow, Reason::Device, wanted);
        let before = outside.claim(case, &slow);
        let sure = match (slow.is_below(), growth) {
            (true, _) => Confidence::Medium,
            (false, None) => Confidence::Medium,
            (false, Some(_)) => Confidence::High,
        };
        let v = verdict.take().unwrap_or_else(|| Verdict::begin(CAUSE.name)).plus(claimed + before, sure);
        let v = prove(v, case, &slow, growth, claimed);
        verdict = Some(match before {
            Nanos(0) => v,
            _ => v.because(proof!("the slowest {what} stood before {device} for {before} of their time: it was full, and its driver gave requests back", what = Text(slow.words().to_string()), device = Text(case.name(slow.on.id).to_string()), before = Share(slow.share(before)))),
        });
    }
    match verdict {
        Some(v) => v.unless("requests as slow with few others in the device as with many"),
        None => match against {
            Some(against) => Verdict::rejected(CAUSE.name, against),
            None => case.nothing(CAUSE.name, "nothing that was slow waited in a device"),
        },
    }
}

/// The line before a device that takes no more ([`DeviceBusy`](crate::device::device_busy)) and would be no faster with more in it.
struct Outside {
    requeue: Nanos,
    scheduler: Nanos,
}

impl Outside {
    fn of(case: &Case, slow: &Slow, growth: Option<Growth>) -> Outside {
        if !growth.is_some_and(|g| g.grows()) {
            return Outside { requeue: Nanos(0), scheduler: Nanos(0) };
        }
        let (requeue, scheduler) = crate::device::device_busy::refused(case, slow);
        Outside { requeue, scheduler }
    }

    fn all(&self) -> Nanos {
        self.requeue + self.scheduler
    }

    fn claim(&self, case: &mut Case, slow: &Slow) -> Nanos {
        case.claim(slow, Reason::Requeue, self.requeue) + case.claim(slow, Reason::Scheduler, self.scheduler)
    }
}

/// Requests in the device while it is busy.
fn at_once(slow: &Slow) -> f64 {
    slow.on.depth.mean() / slow.on.depth.busy().max(f64::MIN_POSITIVE)
}

/// Requests that the device completed.
fn completed(slow: &Slow) -> u64 {
    slow.on.requests.iter().map(|r| r.count).sum()
}

fn prove(mut v: Verdict, case: &Case, slow: &Slow, growth: Option<Growth>, claimed: Nanos) -> Verdict {
    let first = v.evidence.is_empty();
    let name = case.name(slow.on.id);
    let busy = slow.on.depth.busy().max(f64::MIN_POSITIVE);
    let busy_seconds = (busy * slow.on.depth.observed().seconds()).max(f64::MIN_POSITIVE);
    let done = completed(slow);
    // All of the time in which it was busy.
    let (at_once, rate) = (at_once(slow), done as f64 / busy_seconds);
    let pace = 1e9 / rate.max(f64::MIN_POSITIVE);
    if first {
        v = v.because(proof!("{name} was busy {busy} of the time; then it had {at_once:.1} requests at once and completed {rate} a second: {pace} each (Little's law)", name = Text(name.to_string()), busy = Share(busy), at_once = Ratio(at_once), rate = Count(rate as u64), pace = Time(Nanos((at_once * pace) as u64))));
    }
    let served = slow.each(|t| t.served);
    v = v.because(proof!("while one of the slowest {what} was in {name}, it completed {served:.0} others; standing behind them was {claimed} of their time", what = Text(slow.words().to_string()), name = Text(name.to_string()), served = Ratio(served), claimed = Share(slow.share(claimed))));
    match growth {
        Some(growth) => v = v.because(growth.told(slow.words())),
        None => {
            v = v.without(proof!(
                "how fast {name} is with fewer requests at once: there were none such; record a lighter load",
                name = Text(name.to_string())
            ));
        }
    }
    let then = slow.each(|t| t.time.of(Reason::Device).0) / (served + 1.0);
    if first && then >= SLOWER * pace {
        v = v.because(proof!(
            "the device itself was slower then: {then} for each request, {pace} on average",
            then = Time(Nanos(then as u64)),
            pace = Time(Nanos(pace as u64))
        ));
    }
    if !first {
        return v;
    }
    let who = case.main_task(slow.on, &Class::ALL).filter(|_| !slow.is_below());
    let who = who.map_or(String::new(), |(task, share)| {
        format!(" ({task} sent {} of the requests here)", percent(share))
    });
    let top = case.name(slow.group.dev);
    let half = ((rate / 2.0) as u64).max(1);
    let reads = &slow.on.requests[Class::Read.index()];
    let property = if reads.count * 2 >= done { "IOReadIOPSMax" } else { "IOWriteIOPSMax" };
    v.try_on(
Acts::Culprit("SERVICE".into()),

        format!(
            "fewer requests at once from those that can wait{who}: holds the unit SERVICE to half of what {name} \
             did here; it becomes slower, the others faster"
        ),
        format!("systemctl set-property --runtime SERVICE {property}=\"/dev/{top} {half}\""),
    )
    .try_this(
        format!(
            "measures what {name} can do alone (reads only, 10 s at full load); if that is no more than the {} a \
             second of this recording, only a faster device or a higher limit of the volume helps",
            count(rate as u64)
        ),
        format!(
            "fio --name=limit --filename=/dev/{name} --readonly --rw=randread --bs=4k --direct=1 --ioengine=libaio \
             --iodepth=32 --runtime=10 --time_based"
        ),
    )
}
