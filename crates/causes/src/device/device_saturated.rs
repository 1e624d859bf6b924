//! `device-saturated`: the device is busy, and requests queue in it.
//!
//! Claims the device time behind others that no specific cause claimed before, mostly behind other requests of the same task; and the time in the
//! scheduler while the device was at work, if the queue is there. Proof: the split of the device's time, and that it takes longer with more in
//! flight. Refuted if it takes as long with few others as with many: then it serves many at once, and the requests themselves are slow.
//!
//! Example (Little's law): 7 requests in the device on average and 1,000 completed a second are 7 ms each.

use crate::block::tag_exhaustion;
use crate::case::{Case, MIN_SAMPLES, MIN_SHARE};
use crate::cause::{Cause, Each, Judge, Nature, Otherwise, Said};
use crate::device::alone::spared;
use crate::device::device_busy;
use crate::device::expected::{expected, rotational};
use crate::device::line::Line;
use crate::device::outside::Outside;
use crate::growth::Growth;
use crate::journal::durable;
use crate::limit;
use crate::measure::{self, Load};
use crate::memory::read_around;
use crate::proof::{proof, Proof};
use crate::slow::Slow;
use crate::thresholds::alone::{FLASH_ALONE, MOSTLY, NEARLY_ALL};
use crate::thresholds::device_saturated::{ALONE, FASTEST, LEFT, MOSTLY_IDLE, SEVERAL, SOONEST, TOGETHER};
use crate::verdict::{Confidence, Verdict};
use ledger::Reason;
use life::Class;
use operation::Kind;
use stats::{Group, TailRow};
use trace::Nanos;
use units::words::count;
use waits::{CulpritKind, Phase, Selection};

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "device-saturated",
    title: "the device is saturated: requests queue in it",
    nature: Nature::General,
    page: include_str!("../../pages/device-saturated.md"),
    judge: Judge::Each(Each {
        of,
        unless: "requests just as slow with few others in the device as with many",
        otherwise: Otherwise::Nothing("no slow operation waited in a device"),
        above: false,
    }),
};

fn of(case: &mut Case, slow: &Slow, v: Verdict) -> Said {
    let growth = Growth::of(slow);
    let line = Line::of(case, slow);
    let outside = Outside::of(case, slow, growth);
    let inside = match inside(case, slow, growth, outside.all()) {
        Ok(wanted) => wanted,
        Err(_) if line.is_worth_a_word(slow) => Nanos(0),
        Err(why) if is_left(case, slow, outside.all()) => return Said::Not(why),
        Err(why) => return Said::Little(why),
    };
    let claimed = case.claim_phase(slow, Phase::Behind, inside);
    let before = if inside.0 > 0 { outside.claim(case, slow) } else { Nanos(0) };
    let in_front = outside.claim_tags(case, slow);
    let in_line = line.claim(case, slow);
    let sure = match (slow.is_below(), growth, in_line > claimed) {
        (true, ..) => Confidence::Medium,
        (false, None, false) => Confidence::Medium,
        (false, ..) => Confidence::High,
    };
    let all = claimed + before + in_front + in_line;
    let v = prove(v.plus(all, sure), case, slow, growth, (claimed, in_line));
    let v = match in_front {
        Nanos(0) => v,
        _ => v.because(proof!(
            "the slowest {what} waited for a free tag for {in_front} of their time, which is the same queue",
            what = slow.words(),
            in_front = Share(slow.share(in_front))
        )),
    };
    Said::Found(match before {
        Nanos(0) => v,
        _ => v.because(proof!(
            "the slowest {what} waited outside {device} for {before} of their time: it was full, and its driver requeued requests",
            what = slow.words(),
            device = case.name(slow.on.id),
            before = Share(slow.share(before))
        )),
    })
}

