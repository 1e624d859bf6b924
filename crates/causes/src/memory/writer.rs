//! Whose data is written back while a victim waits for that, and what to do about it: a limit for the task that wrote it, or a pause.
//!
//! To start earlier (`vm.dirty_background_bytes`) is not proposed. It writes no less, and data that is soon overwritten or deleted
//! is written each time. Measured with 32 MiB beside syncs: new data in a stream 23.6 and 7.6 ms without it, 13.9 with it; written
//! and synced at once 49 and 69; written over again 4.2 and 38 (XFS), 4.6 and 54 (ext4); files unpacked and deleted 25 and 84.

use crate::case::Case;
use crate::device::own_program::see_what_it_does;
use crate::limit;
use crate::remedy::Action;
use crate::slow::Slow;
use crate::target::{of_a_thread, pause_writer, Target};
use crate::unit::Unit;
use crate::verdict::Verdict;
use life::{Class, Io};
use std::collections::BTreeMap;
use trace::{is_kernel_thread, works_for_others, Bytes, Nanos};

/// Adds what to do about the task that wrote what a victim is behind; if no task is known, how to find it.
pub(crate) fn held_back(v: Verdict, case: &Case, slow: &Slow) -> Verdict {
    let Some(who) = writer(case, slow) else { return see_who_writes(v) };
    if let Some(process) = case.facts.operations.process_of_both(&who, &slow.group.task) {
        return of_a_thread(v, case, &who, process);
    }
    let v = see_what_it_does(v, &who, &slow.group.task);
    let pause = |v: Verdict| pause_writer(v, case, &slow.group.task, &who);
    let written = slow.on.requests[Class::Background.index()].bytes.0 as f64;
    let half = written / slow.on.duration().seconds().max(f64::MIN_POSITIVE) / 2.0;
    let unit = Unit::of(case, &who, &slow.group.task);
    let limit = |v: Verdict| limit::of_bytes(v, &who, &unit, &case.name(slow.group.dev), half);
    match unit.is_known() || Target::of(case, &who).has_ended() {
        true => pause(limit(v)),
        false => limit(pause(v)),
    }
}

/// Adds how to find the writers, if no task is known to have written the data.
pub(crate) fn see_who_writes(v: Verdict) -> Verdict {
    v.try_this(
        "see who has written most since it started (largest last): limit or pause it while others wait",
        Action::look("grep ^write_bytes /proc/[0-9]*/io | sort -k2n | tail -5"),
    )
}

/// The task whose writeback a victim waited for longest; if only the kernel is seen to send it, the task that wrote
/// most of it. `None` for the victim itself, which cannot be held back for its own sake, and if it is not known who wrote most.
fn writer(case: &Case, slow: &Slow) -> Option<String> {
    let is_user = |who: &str| !works_for_others(who) && !is_kernel_thread(who);
    let mut behind = BTreeMap::<Option<&str>, Nanos>::new();
    for row in case.rows(slow.group_number) {
        let culprit = case.facts.waits.culprit_of(row.culprit);
        if let Some(name) = culprit.name.as_deref().filter(|_| culprit.io == Some(Io::BackgroundWrite)) {
            *behind.entry(Some(name).filter(|name| is_user(name))).or_default() += row.time;
        }
    }
    let most = behind.into_iter().max_by_key(|(_, time)| *time).and_then(|(name, _)| name);
    let (operations, dev) = (&case.facts.operations, slow.on.id);
    let all = operations.written_back(dev).all;
    let wrote_most = |(who, bytes): &(&str, Bytes)| *who != "?" && is_user(who) && 2 * bytes.0 > all.0;
    let named = most.or_else(|| Some(operations.writers(dev).into_iter().find(wrote_most)?.0));
    named.filter(|who| *who != slow.group.task).map(str::to_string)
}
