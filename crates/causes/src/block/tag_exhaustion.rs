//! `tag-exhaustion`: all tags of the device are in use, and a task that needs a request sleeps until a tag is free.
//!
//! Claims the time to get a request (Q2G) of operations that came while the device held as many requests as it ever does.
//! Proof: these are counted, and so is the time in which the device stayed full. Refuted if the wait is short, or began
//! while the device held fewer requests, or if the device has no higher throughput with more in flight: with more tags
//! operations would wait in the device. The number of tags is taken from the recording; settings may show another one.

use crate::case::{Case, MIN_SHARE};
use crate::cause::{Cause, Each, Judge, Nature, Otherwise, Said};
use crate::growth::{does_no_more, Growth};
use crate::proof::proof;
use crate::remedy::Action;
use crate::slow::Slow;
use crate::thresholds::tag_exhaustion::{MOSTLY, NOT_AT_ALL};
use crate::verdict::{Confidence, Verdict};
use evidence::Device as Settings;
use ledger::Reason;
use life::Class;
use trace::Nanos;
use waits::Phase;

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "tag-exhaustion",
    title: "all tags of the device are in use: new requests wait for one",
    nature: Nature::Everyday,
    page: include_str!("../../pages/tag-exhaustion.md"),
    judge: Judge::Each(Each {
        of,
        unless: "a wait for a request that begins while the device holds fewer requests than that",
        otherwise: Otherwise::Nothing("no slow operation waited for a request"),
        above: false,
    }),
};

fn of(case: &mut Case, slow: &Slow, v: Verdict) -> Said {
    let get = case.unclaimed(slow, Reason::GetRequest);
    let most = slow.on.tags.most();
    if slow.share(get) < MIN_SHARE {
        let said = proof!(
            "{what} waited {p99} for a request (Q2G p99), {get} of the time of the slowest",
            what = slow.words(),
            p99 = Nanos(slow.requests().q2g.quantile(0.99)),
            get = Share(slow.share(get))
        );
        return if slow.share(get) < NOT_AT_ALL { Said::Hardly(said) } else { Said::Little(said) };
    }
    let waited = slow.no_tag().min(get);
    let name = case.name(slow.on.id);
    if (waited.0 as f64) < MOSTLY * get.0 as f64 {
        return Said::Not(proof!(
            "the slowest {what} spent {get} of their time waiting for a request, but for only {get2} of it \
             because {name} was full ({most} requests)",
            what = slow.words(),
            get = Share(slow.share(get)),
            name,
            most = Text(most.to_string()),
            get2 = Share(waited.0 as f64 / get.0.max(1) as f64)
        ));
    }
    if does_no_more(slow) {
        let no_faster = proof!(
            "the slowest {what} waited for a free tag for {get} of their time, but {name} is no faster with more in it",
            what = slow.words(),
            get = Share(slow.share(get)),
            name
        );
        return Said::Not(match Growth::of(slow) {
            Some(growth) => proof!("{no_faster}: {growth}", no_faster, growth = growth.told(slow.words())),
            None => proof!("{no_faster}: it serves one request after the other", no_faster),
        });
    }
    let settings = case.settings(slow.on.id);
    if slow.class != Class::Read && !limited_to(settings, most) {
        if let Some(why) = throttled(settings, &name) {
            return Said::Unsure(why.into());
        }
    }
    let direct = slow.requests().i2d.count() == 0 && !slow.is_below();
    let sure = if direct { Confidence::High } else { Confidence::Medium };
    let claimed = case.claim_phase(slow, Phase::NoTag, waited);
    let proof = v.plus(claimed, sure).because(proof!(
        "the slowest {what} waited for a free tag for {claimed} of their time; {most} requests were in {name} \
             then, never more",
        what = slow.words(),
        claimed = Share(slow.share(claimed)),
        most = Text(most.to_string()),
        name
    ));
    Said::Found(remedies(proof, slow, settings, &name))
}