/// The device time to claim, or why nothing is claimed; `outside` is the time that waited in front of the device.
fn inside(case: &Case, slow: &Slow, growth: Option<Growth>, outside: Nanos) -> Result<Nanos, Proof> {
    let left = case.unclaimed(slow, Reason::Device);
    if !is_left(case, slow, outside) {
        return Err(said_before(case, slow, left));
    }
    if let Some(why) = alone(case, slow).filter(|_| growth.is_none()) {
        return Err(why);
    }
    let takes_as_long = |g: &Growth| !g.grows() && !queues(slow) && !is_too_slow_for_unknown(case, slow);
    if let Some(growth) = growth.filter(takes_as_long) {
        return Err(growth.told(slow.words()));
    }
    if growth.is_none() && is_side_by_side(slow) && !is_too_slow_for_unknown(case, slow) {
        return Err(proof!(
            "{device} serves several requests in parallel: {at_once:.1}",
            device = case.name(slow.on.id),
            at_once = Ratio(at_once(slow))
        ));
    }
    // A large write that is split waits for its own pieces: if the device has nothing to do meanwhile, that is its service time and no queue.
    let grows = growth.is_some_and(|g| g.grows());
    if !grows && is_unknown(slow) && slow.on.depth.busy() < MOSTLY {
        return Err(proof!(
            "{device} was busy {busy} of the time, and what such requests take alone is not known",
            device = case.name(slow.on.id),
            busy = Share(slow.on.depth.busy())
        ));
    }
    if let Some(why) = unknown(case, slow).filter(|_| growth.is_none()) {
        return Err(why);
    }
    let wanted = slow.behind().min(left);
    if slow.share(wanted + outside) < MIN_SHARE && !is_throughout(case, slow) {
        return Err(proof!(
            "the slowest {what} were behind others in the device for {wanted} of their time",
            what = slow.words(),
            wanted = Share(slow.share(wanted))
        ));
    }
    Ok(wanted)
}

/// Why there is no queue: nearly all such requests found the device empty. Operations that wait for one another's, in a lock, queue there.
fn alone(case: &Case, slow: &Slow) -> Option<Proof> {
    let rows = slow.contention().by_depth.rows();
    let alone = rows.filter(|row| row.from == 0).map(|row| row.count).sum::<u64>();
    let all = slow.requests().d2c.count();
    (all >= MIN_SAMPLES && alone as f64 > NEARLY_ALL * all as f64).then(|| {
        proof!(
            "{alone} of {all} such requests found {name} empty",
            alone = Count(alone),
            all = Count(all),
            name = case.name(slow.on.id)
        )
    })
}

/// Whether other causes leave enough of the device time to report. If most operations wait for their own queue, it
/// matters little what else the slowest met.
fn is_left(case: &Case, slow: &Slow, outside: Nanos) -> bool {
    let left = case.unclaimed(slow, Reason::Device);
    let of_slowest =
        slow.share(left + outside) >= MIN_SHARE && left.0 as f64 >= LEFT * slow.time(Reason::Device).0 as f64;
    of_slowest || is_throughout(case, slow)
}

/// Whether most of the time of all operations passes in a queue, less what was claimed of the slowest.
fn is_throughout(case: &Case, slow: &Slow) -> bool {
    !slow.is_below()
        && queues(slow)
        && waits_mostly(case, slow.group, |row| case.part_left(slow.group_number, row))
}

/// Whether most of what a group lost was behind its own requests in the device, for longer than flash takes, and at
/// least a tenth of the recording.
pub(crate) fn waits_for_itself(case: &Case, group: &Group) -> bool {
    waits_mostly(case, group, |_| 1.0)
}

/// The same, of which `part` says how much of each row counts.
fn waits_mostly(case: &Case, group: &Group, part: impl Fn(&TailRow) -> f64) -> bool {
    let rows = group.rows(&case.facts.waits, Selection::default());
    let is_queue = |row: &&TailRow| {
        row.phase == Phase::Behind && case.facts.waits.culprit_of(row.culprit).kind == CulpritKind::Own
    };
    let queued: f64 = rows.iter().filter(is_queue).map(|row| part(row) * row.time.0 as f64).sum();
    let (in_device, _) = group.in_devices(&case.facts.waits);
    queued >= MIN_SHARE * case.facts.duration().0 as f64
        && queued >= MOSTLY * group.lost.0 as f64
        && queued > FLASH_ALONE.0 as f64 * in_device as f64
}

