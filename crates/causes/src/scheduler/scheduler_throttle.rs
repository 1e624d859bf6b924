//! `scheduler-throttle`: kyber holds requests back although the device has room for them.
//!
//! Kyber has tokens for each kind of request: reads, writes, discards, others (block/kyber-iosched.c). A request waits in it for a
//! token of its kind, and for nothing else: it sorts nothing. When a kind misses its target (`read_lat_nsec`, `write_lat_nsec`) the
//! others get fewer tokens, down to one; a target that the device cannot reach, however little it has to do, takes them away for
//! good. Proof: the scheduler is kyber, requests waited in it, and when they were sent at last the device still had room.
//! Refuted by another scheduler, or if the device was full: then it is its tags that they waited for.
//!
//! Example: reads take 3 ms alone, the target is 2 ms; of 16 writes at once two are let into a device that takes 128.

use crate::case::{Case, MIN_SHARE};
use crate::proof::proof;
use crate::remedy::Action;
use crate::slow::Slow;
use crate::thresholds::scheduler_throttle::{FULL, JUDGED};
use crate::verdict::{Confidence, Verdict};
use crate::words::ns;
use crate::Cause;
use evidence::Device as Settings;
use ledger::Reason;
use life::Class;
use trace::Nanos;

/// The target of each kind, and by default (`kyber_latency_targets`, block/kyber-iosched.c).
const TARGETS: [(Class, &str, u64); 2] =
    [(Class::Read, "read_lat_nsec", 2_000_000), (Class::SyncWrite, "write_lat_nsec", 10_000_000)];

/// The cause.
pub const CAUSE: Cause = Cause {
    name: "scheduler-throttle",
    title: "the I/O scheduler (kyber) lets fewer requests in than the device could take",
    page: include_str!("../../pages/scheduler-throttle.md"),
    judge,
};

fn judge(case: &mut Case) -> Verdict {
    let mut verdict: Option<Verdict> = None;
    let (mut against, mut unsure) = (None, None);
    for slow in case.slow() {
        let left = case.unclaimed(&slow, Reason::Scheduler);
        if slow.share(left) < MIN_SHARE {
            continue;
        }
        let name = case.name(slow.on.id);
        let settings = case.settings(slow.on.id);
        let Some(scheduler) = settings.and_then(Settings::scheduler) else {
            unsure.get_or_insert(proof!(
                "which scheduler held them: /sys/block/{name}/queue/scheduler was not recorded",
                name = Text(name.to_string())
            ));
            continue;
        };
        if scheduler.value != "kyber" {
            against = Some(proof!(
                "the scheduler of {name} is {scheduler} ({at}), which throttles nothing",
                name = Text(name.to_string()),
                scheduler = Text(scheduler.value.to_string()),
                at = Source(scheduler.at.to_string())
            ));
            continue;
        }
        let usual = slow.company().depth.quantile(JUDGED) + 1;
        let tags: u64 = settings.map(Settings::tags).unwrap_or_default().iter().map(|t| t.value).sum();
        let most = if tags > 0 { tags } else { slow.on.tags.most() };
        if usual as f64 >= FULL * most as f64 {
            against = Some(proof!(
                "{name} was full when they were sent: {usual} of the {most} it takes",
                name = Text(name.to_string()),
                usual = Text(usual.to_string()),
                most = Text(most.to_string())
            ));
            continue;
        }
        let claimed = case.claim(&slow, Reason::Scheduler, left);
        let proof = Verdict::go_on(verdict.take(), CAUSE.name, slow.group_number);
        let v = proof
            .plus(claimed, Confidence::Medium)
            .because(proof!("{what} waited {p99} in the scheduler (I2D p99), {claimed} of the time of the slowest; in {name} they took {d2c_p99} (D2C p99)", what = Text(slow.words().to_string()), p99 = Time(Nanos(slow.requests().i2d.quantile(0.99))), claimed = Share(slow.share(claimed)), name = Text(name.to_string()), d2c_p99 = Time(Nanos(slow.requests().d2c.quantile(0.99)))))
            .because(proof!("the scheduler of {name} is kyber ({at}), in which a request waits for a token only", name = Text(name.to_string()), at = Source(scheduler.at.to_string())))
            .because(proof!("nine in ten {what} were sent when {name} held {usual} or fewer; it takes {most}", what = Text(slow.words().to_string()), name = Text(name.to_string()), usual = Text(usual.to_string()), most = Text(most.to_string())));
        verdict = Some(targets(v, &slow, settings, &name));
    }
    match (verdict, unsure, against) {
        (Some(v), ..) => v.unless("requests as slow with the scheduler none"),
        (None, Some(unsure), _) => Verdict::cannot_tell(CAUSE.name, unsure),
        (None, None, Some(against)) => Verdict::rejected(CAUSE.name, against),
        (None, None, None) => {
            Verdict::out_of_the_question(CAUSE.name, "nothing that was slow waited in the scheduler")
        }
    }
}

/// Which kind misses its target, and what to do.
fn targets(mut v: Verdict, slow: &Slow, settings: Option<&Settings>, name: &str) -> Verdict {
    if !v.remedies.is_empty() {
        return v;
    }
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
        v = v.because(proof!("{n} in {name} took {took} (D2C p90), the target is {target} ({file}, {at}): the others are throttled for it", n = Text(if class == Class::Read { "reads" } else { "writes" }.to_string()), name = Text(name.to_string()), took = Time(Nanos(took)), target = Time(Nanos(target)), file = Text(file.to_string()), at = Text(at.to_string())));
        // As a target that nine in ten meet with room to spare.
        let better = (2 * took).div_ceil(1_000_000) * 1_000_000;
        raised.push(format!("{file} {} -> {}", ns(target), ns(better)));
        echoes.push(format!(" && echo {better} > iosched/{file}"));
    }
    if !raised.is_empty() {
        // `kyber_timer_fn` gives tokens back only to a kind that misses its own target, and with throttling that may just be met.
        v = v.try_this(
            format!(
                "{}: a target that the device can meet; chosen anew, for kyber gives tokens back only to who misses a target himself: \
                 all begin with all of them again and compete; nr_requests and kyber's other target become defaults; stops the queue for a \
                 moment",
                raised.join(", ")
            ),
            format!("cd /sys/block/{name}/queue && echo none > scheduler && echo kyber > scheduler{}", echoes.concat()),
        );
    }
    v.try_this(
        "no scheduler: the device orders requests itself; nobody is held back for anybody; stops the queue for a moment",
        Action::set(name, "queue/scheduler", "none"),
    )
    .try_this(
        "mq-deadline: reads before writes, but nobody is held back while the device has room; stops the queue for a moment",
        Action::set(name, "queue/scheduler", "mq-deadline"),
    )
}