/// Whether a setting equals the most requests that were in the device.
fn limited_to(settings: Option<&Settings>, most: u64) -> bool {
    let Some(s) = settings else { return false };
    s.nr_requests().is_some_and(|n| n.value == most) || s.tags().iter().any(|n| n.value == most)
}

/// Why writes may have waited for something else, since writeback throttling blocks them at the same place; `None` if it did not.
fn throttled(settings: Option<&Settings>, name: &str) -> Option<String> {
    let file = format!("/sys/block/{name}/queue/wbt_lat_usec");
    match settings.map(Settings::wbt_lat_usec) {
        Some(Some(wbt)) if wbt.value == Nanos(0) => None,
        Some(Some(wbt)) => Some(format!(
            "whether writes waited for a tag or for writeback throttling, which blocks them at the same \
             place (wbt_lat_usec is {}, {}); record the sleeps too: iowhy record",
            wbt.value.0 / 1000,
            wbt.at
        )),
        // The kernel has no writeback throttling for this device.
        Some(None) => None,
        None => Some(format!("whether writeback throttling delayed the writes: {file} was not recorded")),
    }
}

fn remedies(mut v: Verdict, slow: &Slow, settings: Option<&Settings>, name: &str) -> Verdict {
    let most = slow.on.tags.most();
    let queue = format!("/sys/block/{name}/queue");
    let Some(shown) = settings.and_then(Settings::nr_requests) else {
        return v
            .without(proof!("the limit that is set: {queue}/nr_requests was not recorded", queue))
            .try_this(
                format!("see what limits it to {most}"),
                Action::look(format!(
                    "grep -H . {queue}/scheduler {queue}/nr_requests /sys/block/{name}/mq/*/nr_tags"
                )),
            );
    };
    let none = settings.and_then(Settings::scheduler).is_none_or(|s| s.value == "none");
    if none && shown.value > most {
        v = v
            .because(proof!("nr_requests shows {shown} ({at}), which is not the number of tags: when a scheduler is removed the number shown is reset, the tags are not", shown = Text(shown.value.to_string()), at = shown.at))
            .try_this(
                format!(
                    "nr_requests {most} -> {0}: the kernel ignores a number that it already shows, so another one is \
                         written first; each write stops the queue for a moment; if nothing changes, {most} is the \
                         device's own limit",
                    shown.value
                ),
                format!("echo {} > {queue}/nr_requests; echo {} > {queue}/nr_requests", shown.value - 1, shown.value),
            );
    } else if none {
        let tags = settings.map(Settings::tags).unwrap_or_default().into_iter().map(|t| t.value).max();
        match tags.filter(|t| *t > most) {
            Some(tags) => {
                v = v.try_this(
                    format!(
                        "nr_requests {} -> {tags} ({}), all the tags there are; stops the queue for a moment",
                        shown.value, shown.at
                    ),
                    Action::set(name, "queue/nr_requests", tags),
                );
            }
            None => {
                v = v.because(proof!(
                    "that is what the device takes: nr_requests is {shown} ({at})",
                    shown = Text(shown.value.to_string()),
                    at = shown.at
                ))
            }
        }
        v = v.try_in_part(
            "with a scheduler requests wait in it and not for a tag, sorted, reads before writes; the device \
                 itself does not become faster; stops the queue for a moment",
            Action::set(name, "queue/scheduler", "mq-deadline"),
        );
    } else {
        let more = shown.value.saturating_mul(4);
        v = v.try_this(
            format!(
                "nr_requests {} -> {more} ({}): more may wait in the scheduler, where reads go before writes; a deeper queue of \
                 writes makes synchronous ones wait longer; stops the queue for a moment",
                shown.value, shown.at
            ),
            Action::set(name, "queue/nr_requests", more),
        );
    }
    if let Some(depth) = settings.and_then(Settings::queue_depth).filter(|d| d.value <= most) {
        v = v.try_this(
            format!("queue_depth {} ({}), if the device can take more", depth.value, depth.at),
            Action::set(name, "device/queue_depth", depth.value.saturating_mul(2)),
        );
    }
    v
}
