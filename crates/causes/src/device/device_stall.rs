//! `device-stall`: the device takes long for some requests, and not because of a queue.
//!
//! Flash that collects garbage, a disk that reads a sector again and again, a controller that does something else.
//! Claims the time in which the device completed nothing for longer than any service explains, was slower than usual
//! with a single request, or completed many later requests of the same task first. The longest request must take many
//! times what is usual, and must not be larger than others.
//!
//! Example: 99 of 100 reads take 0.4 ms, one takes 80 ms, and the device was idle otherwise.

use crate::case::{Case, Claimable, MIN_SAMPLES, MIN_SHARE};
use crate::cause::{Cause, Each, Judge, Nature, Otherwise, Said};
use crate::device::expected::{rotational, EXPECTED_FLASH};
use crate::growth::Growth;
use crate::hardware::Hardware;
use crate::proof::{proof, Proof};
use crate::remedy::Action;
use crate::slow::Slow;
use crate::thresholds::alone::MOSTLY;
use crate::thresholds::device_stall::{HUNG, LARGER, LONG, PASSED_OVER, STALLED};
use crate::verdict::{Confidence, Verdict};
use ledger::Reason;
use life::Request;
use operation::{Done, Part};
use stats::{Distribution, TailRow};
use trace::{Bytes, DevId, Nanos};
use units::words::shell;
use waits::{CulpritId, CulpritKind, Phase};

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "device-stall",
    title: "the device takes long for some requests although few others are in flight",
    nature: Nature::Rare,
    page: include_str!("../../pages/device-stall.md"),
    judge: Judge::Each(Each {
        of,
        unless: "requests just as slow only with many others in the device",
        otherwise: Otherwise::Explained,
        above: false,
    }),
};

fn of(case: &mut Case, slow: &Slow, v: Verdict) -> Said {
    let (left, device) = (case.unclaimed(slow, Reason::Device), slow.time(Reason::Device));
    if slow.share(left) < MIN_SHARE {
        return Said::Nothing;
    }
    let name = case.name(slow.on.id);
    let requests = slow.requests();
    let is_known = requests.d2c.count() >= MIN_SAMPLES;
    let longest = slowest_request(case, slow).unwrap_or(Nanos(requests.d2c.quantile(0.999)));
    let Some(usual) = usual(slow) else { return of_few_requests(case, slow, longest, v) };
    if longest < least(case, slow.on.id, usual) {
        return Said::Not(short(case, slow, longest, usual));
    }
    let large = large(case, slow);
    let own: Vec<CulpritId> = own_queue(case);
    let is_behind_own = |row: &TailRow| row.phase == Phase::Behind && own.contains(&row.culprit);
    let passed_over = passed_over(case, slow, usual) >= PASSED_OVER
        && stalled_part(case, slow, usual, is_behind_own) >= MIN_SHARE;
    let is_of_few = is_known && is_of_few(slow, least(case, slow.on.id, usual));
    let picks = |row: &Claimable| match row.phase {
        Phase::Paused => true,
        // Pauses are longer than any size explains. Slowness is not, and says nothing if such requests are few.
        Phase::Slow => is_known && large.is_none(),
        Phase::Behind => is_known && passed_over && own.contains(&row.culprit),
        Phase::Service | Phase::Varies => is_of_few && large.is_none(),
        _ => false,
    };
    let wanted = case.unclaimed_rows(slow.group_number, picks);
    // A time that a rotating disk may take for one request may be its queue.
    let is_queue = longest < LONG && slow.behind() >= slow.paused();
    if slow.share(wanted) < MIN_SHARE || is_queue {
        return Said::Not(large.unwrap_or_else(|| {
            proof!(
                "{name} completed nothing, or was slower than usual with nothing else in flight, for \
                     {wanted} of the time of the slowest {what}",
                name,
                wanted = Share(slow.share(wanted)),
                what = slow.words()
            )
        }));
    }
    let claimed = case.claim_rows(slow.group_number, wanted, picks);
    let mut v = v
        .plus(claimed, Confidence::Medium)
        .because(proof!(
            "the slowest {what} took up to {longest} in {name}; half of all{which} took {usual} or less",
            what = slow.words(),
            longest,
            name,
            which = Text(if is_known { "" } else { " its requests" }.into()),
            usual = Nanos(usual)
        ))
        .because(queue_or_not(slow, device, &name));
    if passed_over {
        v = v.because(proof!("{name} completed many later requests before them", name));
    }
    Said::Found(remedies(v, case, slow, &name))
}

