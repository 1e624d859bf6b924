//! `completion-cpu`: the device is done, but no processor completes the request yet.
//!
//! Drivers with one queue, and drivers whose interrupt comes to another processor than the one that sent the request, complete in a
//! software interrupt (`blk_done_softirq`, block/blk-mq.c). It waits while that processor is in another interrupt; if it is raised
//! outside of an interrupt, it waits until `ksoftirqd` gets the processor beside all other tasks or the next tick comes: 4 ms at
//! 250 a second. `C` is recorded only then, so the device seems slow. Proof: `irq:softirq_raise` and `irq:softirq_entry` of these
//! interrupts around the completion. Claims that last part of D2C, if what was slow took longer than Linux expects of such a
//! device: a tick matters to flash and not to a rotating disk. Refuted if processors came at once; not seen without these events.
//!
//! Example: D2C of the slowest reads is 4.4 ms; the device was done after 0.6 ms, and for 3.8 ms CPU 1 ran something else.

use crate::case::{Case, MIN_SHARE};
use crate::cause::{Cause, Each, Judge, Nature, Otherwise, Said};
use crate::device::expected::{expected, rotational};
use crate::paths::WORTH_NAMING;
use crate::proof::proof;
use crate::remedy::Action;
use crate::slow::Slow;
use crate::thresholds::completion_cpu::MOSTLY;
use crate::verdict::{Confidence, Verdict};
use ledger::Reason;
use trace::{Cpu, Nanos};
use units::words::{percent, time};
use waits::Phase;

/// The most processors that are named.
const NAMED: usize = 4;

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "completion-cpu",
    title: "the device had finished, but the processor that completes its requests was late",
    nature: Nature::Everyday,
    page: include_str!("../../pages/completion-cpu.md"),
    judge: Judge::Each(Each {
        of,
        unless: "requests just as slow with idle processors",
        otherwise: Otherwise::Never("no slow operation waited for a processor to complete it"),
        above: true,
    }),
};

fn of(case: &mut Case, slow: &Slow, v: Verdict) -> Said {
    let late = slow.late().min(case.unclaimed(slow, Reason::Device));
    if slow.share(late) < MIN_SHARE {
        if slow.share(late) >= WORTH_NAMING {
            return Said::Not(proof!(
                "the slowest {what} waited for a processor to complete them for {late} of their time",
                what = slow.words(),
                late = Share(slow.share(late))
            ));
        }
        return Said::Nothing;
    }
    let name = case.name(slow.on.id);
    let (enough, kind) = expected(&rotational(case, slow.on.id));
    if slow.group.tail.p99 <= enough {
        return Said::Not(proof!(
            "the slowest {what} on {name} waited for a processor to complete them for \
             {late} of their time, but their times begin at only {threshold}; Linux expects {enough} of \
             {kind}",
            what = slow.words(),
            name,
            late = Share(slow.share(late)),
            threshold = slow.group.tail.p99,
            enough,
            kind
        ));
    }
    let claimed = case.claim_phase(slow, Phase::Late, late);
    // If requests are completed together, only the first one's wait is known, and of the others the mean.
    let v = v.plus(claimed, Confidence::Medium).because(proof!("{name} had finished the slowest {what}, and no processor completed them (softirq BLOCK) for {claimed} of their time: \
         {claimed2} of {total}", name, what = slow.words(), claimed = Share(slow.share(claimed)), claimed2 = claimed, total = slow.group.tail.sum.time.total));
    Said::Found(processors(v, case, slow, &name))
}

/// Adds which processors were late, and what to do about that.
fn processors(mut v: Verdict, case: &Case, slow: &Slow, name: &str) -> Verdict {
    let cpus = slow.on.completed_on.cpus();
    let all: u64 = cpus.iter().map(|(_, n, _)| n).sum();
    let late: Vec<_> = cpus.iter().filter(|(.., late)| late.0 > 0).take(NAMED).collect();
    let mean = |n: u64, late: Nanos| time(Nanos(late.0 / n.max(1)));
    let told: Vec<String> = late
        .iter()
        .map(|(cpu, n, late)| {
            format!(
                "CPU {} completed {} of its requests, {} late on average",
                cpu.0,
                percent(*n as f64 / all.max(1) as f64),
                mean(*n, *late)
            )
        })
        .collect();
    v = v.because(proof!("{name}: {told}", name, told = told.join("; ")));
    let Some((Cpu(worst), most, _)) = late.first().copied().copied() else { return v };
    let each: Vec<String> = late.iter().map(|(cpu, ..)| cpu.0.to_string()).collect();
    v = v
        .try_this(
            format!(
                "see what runs on CPU {worst}: real-time tasks (class FF, RR) and busy ones; move them \
                 with taskset -cp CPUS PID"
            ),
            Action::look(format!(
                "ps -eLo psr,cls,rtprio,pcpu,pid,comm --sort=-pcpu | awk 'NR == 1 || $1 == {worst}' | \
                 head -20"
            )),
        )
        .try_this(
            "run ksoftirqd before ordinary tasks: it completes requests at once and preempts them for \
                 microseconds each time, for network packets too, which can be many",
            format!("for c in {}; do chrt -f -p 1 $(pgrep -x ksoftirqd/$c); done", each.join(" ")),
        );
    let affinity = case.settings(slow.on.id).and_then(|s| s.number("queue/rq_affinity"));
    if most as f64 >= MOSTLY * all as f64 && affinity.as_ref().is_none_or(|a| a.value != 2) {
        let from = affinity.map_or(String::new(), |a| format!("rq_affinity {} -> 2 ({}): ", a.value, a.at));
        v = v.try_this(
            format!(
                "{from}each request is completed on the processor that sent it, instead of most on CPU {worst}: one more interrupt between \
                 processors for each"
            ),
            Action::set(name, "queue/rq_affinity", 2),
        );
    }
    v.try_this(
        format!(
            "see where the device's interrupts go; move them off CPU {worst}, where the driver allows it"
        ),
        Action::look("cat /proc/interrupts; grep . /proc/irq/*/effective_affinity_list"),
    )
}
