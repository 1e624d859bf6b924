//! `device-busy`: the driver requeues requests without an error, because the device or its adapter accepts no more.
//!
//! The kernel has sent a request, and the driver returns `BLK_STS_RESOURCE` or `BLK_STS_DEV_RESOURCE` (include/linux/blk_types.h):
//! a SCSI target with a full queue (`TASK SET FULL`), an adapter without a free slot, a virtio queue without free descriptors. The
//! request is requeued (`block_rq_requeue`, `__blk_mq_requeue_request` in block/blk-mq.c) and sent again when others are done; all
//! requests behind it wait. Claims the time between requeue and reissue, and the time in the scheduler in which the driver accepted
//! nothing. Refuted if nothing was requeued, or only what the device had lost (`device-errors`), or if the device takes longer with
//! more in flight: then it has enough to do, and the queue is only in another place (`device-saturated`).
//!
//! Example: a virtio queue has 256 descriptors. A read of 1 MiB into scattered pages needs 258, so the device has one
//! at a time, whatever `nr_requests` says.

use crate::case::{Case, MIN_SHARE};
use crate::cause::{Cause, Each, Judge, Nature, Otherwise, Said};
use crate::growth::Growth;
use crate::hardware::Hardware;
use crate::proof::proof;
use crate::remedy::Action;
use crate::slow::Slow;
use crate::thresholds::device_busy::{ROOM, SMALLEST};
use crate::verdict::{Confidence, Verdict};
use ledger::Reason;
use trace::{Bytes, Nanos};
use units::words::{count, size};

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "device-busy",
    title: "the driver requeues requests because the device or its adapter accepts no more",
    nature: Nature::Everyday,
    page: include_str!("../../pages/device-busy.md"),
    judge: Judge::Each(Each {
        of,
        unless: "operations just as slow where the driver requeues nothing",
        otherwise: Otherwise::Never("no driver requeued a request"),
        above: false,
    }),
};

fn of(case: &mut Case, slow: &Slow, v: Verdict) -> Said {
    // A command that timed out was not refused by the device.
    let requeues: u64 = slow.on.requests.iter().map(|r| r.requeues - r.given_up.min(r.requeues)).sum();
    if requeues == 0 {
        return Said::Nothing;
    }
    let name = case.name(slow.on.id);
    let (requeued, refused) = refused(case, slow);
    if slow.share(requeued + refused) < MIN_SHARE {
        return Said::Not(proof!(
            "the driver of {name} requeued requests {requeues} times, but that was \
             {refused} of the time of the slowest {what}",
            name,
            requeues = Count(requeues),
            refused = Share(slow.share(requeued + refused)),
            what = slow.words()
        ));
    }
    let growth = Growth::of(slow);
    if let Some(growth) = growth.filter(|g| g.grows()) {
        return Said::Not(proof!(
            "the driver of {name} requeued requests {requeues} times, but it would be no \
             faster if it took them: {growth}",
            name,
            requeues = Count(requeues),
            growth = growth.told(slow.words())
        ));
    }
    let claimed = case.claim(slow, Reason::Requeue, requeued) + case.claim(slow, Reason::Scheduler, refused);
    let requests: u64 = slow.on.requests.iter().map(|r| r.count).sum();
    let v = v
        .plus(claimed, if slow.is_below() || growth.is_none() { Confidence::Medium } else { Confidence::High })
        .because(proof!("the driver of {name} requeued requests {requeues} times, of {requests} in all, without an error", name, requeues = Count(requeues), requests = Count(requests)))
        .because(proof!("the slowest {what} waited {requeued} for {name} to take them after they were requeued, and {refused} in the scheduler while it took \
             nothing: {claimed} of their time", what = slow.words(), requeued, name, refused, claimed = Share(slow.share(claimed))))
        .because(held(case, slow, &name));
    let v = match growth {
        Some(growth) => v.because(growth.told(slow.words())),
        None => v.without(proof!(
            "whether {name} would be faster if it took them: it never had few in flight; record a lighter \
                 load",
            name
        )),
    };
    Said::Found(remedies(v, case, slow, &name))
}

/// The unclaimed time between requeue and reissue, and in the scheduler while the driver accepted nothing.
pub(crate) fn refused(case: &Case, slow: &Slow) -> (Nanos, Nanos) {
    (case.unclaimed(slow, Reason::Requeue), slow.refused().min(case.unclaimed(slow, Reason::Scheduler)))
}

/// How many requests the device held, and how many the kernel believes that it accepts, in words.
fn held(case: &Case, slow: &Slow, name: &str) -> String {
    let mut told = format!(
        "{name} never held more than {}, {:.1} on average while it was busy",
        count(slow.on.depth.max()),
        slow.on.depth.mean() / slow.on.depth.busy().max(f64::MIN_POSITIVE)
    );
    let settings = case.settings(slow.on.id);
    let tags: Option<u64> = settings.map(|s| s.tags().iter().map(|t| t.value).sum()).filter(|n| *n > 0);
    match (settings.and_then(|s| s.queue_depth()), tags) {
        (Some(depth), _) => told += &format!("; its queue_depth is {} ({})", depth.value, depth.at),
        (None, Some(tags)) => told += &format!("; its driver has {tags} tags (mq/*/nr_tags)"),
        (None, None) => {}
    }
    told
}

fn remedies(mut v: Verdict, case: &Case, slow: &Slow, name: &str) -> Verdict {
    let settings = case.settings(slow.on.id);
    if let Some(depth) = settings.and_then(|s| s.queue_depth()) {
        let takes = slow.on.depth.max().max(1);
        if depth.value > takes {
            v = v.try_this(
                format!(
                    "queue_depth {} -> {takes} ({}): requests queue in the scheduler instead, which orders \
                         them; too low a number costs throughput",
                    depth.value, depth.at
                ),
                Action::set(name, "device/queue_depth", takes),
            );
        }
    }
    let requests = &slow.on.requests;
    let (bytes, all) = requests.iter().fold((0, 0), |(b, n), r| (b + r.bytes.0, n + r.count));
    let mean = Bytes(bytes / all.max(1));
    let smaller = Bytes((mean.0 / ROOM).next_power_of_two().max(SMALLEST.0));
    if name.starts_with("vd") && smaller < mean {
        let now = settings.and_then(|s| s.max_sectors_kb());
        let from = now.map_or(String::new(), |n| {
            format!("max_sectors_kb {} -> {} ({}): ", n.value.0 >> 10, smaller.0 >> 10, n.at)
        });
        v = v
            .try_this(
                format!(
                    "{from}requests were {} on average, and each page of one takes a descriptor of the virtio \
                         queue: smaller ones leave room for others; costs throughput of large transfers where \
                         the host counts operations; stops the queue for a moment",
                    size(mean)
                ),
                Action::set(name, "queue/max_sectors_kb", smaller.0 >> 10),
            )
            .try_this(
                "a larger queue, where the hypervisor is QEMU with libvirt: <driver name='qemu' queue_size='1024'/> of the disk; needs a \
                 restart of the machine",
                "virsh edit GUEST  # on its host",
            );
    }
    let name = Hardware::pattern(name).map_or(String::new(), |name| format!("{name}|"));
    v.try_this(
        "see what the driver and the adapter report; other hosts at the same storage port share its queue",
        Action::look(format!("dmesg | grep -iE '{name}queue full|task set full|busy'")),
    )
}
