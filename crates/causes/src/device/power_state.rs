//! `power-state`: the device sleeps when it is idle, and the first request after that waits until it is awake.
//!
//! Power saving of NVMe (APST), of SATA links (ALPM), of disks that stop rotating. The proof is a step: after an idle time of at
//! least this length, requests take many times as long as after shorter ones. Refuted if there is no such step.

use crate::case::{Case, MIN_SHARE};
use crate::cause::{Cause, Each, Judge, Nature, Otherwise, Said};
use crate::device::expected::rotational;
use crate::hardware::Hardware;
use crate::proof::proof;
use crate::remedy::Action;
use crate::shares::part_of_slow;
use crate::slow::Slow;
use crate::thresholds::device_stall::LONG;
use crate::thresholds::power_state::{ENOUGH, STEP};
use crate::verdict::{Confidence, Verdict};
use ledger::Reason;
use stats::{Distribution, Pace, Waking};
use trace::Nanos;

/// The device times of requests on both sides of a step in idle time.
struct Step {
    from: Nanos,
    woken: Distribution,
    others: Distribution,
}

impl Step {
    /// The step of the first kind of request that has one.
    fn of_any(pace: &Pace, may_turn: bool) -> Option<Step> {
        pace.after_idle.iter().find_map(|kind| Step::of(kind, may_turn))
    }

    /// The step with the shortest idle time, if there is one. On a disk that may rotate, the request after a pause may
    /// need a seek: it has to be slower than seeks are without a pause.
    fn of(kind: &Waking, may_turn: bool) -> Option<Step> {
        let rows: Vec<_> = kind.rows().collect();
        (0..rows.len()).find_map(|at| {
            let (mut woken, mut others) = (Distribution::new(), kind.awake());
            let mut seeks = kind.awake_far.clone();
            rows[at..].iter().for_each(|r| woken.merge(&r.d2c));
            rows[..at].iter().for_each(|r| {
                others.merge(&r.d2c);
                seeks.merge(&r.far);
            });
            let no_seek = woken.quantile(0.5) as f64 >= STEP * seeks.quantile(0.5) as f64;
            let is_step = woken.count() >= ENOUGH
                && others.count() >= ENOUGH
                && woken.quantile(0.1) as f64 >= STEP * others.quantile(0.9) as f64
                && (!may_turn || seeks.count() < ENOUGH || no_seek);
            is_step.then(|| Step { from: rows[at].idle, woken, others })
        })
    }
}

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "power-state",
    title: "the device sleeps when it is idle, and the next request waits until it is awake",
    nature: Nature::Rare,
    page: include_str!("../../pages/power-state.md"),
    judge: Judge::Each(Each {
        of,
        unless: "requests after a pause as fast as others",
        otherwise: Otherwise::Explained,
        above: false,
    }),
};

fn of(case: &mut Case, slow: &Slow, v: Verdict) -> Said {
    let left = case.unclaimed(slow, Reason::Device);
    if slow.share(left) < MIN_SHARE {
        return Said::Nothing;
    }
    let name = case.name(slow.on.id);
    let may_turn = rotational(case, slow.on.id).is_none_or(|turns| turns.value);
    let Some(step) = Step::of_any(&slow.on.pace, may_turn) else {
        if let Some(rested) = mostly_rested(slow) {
            return Said::Unsure(proof!(
                "whether {name} is faster without a pause before a request: {n} of {all} came after it had been idle for {idle} or more",
                name,
                n = Count(rested.woken),
                all = Count(rested.all),
                idle = rested.idle
            ));
        }
        let after: u64 = slow.on.pace.after_idle.iter().flat_map(Waking::rows).map(|r| r.d2c.count()).sum();
        return Said::Hardly(proof!(
            "{after} came after {name} had been idle, and took no longer than others",
            after = Counted(after, "request", "requests"),
            name
        ));
    };
    let of_slow = part_of_slow(&step.woken, &step.others, Nanos(slow.requests().d2c.quantile(0.99)));
    let (woken, others) = (step.woken.quantile(0.5), step.others.quantile(0.5));
    let excess = 1.0 - others as f64 / woken.max(1) as f64;
    let wanted = Nanos((left.0 as f64 * of_slow * excess) as u64);
    if slow.share(wanted) < MIN_SHARE {
        return Said::Hardly(proof!(
            "after {name} had been idle for {from} requests took {woken}, but those are only {of_slow} of \
             the slowest",
            name,
            from = step.from,
            woken = Nanos(woken),
            of_slow = Share(of_slow)
        ));
    }
    let claimed = case.claim(slow, Reason::Device, wanted);
    let v = v
        .plus(claimed, Confidence::Medium)
        .because(proof!(
            "after {name} had been idle for {from} or more a request took {woken} (p50; p10 \
                 {p10}), otherwise {others} (p50; p90 {p90})",
            name,
            from = step.from,
            woken = Nanos(woken),
            p10 = Nanos(step.woken.quantile(0.1)),
            others = Nanos(others),
            p90 = Nanos(step.others.quantile(0.9))
        ))
        .because(proof!(
            "{of_slow} of the slowest requests were the first after such a pause, of {woken} \
                 in all",
            of_slow = Share(of_slow),
            woken = Counted(step.woken.count(), "one", "requests")
        ));
    Said::Found(remedies(v, &name, rotational(case, slow.on.id).is_some_and(|turns| !turns.value)))
}