/// The verdict if the device completed too few requests to say what is usual: only that it completed none at all for so long that no
/// comparison is needed.
fn of_few_requests(case: &mut Case, slow: &Slow, longest: Nanos, v: Verdict) -> Said {
    let count = slow.requests().d2c.count();
    let paused = |row: &Claimable| row.phase == Phase::Paused;
    let wanted = case.unclaimed_rows(slow.group_number, paused);
    if slow.share(wanted) < MIN_SHARE || longest < HUNG {
        let what = slow.words();
        return Said::Little(proof!(
            "{count} {what} are too few to say what is usual",
            count = Count(count),
            what
        ));
    }
    let name = case.name(slow.on.id);
    let claimed = case.claim_rows(slow.group_number, wanted, paused);
    if slow.on.hangs {
        let v = v.plus(claimed, Confidence::High).because(proof!(
            "{name} had requests in flight all the time and completed none of them (samples.jsonl)",
            name
        ));
        return Said::Found(remedies(v, case, slow, &name));
    }
    let v = v.plus(claimed, Confidence::Medium).because(proof!(
        "the slowest {what} took up to {longest} in {name}, which completed {count} such requests in all, and nothing for {paused} of that time",
        what = slow.words(),
        longest,
        name,
        count = Count(count),
        paused = Share(slow.share(wanted))
    ));
    Said::Found(remedies(v, case, slow, &name))
}

/// From this time on a request counts as stalled: many times the median `usual`, and longer than any healthy disk takes for one
/// request; on a device that does not rotate, many times the median or what Linux expects of flash, whichever is more.
fn least(case: &Case, dev: DevId, usual: u64) -> Nanos {
    let many = |time: u64| Nanos((STALLED * time as f64) as u64);
    match rotational(case, dev) {
        Some(turns) if !turns.value => many(usual.max(EXPECTED_FLASH.0)),
        _ => many(usual).max(LONG),
    }
}

/// Whether most of the time of such requests is that of a few which stalled for at least `least`: what requests take
/// alone then includes stalls and is not the device's pace.
fn is_of_few(slow: &Slow, least: Nanos) -> bool {
    let d2c = &slow.requests().d2c;
    let long = d2c.buckets().filter(|bucket| bucket.lower >= least.0);
    let (count, time) = long.fold((0, 0.0), |(count, time), bucket| {
        (count + bucket.count, time + bucket.count as f64 * bucket.lower as f64)
    });
    count as f64 <= MIN_SHARE * d2c.count() as f64 && time > MOSTLY * d2c.sum() as f64
}

/// The median device time of such requests in ns; of all requests if such are few, `None` if all are.
fn usual(slow: &Slow) -> Option<u64> {
    let of_such = &slow.requests().d2c;
    let of_all = || {
        slow.on.requests.iter().fold(Distribution::new(), |mut all, phases| {
            all.merge(&phases.d2c);
            all
        })
    };
    let d2c = if of_such.count() >= MIN_SAMPLES { of_such.clone() } else { of_all() };
    (d2c.count() >= MIN_SAMPLES).then(|| d2c.quantile(0.5))
}

/// Evidence that the slowest request did not stall, because it did not take long.
fn short(case: &Case, slow: &Slow, longest: Nanos, usual: u64) -> Proof {
    proof!(
        "the slowest {what} took up to {longest} in {name}, the median is {usual}",
        what = slow.words(),
        longest,
        name = case.name(slow.on.id),
        usual = Nanos(usual)
    )
}

/// Evidence that the slowest request is large; `None` if it is not.
fn large(case: &Case, slow: &Slow) -> Option<Proof> {
    let requests = slow.requests();
    let mean = requests.bytes.0 as f64 / requests.count.max(1) as f64;
    let large = size_of_slow(case, slow).filter(|b| b.0 as f64 > LARGER * mean)?;
    Some(proof!(
        "the slowest {what} have {large}, all of them {all} on average",
        what = slow.words(),
        large,
        all = Bytes(mean as u64)
    ))
}

/// Evidence of how much of their device time they were in its queue, and for how much of it nothing was completed.
fn queue_or_not(slow: &Slow, device: Nanos, name: &str) -> Proof {
    let part = |time: Nanos| time.0 as f64 / device.0.max(1) as f64;
    let [behind, paused] = [slow.behind(), slow.paused()].map(part);
    match behind < paused {
        true => proof!(
            "it was not the queue: they were behind others for {behind} of their time in {name}, and for {paused} it completed nothing",
            behind = Share(behind),
            name,
            paused = Share(paused)
        ),
        false => proof!(
            "for {paused} of their time in {name} it completed nothing; for {behind} they were behind others",
            behind = Share(behind),
            name,
            paused = Share(paused)
        ),
    }
}