fn said_before(case: &Case, slow: &Slow, left: Nanos) -> Proof {
    let device = slow.time(Reason::Device);
    match case.main_finding() {
        Some((other, _)) if slow.share(device) >= MIN_SHARE => proof!(
            "{other} leaves only {left} of the time of the slowest {what} to explain",
            other,
            left = Share(slow.share(left)),
            what = slow.words()
        ),
        _ => proof!(
            "the slowest {what} spent {device} of their time in the device",
            what = slow.words(),
            device = Share(slow.share(device))
        ),
    }
}

/// Whether requests queue in the device, by their own times: the fastest took less than half of the median, or they are completed
/// one by one. How many were in flight when one came does not tell, if they come in batches or there are always as many.
pub(crate) fn queues(slow: &Slow) -> bool {
    let d2c = &slow.requests().d2c;
    let waited = d2c.count() >= MIN_SAMPLES && 2 * d2c.quantile(FASTEST) < d2c.quantile(0.5);
    at_once(slow) >= SEVERAL && (waited || is_unknown(slow) && is_one_by_one(slow))
}

/// Whether hardly any two completions come together, and requests take as long as so many completions are apart: a
/// device that serves several in parallel would complete some together.
fn is_one_by_one(slow: &Slow) -> bool {
    let (gaps, d2c) = (slow.on.pace.gaps(), &slow.requests().d2c);
    let in_turn = 2.0 * at_once(slow) * gaps.mean() >= d2c.mean();
    gaps.count() >= MIN_SAMPLES && in_turn && gaps.quantile(SOONEST) as f64 * 2.0 >= gaps.mean()
}

/// Whether completions come in bursts: if they came one after the other, half of them would be about the mean apart.
fn is_side_by_side(slow: &Slow) -> bool {
    let gaps = slow.on.pace.gaps();
    gaps.count() >= MIN_SAMPLES && gaps.quantile(0.5) as f64 * TOGETHER < gaps.mean()
}

/// Whether requests were never alone, so that the number in flight says little (they come in batches), were slower than
/// Linux expects of such a device, and one in ten took at least twice as long as the fastest: this counts as a queue
/// until a lighter load shows otherwise. Requests that are served in parallel take about the same time each.
fn is_too_slow_for_unknown(case: &Case, slow: &Slow) -> bool {
    let (enough, _) = expected(&rotational(case, slow.on.id));
    let (group, d2c) = (slow.group, &slow.requests().d2c);
    let varies = d2c.quantile(0.9) >= 2 * d2c.quantile(FASTEST);
    is_unknown(slow) && group.tail.p99 > enough && varies && at_once(slow) >= SEVERAL
}

/// Whether requests were mostly not alone, so that the time of a single one is not known.
fn is_unknown(slow: &Slow) -> bool {
    slow.group.is_mostly_unknown()
}

/// Why nothing is claimed if no lighter load was seen: the usual time of few requests is not known, and a driver that
/// requeues requests, or tags that admit no more, explain the waits ([`device_busy`], [`tag_exhaustion`]).
fn unknown(case: &Case, slow: &Slow) -> Option<Proof> {
    let (name, count) = (case.name(slow.on.id), slow.requests().d2c.count());
    if count < MIN_SAMPLES {
        return Some(proof!(
            "{count} requests are too few to say whether {name} takes longer with more in flight",
            count = Count(count),
            name
        ));
    }
    if case.was_found_on(device_busy::CAUSE.name, slow.group.dev) {
        return Some(proof!(
            "{name} requeued requests, and whether it takes longer with more in flight is not known",
            name
        ));
    }
    let is_limited = case.was_found_on(tag_exhaustion::CAUSE.name, slow.group.dev) && !is_one_by_one(slow);
    is_limited.then(|| {
        proof!(
            "requests waited for tags of {name}, none is known to have been alone, and it did not complete them one by one",
            name
        )
    })
}

/// The mean number of requests in the device while it is busy.
fn at_once(slow: &Slow) -> f64 {
    slow.on.depth.mean() / slow.on.depth.busy().max(f64::MIN_POSITIVE)
}

/// The number of requests that the device completed.
fn completed(slow: &Slow) -> u64 {
    slow.on.requests.iter().map(|r| r.count).sum()
}