/// Requests of which nearly all came after an idle time.
struct Rested {
    /// The shortest idle time before one.
    idle: Nanos,
    /// How many came after an idle time.
    woken: u64,
    /// How many there were.
    all: u64,
}

/// Whether most requests of a group's class took longer than any device takes for one ([`LONG`]), and too few came without a pause to show what it
/// takes awake: it may have slept.
fn mostly_rested(slow: &Slow) -> Option<Rested> {
    let kind = Waking::of(&slow.on.pace.after_idle, slow.class);
    let mut woken = Distribution::new();
    kind.rows().for_each(|row| woken.merge(&row.d2c));
    let is_long = woken.quantile(0.5) > LONG.0;
    let idle = kind
        .rows()
        .next()
        .filter(|_| woken.count() >= ENOUGH && kind.awake().count() < ENOUGH && is_long)?
        .idle;
    Some(Rested { idle, woken: woken.count(), all: woken.count() + kind.awake().count() })
}

/// Adds that a device may sleep between requests, if nearly all of them came after a pause, and how to find out.
pub(crate) fn may_sleep(v: Verdict, case: &Case, slow: &Slow) -> Verdict {
    let Some(rested) = mostly_rested(slow) else { return v };
    let name = case.name(slow.on.id);
    v.because(proof!(
        "{n} of {all} requests came after {name} had been idle for {idle} or more: it may sleep meanwhile (power-state)",
        n = Count(rested.woken),
        all = Count(rested.all),
        name = name.clone(),
        idle = rested.idle
    ))
    .try_this(
        "read twice, without a pause between: if the second read is fast, the device sleeps while it is idle",
        Action::look(format!("for n in 0 1; do dd if=/dev/{name} of=/dev/null bs=4k count=1 skip=$n iflag=direct; done")),
    )
}

/// Adds what keeps the device awake, by its kind; for a device that is no drive of this host, how to look below it.
fn remedies(v: Verdict, name: &str, never_turns: bool) -> Verdict {
    let runtime = |v: Verdict| {
        v.try_this(
            "turn runtime power management of the device off; costs power",
            format!("echo on > /sys/block/{name}/device/power/control"),
        )
    };
    match Hardware::of(name) {
        Hardware::Nvme => {
            let controller = controller(name);
            v.try_this(
                format!(
                    "{controller}: no power-saving states (APST), until the next boot; nvme_core.default_ps_max_latency_us=0 among the \
                     kernel's boot parameters does it for good. Costs power"
                ),
                format!("echo 0 > /sys/class/nvme/{controller}/power/pm_qos_latency_tolerance_us"),
            )
        }
        Hardware::Scsi => {
            let v = v.try_this(
                "SATA: keep the link awake; costs power",
                format!(
                    "h=$(basename $(readlink /sys/block/{name}/device)); echo max_performance > \
                     /sys/class/scsi_host/host${{h%%:*}}/link_power_management_policy"
                ),
            );
            let spins = |v: Verdict| {
                v.try_this("SATA: never spin down; costs power", format!("hdparm -S 0 /dev/{name}"))
            };
            runtime(if never_turns { v } else { spins(v) })
        }
        Hardware::Card => runtime(v),
        _ => {
            let (shows, look) = Hardware::check(name);
            v.try_this(shows, look)
        }
    }
}

/// The controller of a namespace: `nvme0` of `nvme0n1`.
fn controller(name: &str) -> &str {
    let number = name.strip_prefix("nvme").unwrap_or_default();
    let digits = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
    &name[..name.len() - number.len() + digits]
}