fn remedies(v: Verdict, case: &Case, slow: &Slow, name: &str) -> Verdict {
    let (shows, look) = Hardware::check(name);
    let v = v.try_this(shows, look);
    let dev = slow.on.id;
    let v = match may_trim(case, dev, name) {
        true => v.try_this(
            "tell flash which blocks are free: its garbage collection then has more room (not under load)",
            format!(
                "fstrim -v {}",
                case.mount_of(slow.group).map_or("/MOUNTPOINT".into(), |m| shell(&m.target))
            ),
        ),
        false => v,
    };
    v.try_this(
        "when the slowest began, and what the device did meanwhile",
        Action::look(format!("iowhy slow -n 3 --events --device {name} CAPTURE")),
    )
}

/// Whether the device can be flash that is told of free blocks: a file would only get holes, memory has no garbage to
/// collect, and a rotating disk accepts no discards.
fn may_trim(case: &Case, dev: DevId, name: &str) -> bool {
    let settings = case.settings(dev);
    let takes_none =
        settings.and_then(|s| s.number("queue/discard_max_bytes")).is_some_and(|most| most.value == 0);
    let turns = rotational(case, dev).is_some_and(|turns| turns.value);
    !takes_none && !turns && !matches!(Hardware::of(name), Hardware::File | Hardware::Memory)
}

/// The requests on this device that the sampled operations of the tail waited for, each with its D2C.
pub(super) fn requests<'a>(
    case: &Case<'a>,
    slow: &Slow<'a>,
) -> impl Iterator<Item = (Nanos, &'a Request)> + 'a {
    let dev = slow.on.id;
    case.sampled_of_tail(slow.group).flat_map(|k| &k.account.nodes).filter_map(move |node| match &node.part {
        Part::Request(entry) if entry.done.dev() == dev => match &entry.done {
            Done::Request(r) => Some((r.time.d2c()?, r)),
            Done::Bio(_) => None,
        },
        _ => None,
    })
}

fn slowest_request(case: &Case, slow: &Slow) -> Option<Nanos> {
    requests(case, slow).map(|(d2c, _)| d2c).max()
}

fn size_of_slow(case: &Case, slow: &Slow) -> Option<Bytes> {
    requests(case, slow).max_by_key(|(d2c, _)| *d2c).map(|(_, r)| r.bytes)
}

/// The part of the stalled requests' time in which the device completed requests that came later: requests ahead of a
/// stalled one are its queue, and completions beyond these overtook it.
///
/// Example: one request was ahead of a read of 66 ms, and 21 were completed meanwhile: 3 ms were the queue.
fn passed_over(case: &Case, slow: &Slow, usual: u64) -> f64 {
    let many = Growth::of(slow).map_or(0, |g| g.many().0).max(usual);
    let stalled = requests(case, slow).filter(|(d2c, _)| d2c.0 as f64 >= STALLED * many as f64);
    let (passed, all) =
        stalled.filter(|(_, r)| r.contention.served() > 0).fold((0, 0), |(passed, all), (d2c, r)| {
            (passed + d2c.since(r.contention.queued_behind(d2c)).0, all + d2c.0)
        });
    passed as f64 / all.max(1) as f64
}

/// Of the time that all operations were behind their own requests, the part due to requests that stalled, by what each
/// took beyond the usual. If it is small the rest is a queue, even if one request in it was overtaken for long.
fn stalled_part(case: &Case, slow: &Slow, usual: u64, is_behind_own: impl Fn(&TailRow) -> bool) -> f64 {
    let least = least(case, slow.on.id, usual).0;
    let stalled = slow.requests().d2c.buckets().filter(|b| b.lower >= least);
    let stalled: f64 = stalled.map(|b| b.lower.saturating_sub(usual) as f64 * b.count as f64).sum();
    let behind = case.share_of_all(slow, is_behind_own) * slow.group.all.time.total.0 as f64;
    stalled / behind.max(1.0)
}

/// The culprits of time that operations spend behind their own requests.
fn own_queue(case: &Case) -> Vec<CulpritId> {
    let all = case.facts.waits.culprits();
    all.filter(|(_, c)| c.kind == CulpritKind::Own).map(|(id, _)| id).collect()
}