fn prove(
    mut v: Verdict,
    case: &Case,
    slow: &Slow,
    growth: Option<Growth>,
    (claimed, in_line): (Nanos, Nanos),
) -> Verdict {
    let name = case.name(slow.on.id);
    let busy = slow.on.depth.busy().max(f64::MIN_POSITIVE);
    let busy_seconds = (busy * slow.on.depth.observed().seconds()).max(f64::MIN_POSITIVE);
    let done = completed(slow);
    // Relative to the time in which the device was busy.
    let (at_once, rate) = (at_once(slow), done as f64 / busy_seconds);
    let pace = 1e9 / rate.max(f64::MIN_POSITIVE);
    v = durable::written_twice(v, case, slow.group, &name).because(proof!(
        "{name} was busy {busy} {when}; then it had {at_once:.1} requests in flight and completed \
         {rate} a second: {pace} each (Little's law)",
        name,
        busy = Share(busy),
        when = Text(if busy < MOSTLY_IDLE { "of the time, in bursts" } else { "of the time" }.into()),
        at_once = Ratio(at_once),
        rate = Count(rate as u64),
        pace = Nanos((at_once * pace) as u64)
    ));
    if in_line.0 > 0 {
        v = v.because(proof!(
            "the slowest {what} waited in the scheduler for {part} of their time while {name} served others",
            what = slow.words(),
            part = Share(slow.share(in_line)),
            name
        ));
    }
    if claimed.0 > 0 {
        v = v.because(proof!(
        "the slowest {what} queued behind others in {name} for {claimed} of their time, {own} of that behind their own \
             task's requests",
        what = slow.words(),
        name,
        claimed = Share(slow.share(claimed)),
        own = Share(slow.own_queue().0 as f64 / slow.behind().0.max(1) as f64)
    ));
    }
    match growth {
        Some(growth) if growth.grows() => v = v.because(growth.told(slow.words())),
        Some(_) => {}
        None => {
            v = v.without(proof!(
                "how fast {name} is with fewer requests in flight: it never had fewer; record a lighter load",
                name
            ));
        }
    }
    remedies(v, case, slow, rate)
}

/// Whether the operations waited behind the task that sent the most requests. With fewer of its requests, they would not be faster otherwise.
fn is_behind_the_most(case: &Case, slow: &Slow) -> bool {
    let Some((most, _)) = case.main_task(slow.on, &Class::ALL) else { return true };
    if most == &*slow.group.task || slow.is_below() {
        return true;
    }
    let table = &case.facts.waits;
    let behind = |row: &&TailRow| table.culprit_of(row.culprit).name.as_deref() == Some(most);
    let rows = slow.group.rows(table, Selection::default());
    let time: Nanos = rows.iter().filter(behind).map(|row| row.time).sum();
    time.0 as f64 >= MIN_SHARE * slow.group.all.time.total.0 as f64
}

/// Adds which task to limit, and how to measure what the device can do alone; `rate`: the requests that it completes a second.
fn remedies(v: Verdict, case: &Case, slow: &Slow, rate: f64) -> Verdict {
    let name = case.name(slow.on.id);
    let load = Load::of(case, slow);
    // For data that is written twice, no measurement is needed to know that half of it can be avoided.
    if durable::is_written_twice(case, slow.group) {
        return v;
    }
    let is_fault = slow.group.op.is_some_and(|op| op.kind == Kind::PageFault);
    let v = if is_fault { read_around::told(v, case, slow.group) } else { v };
    let v = spared(v, case, slow, &load);
    let here = match load.part_of(completed(slow)) {
        Some(such) if such < ALONE => format!(
            "here {} such a second{}; if that is no more than their sum, only",
            count((rate * such) as u64),
            measure::beside((rate * (1.0 - such)) as u64)
        ),
        Some(_) => {
            format!("if that is no more than the {} a second of this recording, only", count(rate as u64))
        }
        None => format!(
            "if it is as slow as with the {} operations a second of this recording,",
            count(rate as u64)
        ),
    };
    let v = if is_behind_the_most(case, slow) { limit::half(v, case, slow) } else { v };
    v.try_this(
        format!(
            "measure what {name} can do alone ({}, 10 s at full load{}); {here} a faster device, a higher \
             limit or less work helps",
            load.words(),
            load.remark()
        ),
        load.look("limit"),
    )
}
