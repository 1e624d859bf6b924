//! `outside-io`: the time passed between the operations, not in them.
//!
//! An application that measures its I/O by the time before and after a call also measures how long it was kept from
//! running around the call. None of that is in any operation's time; it explains why an application reports more than
//! the kernel does. It is reported only if it changes what the application sees as its slowest: one pause in a hundred,
//! the part that is called the tail, must contain a wait as long as the slowest operations and longer than Linux
//! expects of a read from flash: a shorter one would be healthy in an operation, too. One long wait in a thousand
//! pauses is normal on any machine.

use crate::case::Case;
use crate::cause::{Cause, Judge, Nature};
use crate::cpu::quota;
use crate::device::expected::EXPECTED_FLASH;
use crate::paths;
use crate::proof::proof;
use crate::remedy::{Action, Acts};
use crate::thresholds::alone::MOSTLY;
use crate::verdict::{Confidence, Verdict};
use stats::TAIL_SHARE;
use trace::Nanos;

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "outside-io",
    title: "the task waited for a processor between its operations, not in them",
    nature: Nature::General,
    page: include_str!("../../pages/outside-io.md"),
    judge: Judge::Whole(judge),
};

fn judge(case: &mut Case) -> Verdict {
    let operations = &case.facts.operations;
    if operations.is_empty() {
        return paths::unrecorded(CAUSE.name);
    }
    let outside = &operations.outside;
    // Most pauses lie between two operations of the most frequent kind.
    let usual = case.focus.groups.iter().max_by_key(|g| g.operations);
    let slowest = usual.map_or(Nanos(0), |g| g.tail.p99).max(EXPECTED_FLASH);
    let longest = Nanos(outside.wait_cpu.max());
    let tail = Nanos(outside.wait_cpu.quantile(1.0 - TAIL_SHARE));
    let total = Nanos(u64::try_from(outside.wait_cpu.sum()).unwrap_or(u64::MAX));
    let said = proof!(
        "in {gaps} gaps between operations, tasks waited for a processor for up to {longest}, {total} in all (p99 \
             {tail})",
        gaps = Count(outside.gaps.count()),
        longest,
        total,
        tail
    );
    // The slowest pauses count as long as the wait that each of them contains at least.
    let of_tail = TAIL_SHARE * outside.gaps.count() as f64 * tail.0 as f64;
    let is_tail = tail >= slowest && of_tail >= crate::case::MIN_SHARE * case.total().0 as f64;
    // Long waits that are rare: a quota of processor time stops a task for most of each period, and then lets it do thousands of operations.
    let long = outside.wait_cpu.buckets().filter(|b| b.lower >= slowest.0);
    let long: u64 = long.map(|b| b.lower.saturating_mul(b.count)).fold(0, u64::saturating_add);
    let recorded = case.facts.recorded();
    let is_most = recorded.0 > 0 && long as f64 >= MOSTLY * recorded.0 as f64;
    if !is_tail && !is_most {
        return Verdict::rejected(
            CAUSE.name,
            proof!("{said}; the slowest operations took {slowest} or more", said, slowest),
        );
    }
    let v = Verdict::found(CAUSE.name, Nanos(0), Confidence::High)
        .because(said)
        .because(match is_tail {
            true => proof!(
                "1 % of these waits are as long as the slowest operations ({slowest} or more) but count in none of \
                     them: a timer around the calls sees slow I/O",
                slowest
            ),
            false => proof!(
                "waits of {slowest} or more add up to {part} of the recording, in none of the operations' times: the \
                     application does that much less",
                slowest,
                part = Share(long as f64 / recorded.0 as f64)
            ),
        });
    let see_who = Action::look("top -b -n1 | head -20; cat /proc/pressure/cpu");
    let v = match quota::met(case, case.focus.groups.iter().map(|group| &*group.task), total) {
        Some(limited) => quota::raise(v, limited).try_this("see who had the processor meanwhile", see_who),
        None => v.try_this("see who had the processor meanwhile", see_who).try_this(
            "see whether a quota of its control group stops it (CPUQuota=, cpu.max)",
            Action::look("grep -H nr_throttled /sys/fs/cgroup/*/cpu.stat /sys/fs/cgroup/*/*/cpu.stat /sys/fs/cgroup/cpu/*/cpu.stat 2>/dev/null"),
        ),
    };
    v.try_on(
        Acts::Victim,
        "give the task more weight than the busy ones",
        "systemctl set-property SLOW.service CPUWeight=500",
    )
    .unless("an application that reports the same times on idle processors")
}
