//! `scheduler-idling`: requests wait in the scheduler although the device has nothing to do.
//!
//! BFQ keeps the device for one task for some milliseconds after its request, in the hope that its next one comes at once; others
//! wait (`slice_idle`, `strict_guarantees`, block/bfq-iosched.c). Proof: time in which the device was idle and a request lay in the
//! scheduler. Refuted if the device was at work while they waited.

use crate::case::{Case, MIN_SHARE};
use crate::verdict::{Confidence, Verdict};
use crate::words::{count, percent, time};
use crate::Cause;
use ledger::Reason;
use trace::Nanos;

/// The cause.
pub struct SchedulerIdling;

impl Cause for SchedulerIdling {
    fn name(&self) -> &'static str {
        "scheduler-idling"
    }

    fn title(&self) -> &'static str {
        "the I/O scheduler keeps the device idle while requests wait in it"
    }

    fn page(&self) -> &'static str {
        include_str!("../../../docs/causes/scheduler-idling.md")
    }

    fn judge(&self, case: &mut Case) -> Verdict {
        let mut verdict: Option<Verdict> = None;
        let mut against = None;
        for slow in case.slow() {
            let left = case.unclaimed(&slow, Reason::Scheduler);
            if slow.share(left) < MIN_SHARE {
                continue;
            }
            let (name, class) = (case.name(slow.on.id), slow.class.index());
            let (held, all) = (slow.on.pace.held[class], slow.on.pace.scheduled[class]);
            let part = held.time.0 as f64 / all.0.max(1) as f64;
            let wanted = Nanos((left.0 as f64 * part) as u64);
            if slow.share(wanted) < MIN_SHARE {
                against = Some(format!(
                    "{name} had nothing to do in {} of the time in which {} waited in the scheduler",
                    percent(part),
                    slow.words()
                ));
                continue;
            }
            let claimed = case.claim(&slow, Reason::Scheduler, wanted);
            let proof = verdict.take().unwrap_or_else(|| Verdict::begin(self.name()));
            let mut v = proof.plus(claimed, Confidence::Medium).because(format!(
                "{} {} waited in the scheduler while {name} had nothing to do, {} each: {} of all their time there",
                count(held.count),
                slow.words(),
                time(Nanos(held.time.0 / held.count.max(1))),
                percent(part)
            ));
            let settings = case.settings(slow.on.id);
            let scheduler = settings.and_then(|s| s.scheduler());
            if let Some(s) = &scheduler {
                v = v.because(format!("the scheduler of {name} is {} ({})", s.value, s.at));
            }
            if v.remedies.is_empty() {
                if scheduler.as_ref().is_none_or(|s| s.value == "bfq") {
                    v = v
                        .try_this(
                            "do not wait for the next request of the same task: more in all, less of a favour to single readers",
                            format!("echo 0 > /sys/block/{name}/queue/iosched/slice_idle"),
                        )
                        .try_this(
                            "no favour to tasks that seem interactive",
                            format!("echo 0 > /sys/block/{name}/queue/iosched/low_latency"),
                        );
                }
                v = v.try_this(
                    "another scheduler, if nobody needs weights of cgroups (io.bfq.weight)",
                    format!("echo mq-deadline > /sys/block/{name}/queue/scheduler"),
                );
            }
            verdict = Some(v);
        }
        match (verdict, against) {
            (Some(v), _) => v.unless("requests as slow with slice_idle 0, or with another scheduler"),
            (None, Some(against)) => Verdict::rejected(self.name(), against),
            (None, None) => {
                Verdict::out_of_the_question(self.name(), "nothing that was slow waited in the scheduler")
            }
        }
    }
}
