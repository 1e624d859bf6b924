//! `device-stall`: the device takes long for some requests, and not because others stand in line.
//!
//! Flash that cleans up, a disk that reads a sector again and again, a controller that does something else. Asked after
//! `device-saturated` and all that explain time in the device: what is left there must be many times what the device usually
//! takes, with hardly anybody ahead, and no larger than other requests. Refuted by a queue, or by large requests. Who came later may
//! go first: with several ahead in a device that takes longer with many in it, it must be many times what it takes with many.
//!
//! Example: 99 of 100 reads take 0.4 ms, one takes 80 ms, and 0.3 others were completed meanwhile on average.

use crate::case::{Case, MIN_SAMPLES, MIN_SHARE};
use crate::device::device_saturated::A_LINE;
use crate::proof::proof;
use crate::slow::Slow;
use crate::thresholds::device_stall::{IN_LINE, LARGER, LONG, STALLED};
use crate::verdict::{Confidence, Verdict};
use crate::Cause;
use ledger::Reason;
use operation::{Done, Part};
use trace::{Bytes, Nanos};

/// The cause.
pub const CAUSE: Cause = Cause {
    name: "device-stall",
    title: "the device takes long for some requests although hardly any others are in it",
    page: include_str!("../../../../docs/causes/device-stall.md"),
    judge,
};

fn judge(case: &mut Case) -> Verdict {
    let mut verdict: Option<Verdict> = None;
    let mut against = None;
    for slow in case.slow() {
        let (left, device) = (case.unclaimed(&slow, Reason::Device), slow.time(Reason::Device));
        if slow.share(left) < MIN_SHARE {
            continue;
        }
        let name = case.name(slow.on.id);
        let requests = slow.requests();
        if requests.d2c.count() < MIN_SAMPLES {
            against.get_or_insert_with(|| {
                proof!(
                    "{count} {what} are too few to say what is usual",
                    count = Count(requests.d2c.count()),
                    what = Text(slow.words().to_string())
                )
            });
            continue;
        }
        let usual = requests.d2c.quantile(0.5);
        let longest = slowest_request(case, &slow).unwrap_or(Nanos(requests.d2c.quantile(0.999)));
        if longest < LONG || (longest.0 as f64) < STALLED * usual as f64 {
            against = Some(proof!(
                "the slowest {what} took up to {longest} in {name}, half of all {usual} or less",
                what = Text(slow.words().to_string()),
                longest = Time(longest),
                name = Text(name.to_string()),
                usual = Time(Nanos(usual))
            ));
            continue;
        }
        let in_line = slow.behind().0 as f64 / device.0.max(1) as f64;
        if in_line > IN_LINE {
            against = Some(proof!(
                "the slowest {what} stood behind others for {in_line} of their time in {name}",
                what = Text(slow.words().to_string()),
                in_line = Share(in_line),
                name = Text(name.to_string())
            ));
            continue;
        }
        let served = slow.each(|t| t.served);
        let several = in_line * (served + 1.0) >= A_LINE;
        let crowd = slow.growth().filter(|g| several && g.grows());
        if let Some(growth) = crowd.filter(|g| (longest.0 as f64) < STALLED * g.many().0 as f64) {
            against = Some(proof!(
                "the slowest {what} took up to {longest} in {name}; {growth}",
                what = Text(slow.words().to_string()),
                longest = Time(longest),
                name = Text(name.to_string()),
                growth = growth.told(slow.words())
            ));
            continue;
        }
        let mean = requests.bytes.0 as f64 / requests.count.max(1) as f64;
        if let Some(large) = size_of_slow(case, &slow).filter(|b| b.0 as f64 > LARGER * mean) {
            against = Some(proof!(
                "the slowest {what} are of {large}, all of {u64} on average",
                what = Text(slow.words().to_string()),
                large = Size(large),
                u64 = Size(Bytes(mean as u64))
            ));
            continue;
        }
        // What the device takes anyway is no stall.
        let own = Nanos(usual.saturating_mul(slow.group.tail.sum.time.operations));
        let wanted = Nanos((left.0 as f64 * (1.0 - in_line)) as u64) - own.min(left);
        if slow.share(wanted) < MIN_SHARE {
            continue;
        }
        let claimed = case.claim(&slow, Reason::Device, wanted);
        let proof = verdict.take().unwrap_or_else(|| Verdict::begin(CAUSE.name));
        let mut v = proof
            .plus(claimed, Confidence::Medium)
            .because(proof!("the slowest {what} took up to {longest} in {name}; half of all took {usual} or less", what = Text(slow.words().to_string()), longest = Time(longest), name = Text(name.to_string()), usual = Time(Nanos(usual))))
            .because(proof!("while one of them was there {name} completed {served:.1} others: it was not the queue ({in_line} of the time \
                 behind others)", name = Text(name.to_string()), served = Ratio(served), in_line = Share(in_line)));
        if v.remedies.is_empty() {
            v = v
                .try_this(
                    "ask the device itself: sectors that are hard to read, wear, errors of the link, its temperature",
                    format!("smartctl -a /dev/{name}   (NVMe: nvme smart-log /dev/{name})"),
                )
                .try_this(
                    "flash that cleans up has more room to do so if it knows what is free (not while somebody waits)",
                    "fstrim -av",
                )
                .try_this(
                    "a virtual disk: look at the host, or the volume's own numbers, at the same second",
                    format!("iowhy events CAPTURE | grep {name}"),
                );
        }
        verdict = Some(v);
    }
    match (verdict, against) {
        (Some(v), _) => v.unless("requests as slow only with many others in the device"),
        (None, Some(against)) => Verdict::rejected(CAUSE.name, against),
        (None, None) => case.nothing_left(CAUSE.name),
    }
}

/// The requests that the kept operations of the group waited for in the device: how long, and how large.
fn requests<'a>(case: &Case<'a>, slow: &Slow<'a>) -> impl Iterator<Item = (Nanos, Bytes)> + 'a {
    let stats = slow.group.op.and_then(|op| case.facts.operations.groups.get(&op));
    let from = slow.group.tail.threshold;
    let kept = stats.into_iter().flat_map(|s| s.slowest.all()).filter(move |k| k.operation.total() >= from);
    let dev = slow.on.id;
    kept.flat_map(|k| &k.account.nodes).filter_map(move |node| match &node.part {
        Part::Request(entry) if entry.done.dev() == dev => match &entry.done {
            Done::Request(r) => Some((r.time.d2c()?, r.bytes)),
            Done::Bio(_) => None,
        },
        _ => None,
    })
}

fn slowest_request(case: &Case, slow: &Slow) -> Option<Nanos> {
    requests(case, slow).map(|(d2c, _)| d2c).max()
}

fn size_of_slow(case: &Case, slow: &Slow) -> Option<Bytes> {
    requests(case, slow).max_by_key(|(d2c, _)| *d2c).map(|(_, bytes)| bytes)
}
