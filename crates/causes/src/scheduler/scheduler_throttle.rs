//! `scheduler-throttle`: kyber throttles requests although the device has room for them.
//!
//! Kyber has tokens for each kind of request: reads, writes, discards, others (block/kyber-iosched.c). A request waits in kyber
//! only for a token of its kind; kyber sorts nothing. If a kind misses its target (`read_lat_nsec`, `write_lat_nsec`) the others
//! get fewer tokens, down to one; a target that the device cannot reach, however little it has to do, takes them away for good.
//! Proof: the scheduler is kyber, requests waited in it, and when they were sent at last the device still had room. Refuted by
//! another scheduler, or if the device was full: then they waited for its tags.
//!
//! Example: reads take 3 ms alone, the target is 2 ms; of 16 writes at once two are admitted into a device that takes 128.

use crate::case::{Case, MIN_SHARE};
use crate::cause::{Cause, Each, Judge, Nature, Otherwise, Said};
use crate::interfering::mostly_behind;
use crate::proof::proof;
use crate::remedy::Action;
use crate::slow::Slow;
use crate::target::pause_writer;
use crate::thresholds::scheduler_throttle::{FULL, JUDGED};
use crate::verdict::{Confidence, Verdict};
use evidence::Device as Settings;
use ledger::Reason;
use life::Class;
use trace::{works_for_others, Nanos};
use units::words::ns;

/// The file of each kind's target, and its default in ns (`kyber_latency_targets`, block/kyber-iosched.c).
const TARGETS: [(Class, &str, u64); 2] =
    [(Class::Read, "read_lat_nsec", 2_000_000), (Class::SyncWrite, "write_lat_nsec", 10_000_000)];

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "scheduler-throttle",
    title: "the I/O scheduler (kyber) admits fewer requests than the device could take",
    nature: Nature::Everyday,
    page: include_str!("../../pages/scheduler-throttle.md"),
    judge: Judge::Each(Each {
        of,
        unless: "requests just as slow with the scheduler none",
        otherwise: Otherwise::Never("no slow operation waited in the scheduler"),
        above: false,
    }),
};

fn of(case: &mut Case, slow: &Slow, v: Verdict) -> Said {
    let left = case.unclaimed(slow, Reason::Scheduler);
    if slow.share(left) < MIN_SHARE {
        return Said::Nothing;
    }
    let name = case.name(slow.on.id);
    let settings = case.settings(slow.on.id);
    let Some(scheduler) = settings.and_then(Settings::scheduler) else {
        return Said::Unsure(proof!(
            "which scheduler held them: /sys/block/{name}/queue/scheduler was not recorded",
            name
        ));
    };
    if scheduler.value != "kyber" {
        return Said::Not(proof!(
            "the scheduler of {name} is {scheduler} ({at}), which throttles nothing",
            name,
            scheduler = Text(scheduler.value.to_string()),
            at = scheduler.at
        ));
    }
    let usual = slow.contention().depth.quantile(JUDGED) + 1;
    let tags: u64 = settings.map(Settings::tags).unwrap_or_default().iter().map(|t| t.value).sum();
    let most = if tags > 0 { tags } else { slow.on.tags.most() };
    if usual as f64 >= FULL * most as f64 {
        return Said::Not(proof!(
            "{name} was full when they were sent: {usual} of at most {most}",
            name,
            usual = Text(usual.to_string()),
            most = Text(most.to_string())
        ));
    }
    let claimed = case.claim(slow, Reason::Scheduler, left);
    let v = v
        .plus(claimed, Confidence::Medium)
        .because(proof!(
            "{what} waited {p99} in the scheduler (I2D p99), {claimed} of the time of the \
             slowest; in {name} they took {d2c_p99} (D2C p99)",
            what = slow.words(),
            p99 = Nanos(slow.requests().i2d.quantile(0.99)),
            claimed = Share(slow.share(claimed)),
            name,
            d2c_p99 = Nanos(slow.requests().d2c.quantile(0.99))
        ))
        .because(proof!(
            "the scheduler of {name} is kyber ({at}), in which requests wait only for a token",
            name,
            at = scheduler.at
        ))
        .because(proof!(
            "nine in ten {what} were sent when {name} held {usual} or fewer of at most {most}",
            what = slow.words(),
            name,
            usual = Text(usual.to_string()),
            most = Text(most.to_string())
        ));
    let v = match mostly_behind(case, slow.group_number, Reason::Scheduler, |_| true) {
        Some(who) => behind_another(v, case, slow, &who),
        None => v,
    };
    Said::Found(targets(v, slow, settings, &name))
}

/// Adds whose requests the device served meanwhile, and that without them nothing waits. Measured, page faults beside a copy: 4.2 to 5.7 ms
/// with kyber, 3.3 without it, 0.8 without the copy.
fn behind_another(v: Verdict, case: &Case, slow: &Slow, who: &str) -> Verdict {
    let v = v.because(proof!(
        "most of that time {name} was serving requests of {who}",
        name = case.name(slow.on.id),
        who = who.to_string()
    ));
    match works_for_others(who) {
        true => v,
        false => pause_writer(v, case, &slow.group.task, who),
    }
}

/// Adds which kind misses its target, and what to do.
fn targets(mut v: Verdict, slow: &Slow, settings: Option<&Settings>, name: &str) -> Verdict {
    let (mut raised, mut echoes) = (vec![], vec![]);
    for (class, file, default) in TARGETS {
        let took = slow.on.requests[class.index()].d2c.quantile(JUDGED);
        let set = settings.and_then(|s| s.number(&format!("queue/iosched/{file}")));
        let (target, at) = match &set {
            Some(fact) => (fact.value, fact.at.to_string()),
            None => (default, "the default; it was not recorded".into()),
        };
        if took <= target {
            continue;
        }
        v = v.because(proof!(
            "{n} in {name} took {took} (D2C p90), the target is {target} ({file}, {at}): the others are \
                 throttled because of that",
            n = if class == Class::Read { "reads" } else { "writes" },
            name,
            took = Nanos(took),
            target = Nanos(target),
            file,
            at
        ));
        // A target that nine in ten requests meet with room to spare.
        let better = (2 * took).div_ceil(1_000_000) * 1_000_000;
        raised.push(format!("{file} {} -> {}", ns(target), ns(better)));
        echoes.push(format!(" && echo {better} > iosched/{file}"));
    }
    if !raised.is_empty() {
        // `kyber_timer_fn` returns tokens only to a kind that misses its own target, and with throttling that target may just be met.
        v = v.try_this(
            format!(
                "{}: a target that the device can meet. kyber is selected again so that every domain starts \
                     with all its tokens: it returns them only to a domain that misses its own target. \
                     nr_requests and kyber's other target return to their defaults; stops the queue for a \
                     moment",
                raised.join(", ")
            ),
            format!(
                "cd /sys/block/{name}/queue && echo none > scheduler && echo kyber > scheduler{}",
                echoes.concat()
            ),
        );
    }
    v.try_this(
        "no scheduler: the device orders requests itself, and nothing is throttled; stops the queue for a \
             moment",
        Action::set(name, "queue/scheduler", "none"),
    )
    .try_this(
        "mq-deadline: reads before writes, but nothing waits while the device has room; stops the queue for \
             a moment",
        Action::set(name, "queue/scheduler", "mq-deadline"),
    )
}
