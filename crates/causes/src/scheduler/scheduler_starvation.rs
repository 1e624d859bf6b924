//! `scheduler-starvation`: requests that a task waits for stay in the I/O scheduler while writeback is sent to the
//! device before them.
//!
//! Claims the scheduler time (I2D) of operations that writeback overtook. Proof: the writes that were issued
//! between an operation's insert and its issue are counted. Refuted if the wait is short, or none overtook.

use crate::case::{Case, MIN_SHARE};
use crate::cause::{Cause, Each, Judge, Nature, Otherwise, Said};
use crate::memory::writeback_flood::wbt_target;
use crate::memory::writer::held_back;
use crate::proof::proof;
use crate::remedy::Action;
use crate::slow::Slow;
use crate::thresholds::scheduler_starvation::MOSTLY;
use crate::verdict::{Confidence, Verdict};
use evidence::Device as Settings;
use ledger::Reason;
use life::Class;
use trace::Nanos;
use units::words::time;

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "scheduler-starvation",
    title: "requests wait in the I/O scheduler while writeback is dispatched ahead of them",
    nature: Nature::Everyday,
    page: include_str!("../../pages/scheduler-starvation.md"),
    judge: Judge::Each(Each {
        of,
        unless: "a wait in the scheduler in which no writes were sent to the device",
        otherwise: Otherwise::Nothing("no slow operation waited in a scheduler"),
        above: false,
    }),
};

fn of(case: &mut Case, slow: &Slow, v: Verdict) -> Said {
    let scheduler = case.unclaimed(slow, Reason::Scheduler);
    let overtaken = slow.overtaken().min(scheduler);
    let i2d = slow.requests().i2d.quantile(0.99);
    if slow.share(scheduler) < MIN_SHARE {
        return Said::Little(match slow.requests().i2d.count() {
            0 => proof!("{what} passed through no scheduler", what = slow.words()),
            _ => proof!(
                "{what} waited {i2d} in the scheduler (I2D p99), {scheduler} of the time of the slowest",
                what = slow.words(),
                i2d = Nanos(i2d),
                scheduler = Share(slow.share(scheduler))
            ),
        });
    }
    if (overtaken.0 as f64) < MOSTLY * scheduler.0 as f64 {
        let part = overtaken.0 as f64 / scheduler.0.max(1) as f64;
        return Said::Not(proof!(
            "the slowest {what} spent {scheduler} of their time in the scheduler, but \
             writeback overtook them in {part} of it only",
            what = slow.words(),
            scheduler = Share(slow.share(scheduler)),
            part = Share(part)
        ));
    }
    let sure = if slow.is_below() { Confidence::Medium } else { Confidence::High };
    let claimed = case.claim(slow, Reason::Scheduler, overtaken);
    let v = v
        .plus(claimed, sure)
        .because(proof!(
            "the slowest {what} waited in the scheduler for {claimed} of their time while writeback \
                     was sent to {device} before them",
            what = slow.words(),
            claimed = Share(slow.share(claimed)),
            device = case.name(slow.on.id)
        ))
        .because(proof!(
            "{what} waited {i2d} in the scheduler (I2D p99, max {max}), {p99} in the device \
                 (D2C p99)",
            what = slow.words(),
            i2d = Nanos(i2d),
            max = Nanos(slow.requests().i2d.max()),
            p99 = Nanos(slow.requests().d2c.quantile(0.99))
        ));
    Said::Found(remedies(v, case, slow))
}

fn remedies(mut v: Verdict, case: &Case, slow: &Slow) -> Verdict {
    let dev = slow.on.id;
    let name = case.name(dev);
    let queue = format!("/sys/block/{name}/queue");
    let writes = &slow.on.requests[Class::Background.index()];
    v = v.because(proof!(
        "{writes} went to {name}; they took {p99} (p99)",
        writes = Counted(writes.count, "write of writeback", "writes of writeback"),
        name,
        p99 = Nanos(writes.q2c.quantile(0.99))
    ));
    let Some(settings) = case.settings(dev) else {
        let v =
            v.without(proof!("which scheduler {name} has: {queue}/scheduler was not recorded", name, queue));
        return held_back(v, case, slow);
    };
    let scheduler = settings.scheduler();
    if let Some(s) = &scheduler {
        v = v.because(proof!(
            "the scheduler is {s} ({at}){s2}",
            s = Text(s.value.to_string()),
            at = s.at,
            s2 = tunables(settings, &s.value)
        ));
    }
    if let Some(wbt) = settings.wbt_lat_usec().filter(|w| w.value.0 == 0) {
        let target = wbt_target(slow.on);
        v = v.try_this(
            format!(
                "wbt_lat_usec 0 -> {target} ({}): limits writeback before it reaches the scheduler, which \
                 helps reads and synchronous writes alike; costs write throughput while others wait",
                wbt.at
            ),
            Action::set(&name, "queue/wbt_lat_usec", target),
        );
    }
    if scheduler.is_some_and(|s| s.value == "mq-deadline") {
        let writes = &slow.on.requests[Class::SyncWrite.index()];
        let mut warning =
            "but fdatasync becomes slower: this scheduler treats its writes like all others, and they wait \
                 longer when reads go first"
                .to_string();
        if writes.i2d.count() > 0 {
            warning += &format!(" (up to {} in the scheduler here)", time(Nanos(writes.i2d.max())));
        }
        for (file, path, better, gain) in [
            (
                "fifo_batch",
                "queue/iosched/fifo_batch",
                1,
                "a read waits for one write and not for a batch; costs throughput on rotating disks",
            ),
            ("read_expire", "queue/iosched/read_expire", 100, "a read that waited so long goes first"),
        ] {
            let Some(now) = settings.iosched(file) else { continue };
            if now.value.parse::<u64>().is_ok_and(|n| n > better) {
                v = v.try_this(
                    format!("{file} {} -> {better} ({}): {gain}; {warning}", now.value, now.at),
                    Action::set(&name, path, better),
                );
                warning = "slower fdatasync".into();
            }
        }
    }
    held_back(v, case, slow)
}

/// The scheduler's settings in words: ` with fifo_batch 16, read_expire 500`; empty if none are known.
fn tunables(settings: &Settings, scheduler: &str) -> String {
    let files: &[&str] = match scheduler {
        "mq-deadline" => &["read_expire", "write_expire", "fifo_batch", "writes_starved"],
        "bfq" => &["slice_idle", "low_latency", "timeout_sync"],
        "kyber" => &["read_lat_nsec", "write_lat_nsec"],
        _ => &[],
    };
    let told: Vec<String> =
        files.iter().filter_map(|f| Some(format!("{f} {}", settings.iosched(f)?.value))).collect();
    if told.is_empty() {
        String::new()
    } else {
        format!(" with {}", told.join(", "))
    }
}
