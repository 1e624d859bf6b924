//! `read-ahead-waste`: much more is read ahead than programs ask for, and it takes the device's time.
//!
//! A reader that reads a little sequentially and then jumps makes the kernel read ahead what is never used. Compares
//! what the device read, most of it ahead, with what calls of `read` got: pages that were asked for twice count twice
//! in favour of read-ahead. Refuted if the calls got about as much as the device read. Mapped files are not judged, nor
//! what the device read for tasks with page faults there: accesses without a fault are not seen.

use crate::case::{Case, MIN_SAMPLES, MIN_SHARE};
use crate::cause::{Cause, Each, Judge, Nature, Otherwise, Said};
use crate::proof::proof;
use crate::remedy::{Action, Acts};
use crate::slow::Slow;
use crate::target::strace;
use crate::thresholds::read_ahead_waste::{MOSTLY_AHEAD, MUCH_MORE, PAGE};
use crate::verdict::{Confidence, Verdict};
use ledger::Reason;
use life::{Class, Op};
use operation::Kind;
use stats::Group;
use trace::{Bytes, Call, DevId, Flags, Nanos};

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "read-ahead-waste",
    title: "read-ahead fetches more than is used, and readers wait for it",
    nature: Nature::Everyday,
    page: include_str!("../../pages/read-ahead-waste.md"),
    judge: Judge::Each(Each {
        of,
        unless: "readers just as slow without read-ahead",
        otherwise: Otherwise::Never("no read that was slow waited for the device"),
        above: true,
    }),
};

fn of(case: &mut Case, slow: &Slow, v: Verdict) -> Said {
    let left = case.unclaimed(slow, Reason::Device);
    let is_read = matches!(slow.group.op.map(|op| op.kind), Some(Kind::Call(Call::Read)));
    if slow.group.op.is_some_and(|op| op.kind == Kind::PageFault) && slow.share(left) >= MIN_SHARE {
        return Said::Hardly("what a program uses of a mapped file is not seen".into());
    }
    if is_read && case.facts.narrow {
        return Said::Hardly("what the device read for others than these tasks is not told apart".into());
    }
    let few = slow.group.operations < MIN_SAMPLES;
    if !is_read || few || slow.share(left) < MIN_SHARE || slow.is_below() {
        return Said::Nothing;
    }
    let (dev, name) = (slow.on.id, case.name(slow.on.id));
    let (ahead, all) = (read(case, dev, true), read(case, dev, false));
    let asked = asked_for(case, dev);
    let told = proof!(
        "{name} read {all}, {all2} of it ahead; programs got {asked}",
        name,
        all,
        all2 = Share(ahead.0 as f64 / all.0.max(1) as f64),
        asked
    );
    let enough = (ahead.0 as f64) < MOSTLY_AHEAD * all.0 as f64;
    let needed = least(case, dev).max(asked);
    if enough || (all.0 as f64) < MUCH_MORE * needed.0 as f64 {
        return Said::Not(told);
    }
    let wasted = 1.0 - needed.0 as f64 / all.0.max(1) as f64;
    let wanted = Nanos((left.0 as f64 * wasted) as u64);
    if slow.share(wanted) < MIN_SHARE {
        return Said::Nothing;
    }
    let claimed = case.claim(slow, Reason::Device, wanted);
    let mut v = v.plus(claimed, Confidence::Medium).because(proof!(
        "{told}: {wasted} of what was read was never used",
        told,
        wasted = Share(wasted)
    ));
    if let Some(now) = case.settings(dev).and_then(|s| s.read_ahead_kb()) {
        let less = less_than(now.value);
        v = v
            .because(proof!(
                "read_ahead_kb of {name} is {now} ({at})",
                name,
                now = Text((now.value.0 / 1024).to_string()),
                at = now.at
            ))
            .try_this(
                format!(
                    "read_ahead_kb {} -> {less}: sequential readers of this disk become slower",
                    now.value.0 / 1024
                ),
                Action::set(&name, "queue/read_ahead_kb", less),
            );
    }
    Said::Found(v.try_on(
        Acts::Victim,
        "have the program declare random access: posix_fadvise(POSIX_FADV_RANDOM) turns read-ahead off for \
             the file",
        strace(case, "-fy", "pread64,read,lseek,fadvise64", Some(&slow.group.task)),
    ))
}

/// The read-ahead to propose instead of this much, in KiB: an eighth, at least a page.
pub(crate) fn less_than(now: Bytes) -> u64 {
    (now.0 / 8).max(PAGE) / 1024
}

/// Bytes that a device read for tasks that map no file of it: for read-ahead only, or in all.
fn read(case: &Case, dev: DevId, only_ahead: bool) -> Bytes {
    let maps = |task: &str| {
        let faults = |g: &&Group| g.op.is_some_and(|op| op.kind == Kind::PageFault && op.dev == dev);
        case.focus.groups.iter().filter(faults).any(|g| g.task == task)
    };
    let cells = case.facts.cells.iter();
    let reads =
        cells.filter(|(k, _)| k.dev == dev && Class::of(k.op, k.flags) == Class::Read && k.op == Op::Read);
    let reads = reads.filter(|(k, _)| !maps(case.facts.tasks.name(k.task)));
    reads.filter(|(k, _)| !only_ahead || k.flags.has(Flags::AHEAD)).map(|(_, phases)| phases.bytes).sum()
}

/// The least that had to be read for the calls, in bytes: a page for each call that got less.
fn least(case: &Case, dev: DevId) -> Bytes {
    let of =
        case.facts.operations.groups.iter().filter(|(k, _)| k.dev == dev && k.kind == Kind::Call(Call::Read));
    of.map(|(_, s)| Bytes(s.bytes.max(s.latency.count().saturating_mul(PAGE)))).sum()
}

/// Bytes that calls got from files on a device.
fn asked_for(case: &Case, dev: DevId) -> Bytes {
    let groups = case.facts.operations.groups.iter();
    let here = groups.filter(|(k, s)| k.dev == dev || s.main_device() == Some(dev));
    let got = here.map(|(k, s)| match k.kind {
        // A fault asked for at least its own page.
        Kind::PageFault => 4096 * s.latency.count(),
        Kind::Call(Call::Write) | Kind::RingWrite | Kind::AioWrite => 0,
        _ => s.bytes,
    });
    Bytes(got.sum())
}
