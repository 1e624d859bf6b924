//! `dirty-throttling`: a writer is put to sleep because it dirties pages faster than they are written back.
//!
//! `balance_dirty_pages` (mm/page-writeback.c) puts a writing task to sleep so that its rate meets the device's. That
//! is right in general; it hurts if a small writer is throttled for a large one's flood, or if the limits are small.

use crate::case::Case;
use crate::cause::{Cause, Judge, Nature};
use crate::limit;
use crate::memory::dirty_limits::{begins_after, has_room_for};
use crate::paths::Waited;
use crate::proof::proof;
use crate::remedy::Action;
use crate::unit::Unit;
use crate::verdict::Verdict;
use ledger::Reason;
use stats::Group;
use trace::Bytes;

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "dirty-throttling",
    title: "writers are throttled: they write faster than the device (dirty limits)",
    nature: Nature::Everyday,
    page: include_str!("../../pages/dirty-throttling.md"),
    judge: Judge::Waited(
        Waited::new(
            "asleep in balance_dirty_pages, which slows writers down (dirty throttling)",
            |_, reason| reason == Reason::DirtyThrottle,
        ),
        found,
    ),
};

fn found(case: &Case, mut v: Verdict, groups: &[usize]) -> Verdict {
    for knob in ["dirty_background_bytes", "dirty_bytes", "dirty_background_ratio", "dirty_ratio"] {
        if let Some(fact) = case.system.vm_number(knob).filter(|f| f.value > 0) {
            v = v.because(proof!(
                "vm.{knob} is {fact} ({at})",
                knob,
                fact = Text(fact.value.to_string()),
                at = fact.at
            ));
        }
    }
    // A limit of the device's own applies however much memory is free; then the host's limits do not help.
    let strict = |dev| {
        let settings = case.settings(dev)?;
        Some((&settings.name, settings.number("bdi/strict_limit").filter(|f| f.value > 0)?))
    };
    let devices = groups.iter().map(|number| case.focus.groups[*number].dev);
    if let Some((name, limit)) = devices.filter_map(strict).next() {
        return v
            .because(proof!("{name} has a limit of its own: strict_limit is {limit} ({at})", name, limit = Text(limit.value.to_string()), at = limit.at))
            .try_this(
                format!(
                    "strict_limit {} -> 0: only the host's limits apply. It keeps a slow device from filling memory with dirty pages; without it writers to other devices may wait, and a sync takes longer",
                    limit.value
                ),
                Action::set(name, "bdi/strict_limit", 0),
            )
            .try_this(
                "or a larger limit of its own, in bytes (since Linux 6.2)",
                Action::set(name, "bdi/max_bytes", 268435456),
            )
            .unless("writers just as slow without the device's own limit");
    }
    case.of_each(v, groups, |v, group| limit_the_largest(v, case, group))
        .when(
        begins_after(case, Bytes(67_108_864)),
        "start writeback earlier: throttling begins half way between this and dirty_bytes; costs only the \
             merging of rewritten pages",
        Action::Sysctl(&[("vm.dirty_background_bytes", 67_108_864)]),
    )
    .when(
        has_room_for(case, Bytes(4_294_967_296)),
        "allow larger bursts, if they fit into memory; a crash loses more, a sync takes longer",
        Action::Sysctl(&[("vm.dirty_bytes", 4_294_967_296)]),
    )
    .try_this(
        "run bulk writers with O_DIRECT, or in a cgroup of their own with memory.high and io.max (cgroup \
             v2), so that the tasks that fill memory are throttled",
        "systemd-run --scope -p MemoryHigh=256M -p 'IOWriteBandwidthMax=/dev/DEV 50M' COMMAND",
    )
    .unless("writers just as slow while dirty pages stay below vm.dirty_background_bytes")
}

/// If most of the writeback is for another task than the throttled one, names that task and limits its unit: that
/// leaves room for the throttled task.
fn limit_the_largest(v: Verdict, case: &Case, group: &Group) -> Verdict {
    let writers = case.facts.operations.writers(group.dev);
    let all = case.facts.operations.written_back(group.dev).all;
    let another = |who: &str| who != group.task && !who.contains(", ");
    let Some((who, its)) = writers.first().filter(|(who, its)| another(who) && 2 * its.0 > all.0) else {
        return v;
    };
    let name = case.name(group.dev);
    let half = its.0 as f64 / case.facts.duration().seconds().max(f64::MIN_POSITIVE) / 2.0;
    let unit = Unit::of(case, who, &group.task);
    let v = v.because(proof!(
        "{who} has {its} of the {all} that were written back to {name}",
        who = Text(who.to_string()),
        its,
        all,
        name = name.clone()
    ));
    limit::of_bytes(v, who, &unit, &name, half)
}
